"""What every frontier store must keep, as checks that a test calls: `check_store`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import Verdict
from focused.frontier.inbox import LETTERS
from focused.frontier.steering import STEERING, PreferringStore, Steering
from focused.frontier.store import (
    SEED_RANK,
    SURE,
    Admitted,
    Answer,
    AnswerStore,
    FrontierStore,
    Lease,
    NewLink,
    Outcome,
    PageRecord,
    Says,
    VerdictStore,
)
from focused.pages.evidence import Evidence
from focused.prioritizers.base import Combination, Lessons, Prioritizer
from focused.safety.patterns import Patterns

OpenStore = Callable[[Prioritizer], FrontierStore]
"""Opens one and the same crawl, again and again; a crawl that nobody knows yet the first time."""
Teach = Callable[[Any, Lease, Lessons | None], object]
"""What the `Training` of crawls with such a store does with the lessons of a lease."""
Rated = Sequence[tuple[str, float]]
"""Addresses of links on a page, each with the number that stands in its evidence."""


class Told(Prioritizer):
    """The score stands in the evidence, times a factor that "learning" changes."""

    name = "told"
    dense = ("score",)
    learns = True

    def __init__(self, factor: float = 1.0, *, combine: Combination = "mean") -> None:
        super().__init__(combine=combine)
        self.factor = factor

    def evidence(self, *_: object, **__: object) -> Evidence:
        raise NotImplementedError("a store makes no evidence")

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        scores: NDArray[np.float32] = (evidence.dense[:, 0] * self.factor % 1.0).astype(np.float32)
        return scores


class StoreDriver:
    """Works on a store as a crawl does; `again` closes it and opens it once more where that must change nothing."""

    def __init__(
        self,
        open_store: OpenStore,
        *,
        reopens: bool = False,
        prioritizer: Prioritizer | None = None,
        teach: Teach = lambda *_: None,
    ) -> None:
        self._open, self.reopens, self._teach = open_store, reopens, teach
        self.store = open_store(prioritizer or Told())

    def again(self) -> FrontierStore:
        """The store, perhaps opened anew; its links scored again, as when a job is gone on with."""
        if self.reopens:
            prioritizer = self.store.prioritizer
            self.store.close()
            self.store = self._open(prioritizer)
            self.rescore()
        else:
            self.store.commit()
        return self.store

    def rescore(self) -> None:
        """Score all that waits anew."""
        rescoring = self.store.rescoring()
        rescoring.score()
        rescoring.adopt()

    def seed(self, *urls: str) -> list[bool]:
        """Admit links that come before all others; which of them are new."""
        links = [NewLink(url, url.split("/")[2], base=SEED_RANK) for url in urls]
        fresh: list[bool] = self.store.admit(None, links).fresh.tolist()
        return fresh

    def lease(self) -> Lease | None:
        """The next link, whatever its host."""
        return self.store.lease(0, lambda _host: 0.0)

    def next(self, url: str) -> Lease:
        """The next link, which must be this one."""
        lease = self.lease()
        assert lease is not None, f"nothing is handed out where {url} is expected"
        assert lease.url == url, f"{lease.url} is handed out before {url}"
        return lease

    def all(self) -> list[str]:
        """Lease all that can be leased."""
        urls = []
        while (lease := self.lease()) is not None:
            urls.append(lease.url)
        return urls

    def admit(self, lease: Lease, found: Rated) -> Admitted | None:
        """Take in the links of a page, as far as the store wants them."""
        known = self.store.known([url for url, _ in found])
        wanted = np.flatnonzero(known.wanted)
        if not len(wanted):
            return None
        dense = np.array([found[i][1] for i in wanted.tolist()], np.float32)
        evidence = Evidence.of(np.zeros(len(wanted) + 1, np.int64), np.zeros(0, np.uint32), dense)
        columns = zip(wanted.tolist(), known.links[wanted].tolist(), known.relevance[wanted].tolist(), strict=True)
        links = [
            NewLink(found[i][0], found[i][0].split("/")[2], link=link, depth=lease.depth + 1, relevance=relevance)
            for i, link, relevance in columns
        ]
        return self.store.admit(lease, links, evidence, self.store.prioritizer.finite_scores(evidence))

    def page(
        self, url: str, relevance: float, found: Rated = (), *, digest: int | None = None, is_short: bool = False
    ) -> Lessons | None:
        """Lease the next link, which must be ``url``, and do with it what a crawl does; what its page teaches."""
        lease = self.next(url)
        digest = hash(url) & 0xFFFFFFFF if digest is None else digest
        item = {"url": url, "relevance": relevance}
        gist = url.encode()
        self.store.record(lease, PageRecord(0, url, relevance, digest, is_short=is_short, gist=gist, item=item))
        if found:
            self.admit(lease, found)
        lessons = self.store.lessons_of(lease)
        self._teach(self.store, lease, lessons)
        self.store.acknowledge(lease, Outcome.PAGE)
        return lessons


def check_store(new_crawl: Callable[[], OpenStore], teach: Teach = lambda *_: None) -> None:
    """Check what every frontier store must keep; an AssertionError says what is not kept.

    ``new_crawl()`` gives a function that opens one crawl, again and again. Each check has a crawl of its own, and runs
    twice: on a store that stays open, and on one that is closed and opened anew at every step. ``teach`` is needed
    where lessons go into the store by a way of their own.
    """
    for check in CHECKS:
        for reopens in (False, True):
            driver = StoreDriver(new_crawl(), reopens=reopens, teach=teach)
            try:
                check(driver)
            finally:
                driver.store.close()


def links_go_out_by_score_and_once(driver: StoreDriver) -> None:
    """Seeds first, then the best; none twice."""
    assert driver.seed("http://seed/") == [True]
    driver.page("http://seed/", 0.5, [("http://h/a", 0.2), ("http://h/b", 0.8), ("http://h/c", 0.5)])
    assert driver.again().standing().waiting == 3
    assert driver.all() == ["http://h/b", "http://h/c", "http://h/a"]


def a_link_is_admitted_once(driver: StoreDriver) -> None:
    """Asking numbers nothing; an identity of its own makes another link of the same address."""
    known = driver.store.known(["http://seed/"])
    assert (known.links[0], known.states[0], known.wanted[0], driver.store.standing().waiting) == (0, 0, True, 0)
    assert driver.seed("http://seed/", "http://seed/") == [True, False]
    form = [NewLink("http://seed/", "seed", key=4711, request=b"x", base=0.5)]
    numbers = [driver.again().admit(None, form).links[0] for _ in range(2)]
    assert numbers[0] == numbers[1] != driver.store.known(["http://seed/"]).links[0] > 0
    driver.page("http://seed/", 0.5)
    assert driver.seed("http://seed/") == [False]
    assert driver.again().standing().waiting == 1
    assert (driver.next("http://seed/").request, driver.lease()) == (b"x", None)


def more_evidence_changes_a_place(driver: StoreDriver) -> None:
    """All evidence of a link counts, as the prioritizer combines it."""
    driver.seed("http://seed/")
    driver.page("http://seed/", 0.5, [("http://h/next", 0.99), ("http://h/a", 0.2), ("http://h/b", 0.5)])
    driver.again()
    driver.page("http://h/next", 0.5, [("http://h/a", 0.98)])
    driver.again()
    best = driver.next("http://h/a")
    assert np.isclose(best.score, 0.59), "the mean of 0.2 and 0.98"
    assert (best.depth, best.parent, best.host.name) == (1, "http://seed/", "h")


def all_that_waits_is_scored_anew(driver: StoreDriver) -> None:
    """By the new snapshot; what comes while that is done is kept."""
    driver.seed("http://seed/")
    driver.page("http://seed/", 0.5, [("http://h/next", 0.39), ("http://h/a", 0.3), ("http://h/b", 0.6)])
    driver.store.prioritizer = Told(2.5)
    rescoring = driver.store.rescoring()
    rescoring.score()
    # 0.39 · 2.5 = 0.975; 0.3 · 2.5 = 0.75; 0.6 · 2.5 mod 1 = 0.5
    rescoring.adopt()
    driver.page("http://h/next", 0.5)
    rescoring = driver.store.rescoring()
    driver.seed("http://late/")
    rescoring.score()
    rescoring.adopt()
    assert driver.all() == ["http://late/", "http://h/a", "http://h/b"]


def lessons_pair_a_page_with_all_evidence_of_it(driver: StoreDriver) -> None:
    """They weigh 1 together; a dead link teaches that it is dead."""
    driver.seed("http://seed/")
    driver.page("http://seed/", 0.25, [("http://h/next", 0.99), ("http://h/a", 0.2), ("http://h/dead", 0.1)])
    driver.page("http://h/next", 0.75, [("http://h/a", 0.4)])
    driver.again()
    lessons = driver.page("http://h/a", 0.9)
    assert lessons is not None
    assert np.allclose(lessons.evidence.dense[:, 0], [0.2, 0.4])
    assert np.allclose(lessons.relevance, 0.9)
    assert np.allclose(lessons.source_relevance, [0.25, 0.75])
    assert np.isclose(lessons.weight.sum(), 1)
    assert lessons.alive.all()
    assert lessons.first.tolist() == [True, False]
    dead = driver.store.lessons_of(driver.next("http://h/dead"))
    assert dead is not None
    assert not dead.alive.any()


def the_same_content_counts_once(driver: StoreDriver) -> None:
    """A duplicate is a page, but neither found nor harvested, and teaches R = 0; one whose callback failed is none."""
    driver.seed("http://seed/")
    driver.page("http://seed/", 0.9, [("http://h/a", 0.9), ("http://h/b", 0.5), ("http://h/c", 0.1)])
    failed = driver.next("http://h/a")
    driver.store.record(failed, PageRecord(0, failed.url, 0.8, 77))
    assert driver.store.standing().pages == 2
    assert driver.store.acknowledge(failed, Outcome.FAILED) is Outcome.FAILED
    assert driver.again().standing().pages == 1
    driver.page("http://h/b", 0.8, digest=77)
    driver.again()
    lessons = driver.page("http://h/c", 0.8, digest=77)
    assert lessons is not None
    assert lessons.relevance.tolist() == [0.0]
    standing = driver.again().standing()
    assert (standing.pages, standing.duplicates, standing.found) == (3, 1, 2)
    assert np.isclose(standing.harvest, 0.85)


def a_short_page_that_repeats_its_parent_is_a_duplicate(driver: StoreDriver) -> None:
    """But for its addresses it is the same: the upper half of the digest tells."""
    driver.seed("http://seed/")
    same, other = 7 << 32, 8 << 32
    driver.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.5)], digest=same, is_short=True)
    driver.again()
    driver.page("http://h/a", 0.5, digest=same + 1, is_short=True)
    driver.page("http://h/b", 0.5, [("http://h/c", 0.9), ("http://h/d", 0.8)], digest=other + 1, is_short=True)
    driver.page("http://h/c", 0.5, digest=same + 2, is_short=True)
    driver.page("http://h/d", 0.5, digest=other + 2)
    assert driver.again().standing().duplicates == 1, "of the page that led to it, and of short pages"


def a_redirect_is_followed_under_its_lease(driver: StoreDriver) -> None:
    """Its target is not fetched again, and what led to either of them is a lesson; also there and back."""
    driver.seed("http://seed/")
    lease = driver.next("http://seed/")
    assert driver.store.redirect(lease, "http://seed/login", "seed")
    assert driver.store.redirect(lease, "http://seed/", "seed")
    driver.store.postpone(lease)
    driver.again()
    driver.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.3)])
    store = driver.again()
    lease = driver.next("http://h/a")
    assert store.redirect(lease, "http://h/b", "h")
    store.return_lease(lease)
    assert driver.lease() is lease, "a lease that was given back is handed out again"
    assert lease.url == "http://h/b"
    store.record(lease, PageRecord(0, "http://h/b", 1.0, 5))
    lessons = store.lessons_of(lease)
    assert lessons is not None
    assert np.allclose(sorted(lessons.evidence.dense[:, 0]), [0.3, 0.9])
    assert store.acknowledge(lease, Outcome.OTHER) is Outcome.PAGE
    assert driver.again().standing().waiting == 0


def a_redirect_to_a_page_fetched_before_teaches_its_verdict(driver: StoreDriver) -> None:
    """And to one that is being fetched nothing, until that is judged: then both links led there."""
    driver.seed("http://seed/")
    driver.page(
        "http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.5), ("http://h/c", 0.3), ("http://h/d", 0.2)]
    )
    driver.page("http://h/a", 0.7)
    store = driver.again()
    lease = driver.next("http://h/b")
    assert not store.redirect(lease, "http://h/a", "h")
    assert lease.was_redirected
    lessons = store.lessons_of(lease)
    assert lessons is not None
    assert np.allclose(lessons.relevance, [0.7])
    assert store.acknowledge(lease, Outcome.OTHER) is Outcome.REDIRECT
    store = driver.again()
    leads, target = driver.next("http://h/c"), driver.next("http://h/d")
    assert not store.redirect(leads, "http://h/d", "h")
    assert store.lessons_of(leads) is None
    store.acknowledge(leads, Outcome.OTHER)
    store.record(target, PageRecord(0, target.url, 0.9, 5))
    lessons = store.lessons_of(target)
    assert lessons is not None
    assert np.allclose(sorted(lessons.evidence.dense[:, 0]), [0.2, 0.3])
    assert np.allclose(lessons.relevance, 0.9)
    store.acknowledge(target, Outcome.PAGE)


def a_link_may_wait_again_or_be_asked_for(driver: StoreDriver) -> None:
    """A postponed link waits with its score; one link may be handed out whatever waits before it."""
    driver.seed("http://seed/")
    driver.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.3)])
    driver.store.postpone(driver.next("http://h/a"))
    store = driver.again()
    number = int(store.known(["http://h/b"]).links[0])
    lease = store.lease_link(number)
    assert lease is not None
    assert (lease.url, store.standing().leased, store.lease_link(number)) == ("http://h/b", 1, None)
    store.acknowledge(lease, Outcome.DEAD, "404")
    store = driver.again()
    assert store.lease_link(number) is None
    assert driver.all() == ["http://h/a"]


def verdicts_can_be_revised(driver: StoreDriver) -> None:
    """Where the store allows that: all pages are read in order, and new verdicts count, and teach."""
    if not isinstance(driver.store, VerdictStore):
        return
    driver.seed("http://seed/")
    driver.page("http://seed/", 0.9, [("http://h/a", 0.9), ("http://h/b", 0.5), ("http://h/c", 0.1)])
    driver.page("http://h/a", 0.2, digest=7)
    driver.again()
    driver.page("http://h/b", 0.8, digest=7)
    driver.page("http://h/c", 0.6)
    store: Any = driver.again()
    links, gists = _kept(store)
    assert gists == [b"http://seed/", b"http://h/a", b"http://h/c"], "a duplicate is not judged anew"
    store.revise_verdicts(1, links[1:], [Verdict(0.7, (("birds", 0.7),)), Verdict(0.1)])
    store = driver.again()
    standing = store.standing()
    assert (standing.pages, standing.duplicates, standing.found) == (4, 1, 2)
    assert np.isclose(standing.relevance, 0.9 + 0.7 + 0.1)
    assert np.allclose(store.known(["http://h/a", "http://h/b", "http://h/c"]).relevance, [0.7, 0.8, 0.1])
    assert _kept(store, before=1) == (links[:1], gists[:1])
    taught = [lessons.relevance.tolist() if lessons else None for lessons in store.lessons_anew(99)()]
    assert taught == [None, *([np.float32(relevance)] for relevance in (0.7, 0.0, 0.1))]
    assert [lessons is not None for lessons in store.lessons_anew(2)()] == [True, True], "the newest pages"
    store.revise_verdicts(2, links[:1], [Verdict(0.3)])
    store = driver.again()
    (last,) = store.lessons_anew(1)()
    assert np.allclose(last.source_relevance, 0.3)


def _kept(store: Any, before: int | None = None) -> tuple[list[int], list[bytes]]:
    read = list(store.kept_pages(before)())
    return [link for pages in read for link in pages.links], [gist for pages in read for gist in pages.gists]


def answers_are_kept(driver: StoreDriver) -> None:
    """Where the store allows that: the last one about a page counts, also where it takes back what was said."""
    if not isinstance(driver.store, AnswerStore):
        return
    driver.seed("http://seed/", "http://h/a")
    driver.page("http://seed/", 0.5)
    driver.page("http://h/a", 0.75)
    seed, link = driver.store.known(["http://seed/", "http://h/a"]).links.tolist()
    assert driver.store.answers() == {}
    yes, unknown = Answer(seed, Says.YES, "me", "day 1", 0.5), Answer(link, Says.UNKNOWN, "you Ω", "day 1", 0.75)
    driver.store.keep_answers([yes, unknown])
    store: Any = driver.again()
    assert store.answers() == {seed: yes, link: unknown}
    no, back = Answer(seed, Says.NO, "you Ω", "day 2", 1 / 3), Answer(link, Says.NOTHING, "me", "day 3", 0.0)
    store.keep_answers([no])
    store.keep_answers([back])
    store.keep_answers([])
    assert driver.again().answers() == {seed: no, link: back}  # type: ignore[attr-defined]  # it is such a store


def what_is_said_of_a_page_is_its_verdict(driver: StoreDriver) -> None:
    """At once if the page is there, with the page if it is still to come; taken back, the verdict is what it was."""
    if not isinstance(driver.store, AnswerStore):
        return
    driver.seed("http://seed/")
    driver.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.5), ("http://h/c", 0.1)])
    driver.page("http://h/a", 0.25)
    numbers = driver.store.known(["http://h/a", "http://h/b", "http://h/c"]).links.tolist()

    def say(said: Says, *links: int, relevance: float = nan) -> Any:
        store: Any = driver.store
        store.keep_answers([Answer(link, said, "me", "day 1", relevance) for link in links])
        return driver.again()

    def check(found: int, *relevance: float) -> None:
        standing, known = driver.store.standing(), driver.store.known(["http://h/a", "http://h/b", "http://h/c"])
        assert np.allclose(known.relevance, [*relevance, *[nan] * (3 - len(relevance))], equal_nan=True)
        assert standing.found == found
        assert np.isclose(standing.relevance, 0.5 + sum(relevance))

    say(Says.YES, *numbers[:2], relevance=0.25)
    check(2, SURE)
    say(Says.NO, numbers[2])
    driver.page("http://h/b", 0.125)
    driver.page("http://h/c", 0.75)
    driver.again()
    check(3, SURE, SURE, 1 - SURE)
    say(Says.UNKNOWN, numbers[0], relevance=0.25)
    check(2, 0.25, SURE, 1 - SURE)
    say(Says.NOTHING, numbers[0], numbers[1], relevance=0.25)
    check(1, 0.25, 0.25, 1 - SURE)


def what_is_said_of_a_link_is_said_of_the_page_behind_it(driver: StoreDriver) -> None:
    """Whether it was known by then where the link leads, or not."""
    if not isinstance(driver.store, AnswerStore):
        return
    driver.seed("http://seed/")
    driver.page("http://seed/", 0.5, [("http://h/old", 0.9), ("http://h/past", 0.5)])
    old, past = driver.store.known(["http://h/old", "http://h/past"]).links.tolist()
    driver.store.keep_answers([Answer(old, Says.YES, "me", "day 1", nan)])
    for digest, url in enumerate(("http://h/old", "http://h/past"), 100):
        lease = driver.next(url)
        assert driver.store.redirect(lease, f"{url}/new", "h")
        driver.store.record(lease, PageRecord(0, f"{url}/new", 0.25, digest))
        driver.store.acknowledge(lease, Outcome.OTHER)
    store: Any = driver.again()
    store.keep_answers([Answer(past, Says.YES, "me", "day 1", nan)])
    store = driver.again()
    new = store.known(["http://h/old/new", "http://h/past/new"])
    assert np.allclose(new.relevance, SURE)
    assert {store.answers()[link].said for link in new.links.tolist()} == {Says.YES}


def what_is_read_from_an_inbox_is_kept_once(driver: StoreDriver) -> None:
    """How far it was read goes with the answers; who was not the first to read it keeps nothing."""
    if not isinstance(driver.store, AnswerStore):
        return
    driver.seed("http://seed/")
    driver.page("http://seed/", 0.5)
    (link,) = driver.store.known(["http://seed/"]).links.tolist()
    yes, no = (Answer(link, said, "me", "day 1", 0.5) for said in (Says.YES, Says.NO))
    assert driver.store.keep_answers([yes], read=(0, 7))
    store: Any = driver.again()
    news = store.news
    assert not store.keep_answers([no], read=(0, 9))
    assert (store.answers(), store.noted(LETTERS), store.news) == ({link: yes}, "7", news)
    paused, goes_on = Steering(is_paused=True).to_text(), Steering().to_text()
    assert store.keep_answers([], read=(7, 9), steering=paused)
    store = driver.again()
    assert (store.noted(LETTERS), store.noted(STEERING)) == ("9", paused)
    assert not store.keep_answers([], read=(7, 11), steering=goes_on)
    assert store.keep_answers([], read=(9, 11))
    assert driver.again().noted(STEERING) == paused


def preferred_links_go_before_others_of_similar_worth(driver: StoreDriver) -> None:
    """Where the store allows that: those that wait, those that come, and those that are scored anew; until no more."""
    if not isinstance(driver.store, PreferringStore) or not isinstance(driver.store, AnswerStore):
        return
    driver.seed("http://seed/")
    found = [("http://h/best", 0.9), ("http://h/good", 0.6), ("http://pre/good", 0.5), ("http://pre/a/poor", 0.1)]
    driver.page("http://seed/", 0.5, found)

    def prefer(place: int, *patterns: str) -> None:
        store: Any = driver.store
        note = Steering(preferred=patterns).to_text()
        assert store.keep_answers([], read=(place, place + 1), steering=note)
        store.prefer(Patterns(patterns))
        driver.rescore()
        store = driver.again()
        store.prefer(Patterns(patterns))

    prefer(0, "pre")
    # (1 + 0.5) / 2 = 0.75 and (1 + 0.1) / 2 = 0.55; a seed of the host stays a seed.
    driver.page("http://h/best", 0.5, [("http://sub.pre/new", 0.3), ("http://pre/a/poor", 0.1)])
    driver.seed("http://pre/seed")
    first = [driver.lease() for _ in range(3)]
    assert [one.url for one in first if one] == ["http://pre/seed", "http://pre/good", "http://sub.pre/new"]
    assert [one.score for one in first if one] == [0, 0.75, np.float32(0.65)]
    for one in first:
        assert one is not None
        driver.store.postpone(one)
    driver.store.prioritizer = Told(0.5)
    prefer(1, "http://pre/a/*")
    expected = ["http://pre/seed", "http://pre/a/poor", "http://h/good", "http://pre/good", "http://sub.pre/new"]
    assert driver.all() == expected


def what_was_learned_and_noted_is_kept(driver: StoreDriver) -> None:
    """Models and notes, by name."""
    store = driver.store
    assert (store.load_model("prioritizer"), store.noted("key")) == (None, None)
    store.save_model("prioritizer", {"w": np.arange(3.0)}, 0)
    store.note("key", "a")
    store.revise("key", lambda kept: f"{kept}b")
    store = driver.again()
    model = store.load_model("prioritizer")
    assert model is not None
    assert (model[0]["w"].tolist(), model[1], store.noted("key")) == ([0.0, 1.0, 2.0], 0, "ab")


CHECKS: tuple[Callable[[StoreDriver], None], ...] = (
    links_go_out_by_score_and_once,
    a_link_is_admitted_once,
    more_evidence_changes_a_place,
    all_that_waits_is_scored_anew,
    lessons_pair_a_page_with_all_evidence_of_it,
    the_same_content_counts_once,
    a_short_page_that_repeats_its_parent_is_a_duplicate,
    a_redirect_is_followed_under_its_lease,
    a_redirect_to_a_page_fetched_before_teaches_its_verdict,
    a_link_may_wait_again_or_be_asked_for,
    verdicts_can_be_revised,
    answers_are_kept,
    what_is_said_of_a_page_is_its_verdict,
    what_is_said_of_a_link_is_said_of_the_page_behind_it,
    what_is_read_from_an_inbox_is_kept_once,
    preferred_links_go_before_others_of_similar_worth,
    what_was_learned_and_noted_is_kept,
)
"""What `check_store` checks, one by one."""
