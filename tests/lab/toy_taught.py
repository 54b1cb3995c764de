"""A prioritizer that is taught by paths, as small as can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from focused.pages.evidence import Evidence
from focused.papers.prioritizers.taught import NotTaught, TaughtPrioritizer


@dataclass
class GoodWords:
    good: np.ndarray


class Toy(TaughtPrioritizer[GoodWords]):
    """Likes links whose anchors have a word of those that led to a target; ``least`` paths must lead to one."""

    name = "toy"
    dense = ("good words",)
    model_type = GoodWords
    bound_to = ("least",)

    def __init__(self, *, least=1, **options):
        super().__init__(**options)
        self.least = least

    def teach(self, paths, progress=lambda *_: None):
        goals = [path for path in paths if path[-1].layer == 0 and len(path) > 1]
        if len(goals) < self.least:
            raise NotTaught(f"{len(goals)} paths lead to a target, {self.least} are needed: draw more")
        good = {word for path in goals for word in path[-2].page.anchor(path[-2].link).split()}
        self.adopt(GoodWords(np.array(sorted(good))))
        return {"paths to a target": len(goals), "words": len(good)}

    def evidence(self, page, verdict, links, *, fetched=None, arrived_by=None):
        words = set(self.model.good.tolist())
        rows = [page.links.urls.index(url) for url in links.urls]
        good = np.array([[len(words & set(page.anchor(row).split()))] for row in rows], np.float32)
        starts, ids = np.zeros(len(links) + 1, np.int64), np.zeros(0, np.uint32)
        return Evidence.of(starts, ids, good.reshape(len(links), 1), links.first)

    def score(self, evidence):
        return np.minimum(evidence.dense[:, 0], 1).astype(np.float32)


class ToyVisits(Toy):
    """The same, of paths from where a crawl began."""

    name = "toy-visits"
    kind_of_paths = "visits"
