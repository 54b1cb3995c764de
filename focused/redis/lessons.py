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
    """What `pooled_to_bytes` wrote."""
    is_page, version = _HEAD.unpack_from(data)
    if len(data) == _HEAD.size:
        return Pooled(number, bool(is_page), version, None)
    evidence, *columns = msgpack.unpackb(data[_HEAD.size :])
    columns = [np.frombuffer(data, kind).copy() for data, kind in zip(columns, LESSON_COLUMNS.values(), strict=True)]
    lessons = Lessons(Evidence.from_bytes(evidence), *columns)
    return Pooled(number, bool(is_page), version, lessons)
