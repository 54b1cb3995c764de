"""The default: looks at everything there is around a link, and learns from the first page on.

Of a link it sees the words within a few leaves, each with its offset (the apprentice's evidence), the words of its
address, where it stands (`places`), R(*u*), and what the critic says of its text and of the words around it. These
speak through one logistic model that begins with an opinion, as best-first and shark-search have one, and moves on from
there by a Kalman filter (`kalman`): far by the first lessons, less and less by later ones. A link in several places
gets the mean of their scores: the greatest would be that of the page that happened to word it best.

What made the difference, and what did not. Figures of each part taken away stand in docs/results.md; the rest was tried
with ``bench/simulate.py`` on the webs named there, where .02 apart is noise:

* *Graded labels.* R(*v*) itself; cut at 0.5, everything is unlearned before the first hit.
* *R(u) as it is*, not its log-odds as in the apprentice: before the first hit pages have an R of 0.001 or 0.004, and
  as log-odds this noise decides. With it, genealogy on uci is never found. Log-odds cut off at 0.01, 0.03 or 0.1, or
  at what the critic says of no words, the root of R, and both numbers beside one another, were no better in the mean,
  though better with critics of a few plain words; a list of all teachers behind a poor page (webkb) was found by
  fewer crawls.
* *Learning after every page* while there are few: ten children of one good page are fetched before a batch of ten is
  learned. Best on sites with hubs.
* *What stands beside every link counts for little* (see `kalman`). Without it such words make a second usual score,
  which differs with the length of a link's address: on wpcd (``/wp/r/radio_telescope.htm``) the last pages of a topic
  were found late. Counted a third as fast or three times as fast, squared, or for the address alone: no better, nor was
  it with a usual score that is freer to move, or wider spreads for words or addresses. Elements may say a little more
  with it (1.1 for 0.8), as most of what they said was common.
* *Surer with every lesson.* AdaGrad with replays, as the apprentice learns, was equal in the mean, but needed a rate
  for each kind of feature. Spreads half and twice as wide: no better; wider ones for page and list hurt where courses
  hang on hubs, since one bad link of a hub then speaks against all the others.
* *Trust in each kind of feature*, learned from first lessons alone: .69 to .75 on the generated hard web, where only
  the side of a word tells; nothing on the three others. From all lessons it has to be held near 1, or it grows
  without end (3.3 for addresses on wpcd) and costs .013 there. Trust in each offset by itself: .79 on the hard web,
  where the apprentice has .77, and nothing elsewhere; left, for it must be kept with each word of each waiting link.
* *What the critic reads is nearly sure* (.35, not .45): .02 with a naive Bayes critic.
* *Late lessons*, of links to pages fetched before: five a page, each of half the weight. Without them, or with
  weights that fall with the number of links to the page, it is a little worse on uci and wpcd.
* *Novelty*: on webs where the first hit is far (genealogy, graph theory). As an uncertainty of the model (scores
  taken over the spread of its weights, of all or of those of places alone) it did harm everywhere.
* Left, for no gain: waiting with all learning until the first hit (much worse: also bad news leads away), ignoring
  differences below R = 0.02, reward from the children of a page (their mean or best, with and without taking off what
  the crawl finds anyway), the mean R of a page's other links as a number of its own beside `siblings`, names of *u*'s
  classes, windows of ten leaves, softened labels, host of the link as a place or by its words, lessons of relevant
  pages that weigh more, weights that never become quite sure, or trust that never does. The critic's reading of the
  address: better on starts inside the topic, and much worse on two topics of webkb from the root. The heading above a
  link, its words or the critic's reading of it; the topic's own words in text and address; a window without the texts
  of other links (better on uci, much worse on webkb); labels of critics that are always sure, spread out; a usual
  score that is freer to move (1.5 for 1: better with naive Bayes and on wpcd by .01, worse at Washington by .05);
  steps of the filter that are repeated until they fit (overshooting after a wrong first guess helps to explore). A
  critic that reads title and headings as fields of their own judges pages better, and leads a crawl no better.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from focused.arrays import Arrays
from focused.critics.base import Critic, Verdict
from focused.options import check_number, check_switch
from focused.pages.evidence import MAX_OFFSET, Evidence, window
from focused.pages.page import Links, Page
from focused.pages.url_words import url_features
from focused.prioritizers.base import Contribution, Lessons, Prioritizer, together
from focused.prioritizers.context import append_to_rows
from focused.prioritizers.kalman import KalmanLearner, Spreads
from focused.prioritizers.novelty import BITS, Visits
from focused.prioritizers.opinions import opinions
from focused.prioritizers.options import check_made_alike
from focused.prioritizers.places import PLACES, directories, has_no_text, places

_PRIOR = {
    "source relevance": (2.0, 0.45),
    "anchor": (1.0, 0.35),
    "words around": (1.0, 0.35),
    "no text": (0.0, 0.45),
    "bias": (-2.0, 1.0),
}
_WORDS, _ADDRESS = 2.0, 1.4
# As in `PLACES`. The directory is not weighed, only counted: what is learned of it is told better by the address.
_ELEMENTS, _SIBLINGS, _DIRECTORY = (1.1, 1.1, 1.1), (1.4, 2.0), (0.0,)
_READ_WITHIN = 3
# With 1, all that is new would be as good as certain, whatever else is known of it.
_MOST_NOVELTY = 0.9
_HIT = 0.5
_FORMAT = 5


class Focused(Prioritizer):
    """Learns on the job which words, addresses and places speak for the page behind a link.

    ``d_max``: how many leaves to the left and right are looked at; ``offsets=False`` forgets where in that window a
    word stood. The parts of the evidence can be left out, each by itself: ``words`` around the link, ``address``,
    ``elements`` (the names of those it stands in), ``siblings`` (the fate of other links of its page and list),
    ``reads`` (the critic's opinion of anchor and window), ``source`` (R(*u*)). ``graded=False`` learns from
    R(*v*) > 0.5 alone; with ``rarity=False`` what stands beside every link counts like all else. ``novelty``: how much
    more a link is worth that leads where nobody was yet. ``spread`` multiplies how far lessons may lead away from the
    prior. ``bits``: the size of the table of features.
    """

    name = "focused"
    dense = (*tuple(_PRIOR)[:-1], "words of the address")
    learns = True
    learns_every = 1
    late_lessons = 5

    def __init__(
        self,
        *,
        critic: Critic | None = None,
        combine: str = "mean",
        seed: int = 0,
        d_max: int = 5,
        offsets: bool = True,
        words: bool = True,
        address: bool = True,
        elements: bool = True,
        siblings: bool = True,
        reads: bool = True,
        source: bool = True,
        graded: bool = True,
        rarity: bool = True,
        novelty: float = 0.005,
        spread: float = 1.0,
        bits: int = 18,
    ) -> None:
        super().__init__(critic=critic, combine=combine, seed=seed)
        check_number("d_max", d_max, 0, MAX_OFFSET, whole=True)
        check_number("bits", bits, 8, 24, whole=True)
        check_number("novelty", novelty, 0, _MOST_NOVELTY)
        check_number("spread", spread, 0, 100)
        parts = {"words": words, "address": address, "elements": elements, "siblings": siblings}
        switches = {**parts, "offsets": offsets, "reads": reads, "source": source, "graded": graded, "rarity": rarity}
        for name, value in switches.items():
            check_switch(name, value)
        self.d_max, self.offsets, self.reads, self.source, self.graded = d_max, offsets, reads, source, graded
        self.novelty = novelty
        self.id_bits = max(bits, BITS)
        where = [size * elements for size in _ELEMENTS] + [size * siblings for size in _SIBLINGS] + [*_DIRECTORY]
        spreads = Spreads(spread * words * _WORDS, spread * address * _ADDRESS, tuple(spread * size for size in where))
        self.visits = Visits()
        self.learner = KalmanLearner(_PRIOR, spreads, rarity=rarity, bits=bits, seed=seed)
        # What was learned means something only together with these.
        self._made_for = {"prioritizer": self.name, "bits": bits, "d_max": d_max, "spread": spread, **switches}

    def evidence(self, page: Page, verdict: Verdict, links: Links, **known: Any) -> Evidence:
        """Words within ``d_max`` leaves, words of the address, places; what the critic says of page, anchor, words."""
        around = window(page, links, self.d_max, offsets=self.offsets)
        in_address, address = url_features(links.urls, page.lexicon)
        starts, ids = append_to_rows(*around, in_address, address)
        where = places(page, links)
        starts, ids = append_to_rows(starts, ids, np.arange(len(links) + 1) * len(PLACES), where.ravel())
        dense = np.zeros((len(links), len(self.dense)), np.float32)
        dense[:, 0] = verdict.relevance * self.source
        if self.reads:
            dense[:, 1:3] = opinions(self.critic, page, links, 0, _READ_WITHIN)
        dense[:, 3] = has_no_text(page, links)
        dense[:, 4] = np.diff(in_address)
        return Evidence.of(starts, ids, dense, links.first)

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """The learner's estimate of R(*v*), and a little more where nobody was yet."""
        scores = self.learner.score(evidence)
        if self.novelty:
            scores += np.float32(self.novelty) * (1 - scores) * self.visits.novelty(directories(evidence))
        return scores

    def learn(self, lessons: Lessons) -> Self | None:
        """A snapshot that knows these lessons, too. Dead links teach nothing."""
        alive = lessons.select(np.flatnonzero(lessons.alive))
        if not len(alive):
            return None
        if not self.graded:
            alive.relevance = (alive.relevance > _HIT).astype(np.float32)
        new = copy(self)
        new.learner = self.learner.learn(alive)
        new.visits = self.visits.with_more(directories(alive.evidence), alive.weight)
        return new

    def explain(self, evidence: Evidence) -> list[Contribution]:
        """The features of one link, those that stand in it several times taken together."""
        parts = together(self.learner.explain(evidence))
        parts.append(Contribution("novelty", self._from_novelty(evidence, sum(part.weight for part in parts))))
        return sorted((part for part in parts if part.weight), key=lambda part: -abs(part.weight))

    def _from_novelty(self, evidence: Evidence, odds: float) -> float:
        """What it adds to the log-odds of one link. Told from these: a score near 1 has no digits left for it."""
        share = self.novelty * float(self.visits.novelty(directories(evidence))[0])
        return float(np.logaddexp(0, np.log(share) - odds) - np.log1p(-share)) if share else 0.0

    def weights_of(self, ids: NDArray[np.uint32]) -> NDArray[np.float32]:
        """What was learned of each word."""
        return self.learner.weights_of(ids)

    def state(self) -> Arrays:
        """What was learned, and the options it is bound to."""
        made_for = np.array(json.dumps({"format": _FORMAT, **self._made_for}))
        return {"made_for": made_for, **self.visits.state(), **self.learner.state()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave, if it was made with the same options."""
        saved = json.loads(str(state["made_for"])) if "made_for" in state else {}
        if saved.get("prioritizer") != self.name:
            other = "'apprentice'" if "learner" in saved else "another"
            raise ValueError(f"it was saved by {other}, not by {self.name!r}: name the prioritizer that saved it")
        check_made_alike(saved, {"format": _FORMAT, **self._made_for})
        visits = Visits.of(state)
        self.learner.restore(state)
        self.visits = visits
