"""Words of a text, in any script, and their ids.

Everything downstream (critics, evidence) works on 32-bit ids of words, so that a page is tokenized once and
then only touched as arrays. An id is the CRC-32 of the word: stable between processes and machines, unlike
``hash()``. Among 100,000 words about one pair shares an id; no learner here can notice that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.uint32]

# No white space: it must come out of a split as a word of its own.
LEAF_END = "\x01"
_CACHE_LIMIT = 400_000

# A longer word is cut into several: nobody wrote it.
_LONGEST = 40
_TOKEN = re.compile(rf"[^\W_]{{1,{_LONGEST}}}|{LEAF_END}")
# For ASCII, some four times as fast: what is in no word becomes a space.
_ASCII = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)} | {ord(LEAF_END): LEAF_END}
# Scripts written without spaces: Han, kana, Thai, Lao, Khmer, Myanmar.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]+"
)


def words(text: str) -> list[str]:
    """The words of a text, lower case; runs of scripts without spaces become pairs of characters."""
    return _split(text.replace(LEAF_END, " "))


def unspaced(text: str) -> int:
    """How many characters of a text are of scripts without spaces: about as many words does it have there."""
    return 0 if text.isascii() else sum(map(len, _UNSPACED.findall(text)))


def word_to_id(word: str) -> int:
    """The id of one (lower-case) word; never 0, which marks the end of a leaf."""
    return crc32(word.encode("utf-8", "surrogatepass")) or 1


class Lexicon(dict[str, int]):
    """A bounded cache from words to ids. What it holds is the same for everybody, so it may be shared."""

    def __init__(self) -> None:
        super().__init__({LEAF_END: 0})

    def __missing__(self, word: str) -> int:
        if len(self) > _CACHE_LIMIT:
            self.clear()
            self[LEAF_END] = 0
        # Pages are read in threads, too: another one may just have cleared it of LEAF_END.
        number = self[word] = 0 if word == LEAF_END else word_to_id(word)
        return number

    def leaves_to_ids(self, leaves: list[str]) -> tuple[Ids, NDArray[np.int64]]:
        """Ids of all words of a list of leaves, and where each leaf starts (one entry more than leaves)."""
        marked = np.fromiter(map(self.__getitem__, _split_leaves(leaves)), np.uint32)
        ends = np.flatnonzero(marked == 0)
        starts = np.zeros(len(leaves) + 1, np.int64)
        if leaves:
            starts[1:-1] = ends - np.arange(len(ends))
            starts[-1] = len(marked) - len(ends)
        return marked[marked != 0], starts

    def text_to_ids(self, text: str) -> Ids:
        """Ids of the words of one text."""
        return self.leaves_to_ids([text])[0]


class CrawlLexicon(Lexicon):
    """The lexicon of one crawl: also remembers which words it met for the first time.

    The crawl's records keep the new words, so that what was learned about ids can be shown as words.
    """

    def __init__(self) -> None:
        super().__init__()
        self._new: dict[int, str] = {}

    def __missing__(self, word: str) -> int:
        if len(self._new) > _CACHE_LIMIT:
            # Nothing takes them: this crawl keeps no records.
            self._new.clear()
        number = super().__missing__(word)
        if number:
            self._new[number] = word
        return number

    def take_new(self) -> dict[int, str]:
        """The words met since the last call, by id."""
        new: dict[int, str] = {}
        # One by one: a page that is read in a thread may be adding others.
        with suppress(KeyError):
            while True:
                number, word = self._new.popitem()
                new[number] = word
        return new


LEXICON = Lexicon()
"""For pages that belong to no crawl: examples, files, recorded webs."""


def _split_leaves(leaves: list[str]) -> list[str]:
    """The words of all leaves, and between two of them a `LEAF_END`."""
    tokens: list[str] = []
    for _, run in groupby((leaf.replace(LEAF_END, " ") for leaf in leaves), str.isascii):
        tokens += _split(f" {LEAF_END} ".join(run))
        tokens.append(LEAF_END)
    return tokens[:-1]


def _split(text: str) -> list[str]:
    if text.isascii():
        tokens = text.translate(_ASCII).split()
        if max(map(len, tokens), default=0) <= _LONGEST:
            return tokens
    tokens = _TOKEN.findall(text.lower())
    if not _UNSPACED.search(text):
        return tokens
    return [piece for token in tokens for piece in _pieces(token)]


def _pieces(token: str) -> list[str]:
    if token.isascii():
        return [token]
    pieces: list[str] = []
    at = 0
    for run in _UNSPACED.finditer(token):
        if run.start() > at:
            pieces.append(token[at : run.start()])
        characters = run.group()
        pieces += [characters[i : i + 2] for i in range(max(1, len(characters) - 1))]
        at = run.end()
    if at < len(token):
        pieces.append(token[at:])
    return pieces


def end_to_end(texts: Sequence[Ids]) -> tuple[Ids, NDArray[np.int64]]:
    """All texts as one, and to which text each word belongs."""
    text = np.repeat(np.arange(len(texts)), [len(one) for one in texts])
    return np.concatenate([np.zeros(0, np.uint32), *texts]), text
