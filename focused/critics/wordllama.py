"""The word vectors of the package ``wordllama``, read from its files, without its own loader.

The loader would look for them on the network. There are some 32,000 pieces of words. The vector of a word is the mean
of those of its pieces, which are found as the package finds them: of all neighbours that may be joined, those that rank
first are, until there are none.

The package is not among our requirements, and no extra names it: its vectors descend from models with licences of
their own, which whoever installs it accepts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from focused.arrays import starts_of
from focused.critics.language import language_of
from focused.critics.vectors import WordVectors
from focused.extras import VECTORS as PACKAGE
from focused.pages.tokens import word_to_id

_WEIGHTS, _TOKENIZER = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"
_ABOUT = f"{PACKAGE}: its code is MIT; its vectors descend from LLaMA-2 and phi-3, whose licences you must accept"
_MOST_WORDS = 100_000
"""So many of the commonest words of English are looked up."""
_BEGIN = "\u2581"
_NEVER = 1 << 30


def read_wordllama(wanted: Sequence[str] = ()) -> WordVectors:
    """The table of the installed package, with the ``wanted`` words. ValueError says what is wrong with it."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ValueError(f"the package {PACKAGE!r} is not installed: pip install {PACKAGE}, or name a file of vectors")
    folder = Path(spec.submodule_search_locations[0])
    try:
        weights = _read_weights((folder / _WEIGHTS).read_bytes())
        pieces = _Pieces((folder / _TOKENIZER).read_text("utf-8"))
        words = list(dict.fromkeys([*wanted, *language_of(("en",)).commonest(_MOST_WORDS)]))
        vectors = _means([pieces.of(word) for word in words], weights)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ValueError(f"the package {PACKAGE!r} cannot be read ({error}): install version 0.4.0.post1") from error
    return WordVectors.of([word_to_id(word) for word in words], vectors, "en", _ABOUT)


def _read_weights(data: bytes) -> NDArray[np.float32]:
    """The only array of a file of safetensors: the length of a header, the header, the numbers."""
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    (array,) = (entry for name, entry in header.items() if name != "__metadata__")
    if array["dtype"] != "F16":
        raise ValueError(f"numbers of the type {array['dtype']!r}")
    first, end = array["data_offsets"]
    return np.frombuffer(data[begin + first : begin + end], "<f2").reshape(array["shape"]).astype(np.float32)


class _Pieces:
    """The pieces of words."""

    def __init__(self, text: str) -> None:
        model = json.loads(text)["model"]
        self._numbers: dict[str, int] = model["vocab"]
        pairs = (pair.split(" ") if isinstance(pair, str) else pair for pair in model["merges"])
        self._ranks = {(left, right): rank for rank, (left, right) in enumerate(pairs)}

    def of(self, word: str) -> list[int]:
        """The numbers of a word's pieces; letters that it does not know are left out."""
        pieces = list(_BEGIN + word)
        while len(pieces) > 1:
            ranks = [self._ranks.get(pair, _NEVER) for pair in pairwise(pieces)]
            best = min(ranks)
            if best == _NEVER:
                break
            at = ranks.index(best)
            pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
        return [self._numbers[piece] for piece in pieces if piece in self._numbers]


def _means(rows: Sequence[Sequence[int]], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.array([len(row) for row in rows])
    shares = np.repeat(1 / np.maximum(lengths, 1), lengths).astype(np.float32)
    columns = np.concatenate([np.zeros(0, np.int64), *map(np.asarray, rows)]).astype(np.int64)
    means: NDArray[np.float32] = csr_matrix((shares, columns, starts_of(lengths)), (len(rows), len(weights))) @ weights
    return means
