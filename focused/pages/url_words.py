"""Words of an address: what its path, its query and its ending say of the page behind it.

``http://www-2.cs.example/~svc/papers/view-publications-ckl2004.html`` gives ``~svc``, ``~``, ``papers``, ``view``,
``publications``, ``ckl2004`` and ``html``: the tokens of section 5.3.2 of Sajjanhar's thesis (2008). A tilde is a word
of its own, because it distinguishes a person's pages from a department's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from focused.arrays import starts_of
from focused.pages.evidence import ADDRESS, mix
from focused.pages.tokens import Ids, Lexicon

_MOST = 30
_WORD = re.compile(r"~?[^\W_]{1,40}")


def url_words(url: str) -> list[str]:
    """The words of the relative part of an address, in order; one that begins with ``~`` is followed by a bare one."""
    relative = unquote(url.partition("//")[2].partition("/")[2], errors="replace").lower()
    found: list[str] = []
    for word in _WORD.findall(relative)[:_MOST]:
        found.append(word)
        if word[0] == "~":
            found.append("~")
    return found


def url_features(urls: Sequence[str], lexicon: Lexicon) -> tuple[NDArray[np.int64], Ids]:
    """Features of many addresses: where each one's ids start, and the ids of its words."""
    found = [list(dict.fromkeys(url_words(url))) for url in urls]
    starts = starts_of([len(words) for words in found])
    ids = np.fromiter((lexicon[word] for words in found for word in words), np.uint32, int(starts[-1]))
    return starts, mix(ids, ADDRESS)
