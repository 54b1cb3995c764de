"""Has the prioritizer learn after every batch of pages, and puts the frontier in order anew.

Learning and scoring run in a thread, over snapshots; the page that triggered them waits, others go on. With one
request at a time the crawl is therefore the same whatever the machine's speed.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from scrapy.crawler import Crawler
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread

from focused import signals
from focused.arrays import Damaged
from focused.asking import Asking
from focused.critics.base import Critic
from focused.defaults import read
from focused.frontier.store import AnswerStore, StoreBroken
from focused.job import OpenJob
from focused.prioritizers.base import Prioritizer
from focused.prioritizers.trainer import Trainer
from focused.visits.revision import Revision, next_revision
from focused.visits.visit import Visit
from focused.visits.visits import Visits

if TYPE_CHECKING:
    from focused.scheduling.dispatcher import Dispatcher

logger = logging.getLogger(__name__)


class Learning:
    """Triggers learning and re-scoring in a crawl of its own. Workers that share a crawl learn elsewhere.

    ``untaught`` makes a prioritizer that has learned nothing in this crawl, for a critic.
    """

    def __init__(
        self,
        crawler: Crawler,
        job: OpenJob,
        frontier: Dispatcher,
        visits: Visits,
        trainer: Trainer,
        *,
        untaught: Callable[[Critic], Prioritizer],
    ) -> None:
        self.crawler = crawler
        self._job, self._frontier, self._visits, self._trainer = job, frontier, visits, trainer
        self._untaught = untaught
        self._most_anew: int = read(crawler.settings, "FOCUSED_LESSONS_ANEW")
        self._next_revision = next_revision(job.store.standing().pages)
        self._per_page: int = read(crawler.settings, "FOCUSED_RESCORE_PER_PAGE")
        self._save_every: int = read(crawler.settings, "FOCUSED_SAVE_EVERY")
        self._asking = Asking(crawler, job.store, visits.critic, job.candidates)
        self._credit = 0
        self._busy = False
        self._waiting: list[Deferred[None]] = []
        # Of what somebody said of pages, so much was learned: nothing, as it may have been killed before.
        self._heard = 0
        if visits.critic.is_learning and visits.learning_critic is None:
            logger.info(
                "The critic %s judges by what was given: where this job is kept, no page can be judged anew",
                visits.critic.name,
            )

    async def page_done(self, visit: Visit) -> None:
        """Label the page's lessons, count it, and learn if a batch is due."""
        if visit.has_taught or not visit.is_recorded:
            return
        self._credit += self._per_page
        try:
            is_due = self._visits.is_learning_due(visit)
            self._asking.add(visit)
            if self._asking.is_due:
                await self._asking.ask()
            if self._busy:
                return
            if self._is_revision_due():
                await self._learn(self._revise)
                # What came in meanwhile.
                is_due = True
            if is_due:
                await self._learn(self._train)
        except StoreBroken as error:
            self._frontier.give_up(error)

    async def _learn(self, work: Callable[[], Awaitable[None]]) -> None:
        self._busy = True
        try:
            await work()
        except StoreBroken:
            raise
        except Exception as error:
            self._failed(error)
        finally:
            self._busy = False
            waiting, self._waiting = self._waiting, []
            for each in waiting:
                each.callback(None)

    async def rest(self) -> None:
        """Wait until nothing is being learned any more."""
        while self._busy:
            self._waiting.append(Deferred())
            await maybe_deferred_to_future(self._waiting[-1])

    def _failed(self, error: Exception) -> None:
        """A learner that fails costs its lessons, not the page."""
        if isinstance(error, Damaged):
            logger.warning("Critic or prioritizer could not learn from the job (%s); the crawl goes on", error)
        else:
            why = "Critic or prioritizer could not learn; the crawl goes on with what they knew"
            logger.error(why, exc_info=error)
        self.crawler.stats.inc_value("focused/training/failed")

    def _is_revision_due(self) -> bool:
        if not self._job.training.learns_here or self._visits.learning_critic is None:
            return False
        return self._has_news() or self._job.store.standing().pages >= self._next_revision

    def _has_news(self) -> bool:
        store = self._job.store
        return isinstance(store, AnswerStore) and store.news > self._heard

    @property
    def is_waited_for(self) -> bool:
        """Is something learned here that the crawl must not end without?"""
        can_learn = self._job.training.learns_here and self._visits.learning_critic is not None
        return can_learn and (self._busy or self._has_news())

    async def heed(self) -> None:
        """Learn at once what somebody has said of pages, unless something is being learned now."""
        if self._busy or not (self.is_waited_for and self._has_news()):
            return
        try:
            await self._learn(self._revise)
        except StoreBroken as error:
            self._frontier.give_up(error)

    def catch_up(self) -> None:
        """As `heed`, before the crawl begins, when there is nothing to wait for it.

        It may have ended before all was learned that somebody had said.
        """
        if not self.is_waited_for:
            return
        try:
            self._revise_now()
        except StoreBroken as error:
            self._frontier.give_up(error)
        except Exception as error:
            self._failed(error)

    def _revise_now(self) -> None:
        revision = self._revision()
        if not revision.judge():
            return
        self._adopt(revision)
        revision.teach()
        revision.adopt_prioritizer()
        rescoring = self._job.store.rescoring()
        rescoring.score()
        rescoring.adopt()
        self._job.training.save(self._visits.untaught())
        self._tell_revised()

    async def _revise(self) -> None:
        """The critic learns; pages are judged, the prioritizer is taught, and all that waits is scored anew."""
        revision = self._revision()
        if not await maybe_deferred_to_future(deferToThread(revision.judge)):
            return
        self._adopt(revision)
        await maybe_deferred_to_future(deferToThread(revision.teach))
        revision.adopt_prioritizer()
        await self._rescore(at_any_cost=True)
        self._job.training.save(self._visits.untaught())
        self._tell_revised()

    def _revision(self) -> Revision:
        store = self._job.store
        self._next_revision = next_revision(store.standing().pages)
        self._heard = store.news if isinstance(store, AnswerStore) else 0
        return Revision(store, self._visits, self._trainer, self._untaught, most_pages=self._most_anew)

    def _adopt(self, revision: Revision) -> None:
        revision.adopt()
        stats = self.crawler.stats
        stats.set_value("focused/critic/version", self._visits.critic.version)
        if revision.is_taught_anew:
            not_anew = max(self._job.store.standing().pages - self._most_anew, 0)
            stats.set_value("focused/lesson/not_anew", not_anew)

    def _tell_revised(self) -> None:
        self.crawler.signals.send_catch_log(signals.verdicts_revised, spider=self.crawler.spider)

    async def _train(self) -> None:
        store, batch = self._job.store, self._trainer.take_batch()
        if batch is None:
            return
        new = await maybe_deferred_to_future(deferToThread(store.prioritizer.learn, batch))
        if new is None:
            return
        store.prioritizer = self._trainer.caught_up(new)
        await self._rescore()
        stats = self.crawler.stats
        stats.inc_value("focused/training/batches")
        if stats.get_value("focused/training/batches") % self._save_every == 0:
            self._job.training.save(self._visits.untaught())
        self.crawler.signals.send_catch_log(signals.prioritizer_trained, lessons=len(batch), spider=self.crawler.spider)

    async def _rescore(self, *, at_any_cost: bool = False) -> None:
        """Score everything that waits, while that is cheap or paid for; else links are scored as they are taken."""
        store = self._job.store
        if store.rescoring_cost > self._credit and not at_any_cost:
            self.crawler.stats.inc_value("focused/rescore/put_off")
            return
        rows = store.standing().evidence
        self._credit = max(0, self._credit - rows)
        rescoring = store.rescoring()
        try:
            await maybe_deferred_to_future(deferToThread(rescoring.score))
        finally:
            rescoring.adopt()
        self.crawler.stats.inc_value("focused/rescore/count")
        self.crawler.stats.inc_value("focused/rescore/rows", rows)

    def close(self) -> None:
        """Keep what was learned."""
        # A store that broke has told so.
        with suppress(StoreBroken):
            self._job.training.save(self._visits.untaught())
