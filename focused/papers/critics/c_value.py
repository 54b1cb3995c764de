"""Terms of a text: noun phrases, and how much of a term each is (C-value).

After K. Frantzi, S. Ananiadou, H. Mima, *Automatic recognition of multi-word terms: the C-value/NC-value method*
(2000), as in eq. 2.1 of Greenwood's thesis: parts of speech, a filter for noun phrases, a stop list, then with f(a) the
number of times that a occurs and T the longer candidates that contain a

    C(a) = log₂(1 + |a|) · (f(a) − (1/|T|) Σ_{b ∈ T} f(b))         the subtraction only where T is not empty

so that a phrase that occurs only inside one longer phrase is nothing. The original has log₂|a|, which drops single
words; with the 1 they count for 1, two words for 1.6, three for 2: an anchor is often one word.

The filter is (adjective | noun)* noun; a gerund may end a phrase behind a noun ("machine learning"). Parts of speech
are those of `textblob.en.tag`, whose word list comes with the package: nothing is fetched at run time. It looks at
each word by itself (list, then suffixes; what it does not know is a noun), so the answer is remembered by word, and
words are looked up in lower case. Phrases end at punctuation and at the border of a leaf. English only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from focused.arrays import look_up, ranges
from focused.critics.language import language_of
from focused.pages.page import Page
from focused.pages.tokens import Ids, word_to_id
from focused.papers.critics.profiles import LONGEST, Floats, Ints, Phrases, Runs, runs_of

_OTHER, _ADJECTIVE, _NOUN, _GERUND = range(4)
_TAGS = {"JJ": _ADJECTIVE, "NN": _NOUN, "VBG": _GERUND}
_TOKEN = re.compile(r"[^\W_]{1,40}|[^\w\s'’-]")
_LEAF_END = "\n.\n"
_COMMONEST = 200
_STOCK = 20_000
_CACHE_LIMIT = 400_000
_CHARACTERS = 200_000
_KIND = np.uint64(32)


_EXAMPLES: WeakKeyDictionary[Page, WeighedTerms] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class WeighedTerms:
    """The terms of one text, with their C-values, the highest first; ``run`` identifies equal ones in several texts."""

    phrases: Phrases
    weight: Floats
    run: Runs

    def __len__(self) -> int:
        return len(self.weight)

    def head(self, most: int) -> WeighedTerms:
        """The first so many."""
        return WeighedTerms(self.phrases.select(np.arange(min(most, len(self)))), self.weight[:most], self.run[:most])


def recognise(page: Page) -> WeighedTerms:
    """The terms of a page."""
    codes = np.fromiter(map(_number, _tokens(page)), np.uint64)
    ids = (codes & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    return weigh(candidates(ids, (codes >> _KIND).astype(np.int64)))


def recognise_example(page: Page) -> WeighedTerms:
    """The terms of an example page, remembered: cross-validation asks again and again."""
    if page not in _EXAMPLES:
        _EXAMPLES[page] = recognise(page)
    return _EXAMPLES[page]


def spelling_of(page: Page) -> dict[int, str]:
    """The words of a page, by id."""
    return {word_to_id(token): token for token in _tokens(page)}


def _tokens(page: Page) -> list[str]:
    return _TOKEN.findall(_LEAF_END.join(page.leaves)[:_CHARACTERS].lower())


def candidates(ids: Ids, kinds: Ints) -> Phrases:
    """Every noun phrase of the text, also those inside longer ones."""
    open_until = _ends_of_stretches(kinds > _OTHER)
    gerund_ok = np.zeros(len(kinds), np.bool_)
    gerund_ok[1:] = (kinds[1:] == _GERUND) & (kinds[:-1] == _NOUN)
    begins, lengths = [], []
    place = np.arange(len(kinds))
    for words in range(1, LONGEST + 1):
        last = np.minimum(place + words - 1, max(len(kinds) - 1, 0))
        ends_well = (kinds[last] == _NOUN) | (gerund_ok[last] & (words > 1))
        begin = np.flatnonzero((open_until >= place + words) & ends_well)
        begins.append(begin)
        lengths.append(np.full(len(begin), words))
    return Phrases(ids, np.concatenate(begins), np.concatenate(lengths))


def weigh(found: Phrases) -> WeighedTerms:
    """The distinct phrases of some text whose C-value is above 0; ``found`` has every occurrence."""
    runs = runs_of(found.ids)
    run = np.stack(runs)[found.length - 1, found.begin] if len(found) else runs[0][:0]
    distinct, first, count = np.unique(run, return_index=True, return_counts=True)
    terms = found.select(first)
    inner, outer = _nested(terms, distinct)
    holders = np.bincount(inner, minlength=len(terms))
    inside = np.bincount(inner, count[outer], len(terms))
    value = np.log2(1 + terms.length) * (count - inside / np.maximum(holders, 1))
    order = np.lexsort((first, -value))
    order = order[value[order] > 0]
    return WeighedTerms(terms.select(order), value[order], distinct[order])


def _nested(terms: Phrases, distinct: Runs) -> tuple[Ints, Ints]:
    """The pairs of terms of which the first is part of the second."""
    rows = np.arange(len(terms))
    inner, outer = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    runs = runs_of(terms.ids)
    for words in range(1, LONGEST):
        count = np.where(terms.length > words, terms.length - words + 1, 0)
        run = runs[words - 1][ranges(terms.begin, count)]
        at, known = look_up(distinct, run)
        inner.append(at[known])
        outer.append(np.repeat(rows, count)[known])
    pairs = np.unique(np.concatenate(inner) * max(len(terms), 1) + np.concatenate(outer))
    return pairs // max(len(terms), 1), pairs % max(len(terms), 1)


def _ends_of_stretches(inside: NDArray[np.bool_]) -> Ints:
    """For each place, where the unbroken stretch of True that it lies in ends; the place itself where it is False."""
    place = np.arange(len(inside))
    ends = np.where(inside, len(inside), place)
    return np.minimum.accumulate(ends[::-1])[::-1] if len(ends) else ends


@lru_cache(maxsize=_CACHE_LIMIT)
def _number(word: str) -> int:
    """Id and part of speech of a word, in one number; a piece of punctuation has neither."""
    return (kind_of(word) << 32 | word_to_id(word)) if word[0].isalnum() else 0


def kind_of(word: str) -> int:
    """The part of speech of a lower-case word, as far as the filter cares; stop words have none."""
    if len(word) == 1 or word.isdigit() or word in _stop_list():
        return _OTHER
    from textblob.en import parser  # noqa: PLC0415  # a tenth of a second and 33 MB, for this critic alone

    tag: str = parser.find_tags([word])[0][1]
    return next((kind for start, kind in _TAGS.items() if tag.startswith(start)), _OTHER)


def common_nouns(most: int) -> list[int]:
    """The ids of the commonest nouns of the language that are no stop words."""
    nouns = (word for word in language_of(("en",)).commonest(_STOCK) if kind_of(word) == _NOUN)
    return [word_to_id(word) for word in islice(nouns, most)]


@lru_cache(maxsize=1)
def _stop_list() -> frozenset[str]:
    """The commonest words of the language: also as nouns they are in no term."""
    return frozenset(language_of(("en",)).commonest(_COMMONEST))
