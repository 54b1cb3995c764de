"""The lessons of all workers, as they lie in Redis until the model knows them."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import msgpack
import numpy as np

from focused.pages.evidence import Evidence
from focused.prioritizers.base import LESSON_COLUMNS, Lessons

_HEAD = struct.Struct("<BH")


@dataclass(frozen=True, slots=True)
class Pooled:
    """The lessons that came with one acknowledgement, with their number; ``is_page`` says whether of a page.

    Pages are there also when they teach nothing: batches are counted in pages. ``version`` is that of the critic that
    saw the evidence.
    """

    number: int
    is_page: bool
    version: int
    lessons: Lessons | None


def pooled_to_bytes(is_page: bool, lessons: list[Lessons], version: int = 0) -> bytes:
    """What came with one acknowledgement, as bytes."""
    head = _HEAD.pack(is_page, version)
    if not lessons:
        return head
    all_of_them = Lessons.concat(lessons)
    columns = (getattr(all_of_them, name).tobytes() for name in LESSON_COLUMNS)
    packed: bytes = msgpack.packb([all_of_them.evidence.to_bytes(), *columns])
    return head + packed


def bytes_to_pooled(number: int, data: bytes) -> Pooled:
    """What `pooled_to_bytes` wrote. ValueError and its like if it is anything else."""
    is_page, version = _HEAD.unpack_from(data)
    if len(data) == _HEAD.size:
        return Pooled(number, bool(is_page), version, None)
    evidence, *columns = msgpack.unpackb(data[_HEAD.size :])
    columns = [np.frombuffer(data, kind).copy() for data, kind in zip(columns, LESSON_COLUMNS.values(), strict=True)]
    lessons = Lessons(Evidence.from_bytes(evidence), *columns)
    _check(lessons)
    return Pooled(number, bool(is_page), version, lessons)


def _check(lessons: Lessons) -> None:
    """ValueError if something could not be learned, or would spoil all that was."""
    if any(len(getattr(lessons, name)) != len(lessons) for name in LESSON_COLUMNS):
        raise ValueError("not as many lessons as links")
    if not all(np.isfinite(column).all() for column in (lessons.relevance, lessons.source_relevance, lessons.weight)):
        raise ValueError("a relevance or a weight that is not a number")
