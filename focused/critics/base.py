"""What a critic is: a judge of pages, the user's specification of what is wanted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from focused.pages.page import Page
from focused.pages.tokens import Ids

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
    """A judge of pages. Made by `fit`, or ready when constructed; used through `judge` and `score_texts`.

    ``options`` are the keys of the topic's ``[critic]`` table; a critic names those it knows in its constructor.
    """

    name: ClassVar[str]
    learns: ClassVar[bool] = True
    """Must it be taught from examples (and is kept in the models folder), or is it ready when constructed?"""
    targets: Targets | None = None
    """What is sought, for prioritizers that compare with it; filled in by who teaches it."""
    trained: str = ""
    """Tells one training from another; filled in by who loads it from the models folder."""

    @abstractmethod
    def fit(self, pages: Sequence[Page], classes: Sequence[str], focus: Sequence[str]) -> Self:
        """Learn from example pages and their classes; ``focus`` lists the classes (or prefixes) that are wanted."""

    @abstractmethod
    def judge(self, page: Page) -> Verdict:
        """The verdict on one page. Changes nothing."""

    @abstractmethod
    def score_texts(self, texts: Sequence[Ids]) -> NDArray[np.float32]:
        """The same opinion of short texts (an anchor, a window), each given as the ids of its words."""

    @abstractmethod
    def explain(self, page: Page, most: int = 10) -> list[Reason]:
        """The words of a page that weigh most in its verdict, strongest first."""

    def class_in_verdicts(self, name: str) -> str:
        """What verdicts call the class of an example: its own name, or that of what it is taken together with."""
        return name

    def learn_from_seed(self, seed: Page) -> bool:
        """Look at a seed page before any is judged; True if the critic has changed by it (then it is saved)."""
        return False

    def state(self) -> dict[str, Any]:
        """What `learn_from_seed` has changed, as plain data; goes into the job's records."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` gave."""


def in_focus(name: str, focus: Sequence[str]) -> bool:
    """Is a class wanted? A prefix takes the subtree: ``Science`` takes ``Science.Biology``, not ``Sciences``."""
    return any(name == wanted or name.startswith(f"{wanted}.") for wanted in focus)
