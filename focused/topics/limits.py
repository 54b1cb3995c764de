"""Numbers that users give as limits, and when a crawl has dried up."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from focused.topics.problems import Problems

Count = Annotated[int, Meta(gt=0, description="a whole number above 0")]
Share = Annotated[float, Meta(ge=0, le=1, description="a number from 0 to 1")]


class Dry(msgspec.Struct, frozen=True):
    """The crawl has dried up when the mean relevance of the last ``pages`` pages is below ``harvest``."""

    harvest: Share
    pages: Count = 200


def whole(text: str) -> str:
    """A number as msgspec wants it written: ``.5`` is 0.5."""
    return f"0{text}" if text.startswith(".") else text


def to_dry(value: Any) -> Dry:
    """What ``HARVEST/PAGES`` means; ValueError if that is not what it is."""
    parts = [part.strip() for part in str(value).split("/", 1)]
    try:
        return msgspec.convert(dict(zip(("harvest", "pages"), map(whole, parts), strict=False)), Dry, strict=False)
    except msgspec.ValidationError as error:
        words = f"{value!r} is not HARVEST/PAGES, such as '0.05/200': stop below 0.05 over the last 200"
        raise ValueError(words) from error


def read_dry(name: str, value: Any, problems: Problems) -> Dry | None:
    """The same; what is wrong is noted among the problems."""
    try:
        return to_dry(value)
    except ValueError as error:
        problems.add(name, str(error))
        return None
