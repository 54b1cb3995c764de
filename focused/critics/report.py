"""What is known of a critic that was just taught: how well it does on unseen examples, and which words it uses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from focused.critics.base import RELEVANT, Critic, Verdict
from focused.pages.page import Page

_FOLDS = 5
_CONFUSIONS = 10
_LOUDEST = 12
_READ_OF_A_PAGE = 60
Numbers = NDArray[np.int64]


class Figures(msgspec.Struct, kw_only=True):
    """Of "relevant" (R of 0.5 or more), each example judged by a critic that has not seen it.

    ``folds`` is 0 when there are too few examples to hold any back. Without examples that are not wanted only
    ``recall`` is known.
    """

    folds: int = 0
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    average_precision: float | None = None


class Confusion(msgspec.Struct, frozen=True):
    """So many pages of class ``true`` were held for ``said``."""

    true: str
    said: str
    pages: int


class Report(msgspec.Struct, kw_only=True):
    """Figures, the classes most confused, and the loudest words: for relevance, against it, and of each class."""

    figures: Figures = msgspec.field(default_factory=Figures)
    confusions: list[Confusion] = []
    words_for: list[str] = []
    words_against: list[str] = []
    words_of_classes: dict[str, list[str]] = {}


def cross_validate(
    fit: Callable[[Numbers], Critic], pages: Sequence[Page], classes: Sequence[str], wanted: NDArray[np.bool_]
) -> tuple[Figures, list[Confusion]]:
    """Hold every example back once; ``fit`` makes a critic of the examples of these numbers."""
    folds = _folds(classes, wanted)
    if folds is None:
        return Figures(), []
    verdicts: dict[int, Verdict] = {}
    for fold in range(int(folds.max()) + 1):
        critic = fit(np.flatnonzero(folds != fold))
        verdicts |= {i: critic.judge(pages[i]) for i in np.flatnonzero(folds == fold).tolist()}
    figures = _figures(wanted, np.array([verdicts[i].relevance for i in range(len(pages))]))
    figures.folds = int(folds.max()) + 1
    said = [verdicts[i].best_class for i in range(len(pages))]
    return figures, _confusions([critic.class_in_verdicts(name) for name in classes], said)


def _folds(classes: Sequence[str], wanted: NDArray[np.bool_]) -> Numbers | None:
    """The fold of each example: classes are dealt out evenly, and so are wanted and unwanted ones."""
    sides = [int(count) for count in (wanted.sum(), (~wanted).sum()) if count]
    folds = min(_FOLDS, *sides)
    if folds < 2:
        return None
    shuffled = np.random.default_rng(0).permutation(len(classes))
    order = sorted(shuffled.tolist(), key=lambda i: (wanted[i], classes[i]))
    dealt = np.empty(len(classes), np.int64)
    dealt[order] = np.arange(len(classes)) % folds
    return dealt


def _figures(wanted: NDArray[np.bool_], relevance: NDArray[np.float64]) -> Figures:
    from sklearn import metrics  # noqa: PLC0415  # half a second, for teaching only

    found = metrics.precision_recall_fscore_support(wanted, relevance >= RELEVANT, average="binary", zero_division=0)
    precision, recall, f1 = map(float, found[:3])
    if wanted.all():
        return Figures(recall=recall)
    average = float(metrics.average_precision_score(wanted, relevance))
    return Figures(precision=precision, recall=recall, f1=f1, average_precision=average)


def _confusions(classes: Sequence[str], said: Sequence[str]) -> list[Confusion]:
    pairs = Counter((true, other) for true, other in zip(classes, said, strict=True) if other and true != other)
    most = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:_CONFUSIONS]
    return [Confusion(true, other, count) for (true, other), count in most]


def loudest_words(
    critic: Critic, pages: Sequence[Page], classes: Sequence[str], wanted: NDArray[np.bool_]
) -> tuple[list[str], list[str], dict[str, list[str]]]:
    """The words that weigh most in the verdicts on the examples: for, against, and for each wanted class."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for page, name, relevant in zip(pages, classes, wanted.tolist(), strict=True):
        for reason in critic.explain(page, _READ_OF_A_PAGE):
            sums["+" if relevant else "-"][reason.word] += reason.weight  # type: ignore[assignment]  # Counters sum floats
            if relevant:
                sums[f"class {name}"][reason.word] += reason.weight  # type: ignore[assignment]
    of_classes = {
        name.removeprefix("class "): _top(words) for name, words in sorted(sums.items()) if name.startswith("class ")
    }
    against = Counter({word: -weight for word, weight in sums["-"].items()})
    return _top(sums["+"]), _top(against), of_classes if len(of_classes) > 1 else {}


def _top(words: Counter[str]) -> list[str]:
    return [word for word, weight in words.most_common(_LOUDEST) if weight > 0]
