"""Links by lexical profiles: what their text, the words around and the page say of the level behind them.

After M. Greenwood's thesis on topic-focused crawling with lexical profiles, §3.2. Three features of a link each tell a
level of the path from the target (level 1) to the root (n), or n + 1 for none of them:

- content: the anchor taken as one term, by its mean similarity to the terms of each level (eq. 3.2, 3.5);
- context: k words to each side; the best similarity of any run of words in them to any term (eq. 3.3, 3.6);
- page: the level of the page *u*, as the critic judged it (eq. 3.4).

The link's score is their product (eq. 3.8) or a weighted sum (eq. 3.9); low is good. So links of level 1 come first, and
where there are none the crawl stays near, level by level. Here it is turned round and put between 0 and 1:

    product:  1 − log(content · context · page) / 3 log(n + 1)
    linear:   1 − (a · context + b · content + c · page − 1) / n                        a + b + c = 1

``graded`` levels have a fraction that says how clear they are (0.98 at most), because with three whole numbers most
links of a frontier score alike. The words of the two sides do not make runs across the link.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import Critic, Verdict
from focused.critics.level_model import LevelModel
from focused.critics.levels import level_name, place_of
from focused.critics.lexical import LexicalCritic
from focused.critics.profiles import Floats, Ints, Phrases, runs_in
from focused.pages.evidence import ANCHOR, NEAR, Evidence, mix
from focused.pages.page import Links, Page
from focused.prioritizers.base import Contribution, Prioritizer, State
from focused.prioritizers.features import anchor_spans
from focused.prioritizers.options import check_choice, check_number, check_switch

COMBINATIONS = ("product", "linear")
FEATURES = ("content", "context", "page")
_LONGEST_ANCHOR = 20
_THESIS_WEIGHTS = (0.627, 0.062, 0.311)


class Lexical(Prioritizer):
    """Links by the levels of their text, of the words around it and of their page.

    ``k``: words looked at on each side of a link. ``combination``: ``product`` or ``linear``, the latter with the
    weights ``a`` (context), ``b`` (content) and ``c`` (page). ``graded``: levels have fractions.
    """

    name = "lexical"
    dense = (*FEATURES, "levels")

    def __init__(
        self,
        *,
        critic: Critic | None = None,
        combine: str = "first",
        seed: int = 0,
        k: int = 6,
        combination: str = "product",
        a: float = _THESIS_WEIGHTS[0],
        b: float = _THESIS_WEIGHTS[1],
        c: float = _THESIS_WEIGHTS[2],
        graded: bool = True,
    ) -> None:
        super().__init__(critic=critic, combine=combine, seed=seed)
        check_number("k", k, 4, 10, whole=True)
        check_choice("combination", combination, COMBINATIONS)
        check_switch("graded", graded)
        for name, value in {"a": a, "b": b, "c": c}.items():
            check_number(name, value, 0, 1)
        if critic is not None and not isinstance(critic, LexicalCritic):
            raise ValueError(
                f"the prioritizer 'lexical' needs the levels of the critic 'lexical', not {critic.name!r}: set "
                f'name = "lexical" in [critic], or FOCUSED_CRITIC, and teach it'
            )
        self.k, self.combination, self.graded = k, combination, graded

    def evidence(self, page: Page, verdict: Verdict, links: Links, **known: Any) -> Evidence:
        model = self._model
        begin, end = anchor_spans(page, links)
        anchors = Phrases(page.ids, begin, np.clip(end - begin, 0, _LONGEST_ANCHOR))
        dense = np.empty((len(links), len(self.dense)), np.float32)
        dense[:, 0] = model.places(model.content(anchors), graded=self.graded)
        dense[:, 1] = model.places(self._contexts(page, begin, end), graded=self.graded)
        place = place_of(verdict.relevance, model.n)
        dense[:, 2] = place if self.graded else np.floor(place)
        dense[:, 3] = model.n
        return Evidence.of(np.zeros(len(links) + 1, np.int64), np.zeros(0, np.uint32), dense, links.first)

    def _contexts(self, page: Page, begin: Ints, end: Ints) -> Floats:
        model = self._model
        left, right = np.maximum(begin - self.k, 0), np.minimum(end + self.k, len(page.ids))
        sides = Phrases(page.ids, np.concatenate([left, end]), np.concatenate([begin - left, right - end]))
        runs, side = runs_in(sides)
        # Links that stand close together share most of their runs.
        _, first, which = np.unique(runs.begin * 8 + runs.length, return_index=True, return_inverse=True)
        best = model.best(runs.take(first))
        scores = np.zeros((len(begin), model.n + 1))
        np.maximum.at(scores, side % max(len(begin), 1), best[which])
        return scores

    @property
    def _model(self) -> LevelModel:
        assert isinstance(self.critic, LexicalCritic)
        return self.critic.model_

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """How near the target the link's three levels are, taken together."""
        content, context, page, n = evidence.dense.T
        scores = 1 - (np.log(content) + np.log(context) + np.log(page)) / (3 * np.log(n + 2))
        return np.clip(scores, 0, 1)
