"""The trainer: the one worker that learns what the lessons of all teach, and gives the model to the others.

Lessons lie in Redis in the order in which pages were acknowledged, and are learned in the batches that
`focused.prioritizers.trainer` says. A model is published together with the number of the last lessons that it knows;
only then are these let go of. So a trainer that dies, or loses its role, takes nothing with it: whoever is next begins
with what was published, and with the lessons after that.

A model that was taught by the verdicts of an older critic is not gone on with: another prioritizer, which knows nothing
yet, is taught anew, by the lessons of the newest pages and the verdicts that they have now.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass

from focused.critics.base import Critic
from focused.prioritizers.base import Prioritizer
from focused.prioritizers.trainer import Trainer
from focused.redis.lessons import Pooled
from focused.redis.pool import Model, ModelDamaged, Pool
from focused.redis.records import version_of
from focused.redis.server import UNREADABLE
from focused.visits.training import MODEL

logger = logging.getLogger(__name__)

# Lessons that wait (of a crawl that nobody trained for a while) are learned so many pages at a time.
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Trained:
    """What came of one round: the new snapshot, how it is known to all, and what it was made of."""

    prioritizer: Prioritizer
    version: int
    stamp: int
    batches: int
    lessons: int
    failed: int


class PooledTrainer:
    """Begins with what was published last. All of it is work for a thread. ``read``: the last lessons it looked at.

    ``untaught`` makes a prioritizer that has learned nothing in this crawl, to be taught anew by at most ``most_anew``
    pages.
    """

    def __init__(
        self,
        pool: Pool,
        prioritizer: Prioritizer,
        every: int,
        *,
        untaught: Callable[[Critic], Prioritizer] | None = None,
        most_anew: int = 0,
    ) -> None:
        self._pool, self._untaught, self._most_anew = pool, untaught, most_anew
        self._prioritizer, self.read, self._taught_by = _begun(pool, prioritizer)
        self._known = self.read
        self._trainer = Trainer(every)
        self._trainer.begin_at(self._known)

    @property
    def is_to_begin_anew(self) -> bool:
        """Is what was learned from the verdicts of an older critic?"""
        return self._taught_by != version_of(self._prioritizer)

    def train(self) -> Trained | None:
        """Learn what has come, and publish it; None if there was not enough for a batch, or the role is lost."""
        before, lessons = self._prioritizer, self._trainer.learned
        if self.is_to_begin_anew:
            lessons = 0
            batches, failed = self._begin_anew()
        else:
            pooled = self._pool.lessons_after(self.read, _AT_ONCE)
            if self._taught_by:
                pooled = self._pool.verdicts.by_now(pooled, self._prioritizer)
            batches, failed = self._go_on(pooled)
        if self._prioritizer is before and not failed:
            return None
        published = self._pool.publish(MODEL, self._prioritizer.state(), self._known, self._taught_by)
        if published is None:
            raise RoleLost
        return Trained(self._prioritizer, *published, batches, self._trainer.learned - lessons, failed)

    def _begin_anew(self) -> tuple[int, int]:
        """Another prioritizer is taught all there is to teach, the last lessons included, be they a batch or not."""
        assert self._untaught is not None
        assert self._prioritizer.critic is not None
        self._prioritizer = self._untaught(self._prioritizer.critic)
        self._trainer = Trainer(self._trainer.every)
        batches, failed = self._go_on(self._pool.lessons_anew(self._prioritizer, self._most_anew))
        failed += not self._learn()
        self._taught_by = version_of(self._prioritizer)
        return batches + 1, failed

    def _go_on(self, lessons: Iterable[Pooled]) -> tuple[int, int]:
        """Learn lessons in batches; how many batches there were, and how many of them could not be learned."""
        batches = failed = 0
        for pooled in lessons:
            if self._take(pooled):
                batches += 1
                failed += not self._learn()
        return batches, failed

    def _take(self, pooled: Pooled) -> bool:
        """True when a batch is due."""
        self.read = pooled.number
        self._trainer.add(pooled.lessons)
        return pooled.is_page and self._trainer.page_done()

    def _learn(self) -> bool:
        batch, self._known = self._trainer.take_batch(), self.read
        if batch is None:
            return True
        try:
            self._prioritizer = self._prioritizer.learn(batch) or self._prioritizer
        except Exception:
            # A learner that fails costs its lessons, not the crawl.
            logger.exception("The prioritizer could not learn; the crawl goes on with what it knew")
            return False
        return True


class RoleLost(RuntimeError):
    """Another worker is the trainer by now."""


def _begun(pool: Pool, prioritizer: Prioritizer) -> tuple[Prioritizer, int, int]:
    """What was published last, the number of the last lessons it knows, and the critic whose verdicts taught it."""
    try:
        model = pool.model(MODEL)
        if model is not None:
            return restored(prioritizer, model), model.upto, model.critic
    except ModelDamaged as error:
        logger.warning("%s. This worker teaches from what it knows itself", error)
    return prioritizer, 0, version_of(prioritizer)


def restored(prioritizer: Prioritizer, model: Model) -> Prioritizer:
    """A snapshot with what was published; the given one, which scores at the same time, stays as it is."""
    new = deepcopy(prioritizer, {id(prioritizer.critic): prioritizer.critic})
    try:
        new.restore(model.state)
    except UNREADABLE as error:
        raise ModelDamaged(f"version {model.version} of the model in Redis does not fit: {error}") from error
    return new
