"""Links by lexical profiles: what their text, the words around and their page say of the level behind them.

After M. Greenwood's thesis on topic-focused crawling with lexical profiles, §3.2. Three features of a link each give a
level of the path from the target (level 1) to the root (n), or n + 1 for none of them:

- content: the anchor taken as one term, by its mean similarity to the terms of each level (eq. 3.2, 3.5);
- context: k words to each side; the best similarity of any run of words in them to any term (eq. 3.3, 3.6);
- page: the level of the page *u*, as the critic judged it (eq. 3.4).

The thesis puts links in order by the product of the three (eq. 3.8), or by a weighted sum (eq. 3.9); low is good. So
links of level 1 come first, and where there are none the crawl stays near, level by level. Here that is turned round:

    product:  1 − log(content · context · page) / 3 log N
    linear:   1 − (a · context + b · content + c · page − 1) / (N − 1)                     a + b + c = 1, N = n + 1

What differs from the thesis: levels are ``graded``, they have a fraction of up to ¼ that says how clear they are (and
N = n + 1¼), because three whole numbers leave most links of a frontier alike. Runs of words do not reach across the
link. Level n + 1 has terms of its own, as with the critic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from focused.arrays import Arrays, ranges, starts_of
from focused.critics.base import Critic, Verdict
from focused.options import Seed
from focused.pages.evidence import ANCHOR, NEAR, Evidence, mix
from focused.pages.page import Links, Page
from focused.pages.tokens import Ids
from focused.papers.critics.level_model import LevelModel
from focused.papers.critics.levels import FRACTION, level_name, level_of, place_of
from focused.papers.critics.lexical import LexicalCritic
from focused.papers.critics.profiles import Floats, Ints, Phrases, runs_in
from focused.papers.prioritizers.features import anchor_spans
from focused.papers.prioritizers.taught import KeptPrioritizer
from focused.prioritizers.base import Combination, Contribution, together
from focused.schema import Share

FEATURES = ("context", "content", "page")
_TOLD = ("words near", "anchor", "page")
_LONGEST_ANCHOR = 20
_EVEN = (1 / 3, 1 / 3, 1 / 3)
_WEIGHTS = "weights"


class Lexical(KeptPrioritizer):
    """Links by the levels of their text, of the words around it and of their page.

    ``k``: words looked at on each side of a link. ``combination``: ``product``, or ``linear`` with the weights ``a``
    (context), ``b`` (content) and ``c`` (page), which `scrapy teach --weights` finds. ``graded``: with fractions.
    """

    name = "lexical"
    dense = (*FEATURES, "levels", "words near")
    taught_by = "--weights --job JOBDIR"

    def __init__(
        self,
        *,
        critic: Critic | None = None,
        combine: Combination = "first",
        seed: Seed = 0,
        k: Annotated[int, Meta(ge=4, le=10)] = 6,
        combination: Literal["product", "linear"] = "product",
        a: Share | None = None,
        b: Share | None = None,
        c: Share | None = None,
        graded: bool = True,
    ) -> None:
        super().__init__(critic=critic, combine=combine, seed=seed)
        if critic is not None and not isinstance(critic, LexicalCritic):
            raise ValueError(
                f"the prioritizer 'lexical' uses the levels of the critic 'lexical', but the critic is "
                f"{critic.name!r}: set name = 'lexical' in [critic] (or -a critic=lexical), and teach it"
            )
        self.k, self.combination, self.graded = k, combination, graded
        self._given = _given_weights(a, b, c)
        self._found: tuple[float, ...] | None = None

    @property
    def weights(self) -> tuple[float, ...]:
        """What context, content and page count for, summing to 1."""
        return _EVEN if self.combination == "product" else self._given or self._found or _EVEN

    def evidence(self, page: Page, verdict: Verdict, links: Links, **known: Any) -> Evidence:
        """The three levels of every link, and the words that speak for them."""
        model = self._model
        begin, end = anchor_spans(page, links)
        end = np.maximum(begin, end)
        left, right = np.maximum(begin - self.k, 0), np.minimum(end + self.k, len(page.ids))
        sides = Phrases(page.ids, np.concatenate([left, end]), np.concatenate([begin - left, right - end]))
        anchors = Phrases(page.ids, begin, np.minimum(end - begin, _LONGEST_ANCHOR))
        dense = np.empty((len(links), len(self.dense)), np.float32)
        dense[:, 0] = model.places(_context(model, sides), graded=self.graded)
        dense[:, 1] = model.places(model.content(anchors), graded=self.graded)
        level, grade = level_of(verdict.relevance, model.n)
        dense[:, 2] = place_of(np.array(level), np.array(grade), model.n) if self.graded else level
        dense[:, 3] = model.n
        levels = dense[:, :2].astype(np.int64)
        near, words_near = _words_for(model, sides, np.tile(levels[:, 0], 2), NEAR)
        inside, words_inside = _words_for(model, anchors, levels[:, 1], ANCHOR)
        near %= max(len(links), 1)
        dense[:, 4] = np.bincount(near, minlength=len(links))
        rows, ids = np.concatenate([near, inside]), np.concatenate([words_near, words_inside])
        starts = starts_of(np.bincount(rows, minlength=len(links)))
        return Evidence.of(starts, ids[np.argsort(rows, kind="stable")], dense, links.first)

    @property
    def _model(self) -> LevelModel:
        assert isinstance(self.critic, LexicalCritic)
        return self.critic.model_

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """How near the target the link's three levels are, taken together."""
        scores: NDArray[np.float32] = np.clip(self._parts(evidence).sum(axis=1), 0, 1).astype(np.float32)
        return scores

    def _parts(self, evidence: Evidence) -> Floats:
        """What each feature adds to the score: its weight for the target, nothing for what is farthest."""
        places = evidence.dense[:, :3].astype(np.float64)
        farthest = evidence.dense[:, 3:4] + 1 + (FRACTION if self.graded else 0)
        if self.combination == "product":
            near = 1 - np.log(places) / np.log(farthest)
        else:
            near = 1 - (places - 1) / (farthest - 1)
        parts: Floats = near * self.weights
        return parts

    def explain(self, evidence: Evidence) -> list[Contribution]:
        """What each level adds; of anchor and context it is shared out among the words that speak for it."""
        places, n = evidence.dense[0, :3], int(evidence.dense[0, 3])
        parts = self._parts(evidence)[0].tolist()
        words = np.split(evidence.ids, [int(evidence.dense[0, 4])])
        told = []
        for what, place, part, ids in zip(_TOLD, places, parts, [*words, evidence.ids[:0]], strict=True):
            told += [Contribution(number, part / len(ids)) for number in ids.tolist()]
            told.append(Contribution(f"{what}: {level_name(int(place), n)}", 0.0 if len(ids) else part))
        return sorted(together(told), key=lambda one: -abs(one.weight))

    def state(self) -> Arrays:
        """The weights that were found; nothing if none were."""
        return {} if self._found is None else {_WEIGHTS: np.array(self._found)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take found weights back; those given as options go before."""
        self._found = None
        if _WEIGHTS in state:
            found = np.asarray(state[_WEIGHTS], np.float64)
            if found.shape != (3,) or not np.isfinite(found).all() or (found < 0).any() or not found.sum():
                raise ValueError(f"weights {found.tolist()!r} are not three numbers from 0 that add up to something")
            self._found = tuple((found / found.sum()).tolist())


def _given_weights(*weights: float | None) -> tuple[float, ...] | None:
    given = [weight for weight in weights if weight is not None]
    if not given:
        return None
    if len(given) < len(weights):
        raise ValueError(f"a, b, c = {weights!r}: give all three weights, or none")
    total = sum(given)
    if not total:
        raise ValueError(f"a, b, c = {weights!r}: at least one weight must be above 0")
    return tuple(weight / total for weight in given)


def _context(model: LevelModel, sides: Phrases) -> Floats:
    """LinkContextScore: the best similarity of any run of words on either side (first all left sides, then right)."""
    runs, side = runs_in(sides)
    # Links that stand close together share most of their runs.
    _, first, which = np.unique(runs.begin * 8 + runs.length, return_index=True, return_inverse=True)
    best = model.best(runs.select(first))
    scores = np.zeros((len(sides) // 2, model.n + 1))
    np.maximum.at(scores, side % max(len(scores), 1), best[which])
    return scores


def _words_for(model: LevelModel, texts: Phrases, level: Ints, channel: int) -> tuple[Ints, Ids]:
    """The words of each text that are in terms of its level, if that is on the path: which text, which feature."""
    row = np.repeat(np.arange(len(texts)), texts.length)
    ids = texts.ids[ranges(texts.begin, texts.length)]
    speaks = model.holds(ids, level[row]) & (level[row] <= model.n)
    return row[speaks], mix(ids[speaks], channel)
