"""How requests end, by what their errback is given."""

from __future__ import annotations

import pytest
from scrapy import Spider
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
)
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.test import get_crawler

from focused.errors import HostClosed, HostDead, NotHtml
from focused.frontier.store import Outcome
from focused.scheduling.outcomes import OutcomeNoter


def answered(status: int) -> HttpError:
    return HttpError(Response("http://h.example/", status=status))


@pytest.mark.parametrize(
    ("error", "outcome", "detail"),
    [
        (answered(404), Outcome.DEAD, "404"),
        (answered(410), Outcome.DEAD, "410"),
        (answered(302), Outcome.OTHER, "302"),
        *((answered(status), Outcome.UNAVAILABLE, str(status)) for status in (408, 425, 429, 500, 503)),
        (CannotResolveHostError(), Outcome.DEAD, "CannotResolveHostError"),
        (DownloadConnectionRefusedError(), Outcome.DEAD, "DownloadConnectionRefusedError"),
        (DownloadTimeoutError(), Outcome.UNAVAILABLE, "DownloadTimeoutError"),
        (DownloadFailedError(), Outcome.UNAVAILABLE, "DownloadFailedError"),
        (HostDead("h.example cannot be reached"), Outcome.DEAD, "h.example cannot be reached"),
        (IgnoreRequest("max redirections reached"), Outcome.DEAD, "max redirections reached"),
        (HostClosed("h.example asked to be left alone"), Outcome.DENIED, "h.example asked to be left alone"),
        (NotHtml("application/pdf"), Outcome.NOT_HTML, "application/pdf"),
        (ValueError("what is this"), Outcome.FAILED, "what is this"),
    ],
    ids=str,
)
def test_how_a_request_ends(error: Exception, outcome: Outcome, detail: str) -> None:
    noter = OutcomeNoter(get_crawler(Spider))
    assert noter.outcome_of(error) == (outcome, detail)
