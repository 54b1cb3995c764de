"""Letters to a crawl from what a page or a program sends as JSON: marks, and orders that steer."""

from __future__ import annotations

import msgspec

from focused.frontier.inbox import Mark, Order
from focused.frontier.steering import Verb
from focused.problems import Problems, ProblemsError
from focused.report.marks import make_mark
from focused.report.orders import make_order
from focused.watch.asked import decode

MOST_MARKS = 20_000


class _AskedMark(msgspec.Struct, forbid_unknown_fields=True):
    url: str
    said: str
    class_name: str = msgspec.field(default="", name="class")


class _AskedMarks(msgspec.Struct, forbid_unknown_fields=True):
    marks: list[_AskedMark]


class _AskedOrder(msgspec.Struct, forbid_unknown_fields=True):
    verb: Verb
    value: str = ""


def to_marks(body: bytes) -> list[Mark]:
    """The marks in a body; ValueError that names all that are wrong, and then none is noted."""
    asked = decode(body, _AskedMarks).marks
    if len(asked) > MOST_MARKS:
        raise ValueError(f"{len(asked):,} marks are too many at once: send at most {MOST_MARKS:,}")
    problems, marks = Problems(), []
    for number, one in enumerate(asked, 1):
        try:
            marks.append(make_mark(one.said, one.url, one.class_name))
        except ValueError as error:
            problems.add(f"mark {number}", str(error))
    problems.raise_as(ProblemsError)
    return marks


def to_order(body: bytes) -> Order:
    """The order in a body; ValueError if it is none."""
    asked = decode(body, _AskedOrder)
    return make_order(asked.verb, asked.value.strip())
