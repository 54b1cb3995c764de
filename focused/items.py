"""What the spider gives out: one item a page. An item's field stands in `FIELDS`, with where its value is from."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy import Field, Item
from scrapy.utils.serialize import ScrapyJSONEncoder

if TYPE_CHECKING:
    from scrapy.http import Response

    from focused.visits.visit import Visit

logger = logging.getLogger(__name__)

_ENCODER = ScrapyJSONEncoder()
# What XML cannot hold, and what a terminal would obey.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ufffe\uffff]")

FIELDS: dict[str, Callable[[Any], Any]] = {
    "url": lambda visit: visit.record.url,
    "title": lambda visit: _CONTROL.sub("", visit.record.title),
    "relevance": lambda visit: round(visit.record.relevance, 6),
    "class": lambda visit: visit.record.best_class,
    "depth": lambda visit: visit.lease.depth,
    "parent": lambda visit: visit.lease.parent,
    "order": lambda visit: visit.record.order,
    "score": lambda visit: None if visit.lease.seed else visit.lease.score,
    "time": lambda visit: visit.time,
    "label": lambda visit: visit.label,
}
"""The fields of a page's item, in order, each with its value for a visit. ``label`` is left out where there is none."""
VERDICT = ("relevance", "class", "score", "order")
"""The fields that are filled in where an item of somebody else's has them unset."""


class _AnyField(dict[str, Field]):
    """The fields of a class whose items may have others, too: itemadapter asks the class about each field."""

    def __missing__(self, name: str) -> Field:
        return Field()


class PageItem(Item):
    """A fetched page and the critic's verdict. A pipeline may add fields of any name, or make a dict of it.

    ``response``, for pipelines that want the page's HTML, and ``token``, by which its visit is found, travel with it
    through the pipelines and are not exported.
    """

    response: Response
    token: int

    def __setitem__(self, key: str, value: Any) -> None:
        if key not in self.fields:
            # Of this item alone: others, and other crawls, keep their columns.
            object.__setattr__(self, "fields", _AnyField({**self.fields, key: Field()}))
        super().__setitem__(key, value)

    @classmethod
    def of(cls, visit: Visit, response: Response) -> PageItem:
        """The item for a page that was judged and recorded."""
        item = cls(fields_of(visit))
        # An Item takes no attributes otherwise.
        vars(item).update(response=response, token=visit.token)
        return item


# Not in the class's body: there they would be put in the order of the alphabet, and `class` is a keyword.
PageItem.fields = _AnyField({name: Field() for name in FIELDS})


def fields_of(visit: Visit) -> dict[str, Any]:
    """All fields of a page's item."""
    values = {name: value(visit) for name, value in FIELDS.items()}
    if values["label"] is None:
        del values["label"]
    return values


def keep_item(item: Any, visit: Visit, *, is_only: bool) -> None:
    """Keep with the job what the pipelines have added to the item of a page, or changed, as plain data.

    If the callback has given others, too (the item is not the only one), the page's is known by its number.
    """
    assert visit.record is not None
    values = ItemAdapter(item).asdict() if ItemAdapter.is_item(item) else {}
    if not is_only and values.get("order") != visit.record.order:
        return
    try:
        visit.record.item |= json.loads(_ENCODER.encode(values))
    except TypeError as error:
        # Scrapy's exporters cannot write it either, and say so.
        logger.warning("The item of %s is kept without what pipelines changed: %s", visit.record.url, error)


def verdict_of(visit: Visit) -> dict[str, Any]:
    """What a response carries of its verdict: plain data."""
    if visit.page is None or visit.lease.is_lost:
        return {}
    if visit.record is None:
        return {"relevance": visit.verdict.relevance, "class": visit.verdict.best_class}
    return {name: FIELDS[name](visit) for name in VERDICT}


def fill_in(item: Any, verdict: Mapping[str, Any]) -> None:
    """Write a verdict into an item's fields of these names that are unset; what cannot be written is left alone."""
    if not ItemAdapter.is_item(item):
        return
    adapter = ItemAdapter(item)
    names = set(adapter.field_names())
    for name in VERDICT:
        if name in names and name in verdict and adapter.get(name) is None:
            try:
                adapter[name] = verdict[name]
            except Exception:  # a frozen class, or one that checks: each kind has an error of its own
                return
