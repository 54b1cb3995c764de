"""A critic for plain words, without examples.

Each keyword k has a weight w by how rare it is in general language, and a page shows it to a degree

    s = n / (n + δ (N + N₀))        n = occurrences beyond what general language would show by chance, N = words

so that one keyword in 200 words makes a half of it, one mention on a long page next to nothing, and very short
texts stay in doubt (N₀). The keywords are alternatives, R = 1 − Π (1 − c·w·s): more of them make a page more
relevant, none of them alone makes it certain.

A phrase counts where its words follow one another, a little where they are merely all on the page, and each of its
words is a weak keyword of its own. Singular and plural count as one.

Once the seeds are fetched, their own vocabulary joins: words that several seeds use far more often than general
language does. What a page shares of it, compared with what the seeds themselves show, adds a bounded part of what
the keywords left open, so that the words the user gave dominate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Self

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from focused.critics.base import Critic, Reason, Verdict
from focused.critics.classes import wanted_among
from focused.critics.language import check_languages
from focused.critics.targets import Targets
from focused.critics.terms import (
    CERTAIN,
    HALF_AT,
    Terms,
    language_of_phrases,
    phrases_of,
    shown_at_all,
    terms_of_phrases,
)
from focused.pages.page import Page, Text
from focused.pages.tokens import end_to_end, word_to_id, words

Floats = NDArray[np.float64]

_MOST_SEEDS = 50
_MOST_SEED_SHARE = 0.99
_SEED_LENGTH = 50
_SEED_WORDS = 60
_KEPT_OF_A_SEED = 300
_MARKEDLY = 10.0


class KeywordsCritic(Critic):
    """R(u) from keywords and phrases, and from what the seeds have in common.

    ``languages`` (wordfreq's codes) is guessed from the keywords when empty. ``seed_share`` bounds what the seeds'
    vocabulary may add; 0 leaves them unread. ``min_seeds`` is how many seeds must agree on a word.
    """

    name = "keywords"

    def __init__(
        self,
        *,
        keywords: Sequence[str],
        languages: Sequence[str] = (),
        seed_share: Annotated[float, Meta(ge=0, le=_MOST_SEED_SHARE)] = 0.4,
        min_seeds: Annotated[int, Meta(ge=1, le=_MOST_SEEDS)] = 2,
    ) -> None:
        check_languages(languages)
        phrases = phrases_of(keywords)
        if not phrases:
            raise ValueError(f"keywords={list(keywords)!r}: give at least one word")
        self.targets = Targets.of_words({word_to_id(word): word for found in phrases.values() for word in found})
        self.language = language_of_phrases(phrases, languages)
        self.seed_share = seed_share
        self.min_seeds = min_seeds
        self._seeds: dict[str, dict[str, float]] = {}
        self._own = Terms(terms_of_phrases(phrases, self.language), self.language)
        self._shared = Terms({}, self.language)
        self._seeds_show = 1.0

    def fit(self, pages: Sequence[Page], classes: Sequence[str], focus: Sequence[str]) -> Self:
        """Takes the wanted examples for seeds; there is nothing else to learn."""
        for page, is_wanted in zip(pages, wanted_among(classes, focus), strict=True):
            if is_wanted:
                self.learn_from_seed(page)
        return self

    def judge(self, page: Page) -> Verdict:
        own, shared = self._shown_by_page(page)
        return Verdict(float(self._relevance(own, shared)[0]))

    def score_texts(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """An empty text, or one without any of the words, gets 0."""
        ids, text = end_to_end([text.ids for text in texts])
        shown = [terms.shown(ids, text, len(texts)) for terms in (self._own, self._shared)]
        return self._relevance(*shown).astype(np.float32)

    def explain(self, page: Page, most: int = 10) -> list[Reason]:
        """Each word's part in −log(1 − R): nothing can speak against a page but the lack of words."""
        own, shared = self._shown_by_page(page)
        parts = [*zip(self._own.names, -np.log1p(-CERTAIN * own[0] * self._own.weights), strict=True)]
        likeness = self._likeness(shared)[0]
        if likeness:
            part = -np.log1p(-self.seed_share * likeness)
            each = shared[0] * self._shared.weights
            parts += zip(self._shared.names, part * each / each.sum(), strict=True)
        parts.sort(key=lambda pair: -pair[1])
        return [Reason(word, float(weight)) for word, weight in parts[:most] if weight > 0]

    def _shown_by_page(self, page: Page) -> tuple[Floats, Floats]:
        shared = self._shared.shown(page.ids, np.zeros(len(page.ids), np.int64), 1)
        return self._own.shown_by(page)[None, :], shared

    def _relevance(self, own: Floats, shared: Floats) -> Floats:
        left = 1 - shown_at_all(own, self._own.weights)
        relevance: Floats = 1 - left * (1 - self.seed_share * self._likeness(shared))
        return relevance

    def _likeness(self, shared: Floats) -> Floats:
        likeness: Floats = np.minimum(shared @ self._shared.weights / self._seeds_show, 1)
        return likeness

    def learn_from_seed(self, seed: Page) -> bool:
        if not self.seed_share or seed.url in self._seeds or len(self._seeds) >= _MOST_SEEDS:
            return False
        if len(seed.ids) < _SEED_LENGTH:
            return False
        self._seeds[seed.url] = self._marked_words(seed)
        self._share()
        return True

    def state(self) -> dict[str, Any]:
        return {"seeds": {url: dict(marked) for url, marked in self._seeds.items()}}

    def restore(self, state: dict[str, Any]) -> None:
        self._seeds = {url: dict(marked) for url, marked in state.get("seeds", {}).items()}
        self._share()

    def _marked_words(self, seed: Page) -> dict[str, float]:
        """The words that a seed uses far more often than general language does, with their share of its words."""
        counts = Counter(words(seed.text))
        total = counts.total()
        marked = {}
        for word, count in counts.items():
            share, general = count / total, self.language.frequency(word)
            if count > 1 and share > _MARKEDLY * general and not word.isdigit() and len(word) > 1:
                marked[word] = share
        best = sorted(marked, key=lambda word: (-self._mark(word, marked[word]), word))[:_KEPT_OF_A_SEED]
        return {word: marked[word] for word in best}

    def _mark(self, word: str, share: float) -> float:
        return float(share * np.log(share / self.language.frequency(word)))

    def _share(self) -> None:
        """Choose the words that several seeds are marked by."""
        agree = Counter(word for marked in self._seeds.values() for word in marked)
        mean = {
            word: sum(marked.get(word, 0.0) for marked in self._seeds.values()) / len(self._seeds)
            for word, seeds in agree.items()
            if seeds >= max(self.min_seeds, len(self._seeds) / 3) and not self._own.knows(word)
        }
        best = sorted(mean, key=lambda word: (-self._mark(word, mean[word]), word))[:_SEED_WORDS]
        self._shared = Terms({word: ([word], self._mark(word, mean[word])) for word in best}, self.language)
        show = sum(weight * mean[word] / (mean[word] + HALF_AT) for word, weight in self._shared.weighted())
        self._seeds_show = max(show, 1e-9)
