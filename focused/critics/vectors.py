"""Word vectors: a table in which words of like use lie in like directions, made by somebody else from much text.

A table is a file (`write_vectors`; ``scrapy vectors`` makes one of the usual text formats), or lies in an installed
package. Nothing is ever fetched.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from focused.arrays import starts_of
from focused.critics.language import language_of
from focused.extras import VECTORS as PACKAGE
from focused.extras import need
from focused.pages.tokens import Ids, word_to_id, words

_WEIGHTS, _TOKENIZER = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"
_LICENCE = "its code is MIT; its vectors descend from LLaMA-2 and phi-3, whose licences you must accept"
_MOST_WORDS = 100_000
"""Of a package that knows parts of words, so many of the commonest words of English are looked up, once."""


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


def read_vectors(reference: str, wanted: Sequence[str] = ()) -> WordVectors:
    """The table in a file, or in an installed package; from parts of words, the ``wanted`` words are made as well.

    ValueError says what is wrong with it.
    """
    if reference == PACKAGE:
        return _of_package(wanted)
    try:
        with np.load(reference, allow_pickle=False) as archive:
            table = WordVectors(archive["ids"], archive["vectors"], str(archive["language"]), str(archive["about"]))
        _check(table)
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
        raise ValueError(
            f"{reference!r} is not a table of word vectors ({error}): make one with `scrapy vectors`"
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


def _of_package(wanted: Sequence[str]) -> WordVectors:
    """The vector of a word is the mean of those of its parts. Its own loader would look for files on the network."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ValueError(f"the package {PACKAGE!r} is not installed: pip install {PACKAGE}, or name a file of vectors")
    for package in ("safetensors", "tokenizers"):
        need(package, PACKAGE)
    folder = Path(spec.submodule_search_locations[0])
    from safetensors import SafetensorError  # noqa: PLC0415  # only who asks for this table needs them
    from safetensors.numpy import load_file  # noqa: PLC0415
    from tokenizers import Tokenizer  # noqa: PLC0415

    for name in (_WEIGHTS, _TOKENIZER):
        if not (folder / name).is_file():
            raise ValueError(f"the package {PACKAGE!r} has no file {name!r}: install version 0.4.0, or name a file")
    try:
        weights = next(iter(load_file(folder / _WEIGHTS).values())).astype(np.float32)
    except (SafetensorError, StopIteration) as error:
        raise ValueError(f"{folder / _WEIGHTS} cannot be read ({error}): install {PACKAGE} again") from error
    try:
        tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(f"{folder / _TOKENIZER} cannot be read ({error}): install {PACKAGE} again") from error
    words = list(dict.fromkeys([*wanted, *language_of(("en",)).commonest(_MOST_WORDS)]))
    parts = [one.ids for one in tokenizer.encode_batch_fast(words, add_special_tokens=False)]
    starts = starts_of([len(part) for part in parts])
    means = csr_matrix(
        (np.repeat(1 / np.maximum(np.diff(starts), 1), np.diff(starts)), np.concatenate(parts), starts),
        shape=(len(words), len(weights)),
        dtype=np.float32,
    )
    return WordVectors.of([word_to_id(word) for word in words], means @ weights, "en", f"{PACKAGE}: {_LICENCE}")
