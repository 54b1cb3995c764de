"""Verdicts that change: all pages are judged anew, and what the prioritizer had learned from wrong ones is gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from copy import copy
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

from focused.arrays import Arrays
from focused.critics.base import Critic, LearningCritic, Verdict
from focused.frontier.records import read_items, read_records
from focused.frontier.store import Answer, NewLink, Outcome, Says
from focused.frontier.store_sqlite import SqliteStore
from focused.pages.page import Page, page_from_html
from focused.pages.tokens import Ids, word_to_id
from focused.pages.urls import url_to_host
from focused.prioritizers.base import Prioritizer
from focused.prioritizers.best_first import BestFirst
from focused.prioritizers.focused import Focused
from focused.prioritizers.trainer import Trainer
from focused.safety.scope import Rules, Scope
from focused.visits.revision import Revision, next_revision
from focused.visits.training import MODEL, LocalTraining
from focused.visits.visit import Scored
from focused.visits.visits import Visits

STAR, NOVA = word_to_id("star"), word_to_id("nova")
PAGES = 24
RIGHT, WRONG = True, False


class Changing(LearningCritic):
    """Judges pages by one word and links by another; which way round, its version says."""

    def __init__(self, *ways: bool) -> None:
        self.ways = ways
        self.given: tuple[int, list[tuple[bytes, bool]]] = (0, [])

    def judge(self, page: Page) -> Verdict:
        return self._verdict(bool(np.isin(NOVA, page.ids)))

    def _verdict(self, is_star: bool) -> Verdict:
        return Verdict(0.9 if is_star is self.ways[self.version] else 0.1, (("star" if is_star else "soup", 0.9),))

    def score_words(self, ids: Ids, text: Any, texts: int) -> Any:
        stars = np.bincount(text[ids == STAR], minlength=texts)
        return np.array([self._verdict(count > 0).relevance for count in stars.tolist()], np.float32)

    def gist(self, page: Page) -> bytes:
        return b"star" if np.isin(NOVA, page.ids) else b"soup"

    def judge_again(self, gists: Sequence[bytes]) -> list[Verdict]:
        return [self._verdict(gist == b"star") for gist in gists]

    def learn_from_pages(self, gists: Sequence[bytes], answered: Sequence[tuple[bytes, bool]] = ()) -> Self | None:
        self.given = (len(gists), sorted(answered))
        if self.version + 1 == len(self.ways):
            return None
        new = copy(self)
        new.version += 1
        return new

    def known_words(self) -> Ids:
        return np.array([STAR], np.uint32)

    def learned(self) -> Arrays:
        return {"version": np.array(self.version)}

    def restore_learned(self, learned: Arrays) -> None:
        self.version = int(learned["version"])


def url_of(number: int) -> str:
    return f"http://h{number % 3}.example/{number}"


def page_of(number: int) -> Page:
    word = "nova" if number % 2 else "stew"
    around = (f"<p>{'a star' if n % 2 else 'a soup'} <a href={url_of(n)}>page {n}</a> of many</p>" for n in range(40))
    body = f"<title>{word} {number}</title><p>All about {word}, number w{number}.</p>{''.join(around)}"
    return page_from_html(body, url_of(number))


class Crawl:
    """A crawl of plain Python over given pages."""

    def __init__(self, folder: Path, critic: LearningCritic, kind: Callable[..., Prioritizer] = Focused) -> None:
        self.kind = kind
        folder.mkdir(exist_ok=True)
        prioritizer = kind(critic=critic)
        self.store = SqliteStore(folder, prioritizer, most_late=5)
        self.trainer = Trainer(prioritizer.learns_every)
        training = LocalTraining(self.store, self.trainer)
        self.visits = Visits(self.store, critic, training, Scope(Rules()), count=lambda *_: None, judged=lambda _: None)
        self.critics: list[Critic] = []

    def fetch(self, number: int) -> None:
        (link,) = self.store.admit(None, [NewLink(url_of(number), url_to_host(url_of(number)))]).links
        lease = self.store.lease_link(int(link))
        assert lease is not None
        visit = self.visits.begin(lease)
        self.visits.take_in(visit, page_of(number))
        assert visit.page is not None
        links, prioritizer = self.visits.links_of(visit), self.store.prioritizer
        known = np.flatnonzero(links.known.wanted)
        chosen = [links.rows[i] for i in known]
        new = [NewLink(links.urls[i], url_to_host(links.urls[i])) for i in known]
        evidence = prioritizer.evidence(visit.page, visit.verdict, visit.page.links.select(chosen))
        self.visits.admit(visit, new, Scored(evidence, prioritizer.finite_scores(evidence)))
        if self.visits.is_learning_due(visit):
            batch = self.trainer.take_batch()
            if batch is not None:
                self.store.prioritizer = prioritizer.learn(batch) or prioritizer
        assert self.visits.end(lease, Outcome.OTHER, "") is Outcome.PAGE

    def revise(self) -> bool:
        def untaught(critic: Critic) -> Prioritizer:
            self.critics.append(critic)
            return self.kind(critic=critic)

        revision = Revision(self.store, self.visits, self.trainer, untaught, most_pages=1_000)
        if not revision.judge():
            return False
        revision.adopt()
        revision.teach()
        revision.adopt_prioritizer()
        return True

    def scores(self) -> dict[str, float]:
        """The score of all that waits, as it is handed out."""
        rescoring = self.store.rescoring()
        rescoring.score()
        rescoring.adopt()
        found: dict[str, float] = {}
        while (lease := self.store.lease(0.0, lambda _: 0.0)) is not None:
            found[lease.url] = lease.score
        return found


@pytest.mark.parametrize("kind", [Focused, BestFirst])
def test_verdicts_that_were_wrong_for_a_time_leave_nothing_behind(tmp_path: Path, kind: Any) -> None:
    """A crawl whose verdicts were flipped and set right again orders its frontier like one that was never wrong."""
    never_wrong = Crawl(tmp_path / "a", Changing(RIGHT, RIGHT, RIGHT), kind)
    was_wrong = Crawl(tmp_path / "b", Changing(RIGHT, WRONG, RIGHT), kind)
    still_wrong = Crawl(tmp_path / "c", Changing(RIGHT, WRONG), kind)
    for crawl in (never_wrong, was_wrong, still_wrong):
        for number in range(PAGES):
            crawl.fetch(number)
            if number in {7, 15}:
                assert crawl.revise() == (crawl is not still_wrong or number == 7)
    right, again, wrong = (crawl.scores() for crawl in (never_wrong, was_wrong, still_wrong))
    assert len(right) == 40 - PAGES
    assert list(again) == list(right)
    assert list(again.values()) == pytest.approx(list(right.values()), abs=1e-6)
    assert wrong != right, "the verdicts matter"


def test_counts_records_and_items_follow_the_newest_verdicts(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, Changing(RIGHT, WRONG))
    for number in range(9):
        crawl.fetch(number)
    before = crawl.store.standing()
    assert (before.pages, before.found) == (9, 4)
    assert before.harvest == pytest.approx((4 * 0.9 + 5 * 0.1) / 9)
    crawl.revise()
    after = crawl.store.standing()
    assert (after.pages, after.found) == (9, 5)
    assert after.harvest == pytest.approx((5 * 0.9 + 4 * 0.1) / 9)
    assert crawl.store.known([url_of(0), url_of(1)]).relevance.tolist() == pytest.approx([0.9, 0.1])
    crawl.store.commit()
    with closing(read_records(tmp_path)) as records:
        rows = records.execute("SELECT relevance, version FROM pages ORDER BY seq").fetchall()
        assert [tuple(row) for row in rows] == [(0.9 if n % 2 == 0 else 0.1, 1) for n in range(9)]
        assert all(item["version"] == 1 for item in read_items(records))


def test_a_crawl_that_dies_between_the_verdicts_and_the_learning_learns_all_lessons_again(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, Changing(RIGHT, WRONG))
    for number in range(9):
        crawl.fetch(number)
    revision = Revision(crawl.store, crawl.visits, crawl.trainer, lambda critic: Focused(critic=critic), most_pages=99)
    assert revision.judge()
    revision.adopt()
    crawl.store.commit()
    saved = crawl.store.load_model(MODEL)
    assert saved is not None
    assert saved[1] == 0, "no lesson is known to the model that is saved"
    assert crawl.store.load_model("critic") is not None
    relearned = [lessons for lessons in crawl.store.lessons_since(0) if lessons is not None]
    assert {round(float(one), 1) for lessons in relearned for one in lessons.relevance} == {0.1, 0.9}
    crawl.store.close()


def test_the_prioritizer_keeps_what_it_learned_while_verdicts_are_much_the_same(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, Changing(RIGHT, RIGHT, WRONG))
    for number in range(9):
        crawl.fetch(number)
    crawl.revise()
    assert crawl.critics == [], "no other prioritizer was made"
    assert crawl.store.prioritizer.critic is crawl.visits.critic
    crawl.revise()
    assert [critic.version for critic in crawl.critics] == [2]


def test_dead_links_are_learned_once_when_the_critic_learns(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, Changing(RIGHT, RIGHT))
    for number in range(9):
        crawl.fetch(number)
    lease = crawl.store.lease_link(int(crawl.store.known([url_of(11)]).links[0]))
    assert lease is not None
    lessons = crawl.store.lessons_of(lease)
    assert lessons is not None
    assert lessons.of_dead_link
    crawl.store.prioritizer = crawl.trainer.learn_at_once(crawl.store.prioritizer, lessons)
    before = crawl.store.prioritizer.state()
    assert crawl.revise()
    assert crawl.critics == [], "no other prioritizer was made"
    after = crawl.store.prioritizer.state()
    for name, learned in before.items():
        np.testing.assert_array_equal(after[name], learned)


def test_verdicts_that_change_little_by_little_are_learned_anew_in_the_end(tmp_path: Path) -> None:
    class Drifting(Changing):
        def _verdict(self, is_star: bool) -> Verdict:
            return Verdict(0.9 if is_star else 0.1 + 0.08 * self.version)

    crawl = Crawl(tmp_path, Drifting(*[RIGHT] * 7))
    for number in range(9):
        crawl.fetch(number)
    for _ in range(6):
        crawl.revise()
    assert 1 <= len(crawl.critics) < 6


def test_only_the_newest_lessons_are_learned_anew(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, Changing(RIGHT, WRONG))
    for number in range(12):
        crawl.fetch(number)
    few, every = (sum(lessons is not None for lessons in crawl.store.lessons_anew(n)()) for n in (3, 100))
    assert (few, every) == (3, 12)


def test_pages_at_work_are_judged_anew_too(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, Changing(RIGHT, WRONG))
    for number in range(4):
        crawl.fetch(number)
    lease = crawl.store.lease_link(int(crawl.store.known([url_of(5)]).links[0]))
    assert lease is not None
    visit = crawl.visits.begin(lease)
    crawl.visits.take_in(visit, page_of(5))
    assert (visit.verdict.relevance, crawl.store.standing().found) == (0.9, 3)
    crawl.revise()
    assert visit.record is not None
    assert (visit.verdict.relevance, visit.record.relevance, visit.record.version) == (0.1, 0.1, 1)
    assert crawl.store.standing().found == 2
    crawl.visits.end(lease, Outcome.OTHER, "")
    assert crawl.store.standing().found == 2


def test_pages_that_come_in_while_the_critic_learns_are_judged_anew_too(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, Changing(RIGHT, WRONG))
    for number in range(4):
        crawl.fetch(number)
    revision = Revision(crawl.store, crawl.visits, crawl.trainer, lambda critic: Focused(critic=critic), most_pages=99)
    assert revision.judge()
    crawl.fetch(5)
    revision.adopt()
    crawl.store.commit()
    with closing(read_records(tmp_path)) as records:
        rows = records.execute("SELECT relevance, version FROM pages ORDER BY seq").fetchall()
    assert [tuple(row) for row in rows] == [(0.9, 1), (0.1, 1), (0.9, 1), (0.1, 1), (0.1, 1)]
    assert crawl.store.standing().found == 2


def test_an_answer_counts_until_it_is_taken_back(tmp_path: Path) -> None:
    critic = Changing(RIGHT, RIGHT, RIGHT)
    crawl = Crawl(tmp_path, critic)
    for number in range(6):
        crawl.fetch(number)
    links = dict(enumerate(crawl.store.known([url_of(number) for number in range(6)]).links.tolist()))

    def answer(number: int, said: Says) -> None:
        crawl.store.keep_answers([Answer(links[number], said, "me", "2026-01-01T00:00:00+00:00", 0.5)])

    def relevance() -> list[float]:
        return crawl.store.known([url_of(number) for number in range(6)]).relevance.tolist()

    for number, said in ((0, Says.YES), (1, Says.NO), (2, Says.UNKNOWN)):
        answer(number, said)
    assert crawl.revise()
    assert critic.given == (4, [(b"soup", True), (b"star", False)])
    assert relevance() == pytest.approx([0.95, 0.05, 0.1, 0.9, 0.1, 0.9])
    assert crawl.store.standing().found == 3
    taught = [lessons for lessons in crawl.store.lessons_anew(99)() if lessons is not None]
    learned = {round(float(one), 2) for lessons in taught for one in lessons.relevance}
    assert {0.95, 0.05} <= learned, "lessons follow"
    answer(0, Says.NOTHING)
    assert crawl.revise()
    critic_now = crawl.visits.critic
    assert isinstance(critic_now, Changing)
    assert critic_now.given == (5, [(b"star", False)])
    assert relevance() == pytest.approx([0.1, 0.05, 0.1, 0.9, 0.1, 0.9])


def test_a_critic_learns_ever_more_rarely() -> None:
    at, due = 0, []
    while at < 100_000:
        at = next_revision(at)
        due.append(at)
    assert due[:3] == [25, 50, 100]
    assert all(later >= 2 * earlier for earlier, later in pairwise(due))
