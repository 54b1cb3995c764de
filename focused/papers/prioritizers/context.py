"""Features beside the words around a link: the topics of its page, and neighbouring links whose pages are known.

Both are from Chakrabarti, Punera, Subramanyam (2002), §2.2.3 and §3.8, where they raised the apprentice's accuracy by
at most 1 %. In §3.8 the names of classes are features; in §2.2.3 it is the vector of their probabilities, and then a
class of probability p occurs as often as there are tenths in p.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from focused.arrays import starts_of
from focused.critics.base import Verdict
from focused.pages.evidence import mix, names_to_ids
from focused.pages.page import Links
from focused.pages.tokens import Ids, Lexicon
from focused.prioritizers.rows import Starts, append_to_rows

_LEAST_PROBABLE = 0.1
_HIGH = 0.5


def class_features(verdict: Verdict, lexicon: Lexicon, *, chances: bool = False) -> Ids:
    """Ids of the names of a page's probable classes and of their prefixes: ``Science.Biology``, then ``Science``.

    With ``chances`` each is there once for every tenth of its probability; that of a prefix is the sum of its classes.
    """
    names: dict[str, float] = {}
    for name, probability in verdict.classes:
        parts = name.split(".") if probability >= _LEAST_PROBABLE else []
        for prefix in (f"class:{'.'.join(parts[:n])}" for n in range(len(parts), 0, -1)):
            names[prefix] = names.get(prefix, 0.0) + probability
    ids = names_to_ids(names, lexicon)
    return np.repeat(ids, np.rint(np.array(list(names.values())) * 10).astype(np.int64)) if chances else ids


def neighbours(links: Links, fetched: NDArray[np.float32], d_max: int, lexicon: Lexicon) -> tuple[Starts, Ids]:
    """⟨high, d⟩ or ⟨low, d⟩ for every link within ``d_max`` leaves whose R is known: a row for each link."""
    known = np.flatnonzero(~np.isnan(fetched))
    after = links.first[None, known].astype(np.int64) - links.last[:, None]
    before = links.last[None, known].astype(np.int64) - links.first[:, None]
    offset = np.where(after > 0, after, np.minimum(before, 0))
    near = (np.abs(offset) <= d_max) & (known[None, :] != np.arange(len(links))[:, None])
    row, column = np.nonzero(near)
    names = np.array([lexicon["cocited:low"], lexicon["cocited:high"]], np.uint32)
    bucket = (fetched[known[column]] >= _HIGH).astype(np.int64)
    return starts_of(np.bincount(row, minlength=len(links))), mix(names[bucket], offset[row, column])


def append_to_each(starts: Starts, ids: Ids, more: Ids) -> tuple[Starts, Ids]:
    """The same features added to every row."""
    n = len(starts) - 1
    return append_to_rows(starts, ids, np.arange(n + 1, dtype=np.int64) * len(more), np.tile(more, n))
