"""How alike a text and the topic are: the sim(q, ·) of crawlers that compare and do not learn.

By ``cosine`` it is the greatest TF-IDF cosine to a target (`focused.critics.targets`), by ``critic`` the critic's
opinion: R(*u*) of a page; of a short text what it says beyond no words at all, as a share of what could be said, so
that a text without meaning has similarity 0 either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import Critic, Verdict
from focused.critics.targets import Targets
from focused.pages.page import Page, Text

Floats32 = NDArray[np.float32]
By = Literal["critic", "cosine"]


class Similarity:
    """The similarity of pages and texts to what a critic is after; ``asker`` is the prioritizer's name, for errors."""

    def __init__(self, critic: Critic | None, by: By, asker: str) -> None:
        self._critic = critic
        self.by = by
        self._asker = asker
        if critic is not None and by == "cosine":
            self._targets()

    def of_page(self, page: Page, verdict: Verdict) -> float:
        """How alike a whole page is."""
        return verdict.relevance if self.by == "critic" else self._targets().likeness(page)

    def of_texts(self, texts: Sequence[Text]) -> Floats32:
        """How alike short texts are."""
        if self.by == "cosine":
            return self._targets().text_likeness([text.ids for text in texts])
        if self._critic is None:
            raise ValueError(f"prioritizer {self._asker!r} has no critic to ask: build it with critic=…")
        opinions = self._critic.score_texts([*texts, Text.of("")])
        nothing = float(opinions[-1])
        beyond: Floats32 = np.clip((opinions[:-1] - nothing) / max(1 - nothing, 1e-6), 0, 1).astype(np.float32)
        return beyond

    def _targets(self) -> Targets:
        return targets_of(self._critic, self._asker, "fill in its `targets`")


def targets_of(critic: Critic | None, asker: str, way_out: str) -> Targets:
    """What a critic is after; a ValueError that names the asker and another way out if it does not keep that."""
    if critic is None or critic.targets is None:
        named = "no critic" if critic is None else f"critic {critic.name!r}"
        raise ValueError(
            f"prioritizer {asker!r} compares with the topic's wanted examples, and {named} keeps none: "
            f"take a critic of ours, or {way_out}"
        )
    return critic.targets
