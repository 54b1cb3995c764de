"""Links and evidence as bytes in Redis: small, and read by the thousand at once.

A record is a header, the address, the request (if it is more than an address) and the pieces of evidence, one behind
the other, so that the server's script can add one or take one away. Everything begins at a multiple of four bytes:
numpy then reads all records of a slice of the frontier as one array of words.

Of the ids of features only the upper bits are kept that the prioritizer looks at: sixteen in one row, the rest (two,
four, eight or sixteen) in a second one.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.frontier.store import Answer, Says
from focused.pages.evidence import Evidence
from focused.prioritizers.base import Prioritizer

_WORD = 4
HEAD = np.dtype(
    [
        ("state", "u1"),
        ("tries", "u1"),
        ("deaths", "u1"),
        ("kept", "u1"),
        ("depth", "<u2"),
        ("best", "u1"),
        ("_1", "u1"),
        ("host", "<u4"),
        ("source", "<u4"),
        ("base", "<f4"),
        ("score", "<f4"),
        ("stamp", "<u4"),
        ("length", "<u2"),
        ("_2", "<u2"),
        ("request", "<u4"),
        ("key", "V8"),
    ]
)
"""What a record begins with; the address follows."""
_PIECE = struct.Struct("<HBBHHI")
_PIECE_HEAD = np.dtype(
    [("words", "<u2"), ("width", "u1"), ("version", "u1"), ("count", "<u2"), ("leaf", "<u2"), ("source", "<u4")]
)
_PIECE_WORDS = _PIECE.size // _WORD
_MOST = 0xFFFF
_LAST_VERSION = 0xFF

RelevanceOf = Callable[[NDArray[Any]], NDArray[np.float32]]
"""Gives R of pages, by the numbers of their links."""


@dataclass(frozen=True, slots=True)
class Records:
    """Many records: where each link stands, what is added to its score, and all their evidence as one batch.

    ``rows[i]`` says to which of the records row *i* of the evidence belongs; with ``heads[i]`` its piece begins.
    """

    state: NDArray[np.uint8]
    base: NDArray[np.float32]
    rows: NDArray[np.int64]
    heads: NDArray[np.void]
    evidence: Evidence

    def see_again(self, prioritizer: Prioritizer, relevance_of: RelevanceOf) -> NDArray[np.int64]:
        """See evidence that was written before the critic has learned as the prioritizer's critic sees it now.

        The rows that are seen otherwise now.
        """
        old = np.flatnonzero(self.heads["version"] < version_of(prioritizer))
        part = self.evidence.select(old)
        seen = prioritizer.renewed(part, relevance_of(part.source)) if len(old) else part
        if seen is part:
            return old[:0]
        self.evidence.dense[old] = seen.dense
        return old


def version_of(prioritizer: Prioritizer) -> int:
    """The version of the critic that a prioritizer asks."""
    return prioritizer.critic.version if prioritizer.critic is not None else 0


class Packing:
    """How evidence is written: with so many upper bits of each id."""

    def __init__(self, id_bits: int) -> None:
        if not 0 < id_bits <= 32:
            raise ValueError(f"{id_bits} bits of an id: there are 1 to 32")
        self._second = next(bits for bits in (0, 2, 4, 8, 16) if bits >= id_bits - 16)

    @property
    def bits(self) -> int:
        """How many of the upper bits of an id are kept."""
        return 16 + self._second

    def pieces(self, evidence: Evidence, source: int, version: int = 0) -> list[bytes]:
        """Each row of evidence as a piece; ``version`` is that of the critic that saw it."""
        version = min(version, _LAST_VERSION)
        counts = np.minimum(np.diff(evidence.starts), _MOST)
        dense = np.ascontiguousarray(evidence.dense, np.float32)
        width, leaves = dense.shape[1], np.clip(evidence.leaf, 0, _MOST).tolist()
        pieces = []
        for row, (begin, count) in enumerate(zip(evidence.starts.tolist(), counts.tolist(), strict=False)):
            body = dense[row].tobytes() + self._pack(evidence.ids[begin : begin + count])
            words = _PIECE_WORDS + len(body) // _WORD
            pieces.append(_PIECE.pack(words, width, version, count, leaves[row], source) + body)
        return pieces

    def read(self, raw: Sequence[bytes], links: NDArray[np.int64]) -> Records:
        """Many records at once, of less than 2 GB in all; ``links`` are their numbers.

        ValueError, or IndexError, if one of them is not a record: each must end where its last piece does, and each
        piece must be as long as its numbers and ids.
        """
        data = b"".join(raw)
        words, halves, octets = np.frombuffer(data, "<u4"), np.frombuffer(data, "<u2"), np.frombuffer(data, "u1")
        lengths = np.fromiter(map(len, raw), np.int64, len(raw))
        begin = np.cumsum(lengths) - lengths
        head = words[(begin // _WORD)[:, None] + np.arange(HEAD.itemsize // _WORD)].view(HEAD)[:, 0]
        text = head["length"].astype(np.int64) + head["request"]
        rows, at, end = _walk(words, begin + HEAD.itemsize + -(-text // _WORD) * _WORD, head["kept"])
        heads = words[(at // _WORD)[:, None] + np.arange(_PIECE_WORDS)].view(_PIECE_HEAD)[:, 0]
        width = int(heads["width"][0]) if len(heads) else 0
        counts = heads["count"].astype(np.int64)
        lengths_of_pieces = _PIECE_WORDS + width + -(-counts * self.bits // (8 * _WORD))
        if (
            np.any(end != begin + lengths)
            or np.any(heads["width"] != width)
            or np.any(heads["words"] != lengths_of_pieces)
        ):
            raise ValueError("not a link with its evidence")
        at += _PIECE.size
        dense = words[(at // _WORD)[:, None] + np.arange(width)].view("<f4")
        starts = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(counts, out=starts[1:])
        evidence = Evidence(
            starts,
            self._unpack(halves, octets, at + _WORD * width, counts),
            dense,
            heads["leaf"].astype(np.int32),
            links[rows].astype(np.uint32),
            heads["source"].astype(np.uint32),
            head["host"][rows].astype(np.uint32),
        )
        return Records(head["state"], head["base"].astype(np.float32), rows, heads, evidence)

    def _pack(self, ids: NDArray[np.uint32]) -> bytes:
        packed = (ids >> np.uint32(16)).astype("<u2").tobytes()
        bits = self._second
        if bits:
            rest = (ids >> np.uint32(16 - bits)) & np.uint32(2**bits - 1)
            packed += rest.astype("<u2").tobytes() if bits == 16 else _join_bits(rest.astype(np.uint8), bits)
        return packed + bytes(-len(packed) % _WORD)

    def _unpack(
        self, halves: NDArray[np.uint16], octets: NDArray[np.uint8], at: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> NDArray[np.uint32]:
        bits = self._second
        # Half as wide as numpy would have them: this is most of what a re-scoring does.
        at, counts = at.astype(np.int32), counts.astype(np.int32)
        every = np.arange(int(counts.sum()), dtype=np.int32)
        starts = np.cumsum(counts, dtype=np.int32) - counts
        ids: NDArray[np.uint32] = halves[every + np.repeat(at // 2 - starts, counts)].astype(np.uint32) << np.uint32(16)
        if bits == 16:
            ids |= halves[every + np.repeat(at // 2 + counts - starts, counts)]
        elif bits:
            each = 8 // bits
            within = every - np.repeat(starts, counts)
            rest = octets[(within >> each.bit_length() - 1) + np.repeat(at + 2 * counts, counts)]
            rest >>= (within & each - 1).astype(np.uint8) * np.uint8(bits)
            ids |= (rest & np.uint8(2**bits - 1)).astype(np.uint32) << np.uint32(16 - bits)
        return ids


def _join_bits(values: NDArray[np.uint8], bits: int) -> bytes:
    """Several small numbers in each byte, the first one lowest."""
    each = 8 // bits
    padded = np.zeros(-(-len(values) // each) * each, np.uint8)
    padded[: len(values)] = values
    shifted = padded.reshape(-1, each) << (np.arange(each, dtype=np.uint8) * np.uint8(bits))
    return np.bitwise_or.reduce(shifted, axis=1).astype(np.uint8).tobytes() if len(values) else b""


def _walk(
    words: NDArray[np.uint32], at: NDArray[np.int64], kept: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Where the pieces of all records begin, and to which record each belongs, in the order of the records.

    And where the last piece of each record ends.
    """
    at, rows, places = at.copy(), [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for number in range(int(kept.max(initial=0))):
        have = np.flatnonzero(kept > number)
        rows.append(have)
        places.append(at[have])
        at[have] += (words[at[have] // _WORD] & np.uint32(_MOST)).astype(np.int64) * _WORD
    all_rows, all_places = np.concatenate(rows), np.concatenate(places)
    order = np.argsort(all_rows, kind="stable")
    return all_rows[order], all_places[order], at


def body(url: bytes, request: bytes) -> bytes:
    """An address and a request as they stand in a record."""
    return url + request + bytes(-(len(url) + len(request)) % _WORD)


def answer_to_bytes(answer: Answer) -> bytes:
    """What somebody said of the page of a link."""
    return json.dumps([answer.said, answer.who, answer.time, answer.relevance]).encode()


def bytes_to_answer(link: int, data: bytes) -> Answer:
    """What `answer_to_bytes` wrote. ValueError and its like if it is anything else."""
    said, who, when, relevance = json.loads(data)
    return Answer(link, Says(said), str(who), str(when), float(relevance))
