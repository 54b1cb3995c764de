"""The steps for one response: each is taken once, whoever asks first, and only for a page that counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from focused.critics.base import Verdict
from focused.critics.keywords import KeywordsCritic
from focused.frontier.store import Lease, NewLink, Outcome, PageRecord
from focused.frontier.store_sqlite import SqliteStore
from focused.pages.page import Page, page_from_html
from focused.pages.urls import url_to_host
from focused.prioritizers.base import Lessons
from focused.prioritizers.focused import Focused
from focused.safety.scope import Rules, Scope
from focused.visits.visit import Scored, Visit
from focused.visits.visits import Visits

SEED = "http://a.example/"
LINKED = "http://a.example/star"
TEXT = "A star is seen through a telescope, and a galaxy is seen as many stars of every kind, far away from us all."


class CountingCritic(KeywordsCritic):
    def __init__(self) -> None:
        super().__init__(keywords=["star", "galaxy", "telescope"])
        self.judged: Counter[str] = Counter()

    def judge(self, page: Page) -> Any:
        self.judged[page.url] += 1
        return super().judge(page)


class Taught:
    """A training that only keeps what it is given."""

    def __init__(self) -> None:
        self.lessons: list[tuple[int, int]] = []
        self.pages: list[int] = []

    def teach(self, lease: Lease, lessons: Lessons | None) -> None:
        if lessons is not None:
            self.lessons.append((lease.link, len(lessons)))

    def page_done(self, order: int) -> bool:
        self.pages.append(order)
        return True

    def save(self, untaught: Iterable[int]) -> None:
        raise NotImplementedError


class Counted:
    def __init__(self) -> None:
        self.stats: Counter[str] = Counter()
        self.records: list[PageRecord] = []

    def count(self, what: str, number: float) -> None:
        self.stats[what] += number  # type: ignore[assignment]  # sums of relevance, too

    def judged(self, record: PageRecord) -> None:
        self.records.append(record)


class House:
    """A crawl of plain Python: a store, a critic, and the service between them."""

    def __init__(self, folder: Path, *, follow_duplicates: bool = False, follow_from: float = 0.0) -> None:
        self.critic, self.training, self.counter = CountingCritic(), Taught(), Counted()
        self.store = SqliteStore(folder, Focused(critic=self.critic))
        self.visits = Visits(
            self.store,
            self.critic,
            self.training,
            Scope(Rules()),
            count=self.counter.count,
            judged=self.counter.judged,
            follow_duplicates=follow_duplicates,
            follow_from=follow_from,
        )

    def fetch(self, url: str) -> Visit:
        """A link is leased, and its visit begins."""
        numbers = self.store.admit(None, [NewLink(url, url_to_host(url))]).links
        lease = self.store.lease_link(int(numbers[0]))
        assert lease is not None
        return self.visits.begin(lease)

    def follow(self, visit: Visit) -> None:
        """All links of a page are admitted with their evidence."""
        assert visit.page is not None
        links = self.visits.links_of(visit)
        prioritizer = self.store.prioritizer
        evidence = prioritizer.evidence(visit.page, visit.verdict, visit.page.links.select(links.rows))
        new = [NewLink(url, url_to_host(url)) for url in links.urls]
        self.visits.admit(visit, new, Scored(evidence, prioritizer.finite_scores(evidence)))

    def fetched_by_a_link(self) -> Visit:
        """The visit of a page that was found on the seed's, which is through."""
        seed = self.fetch(SEED)
        self.visits.take_in(seed, page(SEED, TEXT, LINKED))
        self.follow(seed)
        assert self.visits.end(seed.lease, Outcome.OTHER, "") is Outcome.PAGE
        self.training.lessons.clear()
        return self.fetch(LINKED)


def page(url: str, text: str, *links: str) -> Page:
    anchors = "".join(f'<p><a href="{link}">more of it</a></p>' for link in links)
    return page_from_html(f"<html><body><p>{text}</p>{anchors}</body></html>", url)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


STEPS: dict[str, Callable[[House, Visit], object]] = {
    "count": lambda house, visit: house.visits.count(visit),
    "label": lambda house, visit: house.visits.label(visit),
    "learn": lambda house, visit: house.visits.is_learning_due(visit),
}


@pytest.mark.parametrize(
    "order", [("count", "label", "learn"), ("learn", "label", "count"), ("label", "count"), ("learn", "learn"), ()]
)
def test_each_step_is_taken_once_whoever_asks_first(house: House, order: tuple[str, ...]):
    visit = house.fetched_by_a_link()
    before = house.counter.stats["focused/page/judged"]
    for _ in range(2):
        house.visits.take_in(visit, page(LINKED, f"{TEXT} And one more."))
    assert house.critic.judged[LINKED] == 1
    for name in order:
        STEPS[name](house, visit)
    assert house.visits.end(visit.lease, Outcome.OTHER, "") is Outcome.PAGE
    assert house.counter.stats["focused/page/judged"] == before + 1
    assert [record.url for record in house.counter.records].count(LINKED) == 1
    assert house.training.lessons == [(visit.lease.link, 1)]
    assert house.training.pages.count(2) == ("learn" in order), "whoever acknowledges a page does not wait for learning"


