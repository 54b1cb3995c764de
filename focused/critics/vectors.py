"""Word vectors: a table in which words of like use lie in like directions, made by somebody else from much text.

``scrapy vectors`` makes a table from the usual text formats, once: to read them as text takes too long for each crawl.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from focused.arrays import load_arrays
from focused.pages.tokens import Ids, word_to_id, words


@dataclass(frozen=True, eq=False)
class WordVectors:
    """A vector for each word, by its id (sorted). ``about`` says where they are from, and under which licence."""

    ids: Ids
    vectors: NDArray[np.float16]
    language: str
    about: str

    @classmethod
    def of(cls, numbers: Sequence[int] | Ids, vectors: NDArray[np.floating], language: str, about: str) -> WordVectors:
        """From words in any order; of words with the same id the first counts."""
        ids, first = np.unique(np.asarray(numbers, np.uint32), return_index=True)
        return cls(ids, vectors[first].astype(np.float16), language, about)


def read_vectors(path: str) -> WordVectors:
    """What `write_vectors` wrote. ValueError says what is wrong with a file."""
    try:
        arrays = load_arrays(Path(path))
        table = WordVectors(arrays["ids"], arrays["vectors"], str(arrays["language"]), str(arrays["about"]))
        _check(table)
    except (OSError, ValueError, KeyError) as error:
        raise ValueError(
            f"{path!r} is not a table of word vectors ({error}): make one with `scrapy vectors`"
        ) from error
    return table


def write_vectors(table: WordVectors, file: IO[bytes]) -> None:
    """A table as `read_vectors` reads it: NumPy's own format, compressed."""
    np.savez_compressed(
        file, ids=table.ids, vectors=table.vectors, language=np.array(table.language), about=np.array(table.about)
    )


def read_text(path: Path, *, language: str, about: str, most: int) -> WordVectors:
    """The first ``most`` words of a text file: a word and its numbers on each line, as word2vec and GloVe write them.

    What is not one of our words (punctuation, phrases) is left out. ValueError names the first line that is wrong.
    """
    rows: dict[int, NDArray[np.float16]] = {}
    numbers = 0
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", errors="replace") as lines:
        for at, line in enumerate(lines, start=1):
            parts = line.split()
            # word2vec begins with how many words and numbers there are.
            if not parts or (at == 1 and len(parts) == 2):
                continue
            numbers = numbers or len(parts) - 1
            try:
                row = np.array(parts[-numbers:], np.float32)
            except ValueError as error:
                raise ValueError(f"{str(path)!r}, line {at}: {error}; give a word and its numbers") from error
            found = words(" ".join(parts[:-numbers]))
            if len(found) == 1:
                rows.setdefault(word_to_id(found[0]), row.astype(np.float16))
            if len(rows) == most:
                break
    if not rows:
        raise ValueError(f"{str(path)!r} has no words: give a word and its numbers on each line")
    return WordVectors.of(list(rows), np.stack(list(rows.values())), language, about)


def _check(table: WordVectors) -> None:
    if table.ids.dtype != np.uint32 or table.ids.ndim != 1 or not (table.ids[:-1] < table.ids[1:]).all():
        raise ValueError("its ids are not those of words, in order")
    if table.vectors.dtype != np.float16 or table.vectors.ndim != 2 or len(table.vectors) != len(table.ids):
        raise ValueError(f"its vectors are not {len(table.ids)} rows of float16")
    if not len(table.ids) or not np.isfinite(table.vectors).all():
        raise ValueError("it has no vectors, or some that are not numbers")
