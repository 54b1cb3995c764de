"""From paths to a chain and rewards: paths as numbers, training, figures on what was held out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from focused.pages.urls import url_to_host
from focused.papers.paths.path import FAIL, GOAL
from focused.papers.paths.stops import Stops
from focused.papers.prioritizers.crf_chain import CrfChain, CrfModel, Floats, best_labels
from focused.papers.prioritizers.crf_features import page_features
from focused.papers.prioritizers.crf_reward import reward_of_links, reward_of_path
from focused.papers.prioritizers.crf_training import Sequences, concat_rows, padded, train
from focused.papers.prioritizers.features import link_features
from focused.papers.prioritizers.taught import FiguresByName, NotTaught, TeachingProgress, Ticker

_FOLDS = 3
Said = list[tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class CrfTeaching:
    """How a chain is taught; the options of `Crf`."""

    near: int
    headings: tuple[str, ...]
    gamma: float
    reward: str
    c2: float
    least: int
    sinks: bool
    iterations: int

    def run(self, paths: Sequence[Stops], progress: TeachingProgress) -> tuple[CrfModel, FiguresByName]:
        """What is known afterwards, and how well it did on paths held out."""
        labels = _checked(paths)
        shown = _LearnedFrom(paths, labels, self)
        folds = _folds(paths)
        tick = Ticker(progress, self.iterations * (len(folds) + 1))
        said: Said = []
        for number, held in enumerate(folds, 1):
            rest = [i for i in range(len(paths)) if i not in held]
            chain = self._fit(shown, rest, tick)
            tick.reach(number * self.iterations)
            said += [pair for i in sorted(held) for pair in shown.read(chain, i)]
        chain = self._fit(shown, range(len(paths)), tick)
        tick.reach(tick.total)
        reward = self._rewards(shown, chain)
        figures = _figures(said, labels) if said else {}
        figures["labels seen once"] = float(_seen_once(paths))
        return CrfModel(**vars(chain), labels=np.array(labels), reward=reward), figures

    def _fit(self, shown: _LearnedFrom, chosen: Sequence[int], tick: Ticker) -> CrfChain:
        how: dict[str, Any] = {"c2": self.c2, "least": self.least, "iterations": self.iterations}
        return train(shown.sequences(chosen), len(shown.labels), step=tick, **how)

    def _rewards(self, shown: _LearnedFrom, chain: CrfChain) -> Floats:
        goal = shown.labels.index(GOAL)
        if self.reward == "paths":
            return reward_of_links(shown.states, len(shown.labels), goal, self.gamma)
        found = []
        for i in range(len(shown.states)):
            transitions, logits = shown.said(chain, i)
            found.append(reward_of_path(transitions, logits, goal, self.gamma)[1])
        return np.asarray(np.nan_to_num(np.nanmean(found, axis=0)))


class _LearnedFrom:
    """Paths as numbers: rows of features of pages and links, each once, and their states."""

    def __init__(self, paths: Sequence[Stops], labels: list[str], how: CrfTeaching) -> None:
        self.labels, self._sinks = labels, how.sinks
        followed = dict.fromkeys((stop.page, stop.link) for path in paths for stop in path[:-1] if stop.link >= 0)
        pages = {page: row for row, page in enumerate(dict.fromkeys(stop.page for path in paths for stop in path))}
        links = {link: row for row, link in enumerate(followed)}
        self.page_ids = [page_features(page, how.headings) for page in pages]
        self.link_ids = [link_features(page, page.links.select([link]), how.near)[1] for page, link in links]
        self.pages = [[pages[stop.page] for stop in path] for path in paths]
        self.links = [[links.get((stop.page, stop.link), -1) for stop in path[:-1]] for path in paths]
        self.states = [[labels.index(stop.state) for stop in path] for path in paths]

    def sequences(self, chosen: Sequence[int]) -> Sequences:
        """Some of the paths; where failures are sinks, each goes on to a link and a page of which nothing is known."""
        return Sequences(
            concat_rows(self.page_ids),
            concat_rows(self.link_ids),
            padded([[*self.pages[i], -1] for i in chosen]),
            padded([[*self.links[i], -1, -1] for i in chosen]),
            padded([[*self.states[i], self._behind(self.states[i][-1])] for i in chosen]),
        )

    def _behind(self, state: int) -> int:
        return state if self._sinks and self.labels[state] == FAIL else -1

    def said(self, chain: CrfChain, path: int) -> tuple[list[Floats], list[Floats]]:
        """The transitions along a path, and what its pages and links say for each state."""
        pages = chain.pages.logits(concat_rows([self.page_ids[row] for row in self.pages[path]]))
        links = self.links[path]
        said = chain.links.logits(concat_rows([self.link_ids[row] if row >= 0 else _NOTHING for row in links]))
        logits = [pages[0]]
        for i, row in enumerate(links):
            logits += [said[i] if row >= 0 else np.zeros(len(self.labels)), pages[i + 1]]
        return [chain.to_link, chain.to_page] * len(links), logits

    def read(self, chain: CrfChain, path: int) -> Said:
        """(true, said) for the state of each page on a path."""
        return list(zip(self.states[path], best_labels(*self.said(chain, path))[::2], strict=True))


_NOTHING = np.zeros(0, np.uint32)


def _checked(paths: Sequence[Stops]) -> list[str]:
    """The labels on some paths. NotTaught if they cannot teach."""
    labels = sorted({stop.state for path in paths for stop in path})
    if not labels:
        raise NotTaught("there are no paths: write some, or draw them with 'scrapy paths --kind visits'")
    if GOAL not in labels:
        raise NotTaught(f"no path ends at a page labelled {GOAL!r} (labels: {', '.join(labels)}): show some that do")
    if all(path[-1].state == GOAL for path in paths):
        # Such a chain would be in doubt about nothing, and follow every link alike.
        raise NotTaught(f"every path ends at a {GOAL!r}: add some that end at a {FAIL!r}, or all links look alike")
    if all(len(path) < 2 for path in paths):
        raise NotTaught("no path has two pages, so there is no link to learn from: begin paths further from the goal")
    return labels


def _seen_once(paths: Sequence[Stops]) -> int:
    pages = Counter(state for _, state in {(stop.page.url, stop.state) for path in paths for stop in path})
    return sum(count == 1 for count in pages.values())


def _folds(paths: Sequence[Stops]) -> list[set[int]]:
    """Paths to hold out in turn: of other sites if there are several, else those that end at other pages."""
    sites = Counter(url_to_host(path[0].page.url) for path in paths)
    if len(sites) > 1:
        order = {site: i % _FOLDS for i, (site, _) in enumerate(sites.most_common())}
        fold = [order[url_to_host(path[0].page.url)] for path in paths]
    else:
        ends: dict[str, int] = {}
        fold = [ends.setdefault(path[-1].page.url, len(ends)) % _FOLDS for path in paths]
    folds = [{i for i, one in enumerate(fold) if one == number} for number in range(_FOLDS)]
    return [held for held in folds if held and _teaches([p for i, p in enumerate(paths) if i not in held])]


def _teaches(paths: Sequence[Stops]) -> bool:
    return len({path[-1].state == GOAL for path in paths}) == 2


def _figures(said: Said, labels: Sequence[str]) -> FiguresByName:
    """Precision and recall of goal pages and, as means over the states that occur, of all."""
    matrix = np.zeros((len(labels), len(labels)))
    np.add.at(matrix, tuple(np.array(said).T), 1)
    right, true, told = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    precision, recall = right / np.maximum(told, 1), right / np.maximum(true, 1)
    goal = labels.index(GOAL)
    return {
        "goal precision": float(precision[goal]),
        "goal recall": float(recall[goal]),
        "all precision": float(precision[told > 0].mean()),
        "all recall": float(recall[true > 0].mean()),
        "right": float(right.sum() / matrix.sum()),
    }
