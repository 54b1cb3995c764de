"""From a response to its visit: parsed, judged and recorded once, whoever asks first."""

from __future__ import annotations

import logging

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response

from focused.frontier.store import Outcome, StoreBroken
from focused.items import fields_of, verdict_of
from focused.parts import Parts
from focused.responses import response_to_page
from focused.scheduling.outcomes import note, outcome_of_status
from focused.scheduling.requests import META
from focused.visits.visit import Visit

logger = logging.getLogger(__name__)


async def take_in(parts: Parts, request: Request, response: Response) -> Visit | None:
    """The visit of a response; None if its request is not one of a visit, or has lost its lease.

    Requests for robots.txt, and those of ``engine.download``, are of no visit.
    """
    frontier = parts.frontier
    visit = frontier.visit_of(request, response) if frontier is not None else None
    if frontier is None or visit is None or visit.page is not None:
        return visit
    if not 200 <= response.status < 300:
        note(request, outcome_of_status(response.status), str(response.status))
        return visit
    if not isinstance(response, HtmlResponse):
        kind = (response.headers.get("Content-Type") or b"").decode("latin-1")
        note(request, Outcome.NOT_HTML, kind or type(response).__name__)
        return visit
    try:
        parts.visits.take_in(visit, await response_to_page(response, parts.limits, parts.lexicon))
        if visit.record is not None:
            visit.record.item = fields_of(visit)
    except StoreBroken as error:
        frontier.give_up(error)
        raise IgnoreRequest("its page cannot be kept") from error
    except Exception as error:
        # Whatever the spider makes of the page is not the critic's business.
        logger.exception("%s could not be judged", response)
        note(request, Outcome.FAILED, f"not judged: {error!r}")
    else:
        request.meta.setdefault(META, {}).update(verdict_of(visit))
    return visit
