"""The items of a crawl, written again by Scrapy's own exporters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from focused.items import PageItem


class UnknownFormat(ValueError):
    """A file name from which no format follows; the message lists the formats there are."""


def format_of(name: str, settings: BaseSettings) -> tuple[str, str]:
    """The file and the format that a user means: ``pages.csv``, or ``FILE:FORMAT`` as for ``scrapy crawl -o``."""
    known = settings.getwithbase("FEED_EXPORTERS")
    path, _, kind = name.rpartition(":")
    if path and kind in known:
        return path, kind
    ending = name.rpartition(".")[2] if name != "-" else "jsonl"
    if ending not in known:
        raise UnknownFormat(
            f"{name!r} has no known format: use one of the endings {', '.join(sorted(known))}, or write FILE:FORMAT"
        )
    return name, ending


def write_items(
    items: Iterable[dict[str, Any]], file: IO[bytes], kind: str, *, settings: BaseSettings, least: float = 0.0
) -> int:
    """Write the items with at least a relevance; how many there were."""
    exporter = load_object(settings.getwithbase("FEED_EXPORTERS")[kind])(file, **_options(settings))
    exporter.start_exporting()
    count = 0
    for values in items:
        if values["relevance"] >= least:
            exporter.export_item(PageItem(values))
            count += 1
    exporter.finish_exporting()
    return count


def _options(settings: BaseSettings) -> dict[str, Any]:
    """What `scrapy crawl -o` gives its exporters."""
    indent = settings["FEED_EXPORT_INDENT"]
    return {
        "encoding": settings["FEED_EXPORT_ENCODING"],
        "fields_to_export": settings.getdictorlist("FEED_EXPORT_FIELDS") or None,
        "indent": None if indent is None else int(indent),
    }
