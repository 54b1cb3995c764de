"""What workers learn together, as it lies in Redis: pooled lessons, the model, the order that follows from it.

Everything here may be done in a thread, over a connection of its own, and may be done twice.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from numpy.typing import NDArray

from focused.arrays import load_arrays, save_arrays
from focused.critics.base import LearningCritic
from focused.frontier.store import StoreBroken
from focused.prioritizers.base import Prioritizer
from focused.redis.lessons import Pooled, bytes_to_pooled
from focused.redis.rescoring import SharedRescoring
from focused.redis.server import UNREADABLE, Server
from focused.redis.verdicts import SharedVerdicts
from focused.report.text import short
from focused.visits.training import CRITIC

logger = logging.getLogger(__name__)

_AT_ONCE = 500


class ModelDamaged(StoreBroken):
    """What lies in Redis is not what was published."""


@dataclass(frozen=True, slots=True)
class Model:
    """What was published: its version, the number of the last lessons it knows, and a stamp that no other one has.

    ``critic`` is the version of the critic by whose verdicts it was taught.
    """

    version: int
    upto: int
    stamp: int
    critic: int
    state: dict[str, NDArray[Any]]


class Pool:
    """The lessons of all workers and what was made of them. ``unreadable`` counts lessons that were left out."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.verdicts = SharedVerdicts(server)
        self.unreadable = 0

    def lessons_after(self, number: int, most: int) -> list[Pooled]:
        """The lessons that came after those with a number, at most so many."""
        first, raw = self._server.ask("lessons", number, most)
        return [self._pooled(int(first) + i, data) for i, data in enumerate(raw or [], 1)]

    def _pooled(self, number: int, data: bytes) -> Pooled:
        """Some lessons; none if they cannot be read, so that all others are learned nevertheless."""
        try:
            return bytes_to_pooled(number, data)
        except UNREADABLE as error:
            if not self.unreadable:
                logger.warning(
                    "Lessons in Redis cannot be read and are left out (%s). Further cases are only counted, in "
                    "focused/lesson/unreadable",
                    short(error, 200),
                )
            self.unreadable += 1
            return Pooled(number, False, 0, None)

    def lessons_anew(self, prioritizer: Prioritizer, most: int) -> Iterator[Pooled]:
        """The newest lessons, those that a model knew included, by the verdicts that pages have now."""
        taught, upto, _ = self._server.ask("taught", 0, 0)
        last = self._server.standing.last_lesson
        skipped = max(taught + last - upto - most, 0)
        for begin in range(skipped, taught, _AT_ONCE):
            _, _, raw = self._server.ask("taught", begin, min(_AT_ONCE, taught - begin))
            yield from self.verdicts.by_now([self._pooled(upto, data) for data in raw], prioritizer)
        for begin in range(upto + max(skipped - taught, 0), last, _AT_ONCE):
            pooled = self.lessons_after(begin, min(_AT_ONCE, last - begin))
            yield from self.verdicts.by_now(pooled, prioritizer)

    def publish(
        self, name: str, state: Mapping[str, NDArray[Any]], upto: int, critic: int = 0
    ) -> tuple[int, int] | None:
        """Give a model to all, with its version and stamp; None if another worker is the trainer now.

        ``critic`` is the version of the critic whose verdicts have taught it.
        """
        raw = save_arrays(state)
        digest = _digest(raw)
        version = self._server.ask("save_model", name, upto, digest, raw, critic)
        return (int(version), _stamp(digest)) if version else None

    def publish_critic(self, critic: LearningCritic, pages: int, answers: int = 0) -> bool:
        """Give the next version of the critic to all; False if another worker is the trainer, or was, meanwhile."""
        raw = save_arrays(critic.learned())
        return self.verdicts.publish(critic, raw, _digest(raw), pages, answers)

    def newest(self, critic: LearningCritic) -> LearningCritic:
        """The critic as it was published last; the given one, which judges at the same time, stays as it is."""
        model = self.model(CRITIC)
        if model is None or model.version == critic.version:
            return critic
        new = copy(critic)
        try:
            new.restore_learned(model.state)
        except UNREADABLE as error:
            raise ModelDamaged(f"version {model.version} of the critic in Redis does not fit: {error}") from error
        return new

    def model(self, name: str) -> Model | None:
        """What was published last; ModelDamaged if it is not whole."""
        kept = self._server.ask("load_model", name)
        if not kept:
            return None
        try:
            version, upto, digest, raw, critic = kept
            if _digest(raw) != digest:
                raise ValueError("it is not what was published")
            return Model(int(version), int(upto), _stamp(digest), int(critic), load_arrays(raw))
        except UNREADABLE as error:
            where = f"{self._server.prefix[:-1]} in Redis is damaged ({short(error, 200)}): delete its key"
            raise ModelDamaged(f"the model {name!r} of {where}") from error

    def rescoring(self, prioritizer: Prioritizer) -> SharedRescoring:
        """The work of scoring all that waits by a snapshot of the prioritizer."""
        return SharedRescoring(self._server, prioritizer, self.verdicts.relevance)


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _stamp(digest: bytes) -> int:
    return int.from_bytes(digest[:4], "big")
