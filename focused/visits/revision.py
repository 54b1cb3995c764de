"""The critic learns from the pages of its crawl: they are judged anew, and the prioritizer is taught anew.

Its steps are taken in turn by whoever has a thread (`focused.learning`). Verdicts change at once for the whole crawl.
What the prioritizer has learned from those that were wrong cannot be taken out of it: another one, which knows nothing
yet, is taught by the stored lessons of the newest pages, and takes its place. That costs most of all, and is left out
while verdicts are much the same as those by which it was taught.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from copy import copy
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from focused.critics.base import Critic, LearningCritic, Verdict
from focused.frontier.store import Answer, AnswerStore, FrontierStore, KeptPages, VerdictStore, as_said
from focused.prioritizers.base import Lessons, Prioritizer
from focused.prioritizers.trainer import Trainer
from focused.visits.training import CRITIC, MODEL

if TYPE_CHECKING:
    from focused.visits.visits import Visits

_FIRST = 25
_MOST_LEARNED = 2_000
_MOST_COMPARED = 200
_CHANGED = 0.2
"""The prioritizer is taught anew when the worth of pages has changed by this share of its variance (mean square)."""


def next_revision(pages: int) -> int:
    """At how many pages the critic learns next: ever more rarely, so that it costs each page the same."""
    due = _FIRST
    while due <= pages:
        due *= 2
    return due


def known_answers(answers: Mapping[int, Answer]) -> dict[int, bool]:
    """Whether pages are wanted of which somebody has said so, by their links."""
    return {link: one.is_wanted for link, one in answers.items() if one.is_wanted is not None}


def learn_and_judge(
    critic: LearningCritic,
    read_pages: Callable[[], Iterator[KeptPages]],
    count: int,
    answers: Mapping[int, bool] = MappingProxyType({}),
) -> tuple[LearningCritic, list[int], list[Verdict]] | None:
    """The critic learns from so many pages, and judges all anew; for a thread. None if there was nothing to learn.

    ``answers`` are those that somebody gave, by the link of the page.
    """
    sample = sample_of(read_pages, count, _MOST_LEARNED, but=answers)
    answered = [
        (gist, answers[link])
        for pages in (read_pages() if answers else ())
        for link, gist in zip(pages.links, pages.gists, strict=True)
        if link in answers
    ]
    new = critic.learn_from_pages(sample, answered)
    if new is None:
        return None
    links: list[int] = []
    verdicts: list[Verdict] = []
    for pages in read_pages():
        links += pages.links
        verdicts += judge_again(new, pages, answers)
    return new, links, verdicts


def judge_again(critic: LearningCritic, pages: KeptPages, answers: Mapping[int, bool]) -> list[Verdict]:
    """The verdicts on some pages; what was answered is as good as certain."""
    verdicts = critic.judge_again(pages.gists)
    return [
        Verdict(as_said(one.relevance, answers.get(link)), one.classes)
        for link, one in zip(pages.links, verdicts, strict=True)
    ]


def has_changed(old: LearningCritic, new: LearningCritic, gists: Sequence[bytes]) -> bool:
    """Would a prioritizer be taught other things by the one critic than by the other?"""
    then, now = (
        new.worth(np.array([verdict.relevance for verdict in critic.judge_again(gists)], np.float32))
        for critic in (old, new)
    )
    return float(np.square(now - then).mean()) > _CHANGED * float(now.var())


def sample_of(
    read_pages: Callable[[], Iterator[KeptPages]],
    count: int,
    most: int,
    but: Container[int] = (),
) -> list[bytes]:
    """Pages from the whole crawl of ``count`` pages, about as many as ``most``; not those of some links."""
    step = 1 + count // most
    kept = (pair for pages in read_pages() for pair in zip(pages.links, pages.gists, strict=True))
    return [gist for link, gist in islice(kept, 0, None, step) if link not in but]


class Revision:
    """One time that the critic learns. ``untaught`` makes a prioritizer that has learned nothing in this crawl."""

    def __init__(
        self,
        store: FrontierStore,
        visits: Visits,
        trainer: Trainer,
        untaught: Callable[[Critic], Prioritizer],
        *,
        most_pages: int,
    ) -> None:
        critic = visits.learning_critic
        assert critic is not None
        assert isinstance(store, VerdictStore)
        self._store, self._visits, self._trainer, self._untaught = store, visits, trainer, untaught
        self._most_pages = most_pages
        self._critic: LearningCritic = critic
        self._read_pages = store.kept_pages()
        trainer.taught_by = self._taught_by = trainer.taught_by or critic
        self._count = store.standing().pages
        self._answers = known_answers(store.answers()) if isinstance(store, AnswerStore) else {}
        self._links: list[int] = []
        self._verdicts: list[Verdict] = []
        self._new = store.prioritizer
        self.is_taught_anew = False
        """Whether verdicts have changed so much that the prioritizer is taught anew; known when they are there."""
        self._lessons: Callable[[], Iterator[Lessons | None]] | None = None
        self._new_trainer = Trainer(trainer.every)

    def judge(self) -> bool:
        """The critic learns, and judges all pages anew; for a thread. False if there was nothing to learn."""
        learned = learn_and_judge(self._critic, self._read_pages, self._count, self._answers)
        if learned is None:
            return False
        new, self._links, self._verdicts = learned
        self.is_taught_anew = self._store.prioritizer.learns and (
            self._answers != self._trainer.taught_answers
            or has_changed(self._taught_by, new, sample_of(self._read_pages, self._count, _MOST_COMPARED))
        )
        self._critic = new
        return True

    def adopt(self) -> None:
        """The new verdicts count from now on."""
        store, critic = self._store, self._critic
        assert isinstance(store, VerdictStore)
        self._visits.adopt_critic(critic)
        store.revise_verdicts(critic.version, self._links, self._verdicts)
        until_then = copy(store.prioritizer)
        until_then.critic = critic
        store.prioritizer = until_then
        store.save_model(CRITIC, critic.learned(), critic.version)
        for pages in store.kept_pages(before=critic.version)():
            # They were through while the critic learned.
            store.revise_verdicts(critic.version, pages.links, judge_again(critic, pages, self._answers))
        if not self.is_taught_anew:
            return
        self._new = self._untaught(critic)
        self._trainer.forget()
        # Should the crawl die now, all lessons are learned again when it goes on.
        store.save_model(MODEL, self._new.state(), 0)
        self._lessons = store.lessons_anew(self._most_pages)

    def teach(self) -> None:
        """Another prioritizer learns what there was to learn; for a thread."""
        if self._lessons is not None:
            self._new = self._new_trainer.catch_up(self._new, self._lessons())

    def adopt_prioritizer(self) -> None:
        """It takes the place of the one that had learned from other verdicts."""
        if self._lessons is not None:
            self._store.prioritizer = self._trainer.caught_up(self._new)
            self._trainer.go_on_from(self._new_trainer)
            self._trainer.taught_by, self._trainer.taught_answers = self._critic, self._answers
            self._visits.teach_open()
