"""How requests end, told by what their errback is given.

Not every exception passes every downloader middleware (one raised while a response is processed passes none), but all
of them reach the errback, those of refused responses too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError, DownloadConnectionRefusedError, IgnoreRequest, StopDownload
from scrapy.settings import BaseSettings
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.misc import load_object
from twisted.python.failure import Failure

from focused import signals
from focused.errors import Postponed, Refused
from focused.frontier.store import Outcome
from focused.scheduling.requests import META

POSTPONED = "postponed"
_MOST_DETAIL = 200
_NOT_NOW = {408, 425, 429}
_NOT_EVER = (CannotResolveHostError, DownloadConnectionRefusedError)


def note(request: Request, outcome: Outcome | str, detail: str) -> None:
    """Write into a request's meta how it ended; the frontier reads it when the request is through."""
    name = outcome.value if isinstance(outcome, Outcome) else outcome
    request.meta.setdefault(META, {})["outcome"] = [name, detail[:_MOST_DETAIL]]


def outcome_of_status(status: int) -> Outcome:
    """What a response that is not a page says of its link. That a server has too much to do says nothing of it."""
    if status < 400:
        return Outcome.OTHER
    return Outcome.UNAVAILABLE if status >= 500 or status in _NOT_NOW else Outcome.DEAD


def network_errors(settings: BaseSettings) -> tuple[type[Exception], ...]:
    """What servers and networks do; a request that ends so may be sent again."""
    names = settings.getlist("RETRY_EXCEPTIONS")
    return tuple(load_object(name) if isinstance(name, str) else name for name in names)


class OutcomeNoter:
    """Makes the errback of requests note how they ended, before the request's own errback is asked."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._network = network_errors(crawler.settings)

    def watch(self, request: Request) -> None:
        """Have a request tell how it ends."""
        if not isinstance(request.errback, _Errback):
            request.errback = _Errback(self, request.errback)

    def tell(self, request: Request, error: BaseException) -> None:
        """Note how a request ended; of one for a seed tell whoever listens, too."""
        note(request, *self.outcome_of(error))
        if request.meta.get("is_start_request"):
            self._crawler.signals.send_catch_log(
                signals.seed_missed, request=request, error=error, spider=self._crawler.spider
            )

    def outcome_of(self, error: BaseException) -> tuple[Outcome | str, str]:
        """The outcome that an exception stands for, and its words."""
        if isinstance(error, Postponed):
            return POSTPONED, str(error.seconds)
        if isinstance(error, HttpError):
            return outcome_of_status(error.response.status), str(error.response.status)
        if isinstance(error, self._network):
            outcome = Outcome.DEAD if isinstance(error, _NOT_EVER) else Outcome.UNAVAILABLE
            return outcome, type(error).__name__
        return self._refusal(error), str(error) or repr(error)

    def _refusal(self, error: BaseException) -> Outcome:
        if isinstance(error, Refused):
            return Outcome[error.outcome.upper()]
        if isinstance(error, StopDownload):
            return Outcome.NOT_HTML
        if isinstance(error, IgnoreRequest):
            return Outcome.DEAD if "max redirections" in str(error) else Outcome.DENIED
        return Outcome.FAILED


class _Errback:
    def __init__(self, noter: OutcomeNoter, own: Callable[[Failure], Any] | None) -> None:
        self._noter = noter
        self.own = own

    def __call__(self, failure: Failure) -> Any:
        request: Request = failure.request  # type: ignore[attr-defined]  # set by Scrapy
        assert failure.value is not None
        self._noter.tell(request, failure.value)
        return self.own(failure) if self.own else failure
