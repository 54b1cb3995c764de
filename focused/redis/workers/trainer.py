"""The trainer: the one worker that learns what the lessons of all teach, and gives the model to the others.

Lessons lie in Redis in the order in which pages were acknowledged, and are learned in the batches that
`focused.prioritizers.trainer` says. A model is published together with the number of the last lessons that it knows;
only then are these let go of. So a trainer that dies, or loses its role, takes nothing with it: whoever is next begins
with what was published, and with the lessons after that.
"""

from __future__ import annotations

import logging
from copy import deepcopy
from dataclasses import dataclass

from focused.prioritizers.base import Prioritizer
from focused.prioritizers.trainer import Trainer
from focused.redis.lessons import Pooled
from focused.redis.pool import Model, ModelDamaged, Pool
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
    """Begins with what was published last. All of it is work for a thread. ``read``: the last lessons it looked at."""

    def __init__(self, pool: Pool, prioritizer: Prioritizer, every: int) -> None:
        self._pool = pool
        self._prioritizer, self.read = _begun(pool, prioritizer)
        self._known = self.read
        self._trainer = Trainer(every)
        self._trainer.begin_at(self._known)

    def train(self) -> Trained | None:
        """Learn what has come, and publish it; None if there was not enough for a batch, or the role is lost."""
        before, lessons, batches, failed = self._prioritizer, self._trainer.learned, 0, 0
        for pooled in self._pool.lessons_after(self.read, _AT_ONCE):
            if not self._take(pooled):
                continue
            batches += 1
            failed += not self._learn()
        if self._prioritizer is before and not failed:
            return None
        published = self._pool.publish(MODEL, self._prioritizer.state(), self._known)
        if published is None:
            raise RoleLost
        return Trained(self._prioritizer, *published, batches, self._trainer.learned - lessons, failed)

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


def _begun(pool: Pool, prioritizer: Prioritizer) -> tuple[Prioritizer, int]:
    """What was published last, and the number of the last lessons it knows."""
    try:
        model = pool.model(MODEL)
        return (restored(prioritizer, model), model.upto) if model else (prioritizer, 0)
    except ModelDamaged as error:
        logger.warning("%s. This worker teaches from what it knows itself", error)
        return prioritizer, 0


def restored(prioritizer: Prioritizer, model: Model) -> Prioritizer:
    """A snapshot with what was published; the given one, which scores at the same time, stays as it is."""
    new = deepcopy(prioritizer, {id(prioritizer.critic): prioritizer.critic})
    try:
        new.restore(model.state)
    except (ValueError, KeyError) as error:
        raise ModelDamaged(f"version {model.version} of the model in Redis does not fit: {error}") from error
    return new
