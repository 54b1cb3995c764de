"""What workers learn together, as it lies in Redis: pooled lessons, the model, the order that follows from it.

Everything here may be done in a thread, over a connection of its own, and may be done twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from numpy.typing import NDArray

from focused.arrays import load_arrays, save_arrays
from focused.frontier.store import StoreBroken
from focused.prioritizers.base import Prioritizer
from focused.redis.lessons import Pooled, bytes_to_pooled
from focused.redis.rescoring import SharedRescoring
from focused.redis.server import Server


class ModelDamaged(StoreBroken):
    """What lies in Redis is not what was published."""


@dataclass(frozen=True, slots=True)
class Model:
    """What was published: its version, the number of the last lessons it knows, and what tells it from others."""

    version: int
    upto: int
    stamp: int
    state: dict[str, NDArray[Any]]


class Pool:
    """The lessons of all workers and what was made of them."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def lessons_after(self, number: int, most: int) -> list[Pooled]:
        """The lessons that came after those with a number, at most so many."""
        first, raw = self._server.ask("lessons", number, most)
        return [bytes_to_pooled(int(first) + i, data) for i, data in enumerate(raw or [], 1)]

    def publish(self, name: str, state: Mapping[str, NDArray[Any]], upto: int) -> tuple[int, int] | None:
        """Give a model to all, with its version and stamp; None if another worker is the trainer now."""
        raw = save_arrays(state)
        digest = _digest(raw)
        version = self._server.ask("save_model", name, upto, digest, raw)
        return (int(version), _stamp(digest)) if version else None

    def model(self, name: str) -> Model | None:
        """What was published last; ModelDamaged if it is not whole."""
        kept = self._server.ask("load_model", name)
        if not kept:
            return None
        version, upto, digest, raw = kept
        if _digest(raw) != digest:
            raise ModelDamaged(f"the model {name!r} of {self._server.prefix[:-1]} in Redis is damaged: delete its key")
        return Model(int(version), int(upto), _stamp(digest), load_arrays(raw))

    def rescoring(self, prioritizer: Prioritizer) -> SharedRescoring:
        """The work of scoring all that waits by a snapshot of the prioritizer."""
        return SharedRescoring(self._server, prioritizer)


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _stamp(digest: bytes) -> int:
    return int.from_bytes(digest[:4], "big")
