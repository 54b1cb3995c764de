"""A critic by lexical profiles: which level of the path to the topic do the terms of a page fit best?

After M. Greenwood's thesis on topic-focused crawling with lexical profiles, chapters 3 to 5. The classes in focus are
level 1, their parents level 2, and so on to the root; every level is a list of terms, recognised in its example pages
(`focused.papers.critics.c_value`), and terms are compared by the words and runs of words they share
(`focused.papers.critics.profiles`), so that few examples reach far. With LS the similarity of two terms

    PageScore(u, i) = (1/|u|) Σ_{p ∈ u} max_{t ∈ level i} LS(p, t)                                    (eq. 3.4)

A page is at the level with the highest score, provided that it is beyond the average overlap of this level with the
others; of equal ones at the nearest to the target; else at level n + 1, irrelevant. ``weighted`` multiplies LS by the
mean C-value of the two terms (eq. 3.7).

What differs from the thesis: level n + 1 has terms, too (`focused.papers.critics.level_model`); siblings stand in for
their parent (`focused.papers.critics.levels`); a page is its 100 strongest terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Self

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from focused.critics.base import Critic, Reason, Verdict
from focused.critics.classes import NoSuchClass, wanted
from focused.critics.language import check_languages, guess_languages
from focused.pages.page import Page, Text
from focused.pages.tokens import Ids
from focused.papers.critics.c_value import WeighedTerms, recognise, recognise_example, spelling_of
from focused.papers.critics.level_model import LevelModel
from focused.papers.critics.levels import Levels, level_name, relevance_of
from focused.papers.critics.profiles import Floats, Phrases, runs_in

_READ_OF_A_PAGE = 100
_WORDS_FOR_LANGUAGE = 20_000
_SMOOTHING = 0.05
"""Added to scores before they are compared as a ratio: where both are next to nothing, so is what they prove."""


class LexicalCritic(Critic):
    """R(u) from the level of a page.

    ``terms`` bounds the terms of a level. ``weighted`` takes C-values in. ``siblings``: the other branches below a
    parent stand in for it. ``boundaries``: a level asks for more than its usual overlap with the others.
    ``languages`` may say that the examples are English where that would not be guessed.
    """

    name = "lexical"
    learns = True

    def __init__(
        self,
        *,
        terms: Annotated[int, Meta(ge=1, le=100_000)] = 400,
        weighted: bool = False,
        siblings: bool = True,
        boundaries: bool = True,
        languages: Sequence[str] = (),
    ) -> None:
        check_languages(languages)
        if languages:
            _check_language(languages)
        self.terms, self.weighted, self.siblings, self.boundaries = terms, weighted, siblings, boundaries
        self.languages = tuple(languages)

    def fit(self, pages: Sequence[Page], classes: Sequence[str], focus: Sequence[str]) -> Self:
        names = sorted(set(classes))
        found = [name for name, mark in zip(names, wanted(names, focus).tolist(), strict=True) if mark]
        if not self.languages:
            _check_language(guess_languages(_sample(pages)))
        self.levels_ = Levels(tuple(focus) or tuple(found), self.siblings)
        level_of = {name: self.levels_.of_class(name) for name in names}
        of_level: list[list[WeighedTerms]] = [[] for _ in range(self.levels_.n + 1)]
        for page, name in zip(pages, classes, strict=True):
            of_level[level_of[name] - 1].append(recognise_example(page))
        self.model_ = LevelModel.of_pages(of_level, self.terms, weighted=self.weighted)
        return self

    def judge(self, page: Page) -> Verdict:
        return self._verdict(self.model_.page(recognise(page).head(_READ_OF_A_PAGE)))

    def score_texts(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """A short text is judged by all runs of words in it, since it has too few to recognise terms."""
        phrases, text = runs_in(Phrases.of([text.ids for text in texts]))
        best = self.model_.best(phrases)
        total = np.zeros((len(texts), self.model_.n + 1))
        np.add.at(total, text, best)
        means = total / np.maximum(np.bincount(text, minlength=len(texts)), 1)[:, None]
        return np.array([self._verdict(scores).relevance for scores in means], np.float32)

    def explain(self, page: Page, most: int = 10) -> list[Reason]:
        """Each term's part in the PageScore of level 1, against its part in that of the best other level."""
        terms = recognise(page).head(_READ_OF_A_PAGE)
        best = self.model_.of_terms(terms.phrases, terms.weight)
        rival = 1 + int(np.argmax(best.sum(axis=0)[1:]))
        parts = (best[:, 0] - best[:, rival]) / max(len(terms), 1)
        spelled = spelling_of(page)
        order = np.argsort(-np.abs(parts), kind="stable")[:most].tolist()
        named = [(" ".join(spelled[word] for word in terms.phrases.words_of(row)), float(parts[row])) for row in order]
        return [Reason(name, part) for name, part in named if part]

    def class_in_verdicts(self, name: str) -> str:
        """The level of a class."""
        return level_name(self.levels_.of_class(name), self.model_.n)

    def _verdict(self, scores: Floats) -> Verdict:
        model, row = self.model_, scores[None]
        level = model.levels(row, model.boundary if self.boundaries else 0.0)
        grade = model.grades(row, level, _SMOOTHING)[0] if scores.any() else 0.0
        said = level_name(int(level[0]), model.n)
        return Verdict(relevance_of(int(level[0]), float(grade), model.n), ((said, 1.0),))


def _sample(pages: Sequence[Page]) -> Ids:
    """Some words of every page."""
    most = max(_WORDS_FOR_LANGUAGE // max(len(pages), 1), 20)
    sample: Ids = np.concatenate([np.zeros(0, np.uint32), *(page.ids[:: len(page.ids) // most + 1] for page in pages)])
    return sample


def _check_language(codes: Sequence[str]) -> None:
    if tuple(codes) != ("en",):
        raise NoSuchClass(
            f"the critic 'lexical' recognises terms in English only, and the examples seem to be in "
            f"{', '.join(map(repr, codes))}: take the critic 'logistic', or set languages = ['en'] if it is English"
        )
