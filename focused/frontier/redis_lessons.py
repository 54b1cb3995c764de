"""The lessons of all workers, as they lie in Redis until the model knows them."""

from __future__ import annotations

from dataclasses import dataclass

import msgpack
import numpy as np

from focused.pages.evidence import Evidence
from focused.prioritizers.base import Lessons


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
    columns = (all_of_them.relevance, all_of_them.source_relevance, all_of_them.weight, all_of_them.alive)
    packed: bytes = msgpack.packb([all_of_them.evidence.to_bytes(), *(column.tobytes() for column in columns)])
    return bytes([is_page]) + packed


def bytes_to_pooled(number: int, data: bytes) -> Pooled:
    """What `pooled_to_bytes` wrote."""
    if len(data) == 1:
        return Pooled(number, bool(data[0]), None)
    evidence, *columns = msgpack.unpackb(data[1:])
    relevance, source_relevance, weight = (np.frombuffer(column, np.float32).copy() for column in columns[:3])
    alive = np.frombuffer(columns[3], np.bool_).copy()
    lessons = Lessons(Evidence.from_bytes(evidence), relevance, source_relevance, weight, alive)
    return Pooled(number, bool(data[0]), lessons)