def test_a_page_whose_callback_failed_counts_nowhere_and_teaches_nothing(house: House):
    visit = house.fetched_by_a_link()
    before = house.store.standing()
    house.visits.take_in(visit, page(LINKED, f"{TEXT} And one more."))
    assert house.visits.end(visit.lease, Outcome.FAILED, "callback") is Outcome.FAILED
    assert house.training.lessons == []
    assert [record.url for record in house.counter.records].count(LINKED) == 0
    after = house.store.standing()
    assert (after.pages, after.found, after.relevance) == (before.pages, before.found, before.relevance)


@pytest.mark.parametrize(
    ("outcome", "detail"),
    [
        (Outcome.DEAD, "404"),
        (Outcome.DEAD, "CannotResolveHostError"),
        (Outcome.DEAD, "gone.example cannot be reached"),
        (Outcome.NOT_HTML, "application/pdf"),
    ],
)
def test_a_link_without_a_page_teaches_that_it_is_dead(house: House, outcome: Outcome, detail: str):
    visit = house.fetched_by_a_link()
    assert house.visits.end(visit.lease, outcome, detail) is outcome
    assert house.training.lessons == [(visit.lease.link, 1)]
    assert house.counter.stats["focused/page/judged"] == 1, "only the seed's page was judged"


def test_a_link_that_may_have_a_page_another_time_teaches_nothing(house: House):
    visit = house.fetched_by_a_link()
    assert house.visits.end(visit.lease, Outcome.UNAVAILABLE, "503") is Outcome.UNAVAILABLE
    assert house.training.lessons == []
    assert list(house.store.lessons_since(1)) == []


def test_a_denied_link_teaches_nothing(house: House):
    visit = house.fetched_by_a_link()
    assert house.visits.end(visit.lease, Outcome.DENIED, "robots.txt") is Outcome.DENIED
    assert house.training.lessons == []


@pytest.mark.parametrize("follow", [False, True])
def test_links_of_a_duplicate_are_followed_or_counted(follow: bool, tmp_path: Path):
    house = House(tmp_path, follow_duplicates=follow)
    first = house.fetch("http://a.example/1")
    house.visits.take_in(first, page("http://a.example/1", TEXT, "http://a.example/x"))
    house.visits.end(first.lease, Outcome.OTHER, "")
    again = house.fetch("http://b.example/1")
    house.visits.take_in(again, page("http://b.example/1", TEXT, "http://b.example/y"))
    assert (again.is_duplicate, again.is_followed) == (True, follow)
    for _ in range(2):
        house.visits.count(again)
    assert house.visits.end(again.lease, Outcome.OTHER, "") is Outcome.DUPLICATE
    assert house.counter.stats["focused/link/unfollowed"] == (0 if follow else 1)
    assert house.store.noted("unfollowed") == (None if follow else "1")
    standing = house.store.standing()
    assert (standing.pages, standing.duplicates, standing.found) == (2, 1, 1)
    assert standing.harvest == pytest.approx(first.verdict.relevance)


def test_the_links_of_a_poor_page_are_not_followed_but_counted_and_told(tmp_path: Path, caplog):
    caplog.set_level("INFO", "focused.visits.visits")
    house = House(tmp_path, follow_from=0.5)
    for number, (text, is_followed) in enumerate([(TEXT, True), ("Tax law.", False), ("More law.", False)]):
        visit = house.fetch(f"http://a.example/{number}")
        house.visits.take_in(visit, page(visit.lease.url, text, "http://b.example/1", "http://b.example/2"))
        assert visit.is_followed == is_followed
        for _ in range(2):
            house.visits.count(visit)
    assert house.counter.stats["focused/link/of_poor_pages"] == 4
    assert house.counter.stats["focused/link/unfollowed"] == 0
    (told,) = (message for message in caplog.messages if "not followed" in message)
    assert told.startswith("The links of http://a.example/1 are not followed: its relevance is ")


def test_a_page_that_was_not_leased_is_judged_and_left_alone(house: House):
    visit = Visit(Lease(0, 0, SEED, house.fetch(SEED).lease.host))
    house.visits.take_in(visit, page(SEED, TEXT))
    assert visit.verdict.relevance > 0.5
    house.visits.label(visit)
    assert not house.visits.is_learning_due(visit)
    assert house.store.standing().pages == 0
    assert house.counter.records == []


def test_a_page_whose_lease_was_lost_counts_for_nobody_here(house: House):
    visit = house.fetched_by_a_link()
    house.visits.take_in(visit, page(LINKED, f"{TEXT} And one more."))
    visit.lease.is_lost = True
    assert not house.visits.is_learning_due(visit)
    assert [record.url for record in house.counter.records].count(LINKED) == 0


def test_untaught_pages_are_those_whose_lessons_are_still_to_come(house: House):
    visit = house.fetched_by_a_link()
    assert list(house.visits.untaught()) == []
    house.visits.take_in(visit, page(LINKED, f"{TEXT} And one more."))
    assert list(house.visits.untaught()) == [2]
    assert house.visits.is_learning_due(visit)
    assert list(house.visits.untaught()) == []


@pytest.mark.parametrize("relevance", [-0.1, 1.1, float("nan")])
def test_a_critic_that_gives_no_share_is_named(house: House, relevance: float, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(house.critic, "judge", lambda page: Verdict(relevance))
    with pytest.raises(ValueError, match="must be a number from 0 to 1"):
        house.visits.take_in(house.fetch(SEED), page(SEED, TEXT))
