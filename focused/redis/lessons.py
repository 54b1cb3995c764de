"""The lessons of all workers, as they lie in Redis until the model knows them."""

from __future__ import annotations

from dataclasses import dataclass

import msgpack
import numpy as np

from focused.pages.evidence import Evidence
from focused.prioritizers.base import LESSON_COLUMNS, Lessons


@dataclass(frozen=True, slots=True)
class Pooled:
    """The lessons that came with one acknowledgement, with their number; ``is_page`` says whether of a page.

    Pages are there also when they teach nothing: batches are counted in pages.
    """

    number: int
    is_page: bool
    lessons: Lessons | None


def pooled_to_bytes(is_page: bool, lessons: list[Lessons]) -> bytes:
    """What came with one acknowledgement, as bytes."""
    if not lessons:
        return bytes([is_page])
    all_of_them = Lessons.concat(lessons)
    columns = (getattr(all_of_them, name).tobytes() for name in LESSON_COLUMNS)
    packed: bytes = msgpack.packb([all_of_them.evidence.to_bytes(), *columns])
    return bytes([is_page]) + packed


def bytes_to_pooled(number: int, data: bytes) -> Pooled:
    """What `pooled_to_bytes` wrote."""
    if len(data) == 1:
        return Pooled(number, bool(data[0]), None)
    evidence, *columns = msgpack.unpackb(data[1:])
    columns = [np.frombuffer(data, kind).copy() for data, kind in zip(columns, LESSON_COLUMNS.values(), strict=True)]
    lessons = Lessons(Evidence.from_bytes(evidence), *columns)
    return Pooled(number, bool(data[0]), lessons)
