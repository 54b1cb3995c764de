"""The default critic: one judge from everything the user gives, which goes on learning from the pages it meets.

What is given may be words, pages that are wanted, pages that are not, or any of these together. Each says something
of a page by itself:

- **words**: to what degree W the page shows them (`terms`), V₁ = logit W;
- **wanted pages**: V₂, the cosine of the page to their centroid, in standard deviations over the pages met so far;
- **a classifier**: V₃, the log-odds of a logistic regression on TF-IDF. Its examples are the given pages, and the pages
  met so far: these have as soft labels what words and centroid make of them. It finds the other words of the topic
  (pseudo-relevance feedback), and it sees the page from another side than the words do, so that log-odds add up;
- **near words**, where there is a table of word vectors: the share N of the page's words that are near those given
  (`near`). It adds a constant and a multiple of N, both the smaller, the more is given.

    R = σ(a₀ + a₁ V₁ + a₂ W + a₃ V₂ + a₄ V₃ + ρ)

where V₃ is what the classifier says beyond what it says of most pages, and ρ is above 0 only where words and centroid
find more than one page in five to be wanted: in a crawl that stays on its topic.

Words in the menus of a host count in none of these, once some of its pages were met (`Met`).

The a's are the same for every topic. They were fitted on the labels of three recorded webs, over the pages that crawls
had fetched, so that R is a probability: of the pages with R ≈ p, a share p is wanted (`bench/calibrate.py`).

The more unwanted pages are among the examples, the less all this counts beside a `LogisticCritic` of the examples
alone; with some hundreds of them that is all that counts, and there is nothing to learn on the job.

A seed counts as a wanted page as far as the words agree with it: home pages share their menus, not the topic. Pages
of which somebody has said whether they are wanted have that as their label, in place of what words and centroid say;
the labels of pages like them are corrected (`focused.critics.answers`).
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from copy import copy
from typing import Annotated, Any, Self

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray
from scipy.sparse import vstack
from scipy.special import expit

from focused.arrays import Arrays
from focused.critics.answers import corrections
from focused.critics.bag import spelling
from focused.critics.base import LearningCritic, Reason, Verdict
from focused.critics.classes import wanted_among
from focused.critics.gist import Gist, GistMaker
from focused.critics.language import check_languages
from focused.critics.logistic import LogisticCritic
from focused.critics.met import Met, log_odds
from focused.critics.near import NearWords, near_words
from focused.critics.targets import Targets
from focused.critics.terms import (
    CERTAIN,
    Terms,
    language_of_phrases,
    phrases_of,
    shown_at_all,
    terms_of_phrases,
)
from focused.pages.page import Page
from focused.pages.tokens import Ids, word_to_id

Floats = NDArray[np.float64]

_MOST_EXAMPLES = 200
_MOST_SEEDS = 50
_FEWEST_MET = 10
_ALL_GIVEN = 0.9

# Fitted with words alone, a title alone, and 3 or 10 wanted pages with and without them, in simulated crawls.
_BEFORE = {"": -1.66, "V1": 0.20, "W": 2.96, "words": -0.29, "V2": 1.16, "pages": -1.03, "both": 0.34}
"""What is made of words and centroid alone: the soft labels of the classifier."""
_AFTER = {"": -1.71, "V1": 0.16, "W": 0.81, "words": -0.24, "V2": 0.11, "pages": -0.99, "both": 0.48, "V3": 1.88}
# Fitted beside these, with a title alone. The second is more than fits since the first is in the classifier's labels.
_BEFORE |= {"near": -0.29, "N": 66.0}
_AFTER |= {"near": -0.23, "N": 40.0}
_FEW_PHRASES, _PAGES_A_WORD = 2, 3
"""Beyond so many phrases, one more halves what near words count; so do so many wanted pages."""
_MOST_OF_A_MENU = 0.3
"""The degree to which a word is shown by being once on a page of 270 words. A site may be about it all the same."""
_SPREAD = 0.4
_SOME_ANSWERS = 20
"""The number of answers with which relevance is compressed half as much as without any."""
_UNWANTED_NEEDED = 100
"""With so many unwanted examples a classifier of the examples alone counts as much as all the rest."""


class CombinedCritic(LearningCritic):
    """R(u) from words, from pages, and from what the crawl itself meets.

    ``languages`` (wordfreq's codes) is guessed from the keywords when empty. ``on_the_job=False`` judges by what was
    given alone. ``strength`` is scikit-learn's C for the classifier of the examples (`LogisticCritic`).
    """

    name = "combined"
    learns = True
    needs_examples = False
    _near: NearWords | None = None

    def __init__(
        self,
        *,
        keywords: Sequence[str] = (),
        languages: Sequence[str] = (),
        on_the_job: bool = True,
        strength: Annotated[float, Meta(ge=1e-9, le=1_000_000)] = 10.0,
    ) -> None:
        check_languages(languages)
        phrases = phrases_of(keywords)
        if keywords and not phrases:
            raise ValueError(f"keywords={list(keywords)!r}: give at least one word")
        spelled = {word_to_id(word): word for found in phrases.values() for word in found}
        self.language = language_of_phrases(phrases, languages)
        self.has_words = bool(phrases)
        self._phrases = tuple(map(tuple, phrases.values()))
        self.on_the_job = on_the_job
        if phrases:
            self.targets = Targets.of_words(spelled)
        self._terms = Terms(terms_of_phrases(phrases, self.language) if phrases else {}, self.language)
        self._maker = GistMaker(self._terms, self.language)
        self._classifier = LogisticCritic(strength=strength, languages=languages)
        self._is_taught = False
        self._trust = 0.0
        self._wanted: list[Gist] = []
        self._unwanted: list[Gist] = []
        self._seeds: dict[str, Gist] = {}
        self._met = Met()

    # --- what is given -----------------------------------------------------------------------------------------

    def fit(self, pages: Sequence[Page], classes: Sequence[str], focus: Sequence[str]) -> Self:
        wanted = wanted_among(classes, focus)
        self._classifier.fit(pages, classes, focus)
        self._is_taught = True
        gists = [self._maker.make(page) for page in pages]
        self._wanted = [gist for gist, is_wanted in zip(gists, wanted, strict=True) if is_wanted][:_MOST_EXAMPLES]
        unwanted = [gist for gist, is_wanted in zip(gists, wanted, strict=True) if not is_wanted]
        self._unwanted = unwanted[:_MOST_EXAMPLES]
        self._trust = len(unwanted) ** 2 / (len(unwanted) ** 2 + _UNWANTED_NEEDED**2)
        return self

    def class_in_verdicts(self, name: str) -> str:
        return self._classifier.class_in_verdicts(name)

    def learn_from_seed(self, seed: Page) -> bool:
        if seed.url in self._seeds or len(self._seeds) >= _MOST_SEEDS or not self.is_learning:
            return False
        self._seeds[seed.url] = self._maker.make(seed)
        return True

    def state(self) -> dict[str, Any]:
        return {"seeds": {url: b64encode(gist.to_bytes()).decode() for url, gist in self._seeds.items()}}

    def restore(self, state: dict[str, Any]) -> None:
        self._seeds = {url: Gist.from_bytes(b64decode(data)) for url, data in state.get("seeds", {}).items()}

    def use_vectors(self, reference: str) -> None:
        self._near = near_words(reference, self._phrases, self.language.codes) if self.has_words else None

    @property
    def _need_of_vectors(self) -> float:
        """What near words count: the less, the more words and pages are given."""
        more_words = max(len(self._phrases) - _FEW_PHRASES, 0)
        return 1 / (1 + more_words + len(self._wanted) / _PAGES_A_WORD)

    # --- what the crawl meets ----------------------------------------------------------------------------------

    @property
    def is_learning(self) -> bool:
        return self.on_the_job and self._trust < _ALL_GIVEN

    def gist(self, page: Page) -> bytes:
        return self._maker.make(page).to_bytes() if self.is_learning else b""

    def judge_again(self, gists: Sequence[bytes]) -> list[Verdict]:
        return self._verdicts([Gist.from_bytes(gist) for gist in gists])

    def learn_from_pages(self, gists: Sequence[bytes], answered: Sequence[tuple[bytes, bool]] = ()) -> Self | None:
        if len(gists) + len(answered) < _FEWEST_MET or not self.is_learning:
            return None
        met = [Gist.from_bytes(gist) for gist in gists]
        from_answers = [Gist.from_bytes(gist) for gist, _ in answered]
        is_wanted = np.array([is_wanted for _, is_wanted in answered], np.float64)
        new = copy(self)
        new.version = self.version + 1
        known = {gist for gist, _ in answered}
        seeds = [seed for seed in self._seeds.values() if seed.to_bytes() not in known]
        new._met = Met.of([*met, *from_answers], self._wanted, [*self._unwanted, *seeds])
        if not len(new._met.words):
            # All pages have the same words, or hardly any.
            return None
        odds = new._blended(met, _BEFORE)
        if from_answers:
            new._met.answers = len(from_answers)
            said = new._met.rows(from_answers)
            odds += corrections(new._met.rows(met), said, is_wanted, new._blended(from_answers, _BEFORE))
        labels = expit(odds)
        agreement = expit(new._blended(seeds, _BEFORE))
        examples = [(met, labels, np.ones(len(met))), (seeds, np.ones(len(seeds)), agreement)]
        # Heavier ones harm: much of what is asked about shows the words and is not wanted, so words would be unlearned.
        examples.append((from_answers, is_wanted, np.ones(len(from_answers))))
        for given, label in ((self._wanted, 1.0), (self._unwanted, 0.0)):
            examples.append((given, np.full(len(given), label), np.ones(len(given))))
        rows = vstack([new._met.rows(each) for each, _, _ in examples], format="csr")
        new._met.fit(rows, *(np.concatenate(column) for column in list(zip(*examples, strict=True))[1:]))
        return new

    def known_words(self) -> Ids:
        taught = self._classifier.vocabulary_.ids if self._is_taught else np.zeros(0, np.uint32)
        near = self._near.ids if self._near else np.zeros(0, np.uint32)
        return np.unique(np.concatenate([self._terms.ids, self._met.words.ids, taught, near]))

    def learned(self) -> Arrays:
        return self._met.state() | {"version": np.array(self.version)}

    def restore_learned(self, learned: Arrays) -> None:
        self.version = int(learned["version"])
        self._met = Met.restored(learned)

    # --- verdicts ----------------------------------------------------------------------------------------------

    def judge(self, page: Page) -> Verdict:
        if self._trust >= _ALL_GIVEN:
            return self._classifier.judge(page)
        (verdict,) = self._verdicts([self._maker.make(page)])
        return verdict

    def _verdicts(self, gists: Sequence[Gist]) -> list[Verdict]:
        if not self._is_taught:
            return [Verdict(one) for one in expit(self._odds(gists, np.zeros(len(gists)))).tolist()]
        rows = self._classifier.rows([gist.bag for gist in gists])
        return self._classifier.verdicts(rows, expit(self._odds(gists, log_odds(self._classifier.relevance_of(rows)))))

    def _odds(self, gists: Sequence[Gist], taught: Floats) -> Floats:
        """The log-odds of relevance; ``taught`` are those by the classifier of the examples."""
        if self._met.has_learned:
            return (1 - self._trust) * self._blended(gists, _AFTER) + self._trust * taught
        if not self.has_words:
            return taught
        words = self._blended(gists, _BEFORE)
        return (1 - self._trust) * (words + taught / 2) + self._trust * taught

    def _blended(self, gists: Sequence[Gist], parts: dict[str, float]) -> Floats:
        """The log-odds from all views, as far as they are there."""
        views = self.views(gists)
        odds = np.full(len(gists), self._met.richness if "V3" in parts else 0.0)
        for name in views:
            odds += parts.get(name, 0.0) * views[name]
        return odds

    def views(self, gists: Sequence[Gist]) -> dict[str, Floats]:
        """What each view says of some pages, by the names that the a's have; those that are not there are left out."""
        always = np.ones(len(gists))
        views = {"": always}
        if self.has_words:
            shown = self._shown(gists)
            views |= {"words": always, "V1": log_odds(shown), "W": shown}
        if self._near:
            need = always * self._need_of_vectors
            views |= {"near": need, "N": need * self._near.on_pages([self._met.own_words(gist) for gist in gists])}
        if self._met.is_there and gists:
            rows = self._met.rows(gists)
            views["V3"] = self._met.classified(rows)
            if self._wanted:
                views |= {"pages": always, "both": always * self.has_words, "V2": self._met.likeness(rows)}
        return views

    def _shown(self, gists: Sequence[Gist]) -> Floats:
        """W: to what degree pages show the words, those of their hosts' menus left out."""
        return shown_at_all(self._each_shown(gists), self._terms.weights)

    def _each_shown(self, gists: Sequence[Gist]) -> Floats:
        shown = np.zeros((len(gists), len(self._terms.names)))
        for row, gist in enumerate(gists):
            left = self._terms.left(gist.bag, self._met.own_words(gist))[: len(gist.shown)]
            # A term that is there so often, beside so many words: of that, the share that is left.
            own = left * gist.shown / (1 - (1 - left) * gist.shown)
            shown[row, : len(gist.shown)] = np.maximum(own, gist.shown - _MOST_OF_A_MENU)
        return shown

    def score_words(self, ids: Ids, text: NDArray[np.int64], texts: int) -> NDArray[np.float32]:
        """The words that are given, and those that were learned: log-odds add up, as for pages."""
        if self._trust >= _ALL_GIVEN or not (self.has_words or self._met.has_learned):
            return self._classifier.score_words(ids, text, texts) if self._is_taught else np.zeros(texts, np.float32)
        odds = np.zeros(texts)
        if self.has_words:
            shown = shown_at_all(self._terms.shown(ids, text, texts), self._terms.weights)
            if self._near:
                shown = 1 - (1 - shown) * (1 - self._need_of_vectors * self._near.in_texts(ids, text, texts))
            odds += log_odds(shown)
        if self._met.has_learned:
            odds += self._met.classified_texts(ids, text, texts)
        if self._is_taught:
            weight = self._trust if self._met.has_learned else (1 + self._trust) / 2
            odds = (1 - self._trust) * odds + weight * log_odds(self._classifier.score_words(ids, text, texts))
        return np.asarray(expit(odds), np.float32)

    def worth(self, relevance: NDArray[np.float32]) -> NDArray[np.float32]:
        """The less was given, the closer to 0 honest probabilities are; what is likely must stand out all the same.

        Answers set wanted pages apart, and many pages that are certainly unlikely must not outweigh a few that may be.
        """
        if not self.is_learning:
            return relevance
        known = max(self._trust, self._met.answers / (self._met.answers + _SOME_ANSWERS))
        return np.asarray(relevance ** (_SPREAD + (1 - _SPREAD) * known), np.float32)

    def explain(self, page: Page, most: int = 10) -> list[Reason]:
        """Each word's part in the log-odds of relevance, as far as words have one."""
        if self._trust >= _ALL_GIVEN:
            return self._classifier.explain(page, most)
        gist, parts = self._maker.make(page), dict[str, float]()
        each = -np.log1p(-CERTAIN * self._each_shown([gist])[0] * self._terms.weights)
        for word, part in zip(self._terms.names, each.tolist(), strict=True):
            parts[word] = part
        learned = self._met.parts(gist) if self._met.has_learned else {}
        near = self._near.parts(self._met.own_words(gist)) if self._near else {}
        of_near = (_AFTER if learned else _BEFORE)["N"] * self._need_of_vectors
        for word, number in spelling(page) if learned or near else ():
            part = _AFTER["V3"] * learned.get(number, 0.0) + of_near * near.get(number, 0.0)
            if part:
                parts[word] = parts.get(word, 0.0) + part
        if self._is_taught and not learned:
            for reason in self._classifier.explain(page, most):
                parts[reason.word] = parts.get(reason.word, 0.0) + reason.weight
        strongest = sorted(parts.items(), key=lambda pair: (-abs(pair[1]), pair[0]))[:most]
        return [Reason(word, weight) for word, weight in strongest if weight]
