"""What is kept of a page, so that a critic that has learned since can judge it anew: its words, without their order.

At most 4 KB a page. Of a page with more distinct words than there is room for, the most frequent ones are kept; the
words that every text of its language has say nothing, and make room first.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from focused.arrays import Damaged, look_up
from focused.critics.bag import Bag
from focused.critics.language import Language
from focused.critics.terms import Terms
from focused.pages.page import Page
from focused.pages.tokens import Ids, word_to_id
from focused.pages.urls import url_to_host

MOST_WORDS = 700
MOST_TERMS = 100
_MOST_HOST = 255
_ORDINARY = 300
_HEADER = struct.Struct("<HBB")


@dataclass(frozen=True, slots=True)
class Gist:
    """The host of a page, its words as a bag, and to what degree it shows each of the topic's terms."""

    host: str
    ids: Ids
    counts: NDArray[np.int64]
    shown: NDArray[np.float32]

    @property
    def bag(self) -> Bag:
        """The words, and how often each occurs."""
        return self.ids, self.counts

    def to_bytes(self) -> bytes:
        """The gist as bytes, for the job's records."""
        host = self.host.encode("utf-8", "surrogatepass")
        header = _HEADER.pack(len(self.ids), len(self.shown), len(host))
        counts, shown = self.counts.astype(np.uint8), self.shown.astype("<f2")
        return header + host + self.ids.astype("<u4").tobytes() + counts.tobytes() + shown.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Gist:
        """What `to_bytes` wrote, or Damaged."""
        words, terms, length = _HEADER.unpack_from(data) if len(data) >= _HEADER.size else (0, 0, 0)
        at = _HEADER.size + length
        if len(data) != at + 5 * words + 2 * terms:
            raise Damaged(f"{len(data)} bytes are not what is kept of a page")
        try:
            host = data[_HEADER.size : at].decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise Damaged(f"what is kept of a page names no host: {error}") from error
        ids = np.frombuffer(data, "<u4", words, at)
        counts = np.frombuffer(data, np.uint8, words, at + 4 * words).astype(np.int64)
        shown = np.frombuffer(data, "<f2", terms, at + 5 * words).astype(np.float32)
        if not counts.all() or not np.isfinite(shown).all():
            raise Damaged("what is kept of a page is invalid")
        return cls(host, ids, counts, shown)


class GistMaker:
    """Makes gists of pages, with the terms of a topic."""

    def __init__(self, terms: Terms, language: Language) -> None:
        self._terms = terms
        ordinary = [word_to_id(word) for word in language.commonest(_ORDINARY)]
        # A term of the topic may be an ordinary word.
        self._ordinary = np.setdiff1d(np.array(ordinary, np.uint32), terms.ids)

    def make(self, page: Page) -> Gist:
        """The gist of a page. It is rounded as its bytes are: what was judged at first can be judged again."""
        ids, counts = page.bag
        kept = ~look_up(self._ordinary, ids)[1]
        ids, counts = ids[kept], np.minimum(counts[kept], np.iinfo(np.uint8).max)
        if len(ids) > MOST_WORDS:
            most = np.sort(np.argsort(-counts, kind="stable")[:MOST_WORDS])
            ids, counts = ids[most], counts[most]
        shown = self._terms.shown_by(page)[:MOST_TERMS]
        return Gist(url_to_host(page.url)[:_MOST_HOST], ids, counts, shown.astype(np.float16).astype(np.float32))
