"""The critic learns from the pages of its crawl: they are judged anew, and the prioritizer is taught anew.

Its steps are taken in turn by whoever has a thread (`focused.learning`). Verdicts change at once for the whole crawl.
What the prioritizer has learned from those that were wrong cannot be taken out of it: another one, which knows nothing
yet, is taught by the stored lessons of the newest pages, and takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import TYPE_CHECKING

from focused.critics.base import Critic, LearningCritic, Verdict
from focused.frontier.store import AnswerStore, FrontierStore, KeptPages, VerdictStore
from focused.prioritizers.base import Lessons, Prioritizer
from focused.prioritizers.trainer import Trainer
from focused.visits.training import CRITIC, MODEL

if TYPE_CHECKING:
    from focused.visits.visits import Visits

_FIRST = (25, 50, 100, 200, 400, 700, 1_000)
_GROWTH = 1.4
_MOST_LEARNED = 2_000
_SURE = 0.95
"""R of a page of which somebody said that it is wanted, at least, and 1 - R of one that is not.

With 1 and 0 the prioritizer would learn more from what sets answered pages apart from all others than from what sets
wanted pages apart: the R of the others is hardly ever so near 0 or 1.
"""


def next_revision(pages: int) -> int:
    """At how many pages the critic learns next: ever more rarely, so that it costs each page the same."""
    due = next((at for at in _FIRST if at > pages), 0)
    if due:
        return due
    at = float(_FIRST[-1])
    while at <= pages:
        at *= _GROWTH
    return int(at) + 1


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
        assert isinstance(store, VerdictStore)
        assert isinstance(visits.critic, LearningCritic)
        self._store, self._visits, self._trainer, self._untaught = store, visits, trainer, untaught
        self._most_pages = most_pages
        self._critic: LearningCritic = visits.critic
        self._read_pages = store.kept_pages()
        self._count = store.standing().pages
        answers = store.answers() if isinstance(store, AnswerStore) else {}
        self._answers = {link: one.is_wanted for link, one in answers.items() if one.is_wanted is not None}
        self._links: list[int] = []
        self._verdicts: list[Verdict] = []
        self._new = store.prioritizer
        self._lessons: Callable[[], Iterator[Lessons | None]] | None = None
        self._new_trainer = Trainer(trainer.every)

    def judge(self) -> bool:
        """The critic learns, and judges all pages anew; for a thread. False if there was nothing to learn."""
        new = self._critic.learn_from_pages(*self._pages())
        if new is None:
            return False
        self._critic = new
        for pages in self._read_pages():
            self._links += pages.links
            self._verdicts += self._judged(new, pages)
        return True

    def _pages(self) -> tuple[list[bytes], list[tuple[bytes, bool]]]:
        """Pages from the whole crawl, not more than a critic can learn from at once, and all that were answered."""
        step = 1 + self._count // _MOST_LEARNED
        kept = (pair for pages in self._read_pages() for pair in zip(pages.links, pages.gists, strict=True))
        sample: list[bytes] = []
        answered: list[tuple[bytes, bool]] = []
        for number, (link, gist) in enumerate(kept):
            if link in self._answers:
                answered.append((gist, self._answers[link]))
            elif not number % step:
                sample.append(gist)
        return sample, answered

    def _judged(self, critic: LearningCritic, pages: KeptPages) -> list[Verdict]:
        """The verdicts on some pages; what was answered is as good as certain."""
        verdicts = critic.judge_again(pages.gists)
        return [_with_answer(one, self._answers.get(link)) for link, one in zip(pages.links, verdicts, strict=True)]

    def adopt(self) -> None:
        """The new verdicts count from now on."""
        store, critic = self._store, self._critic
        assert isinstance(store, VerdictStore)
        self._visits.adopt_critic(critic)
        store.revise_verdicts(critic.version, self._links, self._verdicts)
        until_then = copy(store.prioritizer)
        until_then.critic = critic
        store.prioritizer = until_then
        self._new = self._untaught(critic)
        store.save_model(CRITIC, critic.learned(), critic.version)
        self._trainer.forget()
        if self._new.learns:
            # Should the crawl die now, all lessons are learned again when it goes on.
            store.save_model(MODEL, self._new.state(), 0)
        for pages in store.kept_pages(before=critic.version)():
            # They were through while the critic learned.
            store.revise_verdicts(critic.version, pages.links, self._judged(critic, pages))
        if self._new.learns:
            self._lessons = store.lessons_anew(self._most_pages)

    def teach(self) -> None:
        """Another prioritizer learns what there was to learn; for a thread."""
        if self._lessons is not None:
            self._new = self._new_trainer.catch_up(self._new, self._lessons())

    def adopt_prioritizer(self) -> None:
        """It takes the place of the one that had learned from other verdicts."""
        self._store.prioritizer = self._new
        self._trainer.go_on_from(self._new_trainer)
        self._visits.teach_open()


def _with_answer(verdict: Verdict, is_wanted: bool | None) -> Verdict:
    if is_wanted is None:
        return verdict
    relevance = max(verdict.relevance, _SURE) if is_wanted else min(verdict.relevance, 1 - _SURE)
    return Verdict(relevance, verdict.classes)
