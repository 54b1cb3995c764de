"""What a prioritizer sees of links: hashed ⟨token, offset⟩ ids and a few numbers, for many links at once.

Evidence is columnar, small and storable, so that a million waiting links can be scored again as arrays. Ids keep
32 bits; a learner folds them to the size of its table (``ids >> (32 - bits)``). With 32 bits an id can be traced
back to its word and offset by hashing all words of a crawl at all offsets, which is how links are explained.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from focused.arrays import Damaged, ranges, starts_of
from focused.pages.page import Links, Page
from focused.pages.tokens import Ids, Lexicon

_HEADER = struct.Struct("<III")
HEADER_SIZE = _HEADER.size
MAX_OFFSET = 31
NAMED, ADDRESS, ANCHOR, NEAR, ON_PAGE = range(MAX_OFFSET + 1, MAX_OFFSET + 6)
CHANNELS = {NAMED: "", ADDRESS: "in the address", ANCHOR: "in the anchor", NEAR: "near it", ON_PAGE: "on the page"}
"""Features that are not words at an offset: the number that is mixed in instead, and how they are shown."""


@dataclass(slots=True)
class Evidence:
    """Evidence of ``n`` links: features of link *i* are ``ids[starts[i]:starts[i + 1]]`` and ``dense[i]``.

    ``leaf`` is the link's first leaf on its page; ``link`` and ``source`` are the frontier's numbers of the link's
    target *v* and of its page *u*, ``host`` that of the target's host: keys by which a prioritizer may join what it
    has learned since.
    """

    starts: NDArray[np.int64]
    ids: Ids
    dense: NDArray[np.float32]
    leaf: NDArray[np.int32]
    link: NDArray[np.uint32]
    source: NDArray[np.uint32]
    host: NDArray[np.uint32]

    @classmethod
    def of(
        cls,
        starts: NDArray[np.int64],
        ids: Ids,
        dense: NDArray[np.float32],
        leaf: NDArray[np.int32] | None = None,
    ) -> Evidence:
        """Evidence whose keys are not known yet; the frontier fills them in. One number a link may come flat."""
        n = len(starts) - 1
        none = np.zeros(n, np.uint32)
        where = np.zeros(n, np.int32) if leaf is None else leaf
        columns = dense if dense.ndim == 2 else dense.reshape(n, 1)
        return cls(starts, ids, columns, where, none, none.copy(), none.copy())

    @classmethod
    def of_numbers(cls, dense: NDArray[np.float32], leaf: NDArray[np.int32]) -> Evidence:
        """Evidence without ids: a row of numbers, or just one, for each link."""
        return cls.of(np.zeros(len(leaf) + 1, np.int64), np.zeros(0, np.uint32), dense, leaf)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return sum(getattr(self, field.name).nbytes for field in fields(self))

    def row(self, i: int) -> Evidence:
        """The evidence of one link."""
        return self.between(i, i + 1)

    def select(self, rows: Sequence[int] | NDArray[np.int64]) -> Evidence:
        """Some of the links, in the order given."""
        chosen = np.asarray(rows, np.int64)
        lengths = self.starts[chosen + 1] - self.starts[chosen]
        ids = self.ids[ranges(self.starts[chosen], lengths)]
        keys = (self.leaf[chosen], self.link[chosen], self.source[chosen], self.host[chosen])
        return Evidence(starts_of(lengths), ids, self.dense[chosen], *keys)

    def between(self, begin: int, end: int) -> Evidence:
        """Links that follow one another: views of these arrays."""
        ids = self.ids[self.starts[begin] : self.starts[end]]
        keys = (self.leaf[begin:end], self.link[begin:end], self.source[begin:end], self.host[begin:end])
        return Evidence(self.starts[begin : end + 1] - self.starts[begin], ids, self.dense[begin:end], *keys)

    def to_bytes(self) -> bytes:
        """The evidence as bytes, for the store and the wire."""
        header = _HEADER.pack(len(self), self.dense.shape[1], len(self.ids))
        columns = (self.starts.astype("<u4"), self.dense, self.leaf, self.link, self.source, self.host, self.ids)
        return header + b"".join(column.tobytes() for column in columns)

    @staticmethod
    def position_of_link(header: bytes, row: int) -> int:
        """Where in the bytes the number of one link is, given their first 12 bytes."""
        try:
            n, width, _ = _HEADER.unpack(header)
        except struct.error as error:
            raise Damaged(f"it has no header: {error}") from error
        return int(_HEADER.size + 4 * (n + 1 + n * width + n + row))

    @classmethod
    def from_bytes(cls, data: bytes) -> Evidence:
        """What `to_bytes` wrote, or Damaged; the arrays are views of the bytes and cannot be written to."""
        if len(data) < HEADER_SIZE:
            raise Damaged("it has no header")
        n, width, count = _HEADER.unpack_from(data)
        if len(data) != HEADER_SIZE + 4 * (n + 1 + n * width + 4 * n + count):
            raise Damaged(f"{len(data)} bytes are not {n} links with {width} numbers each and {count} features")
        at = _HEADER.size
        columns = []
        for dtype, size in (("<u4", n + 1), ("<f4", n * width), ("<i4", n), *[("<u4", n)] * 3, ("<u4", count)):
            columns.append(np.frombuffer(data, dtype, size, at))
            at += 4 * size
        starts, dense, leaf, link, source, host, ids = columns
        if starts[0] or starts[-1] != count or (starts[1:] < starts[:-1]).any():
            raise Damaged("its features are not in the order of its links")
        return cls(starts.astype(np.int64), ids, dense.reshape(n, width), leaf, link, source, host)

    @classmethod
    def concat(cls, parts: Sequence[Evidence]) -> Evidence:
        """Several batches as one."""
        if len(parts) == 1:
            return parts[0]
        starts = starts_of(np.concatenate([np.diff(part.starts) for part in parts]))
        rest = [np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls) if f.name != "starts"]
        return cls(starts, *rest)


def mix(tokens: Ids, offsets: NDArray[np.int64] | int) -> Ids:
    """Ids of ⟨token, offset⟩ pairs, or of tokens of one of the `CHANNELS`."""
    with np.errstate(over="ignore"):
        salt = (np.asarray(offsets, np.int64) + MAX_OFFSET + 1).astype(np.uint32) * np.uint32(0x9E3779B1)
        mixed = (tokens ^ salt) * np.uint32(0x85EBCA6B)
        mixed ^= mixed >> np.uint32(13)
        mixed *= np.uint32(0xC2B2AE35)
        return mixed ^ (mixed >> np.uint32(16))


def names_to_ids(names: Iterable[str], lexicon: Lexicon) -> Ids:
    """The ids of features that are names rather than words at an offset, such as ``class:Science.Biology``."""
    # Through the lexicon, so that the crawl's records know the name of a feature.
    return mix(np.array([lexicon[name] for name in names], np.uint32), NAMED)


def window(
    page: Page, links: Links, d_max: int = 5, words_per_leaf: int = 40, offsets: bool = True
) -> tuple[NDArray[np.int64], Ids]:
    """⟨token, offset⟩ ids of the leaves within ``d_max`` of each link: where each link's ids start, and the ids.

    Ids are in the order of the leaves. Of a long leaf, the words nearest to the link are taken. Without
    ``offsets`` every word counts as at offset 0: the plain window that the paper compares with.
    """
    link, leaf, offset = _leaves_around(links, len(page.leaves), d_max)
    begin, end = page.starts[leaf], page.starts[leaf + 1]
    length = np.minimum(end - begin, words_per_leaf)
    begin = np.where(offset < 0, end - length, begin)
    at = ranges(begin, length)
    ids = mix(page.ids[at], np.repeat(offset, length) if offsets else 0)
    return starts_of(np.bincount(link, weights=length, minlength=len(links)).astype(np.int64)), ids


def words_of_leaves(
    page: Page, links: Links, d_max: int = 5, words_per_leaf: int = 40
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(link, offset, how many words `window` takes of it) of every leaf in every link's window, in their order."""
    link, leaf, offset = _leaves_around(links, len(page.leaves), d_max)
    return link, offset, np.minimum(page.starts[leaf + 1] - page.starts[leaf], words_per_leaf)


def _leaves_around(
    links: Links, leaves: int, d_max: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(link, leaf, offset) of every leaf in every link's window, ordered by link and then by leaf."""
    first, last = links.first.astype(np.int64), links.last.astype(np.int64)
    low, high = np.maximum(first - d_max, 0), np.minimum(last + d_max, max(leaves - 1, 0))
    if not leaves:
        low, high = first, first - 1
    size = high - low + 1
    link = np.repeat(np.arange(len(first)), size)
    leaf = ranges(low, size)
    offset = np.where(leaf < first[link], leaf - first[link], np.maximum(leaf - last[link], 0))
    return link, leaf, offset
