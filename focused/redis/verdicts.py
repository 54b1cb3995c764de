"""Verdicts that change: what is kept of pages, so that a critic that has learned can judge them anew.

The trainer publishes each version of the critic first, and then revises the verdicts. So whoever dies in between leaves
pages whose version says that they are to be judged anew, and the next one does so. Everything here may be done in a
thread, over a connection of its own, and may be done twice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.arrays import known_or
from focused.critics.base import LearningCritic, Verdict
from focused.frontier.store import Answer, KeptPages, Outcome, StoreBroken
from focused.prioritizers.base import Lessons, Prioritizer
from focused.redis.lessons import Pooled
from focused.redis.records import bytes_to_answer, version_of
from focused.redis.server import Server
from focused.visits.revision import judge_again, known_answers

logger = logging.getLogger(__name__)

_VERDICT = np.dtype([("relevance", "<f8"), ("outcome", "u1")])
# Redis serves nobody else while it reads what is kept of so many pages, or writes or reads so many verdicts.
_GISTS_AT_ONCE = 100
_AT_ONCE = 500
_LONGEST_CLASS = 255


class SharedVerdicts:
    """The verdicts of all workers on the pages of a crawl."""

    def __init__(self, server: Server) -> None:
        self._server = server
        # A version that could not judge what it had to: it need not try again.
        self._failed = 0

    # --- reading -----------------------------------------------------------------------------------------------

    def kept_pages(self, before: int | None = None) -> Callable[[], Iterator[KeptPages]]:
        """As `focused.frontier.store.VerdictStore` says."""

        def read() -> Iterator[KeptPages]:
            self._server.ask("beat")
            last = self._server.standing.last_page
            for first in range(1, last + 1, _GISTS_AT_ONCE):
                yield self._kept(range(first, min(first + _GISTS_AT_ONCE, last + 1)), before)

        return read

    def answers(self) -> dict[int, Answer]:
        """As `focused.frontier.store.AnswerStore` says."""
        found = self._server.ask("answers")
        with self._server.whole("what was said of pages"):
            pairs = ((int.from_bytes(link, "big"), raw) for link, raw in zip(found[::2], found[1::2], strict=True))
            return {link: bytes_to_answer(link, raw) for link, raw in pairs}

    def _kept(self, orders: Sequence[int], before: int | None = None) -> KeptPages:
        found = self._server.ask("gists", list(orders), False if before is None else before)
        with self._server.whole("what is kept of pages"):
            return KeptPages([int(link) for link, _ in found], [bytes(gist) for _, gist in found])

    def relevance(self, links: NDArray[Any]) -> NDArray[np.float32]:
        """R of the pages behind some links; NaN where there is none."""
        return self._verdicts(links)["relevance"].astype(np.float32)

    def _verdicts(self, links: NDArray[Any]) -> NDArray[Any]:
        numbers, where = np.unique(links, return_inverse=True)
        parts = [
            self._server.ask("verdicts", numbers[begin : begin + _AT_ONCE].tolist())
            for begin in range(0, len(numbers), _AT_ONCE)
        ]
        with self._server.whole("the verdicts on pages"):
            verdicts = np.frombuffer(b"".join(parts), _VERDICT)
            if len(verdicts) != len(numbers) or np.any((verdicts["relevance"] < 0) | (verdicts["relevance"] > 1)):
                raise ValueError("a relevance is not from 0 to 1")
            return verdicts[where]

    def by_now(self, pooled: Sequence[Pooled], prioritizer: Prioritizer) -> list[Pooled]:
        """Lessons with the verdicts that the pages have now, and with evidence as the prioritizer's critic sees it."""
        taught = [one.lessons for one in pooled if one.lessons is not None]
        if not taught:
            return list(pooled)
        if isinstance(critic := prioritizer.critic, LearningCritic):
            self.settle(critic)
        together = Lessons.concat(taught)
        rows = len(together)
        found = self._verdicts(np.concatenate([together.evidence.link, together.evidence.source]))
        relevance, sources = (part.astype(np.float32) for part in np.split(found["relevance"], [rows]))
        # What a duplicate teaches stays 0.
        is_fixed = ~together.alive | ((found["outcome"][:rows] == Outcome.DUPLICATE) & (together.relevance == 0))
        together.relevance = np.where(is_fixed, together.relevance, known_or(relevance, together.relevance))
        together.source_relevance = known_or(sources, together.source_relevance)
        return [*_apart(pooled, together, prioritizer)]

    # --- changing ----------------------------------------------------------------------------------------------

    def publish(self, critic: LearningCritic, state: bytes, digest: bytes, pages: int, answers: int) -> bool:
        """Give all the next version of the critic, which knows so many pages and answers; False if there is one."""
        return bool(self._server.ask("save_critic", critic.version, pages, answers, digest, state))

    def revise(self, version: int, links: Sequence[int], verdicts: Sequence[Verdict]) -> None:
        """New verdicts take the place of older ones."""
        for begin in range(0, len(links), _AT_ONCE):
            some = verdicts[begin : begin + _AT_ONCE]
            self._server.ask(
                "revise_verdicts",
                version,
                list(links[begin : begin + _AT_ONCE]),
                [float(one.relevance) for one in some],
                [class_to_bytes(one.best_class) for one in some],
            )

    def has_failed(self, critic: LearningCritic) -> bool:
        """Could this version not judge all pages?"""
        return self._failed == critic.version

    def settle(self, critic: LearningCritic) -> None:
        """Have the newest critic judge all pages that have an older verdict.

        If that fails it is logged, and the pages keep the verdicts that they have.
        """
        self._server.ask("beat")
        standing = self._server.standing
        if not standing.has_outdated or standing.critic != critic.version or self.has_failed(critic):
            return
        answers = known_answers(self.answers())
        try:
            for pages in self._outdated(critic.version):
                self.revise(critic.version, pages.links, judge_again(critic, pages, answers))
        except StoreBroken:
            raise
        except Exception as error:
            self._failed = critic.version
            logger.warning("The critic could not judge pages anew (%r); they keep their verdicts", error)
            logger.debug("It failed here:", exc_info=True)

    def _outdated(self, version: int) -> Iterator[KeptPages]:
        """What is kept of pages with older verdicts, which must be judged before more of them are asked for."""
        if self._server.standing.judged < version:
            yield from self.kept_pages(before=version)()
            self._server.ask("judged", version)
        # Where another worker has published the next version, it is at this, too.
        while self._server.standing.critic == version and (orders := self._server.ask("outdated", _GISTS_AT_ONCE)):
            before = self._server.standing.outdated
            with self._server.whole("which pages are outdated"):
                numbers = [int(order) for order in orders]
            pages = self._kept(numbers)
            if not pages.links:
                # Redis has thrown away what was kept of them.
                return
            yield pages
            if self._server.standing.outdated >= before:
                # What is kept of them is of other pages.
                return


def class_to_bytes(name: str) -> bytes:
    """The name of a class as a page's record has it."""
    return name.encode("utf-8", "replace")[:_LONGEST_CLASS]


def _apart(pooled: Sequence[Pooled], together: Lessons, prioritizer: Prioritizer) -> Iterator[Pooled]:
    """Each with its own of all lessons, and with evidence as the critic sees it now."""
    end = 0
    for one in pooled:
        if one.lessons is None:
            yield one
            continue
        begin, end = end, end + len(one.lessons)
        lessons = together.select(np.arange(begin, end))
        if one.version != version_of(prioritizer):
            lessons.evidence = prioritizer.renewed(lessons.evidence, lessons.source_relevance)
        yield replace(one, lessons=lessons)
