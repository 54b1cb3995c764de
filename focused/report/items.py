"""The items of a crawl, written again by Scrapy's own exporters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import IO, Any

from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from focused.items import FIELDS


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
    read: Callable[[], Iterable[dict[str, Any]]],
    file: IO[bytes],
    kind: str,
    *,
    settings: BaseSettings,
    least: float = 0.0,
) -> int:
    """Write the items with at least a relevance; how many there were. ``read`` gives them, if need be twice."""
    fields: Any = settings.getdictorlist("FEED_EXPORT_FIELDS")
    if kind == "csv" and not fields:
        # A column for every field, also for those that only a later item has.
        fields = list(dict.fromkeys([*FIELDS, *chain.from_iterable(read())]))
    indent = settings["FEED_EXPORT_INDENT"]
    exporter = load_object(settings.getwithbase("FEED_EXPORTERS")[kind])(
        file,
        encoding=settings["FEED_EXPORT_ENCODING"],
        fields_to_export=fields or None,
        indent=None if indent is None else int(indent),
    )
    exporter.start_exporting()
    count = 0
    for values in read():
        if (values.get("relevance") or 0.0) >= least:
            exporter.export_item(values)
            count += 1
    exporter.finish_exporting()
    return count
