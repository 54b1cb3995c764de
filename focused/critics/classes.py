"""Classes of examples: which are wanted, and how they are named."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from focused.critics.bag import Columns, Vocabulary
from focused.critics.base import Reason
from focused.topics.focus import in_focus

UNWANTED = frozenset({"negative", "irrelevant", "other", "others", "no", "bad", "off-topic", "background", "0"})
"""Classes that are not wanted even if the topic has no ``focus`` (in any case of letters)."""
_TOLD = 8
_LEAST = 0.001


class NoSuchClass(ValueError):
    """A focus that matches no class, or examples that leave nothing to learn."""


def wanted(names: Sequence[str], focus: Sequence[str]) -> NDArray[np.bool_]:
    """Which classes are wanted: those in focus; without a focus, all but those whose name says they are not."""
    if not focus:
        marks = np.array([name.lower() not in UNWANTED for name in names], bool)
        if not marks.any():
            raise NoSuchClass(f"the examples have no wanted class, only {', '.join(map(repr, names)) or 'none at all'}")
        return marks
    marks = np.array([in_focus(name, focus) for name in names], bool)
    missing = [one for one in focus if not any(in_focus(name, [one]) for name in names)]
    if missing:
        raise NoSuchClass(
            f"focus {', '.join(map(repr, missing))} matches no class of the examples: {_near(missing, names)}"
        )
    return marks


def wanted_among(classes: Sequence[str], focus: Sequence[str]) -> list[bool]:
    """Which of some examples are wanted, given their classes."""
    names = sorted(set(classes))
    marks = dict(zip(names, wanted(names, focus).tolist(), strict=True))
    return [marks[name] for name in classes]


def _near(missing: Sequence[str], names: Sequence[str]) -> str:
    near = [match for one in missing for match in get_close_matches(one, names, n=3)]
    if near:
        return f"did you mean {' or '.join(map(repr, dict.fromkeys(near)))}?"
    shown = ", ".join(map(repr, names[:12])) or "none"
    return f"the classes are {shown}{', …' if len(names) > 12 else ''}"


def ranked(
    names: Sequence[str], chances: NDArray[np.floating], wanted_: NDArray[np.bool_]
) -> tuple[tuple[str, float], ...]:
    """The most probable classes, best first: not all, a taxonomy may have hundreds.

    Of equal ones a wanted class comes first: a page with R = 0.5 counts as found, and its class must not deny it.
    """
    best = np.lexsort((~wanted_, -chances))[:_TOLD]
    return tuple((names[i], float(chances[i])) for i in best.tolist() if chances[i] >= _LEAST)


def strongest(vocabulary: Vocabulary, columns: Columns, weights: NDArray[np.floating], most: int) -> list[Reason]:
    """The words whose weight is largest, for or against."""
    order = np.argsort(-np.abs(weights), kind="stable")[:most]
    found = [Reason(vocabulary.words[columns[i]], float(weights[i])) for i in order.tolist()]
    return [reason for reason in found if reason.weight]
