"""What Redis said of the addresses on the pages that a worker met last."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan
from random import Random

import numpy as np

from focused.bounded import Bounded
from focused.frontier.store import Known, State

# Number, state, and how many pieces of evidence were seen or, of a page that was fetched, late lessons given.
_ENTRY = struct.Struct(">IBB")
_RELEVANCE = struct.Struct("<f")
_MOST_REMEMBERED = 20_000


@dataclass(slots=True)
class Address:
    """One address; ``relevance`` is NaN where no page was judged."""

    key: bytes
    link: int
    state: State
    seen: int
    relevance: float = nan


class Addresses:
    """Remembers addresses by the numbers of their links, and decides of what more evidence is wanted."""

    def __init__(self, most_pieces: int, most_late: int) -> None:
        self._most_pieces, self._most_late = most_pieces, most_late
        self._random = Random()
        self._of: Bounded[int, Address] = Bounded(_MOST_REMEMBERED)

    def get(self, link: int) -> Address | None:
        """What is known of a link."""
        return self._of.get(link)

    def remember(self, key: bytes, entry: bytes) -> Address:
        """Take in an entry of the script."""
        link, state, seen = _ENTRY.unpack_from(entry)
        address = Address(key, link, State(state), seen)
        if address.state is State.DONE:
            (address.relevance,) = _RELEVANCE.unpack_from(entry, _ENTRY.size)
        self._of[link] = address
        return address

    def known(self, addresses: Sequence[Address]) -> Known:
        """Addresses, column by column."""
        return Known(
            np.array([address.link for address in addresses], np.int64),
            np.array([address.state for address in addresses], np.uint8),
            np.array([self._is_wanted(address) for address in addresses], np.bool_),
            np.array([address.relevance for address in addresses], np.float32),
        )

    def may_teach_late(self, address: Address) -> bool:
        """May a link to this page, found after it, give a lesson?"""
        return not isnan(address.relevance) and address.seen < self._most_late

    def _is_wanted(self, address: Address) -> bool:
        if address.state is State.DONE:
            return self.may_teach_late(address)
        if address.state is State.RESERVED or address.seen < self._most_pieces:
            return True
        return self._random.random() * (address.seen + 1) < self._most_pieces
