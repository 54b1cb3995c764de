"""The steps of a crawl for each response: judge, record, label, learn.

Whoever asks first has a step taken, and it is taken once: a downloader middleware before the callback runs, the item
pipelines for our items, a spider middleware when the callback has ended, and at the latest the end of the visit.
Lessons are made here and nowhere else: of a page, of links that are found to pages fetched before, of dead links and
of redirects.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from focused.critics.base import Critic, LearningCritic, Verdict
from focused.frontier.store import Admitted, FrontierStore, Lease, NewLink, Outcome, PageRecord, VerdictStore
from focused.pages.page import Page
from focused.safety.scope import Scope
from focused.visits.seeds import learn_from_seed
from focused.visits.training import Training
from focused.visits.visit import FoundLinks, Scored, Visit

logger = logging.getLogger(__name__)

UNFOLLOWED = "unfollowed"
"""The note of a job that says how many links were not followed, since their pages had the content of others."""


class Visits:
    """All responses that are at work, each found by its token."""

    def __init__(
        self,
        store: FrontierStore,
        critic: Critic,
        training: Training,
        scope: Scope,
        *,
        count: Callable[[str, float], None],
        judged: Callable[[PageRecord], object],
        follow_duplicates: bool = False,
        follow_from: float = 0.0,
    ) -> None:
        self._store, self.critic, self._training, self._scope = store, critic, training, scope
        # What adds to a statistic, and who is told of each page that counts.
        self._count, self._judged = count, judged
        self._follow_duplicates, self._follow_from = follow_duplicates, follow_from
        self._can_revise = isinstance(store, VerdictStore)
        self._open: dict[int, Visit] = {}
        self._left_out: set[str] = set()
        self._has_poor = False

    @property
    def learning_critic(self) -> LearningCritic | None:
        """The critic, if it goes on learning and the store can have its pages judged anew."""
        is_learning = self._can_revise and self.critic.is_learning
        return self.critic if is_learning and isinstance(self.critic, LearningCritic) else None

    def begin(self, lease: Lease) -> Visit:
        """The visit of a lease; a retry or a redirect goes on with it."""
        visit = self._open.setdefault(lease.token, Visit(lease))
        visit.lease = lease
        return visit

    def of(self, token: int) -> Visit | None:
        """The visit that a token stands for, until it has ended."""
        return self._open.get(token)

    def untaught(self) -> Iterator[int]:
        """The numbers of the pages whose lessons are still to come."""
        return (v.record.order for v in self._open.values() if v.record is not None and not v.has_taught)

    # --- before the callback -----------------------------------------------------------------------------------

    def take_in(self, visit: Visit, page: Page) -> None:
        """Judge a page; number it and compare it with those before, if it was leased."""
        if visit.page is not None:
            return
        for what, count in page.left_out.items():
            if what not in self._left_out:
                self._left_out.add(what)
                logger.info(
                    "%s was not read completely (left out: %s: %d). "
                    "Further cases are only counted, in focused/page/left_out/%s",
                    page.url, what, count, what,
                )  # fmt: skip
            self._count(f"focused/page/left_out/{what}", count)
        if visit.lease.seed:
            learn_from_seed(self.critic, self._store, page)
        critic = self.learning_critic if visit.token else None
        gist = critic.gist(page) if critic is not None else b""
        verdict = judge(self.critic, page, gist)
        visit.page = page
        if not visit.token:
            return
        visit.time = datetime.now(UTC).isoformat(timespec="seconds")
        record = PageRecord(
            0, page.url, verdict.relevance, page.digest, page.is_short, title=page.title, best_class=verdict.best_class
        )
        if critic is not None:
            record.version, record.gist = critic.version, gist
        self._store.record(visit.lease, record)
        visit.record = record
        visit.is_followed = visit.is_recorded and self._is_followed(visit)
        visit.label = self._label_of(visit)

    def _is_followed(self, visit: Visit) -> bool:
        if visit.is_duplicate and not self._follow_duplicates:
            return False
        return visit.verdict.relevance >= self._follow_from

    def _label_of(self, visit: Visit) -> str | None:
        """What the prioritizer says of the page's place on its path; None if it does not tell such things."""
        prioritizer = self._store.prioritizer
        if not prioritizer.labels_pages or not visit.is_recorded:
            return None
        assert visit.page is not None
        arrived_by = self._store.evidence_of(visit.lease)
        return prioritizer.label_of(visit.page, visit.verdict, arrived_by=arrived_by)

    def links_of(self, visit: Visit) -> FoundLinks:
        """The links of a page that are in scope, and what the frontier knows of them: asked once a page."""
        if visit.links is None:
            assert visit.page is not None
            admitted = self._scope.admit(visit.page.links.urls, visit.lease.depth + 1)
            rows = [i for i, url in enumerate(admitted) if url]
            urls = [url for url in admitted if url]
            visit.links = self.ask(rows, urls)
        return visit.links

    def ask(self, rows: list[int], urls: list[str]) -> FoundLinks:
        """What the frontier knows of some links of a page."""
        return FoundLinks(rows, urls, self._store.known(urls))

    def admit(self, visit: Visit | None, links: Sequence[NewLink], scored: Scored | None) -> Admitted:
        """Admit links of a page, those with evidence first.

        Those to pages fetched before are late lessons.
        """
        lease = visit.lease if visit is not None else None
        admitted = self._store.admit(lease, links, *((scored.evidence, scored.scores) if scored else ()))
        if lease is not None:
            self._training.teach(lease, admitted.lessons)
        return admitted

    # --- when the callback has ended ---------------------------------------------------------------------------

    def count(self, visit: Visit) -> None:
        """The page counts: its callback did not fail."""
        if visit.is_counted or not visit.is_recorded:
            return
        visit.is_counted = True
        assert visit.record is not None
        if visit.is_duplicate:
            self._count("focused/page/duplicates", 1)
        else:
            self._count("focused/relevance/sum", visit.record.relevance)
        if not visit.is_followed:
            self._count_unfollowed(visit)
        self._count("focused/page/judged", 1)
        self._judged(visit.record)

    def _count_unfollowed(self, visit: Visit) -> None:
        unfollowed = len(self.links_of(visit).unknown())
        if not unfollowed:
            return
        if visit.is_duplicate and not self._follow_duplicates:
            self._count("focused/link/unfollowed", unfollowed)
            self._store.revise(UNFOLLOWED, lambda before: str(int(before or 0) + unfollowed))
            return
        if not self._has_poor:
            self._has_poor = True
            logger.info(
                "The links of %s are not followed: its relevance is %.3g, and FOCUSED_FOLLOW_FROM is %g. "
                "Further cases are only counted, in focused/link/of_poor_pages",
                visit.lease.url, visit.verdict.relevance, self._follow_from,
            )  # fmt: skip
        self._count("focused/link/of_poor_pages", unfollowed)

    def label(self, visit: Visit) -> None:
        """The verdict on a page *v* becomes the label of every known link (*u*, *v*)."""
        self.count(visit)
        if visit.is_labelled or not visit.is_recorded:
            return
        visit.is_labelled = True
        lessons = self._store.lessons_of(visit.lease) if self._store.prioritizer.learns else None
        if lessons is not None:
            self._training.teach(visit.lease, lessons)
            self._count("focused/lesson/count", len(lessons))

    def is_learning_due(self, visit: Visit) -> bool:
        """Count the page as taught; True when a batch is to be learned now."""
        self.label(visit)
        if visit.has_taught or not visit.is_recorded:
            return False
        visit.has_taught = True
        assert visit.record is not None
        return self._training.page_done(visit.record.order)

    # --- when the critic has learned ---------------------------------------------------------------------------

    def adopt_critic(self, critic: LearningCritic) -> None:
        """Another snapshot of the critic judges from now on, pages that are at work included."""
        self.critic = critic
        for visit in self._open.values():
            if visit.page is None:
                continue
            visit.page.verdict = None
            verdict = judge(critic, visit.page)
            if visit.record is not None:
                record = visit.record
                record.version = critic.version
                record.relevance, record.best_class = verdict.relevance, verdict.best_class

    def teach_open(self) -> None:
        """Teach what pages that are still at work have taught before: it was forgotten."""
        for visit in self._open.values():
            if visit.is_labelled and visit.is_recorded and self._store.prioritizer.learns:
                self._training.teach(visit.lease, self._store.lessons_of(visit.lease))

    # --- the end -----------------------------------------------------------------------------------------------

    def end(self, lease: Lease, outcome: Outcome, detail: str) -> Outcome:
        """A visit is through: what was not done yet is done, and its link is acknowledged."""
        visit = self._open.pop(lease.token)
        if visit.is_recorded and outcome is not Outcome.FAILED:
            self.label(visit)
        elif outcome.is_gone or lease.was_redirected:
            self._training.teach(lease, self._store.lessons_of(lease))
        return self._store.acknowledge(lease, outcome, detail)

    def forget(self, lease: Lease) -> None:
        """A visit comes to nothing: its link is fetched again another time, or by another worker."""
        self._open.pop(lease.token, None)


def judge(critic: Critic, page: Page, gist: bytes = b"") -> Verdict:
    """The verdict on a page, from what is kept of it if that is there: made on first need, then remembered on it."""
    if page.verdict is None:
        if gist and isinstance(critic, LearningCritic):
            (verdict,) = critic.judge_again([gist])
        else:
            verdict = critic.judge(page)
        if not 0.0 <= verdict.relevance <= 1.0:
            raise ValueError(
                f"the critic {critic.name!r} gives {page.url} the relevance {verdict.relevance}: "
                f"it must be a number from 0 to 1"
            )
        page.verdict = verdict
    return page.verdict
