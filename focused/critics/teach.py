"""Teaching a critic from pages that are at hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from focused.critics.base import Critic
from focused.critics.classes import NoSuchClass, wanted_among
from focused.critics.report import Numbers, Report, cross_validate, loudest_words
from focused.critics.targets import Targets
from focused.pages.page import Page


@dataclass(frozen=True, slots=True)
class Taught:
    """A trained critic, what is known of it, and of how many pages of each class it was made."""

    critic: Critic
    report: Report
    examples: dict[str, int]


def fit_for_use(critic: Critic, pages: Sequence[Page], classes: Sequence[str], focus: Sequence[str]) -> Critic:
    """A critic that has learned from examples, and keeps what the wanted ones look like."""
    critic.fit(pages, classes, focus)
    critic.targets = Targets.of_pages(pages, wanted_among(classes, focus))
    return critic


def teach(
    examples: Sequence[tuple[str, Page]], kind: type[Critic], options: Mapping[str, Any], focus: Sequence[str]
) -> Taught:
    """Train a critic on (class, page) pairs. NoSuchClass if none of them is wanted."""
    if not examples:
        raise NoSuchClass("there are no example pages to learn from")
    classes = [name for name, _ in examples]
    pages = [page for _, page in examples]
    relevant = np.array(wanted_among(classes, focus), bool)

    def fit(chosen: Numbers) -> Critic:
        # A class may be missing here, and a focus that names it would match nothing.
        there = sorted({classes[i] for i in chosen.tolist() if relevant[i]})
        return kind(**options).fit([pages[i] for i in chosen], [classes[i] for i in chosen], there)

    critic = fit_for_use(kind(**options), pages, classes, focus)
    figures, confusions = cross_validate(fit, pages, classes, relevant)
    words_for, words_against, of_classes = loudest_words(critic, pages, classes, relevant)
    report = Report(
        figures=figures,
        confusions=confusions,
        words_for=words_for,
        words_against=words_against,
        words_of_classes=of_classes,
    )
    return Taught(critic, report, dict(sorted(Counter(classes).items())))
