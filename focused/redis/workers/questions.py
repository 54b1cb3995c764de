"""The pages of all workers about which a teacher may be asked: each offers its own, and the trainer asks."""

from __future__ import annotations

from collections.abc import Collection

import msgpack
import numpy as np

from focused.redis.store import RedisStore
from focused.visits.questions import MOST_PAGES, Candidate, Candidates, Question

# They are only compared with one another; a page may have tens of thousands.
_MOST_WORDS = 500


class SharedCandidates(Candidates):
    """Lie in Redis, so that whoever becomes the trainer may ask about them, too."""

    def __init__(self, store: RedisStore) -> None:
        super().__init__()
        self._store = store

    @property
    def is_asking_here(self) -> bool:
        return self._store.is_trainer

    def add(self, candidate: Candidate) -> None:
        self._store.offer(candidate_to_bytes(candidate), MOST_PAGES)

    def remove(self, links: Collection[int]) -> None:
        self._open, self._asked = {}, []
        with self._store.server.whole("a page that somebody may be asked about"):
            for page in self._store.offered(MOST_PAGES):
                super().add(bytes_to_candidate(page))
        super().remove(links)


def candidate_to_bytes(candidate: Candidate) -> bytes:
    """A page that may be asked about, with its most frequent words."""
    ids, counts = candidate.bag
    most = np.sort(np.argsort(-counts, kind="stable")[:_MOST_WORDS])
    words = (ids[most].astype("<u4").tobytes(), counts[most].astype("<u4").tobytes())
    asked = candidate.question
    packed: bytes = msgpack.packb(
        [candidate.link, asked.url, asked.title, asked.text, *words], unicode_errors="surrogatepass"
    )
    return packed


def bytes_to_candidate(data: bytes) -> Candidate:
    """What `candidate_to_bytes` wrote."""
    link, url, title, text, ids, counts = msgpack.unpackb(data, unicode_errors="surrogatepass")
    bag = np.frombuffer(ids, "<u4").astype(np.uint32), np.frombuffer(counts, "<u4").astype(np.int64)
    return Candidate(link, Question(url, title, text), bag)
