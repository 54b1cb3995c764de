"""Asks a teacher about pages of the crawl: a function of the user's that says of each whether it is wanted.

It may be a language model, a service, a person at a terminal: it may be slow, fail, and answer nonsense. The crawl goes
on meanwhile, and without it. What it says is kept in the job, where the critic finds it when it learns.
"""

from __future__ import annotations

import logging
from asyncio import CancelledError
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from inspect import isclass, iscoroutinefunction
from threading import Thread
from typing import Any, Never

from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.misc import build_from_crawler
from twisted.internet.defer import Deferred
from twisted.internet.defer import TimeoutError as TimedOut
from twisted.internet.threads import deferToThread
from twisted.python.failure import Failure

from focused.critics.base import Critic, LearningCritic
from focused.defaults import read
from focused.frontier.store import Answer, AnswerStore, FrontierStore, Says
from focused.registry import UnknownName, find
from focused.starting import topic_of
from focused.visits.questions import Candidate, Candidates, Question, choose, next_questions
from focused.visits.visit import Visit

logger = logging.getLogger(__name__)

_FAILURES = 3
"""So often in a row a teacher may fail before it is not asked any more."""
_SAID = {True: Says.YES, False: Says.NO, None: Says.UNKNOWN}


class TeacherFailed(Exception):
    """A teacher gave no answers that can be used; the message says why."""


class Asking:
    """Chooses questions, asks the teacher, keeps the answers. Asks nothing in a crawl that has no teacher.

    Of several workers of a crawl one asks, about the pages of all.
    """

    def __init__(self, crawler: Crawler, store: FrontierStore, critic: Critic, candidates: Candidates) -> None:
        settings = crawler.settings
        self._stats, self._topic, self._store = crawler.stats, topic_of(crawler), store
        self._name: str = read(settings, "FOCUSED_TEACHER")
        self._at_once: int = read(settings, "FOCUSED_TEACHER_AT_ONCE")
        self._most: int = read(settings, "FOCUSED_TEACHER_ANSWERS")
        self._timeout: float = read(settings, "FOCUSED_TEACHER_TIMEOUT")
        self._candidates = candidates
        self._failures = self._left = 0
        self._is_asking = False
        try:
            if self._name:
                self._begin(crawler, store, critic)
        except TeacherFailed as error:
            logger.warning("The teacher %s is not asked: %s", self._name, error)

    def _begin(self, crawler: Crawler, store: FrontierStore, critic: Critic) -> None:
        if not isinstance(store, AnswerStore):
            raise TeacherFailed("the store of this job cannot keep answers")
        if not (isinstance(critic, LearningCritic) and critic.is_learning):
            raise TeacherFailed(f"the critic {critic.name} does not learn here")
        try:
            self._ask = make_teacher(self._name, crawler)
        except Exception as error:
            raise TeacherFailed(f"it cannot be made: {error!r}") from error
        self._count_left(store.answers())
        self._next = next_questions(store.standing().pages)

    def _count_left(self, answers: Mapping[int, Answer]) -> None:
        """How many answers are wanted still: earlier starts and other workers have asked, too."""
        given = sum(answer.who == self._name for answer in answers.values())
        self._left = max(self._most - given, 0)

    def add(self, visit: Visit) -> None:
        """A page has come in that may be asked about."""
        if self._left and not self._candidates.is_asking_here and self._is_time():
            self._leave_to_others()
        if self._left and visit.record is not None and not visit.is_duplicate:
            assert visit.page is not None
            self._candidates.add(Candidate.of(visit.record.link, visit.page))

    @property
    def is_due(self) -> bool:
        """Is it time to ask?"""
        return self._left > 0 and self._candidates.is_asking_here and not self._is_asking and self._is_time()

    def _is_time(self) -> bool:
        return self._store.standing().pages >= self._next

    def _leave_to_others(self) -> None:
        """It is another worker's turn; should this one take over, it goes on from here."""
        assert isinstance(self._store, AnswerStore)
        self._next = next_questions(self._store.standing().pages)
        self._count_left(self._store.answers())

    async def ask(self) -> None:
        """Ask some questions and keep the answers, if there are any."""
        assert isinstance(self._store, AnswerStore)
        self._next = next_questions(self._store.standing().pages)
        self._is_asking = True
        try:
            await self._ask_about(*await self._choose())
        except TeacherFailed as error:
            self._failed(error)
        finally:
            self._is_asking = False

    async def _choose(self) -> tuple[list[Candidate], list[float]]:
        """The pages to ask about, and their relevance."""
        assert isinstance(self._store, AnswerStore)
        answers = self._store.answers()
        self._count_left(answers)
        self._candidates.remove(answers.keys())
        open_ = self._candidates.open()
        if not open_:
            return [], []
        # NaN for a page that is not through yet: it has no record.
        relevance = self._store.known([one.question.url for one in open_]).relevance
        most = min(self._at_once, self._left)
        choosing = deferToThread(choose, open_, relevance, self._candidates.asked(), most)
        rows = await maybe_deferred_to_future(choosing)
        return [open_[row] for row in rows], relevance[rows].tolist()

    async def _ask_about(self, pages: Sequence[Candidate], relevance: Sequence[float]) -> None:
        assert isinstance(self._store, AnswerStore)
        if not pages:
            return
        said = await _answers([page.question for page in pages], self._ask, self._topic, timeout=self._timeout)
        time = datetime.now(UTC).isoformat(timespec="seconds")
        self._store.keep_answers(
            Answer(page.link, _SAID[one], self._name, time, before)
            for page, one, before in zip(pages, said, relevance, strict=True)
        )
        self._failures = 0
        self._left -= len(pages)
        for one in said:
            self._stats.inc_value(f"focused/teacher/{_SAID[one]}")

    def _failed(self, error: TeacherFailed) -> None:
        self._failures += 1
        self._stats.inc_value("focused/teacher/failed")
        if self._failures == 1:
            logger.warning("The teacher %s %s; the crawl goes on", self._name, error)
        if self._failures == _FAILURES:
            self._left = 0
            logger.warning("The teacher %s failed %d times in a row: it is not asked any more", self._name, _FAILURES)


