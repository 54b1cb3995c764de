"""What the pages that a crawl has met teach its critic (`focused.critics.combined`)."""

from __future__ import annotations

from collections.abc import Sequence

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
_A_FEW_PAGES = 3.0
_MENU, _ENOUGH_PAGES = 0.7, 5
"""A host's menu are the words on more than this share of its pages, if there are enough of them."""
_SMALLEST = 1e-3
_USUAL = -1.4
"""Log-odds of the share of pages that are wanted in most crawls, at most: one in five."""


class Met:
    """What the pages met so far have taught; nothing yet, at first.

    Learned: ``words`` and their ``idf``, ``centre`` (the centroid of the wanted pages) with the ``mean`` and ``spread``
    of cosines to it, ``weights`` and ``bias`` of the classifier, ``richness`` (by how much more than the usual share of
    pages is wanted here, as log-odds); for each of ``hosts`` the share of its pages that show each of the topic's
    terms, and its ``menus``: the words that most of its pages have. These say nothing about any of them, and are taken
    off before pages are compared or classified. ``answers`` is of how many of these pages somebody has said whether
    they are wanted.
    """

    def __init__(self) -> None:
        self.words = Vocabulary([])
        self.idf = np.zeros(0)
        self.centre = np.zeros(0)
        self.weights = np.zeros(0)
        self.mean, self.spread, self.bias, self.richness = 0.0, 1.0, 0.0, 0.0
        self.hosts: dict[str, int] = {}
        self.shares = np.zeros((0, 0))
        self.menus: list[Ids] = []
        self.is_there = self.has_learned = False
        self.answers = 0

    @classmethod
    def of(cls, met: Sequence[Gist], wanted: Sequence[Gist], others: Sequence[Gist]) -> Met:
        """The background that pages make, with the words of all examples; the classifier is still to be fitted."""
        new = cls()
        new.is_there = True
        new._learn_hosts(met)
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

    def _learn_hosts(self, met: Sequence[Gist]) -> None:
        for gist in met:
            self.hosts.setdefault(gist.host, len(self.hosts))
        host = np.array([self.hosts[gist.host] for gist in met])
        shown = np.stack([gist.shown > 0 for gist in met]).astype(np.float64)
        self.shares = np.zeros((len(self.hosts), shown.shape[1]))
        np.add.at(self.shares, host, shown)
        self.shares /= (np.bincount(host) + _A_FEW_PAGES)[:, None]

    def _learn_menus(self, met: Sequence[Gist]) -> None:
        of_host: dict[str, list[Gist]] = {}
        for gist in met:
            of_host.setdefault(gist.host, []).append(gist)
        for host in self.hosts:
            ids, pages = _on_pages(of_host[host])
            count = len(of_host[host])
            self.menus.append(ids[pages > _MENU * count] if count >= _ENOUGH_PAGES else ids[:0])

    def furniture(self, gist: Gist) -> NDArray[np.floating]:
        """The share of its host's pages that show each of the topic's terms."""
        row = self.hosts.get(gist.host)
        return np.zeros(len(gist.shown)) if row is None else self.shares[row, : len(gist.shown)]

    def rows(self, gists: Sequence[Gist]) -> csr_matrix:
        """TF-IDF of some pages, without the words of their hosts' menus."""
        return tfidf(self.words.matrix([self.own_words(gist) for gist in gists]), self.idf)

    def own_words(self, gist: Gist) -> Bag:
        """The words that are a page's own, not those of its host's menu."""
        row = self.hosts.get(gist.host)
        if row is None or not len(self.menus[row]):
            return gist.bag
        own = ~look_up(self.menus[row], gist.ids)[1]
        return gist.ids[own], gist.counts[own]

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
        sizes = np.array([len(menu) for menu in self.menus], np.int64)
        menus = {"menus": np.concatenate([np.zeros(0, np.uint32), *self.menus]), "menu_sizes": sizes}
        named = {"idf": self.idf, "centre": self.centre, "weights": self.weights, "shares": self.shares}
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
        new.shares = numbers_in(state, "shares", (len(new.hosts), *state["shares"].shape[1:2]))
        sizes = numbers_in(state, "menu_sizes", (len(new.hosts),)).astype(np.int64)
        menus = numbers_in(state, "menus", (int(sizes.sum()),)).astype(np.uint32)
        new.menus = np.split(menus, starts_of(sizes)[1:-1])
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
