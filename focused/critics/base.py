"""What a critic is: a judge of pages, the user's specification of what is wanted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from focused.arrays import Arrays
from focused.pages.page import Page, Text
from focused.pages.tokens import Ids, end_to_end

if TYPE_CHECKING:
    from focused.critics.targets import Targets

RELEVANT = 0.5
"""A page counts as found when its relevance reaches this."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one page: relevance R in [0, 1], and the most probable classes, best first."""

    relevance: float
    classes: tuple[tuple[str, float], ...] = ()

    @property
    def best_class(self) -> str:
        """The most probable class; '' when the critic knows none."""
        return self.classes[0][0] if self.classes else ""


@dataclass(frozen=True, slots=True)
class Reason:
    """One word that spoke for (weight above 0) or against a page."""

    word: str
    weight: float


class Critic(ABC):
    """A judge of pages. Only `judge` is required; everything else has a default.

    Options of the constructor are the keys of the topic's ``[critic]`` table. An option called ``keywords`` gets the
    topic's keywords.
    """

    name: ClassVar[str]
    """Its name in messages; by default the name of the class."""
    learns: ClassVar[bool] = False
    """Whether `fit` trains it from examples. (It is then kept in the models folder.)"""
    needs_examples: ClassVar[bool] = True
    """Whether one that learns cannot judge before it was trained."""
    targets: Targets | None = None
    """What is sought, for prioritizers that compare with it; set by whoever trains it."""
    trained: str = ""
    """Identifies the training; set when it is loaded from the models folder."""
    version: int = 0
    """How often it has learned from the pages of its crawl."""

    @property
    def is_learning(self) -> bool:
        """Whether it goes on learning from the pages of its crawl."""
        return False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__

    @abstractmethod
    def judge(self, page: Page) -> Verdict:
        """The verdict on one page. Changes nothing."""

    def score_texts(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """The relevance of short texts: those of links, and the words around them. Changes nothing.

        By default each is judged as if it were a page. A critic that takes long for that should do it otherwise, or
        answer `np.zeros(len(texts), np.float32)`: then links are judged by their pages alone.
        """
        judged = {text.ids.tobytes(): text for text in texts}
        relevance = {ids: self.judge(Page.of_text(text.text)).relevance for ids, text in judged.items()}
        return np.array([relevance[text.ids.tobytes()] for text in texts], np.float32)

    def worth(self, relevance: NDArray[np.float32]) -> NDArray[np.float32]:
        """What a link to a page of this relevance was worth, for prioritizers to learn: a number from 0 to 1.

        By default the relevance. A critic whose probabilities lie close together may spread them.
        """
        return relevance

    def explain(self, page: Page, most: int = 10) -> list[Reason]:
        """The words of a page that weigh most in its verdict, strongest first."""
        return []

    def fit(self, pages: Sequence[Page], classes: Sequence[str], focus: Sequence[str]) -> Self:
        """Learn from example pages and their classes; ``focus`` lists the classes (or prefixes) that are wanted."""
        return self

    def class_in_verdicts(self, name: str) -> str:
        """The class that verdicts name for an example of this class: the class itself, or the one it is merged into."""
        return name

    def learn_from_seed(self, seed: Page) -> bool:
        """Look at a seed page before any is judged. True if this changed the critic: then its `state` is saved."""
        return False

    def use_vectors(self, reference: str) -> None:
        """Get help from a table of word vectors (`focused.critics.vectors`). By default there is no use for it."""

    def state(self) -> dict[str, Any]:
        """What `learn_from_seed` has changed, as plain data for the job's records."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""


class LearningCritic(Critic):
    """A critic that goes on learning from the pages of its crawl, which are then judged anew.

    It is a snapshot: `learn_from_pages` gives a new one, so that learning can go on in a thread while pages are judged.
    """

    @property
    def is_learning(self) -> bool:
        """Whether there is anything to learn: not where the user has given enough."""
        return True

    @abstractmethod
    def gist(self, page: Page) -> bytes:
        """What is to be kept of a page (at most 4 KB), so that it can be judged anew."""

    @abstractmethod
    def judge_again(self, gists: Sequence[bytes]) -> list[Verdict]:
        """The verdicts on pages of which this was kept: the same as `judge` gives."""

    @abstractmethod
    def learn_from_pages(self, gists: Sequence[bytes], answered: Sequence[tuple[bytes, bool]] = ()) -> Self | None:
        """A new snapshot, of the next version, that knows the pages met so far; None if they teach nothing yet.

        Of a large crawl a sample is given. ``answered`` are further pages, of which somebody has said whether they are
        wanted.
        """

    @abstractmethod
    def score_words(self, ids: Ids, text: NDArray[np.int64], texts: int) -> NDArray[np.float32]:
        """As `score_texts`, by the ids of words alone: those of so many texts end to end, and the text of each word.

        An id of 0 stands for any word that is not among `known_words`.
        """

    def score_texts(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        return self.score_words(*end_to_end([text.ids for text in texts]), len(texts))

    @abstractmethod
    def known_words(self) -> Ids:
        """The ids of all words that count in `score_words`."""

    @abstractmethod
    def learned(self) -> Arrays:
        """What was learned from pages, and the version, as arrays."""

    @abstractmethod
    def restore_learned(self, learned: Arrays) -> None:
        """Restore what `learned` returned, in this snapshot alone: what it is a copy of stays as it is."""
