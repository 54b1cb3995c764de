"""Learning together: one worker is the trainer, the others load what it publishes.

The role is held on a lease, renewed about each second; when its holder dies another worker takes it. The trainer
re-scores the frontier for all, and where the critic learns on the job, it is the trainer that has it learn. What takes
long is done in a thread, over a connection of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import partial
from threading import Lock
from time import monotonic
from typing import Any

from redis import Redis
from scrapy.crawler import Crawler
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.threads import deferToThread

from focused import signals
from focused.critics.base import LearningCritic, Verdict
from focused.defaults import read
from focused.frontier.store import Lease, StoreBroken
from focused.parts import Parts
from focused.prioritizers.base import Lessons, Prioritizer
from focused.redis.pool import Model, ModelDamaged
from focused.redis.server import CallRefused
from focused.redis.store import RedisStore
from focused.redis.workers.rescorer import Rescorer
from focused.redis.workers.trainer import PooledTrainer, RoleLost, Trained, restored
from focused.report.text import short
from focused.visits.revision import known_answers, learn_and_judge, next_revision
from focused.visits.seeds import restore_critic
from focused.visits.training import MODEL, Training

logger = logging.getLogger(__name__)

_LONGEST_ROLE, _SHORTEST_ROLE = 10.0, 3.0
# After learning or a re-scoring so many times as long is rested: a quarter of one processor is spent at most (by a
# re-scoring half of that, which rests while it is at work, too). To load what another learned must cost next to
# nothing.
_REST, _REST_LOADED = 3.0, 20.0
_AFTER_FAILURE = 1.0
RANKED = "preferred"
"""The note that says which links go before others in the order that Redis has."""


class PooledTraining(Training):
    """Lessons go to the store with the acknowledgement of their page; one of the workers learns them."""

    def __init__(self, parts: Parts, store: RedisStore) -> None:
        self._parts, self._store = parts, store

    def teach(self, lease: Lease, lessons: Lessons | None) -> None:
        """Have lessons go with a lease."""
        self._store.pool(lease, lessons)

    def save(self, untaught: Iterable[int]) -> None:
        """Whoever leaves, perhaps as the last one, leaves no page with the verdict of an older critic."""
        if (critic := self._parts.visits.learning_critic) is not None:
            self._store.settle_verdicts(critic)


class SharedLearning:
    """This worker's part in what all learn."""

    def __init__(self, crawler: Crawler, parts: Parts, store: RedisStore, client: Redis) -> None:
        settings = crawler.settings
        self.crawler, self.parts, self.store = crawler, parts, store
        self._client, self._pool = client, store.pool_over(client)
        self._role = max(min(read(settings, "FOCUSED_LEASE_SECONDS") / 2, _LONGEST_ROLE), _SHORTEST_ROLE)
        self._most_waiting: int = read(settings, "FOCUSED_MOST_WAITING")
        self._most_anew: int = read(settings, "FOCUSED_LESSONS_ANEW")
        self._rescorer = Rescorer(settings, store.server, self._pool)
        self._trainer: PooledTrainer | None = None
        # What was published while this worker joined is told with its first sign of life.
        self._version = 0
        # Of the critic: the newest version that this worker has seen, the newest whose verdicts it has announced, and
        # with how many pages and answers it tried to learn.
        self._critic_version = self._told_version = parts.visits.critic.version
        self._tried_at = self._tried_answers = 0
        self._closing = Lock()
        self._is_stale = False
        self._ranked = store.noted(RANKED) or ""
        self._rests_until = self._next_step = 0.0
        self._trains = self._has_begun = self._busy = self._is_closed = False

    def renew(self) -> None:
        """Take or keep the role of the trainer, if it is free and there is something to do for one."""
        others_come_first = self._preferred != self._ranked
        wanted = self.parts.prioritizer.learns or self._most_waiting > 0 or self._critic is not None
        self._trains = (wanted or others_come_first) and self.store.train(self._role)
        if others_come_first and self._trains:
            # Another worker may have seen to it.
            self._ranked = self.store.noted(RANKED) or ""
            self._is_stale |= self._preferred != self._ranked
        if not self._trains:
            # Should the one who has the role die, what could not be published is tried again.
            self._tried_answers = 0

    @property
    def _preferred(self) -> str:
        return "\n".join(self.store.preferred.texts)

    def tell(self) -> None:
        """Tell the other components, once all pages were judged by the newest critic."""
        version = self.parts.visits.critic.version
        if version == self.store.standing().critic != self._told_version and not self._has_outdated():
            self._told_version = version
            self.crawler.signals.send_catch_log(signals.verdicts_revised, spider=self.crawler.spider)

    @property
    def _critic(self) -> LearningCritic | None:
        return self.parts.visits.learning_critic

    @property
    def is_due(self) -> bool:
        """Is there something to do, and time to do it?"""
        if self._busy or self._is_closed or monotonic() < self._next_step:
            return False
        if self._is_critic_behind():
            return True
        if not self._trains:
            return self._trainer is not None or self.store.standing().model != self._version
        return self._has_lessons() or self._has_outdated() or self._is_revision_due() or self._may_rescore()

    def _has_lessons(self) -> bool:
        unread = self._trainer is None or self.store.standing().last_lesson > self._trainer.read
        return self.parts.prioritizer.learns and unread

    def _is_critic_behind(self) -> bool:
        return self.store.standing().critic > self._critic_version and self._critic is not None

    def _has_outdated(self) -> bool:
        critic, has_some = self._critic, self.store.standing().has_outdated
        return critic is not None and has_some and not self._pool.verdicts.has_failed(critic)

    @property
    def is_waited_for(self) -> bool:
        """Are there answers to be learned before the crawl may end, or is something being learned?"""
        return self._has_news() or (self._trains and self._busy)

    def _has_news(self) -> bool:
        """Are there answers that the critic may learn from, and has not?"""
        standing = self.store.standing()
        return self._critic is not None and standing.answers > max(standing.learned_answers, self._tried_answers)

    def _is_revision_due(self) -> bool:
        standing = self.store.standing()
        due = next_revision(max(standing.learned_at, self._tried_at))
        return self._critic is not None and (standing.pages >= due or self._has_news())

    def _may_rescore(self) -> bool:
        crowded = 0 < self._most_waiting < self.store.standing().waiting
        return (self._is_stale or crowded) and monotonic() >= self._rests_until

    async def step(self) -> None:
        """Do what there is to do now."""
        self._busy, began = True, monotonic()
        try:
            if self._is_critic_behind():
                await self._follow_critic()
            await (self._train() if self._trains else self._follow())
            rest = (_REST if self._trains else _REST_LOADED) * (monotonic() - began)
        except Exception as error:
            self._tell(error)
            # What is not published yet is learned again.
            self._trainer, rest = None, _AFTER_FAILURE
        self._busy = False
        self._next_step = monotonic() + rest

    def _tell(self, error: Exception) -> None:
        """Why a step came to nothing; the crawl goes on with what it knew."""
        if self._is_closed:
            return
        if isinstance(error, StoreBroken) and not isinstance(error, CallRefused | ModelDamaged):
            # Redis was away for a moment: it was not the critic that failed.
            self._tried_answers = 0
        if isinstance(error, RoleLost):
            logger.info("Another worker is the trainer by now")
            self._trains = False
        elif isinstance(error, ModelDamaged):
            self._version, self._critic_version = self.store.standing().model, self.store.standing().critic
            self.crawler.stats.inc_value("focused/training/refused")
            logger.warning("%s. The crawl goes on with what it knew", error)
        elif isinstance(error, CallRefused):
            # It would fail again, for whoever trains.
            assert self.parts.frontier is not None
            self.parts.frontier.give_up(error)
        elif not isinstance(error, StoreBroken):  # if Redis is away the crawl notices
            self.crawler.stats.inc_value("focused/training/failed")
            # What it was to learn from came from Redis, and may be anything.
            why = short(f"{type(error).__name__}: {error}", 500)
            logger.error(
                "Learning failed (%s); the crawl goes on with what it had learned. LOG_LEVEL=DEBUG shows where", why
            )
            logger.debug("The step failed here:", exc_info=error)

    def close(self) -> None:
        """Let go of the connection; what is at work in the thread ends by itself."""
        with self._closing:
            self._is_closed = True
        if self._pool.unreadable:
            self.crawler.stats.set_value("focused/lesson/unreadable", self._pool.unreadable)
        self._rescorer.close()
        self._client.close()

    async def _follow(self) -> None:
        """Load what the trainer published."""
        self._trainer, self._has_begun = None, False
        if self.store.standing().model == self._version:
            return
        version = self.store.standing().model
        loaded = await _in_thread(self._load)
        if loaded is None:
            # It was deleted.
            self._version = version
            return
        prioritizer, model = loaded
        self.store.adopt(prioritizer, model.stamp)
        self._version = model.version
        self.crawler.stats.inc_value("focused/training/loaded")

    def _load(self) -> tuple[Prioritizer, Model] | None:
        model = self._pool.model(MODEL)
        return (restored(self.store.prioritizer, model), model) if model else None

    # --- the critic --------------------------------------------------------------------------------------------

    async def _follow_critic(self) -> None:
        """Judge by the critic that the trainer published."""
        if (critic := self._critic) is not None:
            self._adopt_critic(await _in_thread(partial(self._pool.newest, critic)))

    def _adopt_critic(self, critic: LearningCritic) -> None:
        self._critic_version = critic.version
        # While this one learned, others may have shown theirs a seed.
        restore_critic(critic, self.store)
        self.parts.visits.adopt_critic(critic)
        self.store.adopt_critic(critic)
        # Whoever trains begins anew; links are scored by what the critic says now.
        self._trainer, self._is_stale = None, True
        self.crawler.stats.set_value("focused/critic/version", critic.version)

    async def _revise(self, critic: LearningCritic) -> None:
        """The critic learns, and all pages are judged anew."""
        standing = self.store.standing()
        self._tried_at, self._tried_answers = standing.pages, standing.answers
        learned = await _in_thread(partial(self._learn_critic, critic, standing.pages, standing.answers))
        if learned is None:
            return
        new, links, verdicts = learned
        self._adopt_critic(new)
        await _in_thread(partial(self._pool.verdicts.revise, new.version, links, verdicts))
        not_anew = max(self.store.standing().pages - self._most_anew, 0)
        self.crawler.stats.set_value("focused/lesson/not_anew", not_anew)

    def _learn_critic(
        self, critic: LearningCritic, pages: int, answers: int
    ) -> tuple[LearningCritic, list[int], list[Verdict]] | None:
        verdicts = self._pool.verdicts
        learned = learn_and_judge(critic, verdicts.kept_pages(), pages, known_answers(verdicts.answers()))
        # What is published after this worker has left would be nobody's to go on with.
        with self._closing:
            if learned is not None and (self._is_closed or not self._pool.publish_critic(learned[0], pages, answers)):
                raise RoleLost
        return learned

    # --- the prioritizer ---------------------------------------------------------------------------------------

    async def _train(self) -> None:
        critic = self._critic
        if critic is not None and self._is_revision_due():
            await self._revise(critic)
        if self._critic is not None and self._has_outdated():
            await _in_thread(partial(self._pool.verdicts.settle, self._critic))
        if self.parts.prioritizer.learns:
            trained = await _in_thread(self._learn)
            if trained is not None:
                self._adopt(trained)
        if self._may_rescore():
            await self._rescore()

    def _learn(self) -> Trained | None:
        if self._trainer is None:
            self._trainer = PooledTrainer(
                self._pool,
                self.store.prioritizer,
                self.parts.trainer.every,
                untaught=partial(self.parts.untaught, self.crawler.settings),
                most_anew=self._most_anew,
            )
            if not self._has_begun:
                logger.info("This worker is the trainer")
            self._has_begun = True
        return self._trainer.train()

    def _adopt(self, trained: Trained) -> None:
        self.store.adopt(trained.prioritizer, trained.stamp)
        self._version = trained.version
        self._is_stale = True
        stats = self.crawler.stats
        stats.inc_value("focused/training/batches", trained.batches)
        if trained.failed:
            stats.inc_value("focused/training/failed", trained.failed)
        self.crawler.signals.send_catch_log(
            signals.prioritizer_trained, lessons=trained.lessons, spider=self.crawler.spider
        )

    async def _rescore(self) -> None:
        began, rows, preferred = monotonic(), self.store.standing().evidence, self._preferred
        await _in_thread(partial(self._rescorer.run, self.store.prioritizer, rows))
        self._is_stale = False
        if preferred != self._ranked and not self.store.server.is_ending():
            self.store.note(RANKED, preferred)
            self._ranked = preferred
        self._rests_until = monotonic() + _REST * (monotonic() - began)
        self.crawler.stats.inc_value("focused/rescore/count")
        self.crawler.stats.inc_value("focused/rescore/rows", rows)


async def _in_thread(work: Any) -> Any:
    return await maybe_deferred_to_future(deferToThread(work))
