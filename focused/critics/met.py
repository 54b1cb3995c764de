"""What the pages that a crawl has met teach its critic (`focused.critics.combined`)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack
from threadpoolctl import threadpool_limits

from focused.arrays import Arrays, look_up, numbers_in, starts_of
from focused.critics.bag import Bag, Vocabulary, min_pages_for, tfidf
from focused.critics.gist import Gist
from focused.pages.tokens import Ids

Floats = NDArray[np.float64]

_RAREST, _COMMONEST = 0.004, 0.5
_COUNT_BITS = 8
_ENOUGH_PAGES, _NEARLY_ALL = 5, 0.8
"""So many pages of a host show what its menus are: they are on more than this share of its pages."""
_SMALLEST = 1e-3
_USUAL = -1.4
"""Log-odds of the share of pages that are wanted in most crawls, at most: one in five."""


class Met:
    """What the pages met so far have taught; nothing yet, at first.

    Learned: ``words`` and their ``idf``, ``centre`` (the centroid of the wanted pages) with the ``mean`` and ``spread``
    of cosines to it, ``weights`` and ``bias`` of the classifier, ``richness`` (by how much more than the usual share of
    pages is wanted here, as log-odds), and for each of ``hosts`` its ``menus``: the words that are on nearly all of its
    pages, on more than half of them equally often, and how often that is. So often they say nothing of any of these
    pages; what its text is about, a page shows as often as its text is long. ``answers`` is of how many of these pages
    somebody has said whether they are wanted.
    """

    def __init__(self) -> None:
        self.words = Vocabulary([])
        self.idf = np.zeros(0)
        self.centre = np.zeros(0)
        self.weights = np.zeros(0)
        self.mean, self.spread, self.bias, self.richness = 0.0, 1.0, 0.0, 0.0
        self.hosts: dict[str, int] = {}
        self.menus: list[Bag] = []
        self.is_there = self.has_learned = False
        self.answers = 0

    @classmethod
    def of(cls, met: Sequence[Gist], wanted: Sequence[Gist], others: Sequence[Gist]) -> Met:
        """The background that pages make, with the words of all examples; the classifier is still to be fitted."""
        new = cls()
        new.is_there = True
        new._learn_menus(met)
        ids, pages = _on_pages(met)
        known = ids[(pages >= max(3, _RAREST * len(met))) & (pages <= _COMMONEST * len(met))]
        given = [*wanted, *others]
        more, on_given = _on_pages(given)
        known = np.union1d(known, more[on_given >= min_pages_for(len(given))]) if given else known
        new.words = Vocabulary([], more=dict.fromkeys(known.tolist(), ""))
        frequency = dict(zip(ids.tolist(), pages.tolist(), strict=True))
        there = np.array([frequency.get(number, 0) for number in new.words.ids.tolist()], np.float64)
        new.idf = np.log((1 + len(met)) / (1 + there)) + 1
        new.weights = np.zeros(len(known))
        if wanted:
            centre = np.asarray(new.rows(wanted).mean(axis=0)).ravel()
            new.centre = centre / max(float(np.linalg.norm(centre)), 1e-9)
            cosines = new.rows(met) @ new.centre
            new.mean, new.spread = float(cosines.mean()), max(float(cosines.std()), 1e-9)
        return new

    def _learn_menus(self, met: Sequence[Gist]) -> None:
        of_host: dict[str, list[Gist]] = {}
        for gist in met:
            of_host.setdefault(gist.host, []).append(gist)
        self.hosts = {host: number for number, host in enumerate(of_host)}
        for gists in of_host.values():
            ids, pages = _on_pages(gists)
            usual = ids[pages > _NEARLY_ALL * len(gists)] if len(gists) >= _ENOUGH_PAGES else ids[:0]
            shown = np.concatenate([gist.ids.astype(np.int64) << _COUNT_BITS | gist.counts for gist in gists])
            shown, times = np.unique(shown, return_counts=True)
            steady = shown[times > len(gists) / 2]
            steady = steady[look_up(usual, steady >> _COUNT_BITS)[1]]
            self.menus.append(((steady >> _COUNT_BITS).astype(np.uint32), steady & ((1 << _COUNT_BITS) - 1)))

    def own_words(self, gist: Gist) -> Bag:
        """The words of a page, as often as its host's menus do not show them."""
        row = self.hosts.get(gist.host)
        if row is None or not len(self.menus[row][0]):
            return gist.bag
        ids, counts = self.menus[row]
        at, known = look_up(ids, gist.ids)
        own = np.maximum(gist.counts - np.where(known, counts[at], 0), 0)
        return gist.ids[own > 0], own[own > 0]

    def rows(self, gists: Sequence[Gist]) -> csr_matrix:
        """TF-IDF of some pages, without the words of their hosts' menus."""
        return tfidf(self.words.matrix([self.own_words(gist) for gist in gists]), self.idf)

    def likeness(self, rows: csr_matrix) -> Floats:
        """How much more like the wanted pages than usual."""
        return np.asarray((rows @ self.centre - self.mean) / self.spread)

    def fit(self, rows: csr_matrix, labels: Floats, weights: Floats) -> None:
        """The classifier, by soft labels: every example counts for both classes, as much as its label says."""
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  # half a second, not before pages were met

        model = LogisticRegression(C=1.0, max_iter=100, tol=1e-3)
        both = np.repeat([True, False], len(labels))
        # The arrays are small: threads for the linear algebra would cost more than they save.
        with threadpool_limits(1, user_api="blas"):
            model.fit(vstack([rows, rows]), both, np.concatenate([weights * labels, weights * (1 - labels)]))
        usual = float(log_odds([np.average(labels, weights=weights)])[0])
        self.weights = model.coef_[0]
        self.bias = float(model.intercept_[0]) - usual
        self.richness = max(usual - _USUAL, 0.0)
        self.has_learned = True

    def classified(self, rows: csr_matrix) -> Floats:
        """The classifier's log-odds beyond the usual ones."""
        return np.asarray(rows @ self.weights + self.bias)

    def classified_texts(self, ids: Ids, text: NDArray[np.int64], texts: int) -> Floats:
        """The same of short texts. Each is read as if it held one rare word more: a single word is no proof."""
        text, columns, counts = self.words.count(ids, text)
        values = (1 + np.log(counts)) * self.idf[columns]
        norms = np.sqrt(np.bincount(text, values * values, texts) + float(self.idf.max(initial=1.0)) ** 2)
        return np.asarray(np.bincount(text, values * self.weights[columns], texts) / norms)

    def parts(self, gist: Gist) -> dict[int, float]:
        """What each word of a page adds to the classifier's log-odds, by the word's id."""
        row = self.rows([gist])
        return dict(
            zip(self.words.ids[row.indices].tolist(), (row.data * self.weights[row.indices]).tolist(), strict=True)
        )

    def state(self) -> Arrays:
        """All of it, as arrays."""
        hosts = np.array([host.encode("utf-8", "surrogatepass") for host in self.hosts], np.bytes_)
        about = (self.mean, self.spread, self.bias, self.richness, self.is_there, self.has_learned, self.answers)
        numbers = np.array(about, np.float64)
        menus = {
            "menus": np.concatenate([np.zeros(0, np.uint32), *(ids for ids, _ in self.menus)]),
            "menu_counts": np.concatenate([np.zeros(0, np.int64), *(counts for _, counts in self.menus)]),
            "menu_sizes": np.array([len(ids) for ids, _ in self.menus], np.int64),
        }
        named = {"idf": self.idf, "centre": self.centre, "weights": self.weights}
        return {"words": self.words.ids, "hosts": hosts, "numbers": numbers, **menus, **named}

    @classmethod
    def restored(cls, state: Arrays) -> Met:
        """What `state` gave; ValueError if it is something else."""
        new = cls()
        new.words = Vocabulary([], more=dict.fromkeys(state["words"].tolist(), ""))
        new.hosts = {host.decode("utf-8", "surrogatepass"): row for row, host in enumerate(state["hosts"].tolist())}
        words = (len(new.words),)
        new.idf, new.weights = (numbers_in(state, name, words) for name in ("idf", "weights"))
        # There is none without wanted pages.
        new.centre = numbers_in(state, "centre", words if len(state["centre"]) else (0,))
        sizes = numbers_in(state, "menu_sizes", (len(new.hosts),)).astype(np.int64)
        ids, counts = (numbers_in(state, name, (int(sizes.sum()),)) for name in ("menus", "menu_counts"))
        starts = starts_of(sizes).tolist()
        new.menus = [
            (ids[begin:end].astype(np.uint32), counts[begin:end].astype(np.int64)) for begin, end in pairwise(starts)
        ]
        *numbers, is_there, has_learned, answers = numbers_in(state, "numbers", (7,)).tolist()
        new.mean, new.spread, new.bias, new.richness = numbers
        new.is_there, new.has_learned, new.answers = bool(is_there), bool(has_learned), int(answers)
        return new


def _on_pages(gists: Sequence[Gist]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """All words of some pages, and on how many of them each is."""
    return np.unique(np.concatenate([np.zeros(0, np.uint32), *(gist.ids for gist in gists)]), return_counts=True)


def log_odds(probability: NDArray[np.floating] | Sequence[float]) -> Floats:
    """A probability as log-odds, never beyond those of 0.001 and 0.999."""
    inside = np.clip(np.asarray(probability, np.float64), _SMALLEST, 1 - _SMALLEST)
    return np.asarray(np.log(inside / (1 - inside)))