def find_teacher(name: str) -> Any:
    """The function or class that a name stands for. UnknownName says why it cannot be a teacher."""
    found = find("teacher", name)
    if not callable(found):
        raise UnknownName(f"teacher {name!r} is not a function: name one that takes pages and a topic")
    return found


def make_teacher(name: str, crawler: Crawler) -> Any:
    """The function, or an instance of the class, made as Scrapy makes components."""
    found = find_teacher(name)
    return build_from_crawler(found, crawler) if isclass(found) else found


async def _answers(
    questions: Sequence[Question], ask: Callable[..., Any], topic: Any, *, timeout: float
) -> list[bool | None]:
    """What a teacher says; TeacherFailed if it says nothing that can be used."""
    try:
        said = await _call(ask, questions, topic, timeout=timeout)
    except TimedOut:
        raise TeacherFailed(f"gave no answer within {timeout:g} seconds") from None
    except (Exception, CancelledError, SystemExit) as error:
        raise TeacherFailed(f"failed: {error!r}") from error
    if not isinstance(said, list) or len(said) != len(questions):
        what = f"{len(said)} answers" if isinstance(said, list) else repr(said)[:80]
        raise TeacherFailed(f"gave {what} for {len(questions)} pages: it must return a list with one for each")
    for one in said:
        if not (one is None or isinstance(one, bool)):
            raise TeacherFailed(f"answered {repr(one)[:80]}: an answer is True, False or None")
    return said


async def _call(function: Callable[..., Any], *arguments: Any, timeout: float) -> Any:
    from twisted.internet import reactor  # noqa: PLC0415  # it is installed by now

    is_async = iscoroutinefunction(function) or iscoroutinefunction(type(function).__call__)
    called = deferred_from_coro(function(*arguments)) if is_async else _in_thread(function, *arguments)
    return await maybe_deferred_to_future(called.addTimeout(timeout, reactor, onTimeoutCancel=_too_late))


def _too_late(_: object, seconds: float) -> Never:
    raise TimedOut(seconds)


def _in_thread(function: Callable[..., Any], *arguments: Any) -> Deferred[Any]:
    """Call a function in a thread of its own: one that never returns does not keep the process from ending."""
    from twisted.internet import reactor  # noqa: PLC0415  # it is installed by now

    result: Deferred[Any] = Deferred()

    def run() -> None:
        try:
            found = function(*arguments)
        except BaseException:
            reactor.callFromThread(result.errback, Failure())  # type: ignore[no-untyped-call]  # Twisted has no types
        else:
            reactor.callFromThread(result.callback, found)

    Thread(target=run, daemon=True).start()
    return result
