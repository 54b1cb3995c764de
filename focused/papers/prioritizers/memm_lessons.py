"""From paths to what an MEMM is fitted to: arrivals at pages, and links.

The walks of the paper only ever come nearer to a target or stay as near: a model that is fitted to their steps alone
has never seen a link that leads away, as most links do. So all links of the pages on the paths teach. Where the page
behind one is on a path, too, its layer is known; the others are taken for the furthest, with less weight. And each
link counts once, however often the walks went over it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from focused.critics.base import Critic
from focused.pages.evidence import Evidence
from focused.pages.page import Page
from focused.pages.tokens import Ids, word_to_id, words
from focused.pages.urls import url_to_host
from focused.papers.paths.stops import FURTHEST
from focused.papers.prioritizers.ground import NO_PAGE, Ground, LayerStep, is_held_out
from focused.papers.prioritizers.maxent import NO_STATE, Samples
from focused.papers.prioritizers.memm_features import Sight, described_by

_MOST_KNOWN = 3_000
_LEAST_PLACES = 2
_MOST_OF_ONE = 0.9
_NOTHING = np.zeros(0, np.uint32)


@dataclass(frozen=True)
class LayerLessons:
    """Samples: the step of each (to NO_PAGE, if the page behind a link is on no path), and the place where it is.

    ``held_out`` are those that figures are measured on, one in five by the address that is arrived at.
    """

    samples: Samples
    steps: list[LayerStep]
    places: list[str]
    held_out: NDArray[np.bool_]

    def known(self) -> Ids:
        """The features that can be learned: the most frequent ones that are in at least two places."""
        places: dict[int, set[str]] = {}
        often = Counter[int]()
        seen = self.samples.seen
        for row, place in enumerate(self.places):
            for number in set(seen.ids[seen.starts[row] : seen.starts[row + 1]].tolist()):
                places.setdefault(number, set()).add(place)
                often[number] += 1
        shared = [number for number, _ in often.most_common() if len(places[number]) >= _LEAST_PLACES]
        return np.array(sorted(shared[:_MOST_KNOWN]), np.uint32)


def gather(ground: Ground, sight: Sight, beside: float, tick: Callable[[], None]) -> tuple[LayerLessons, LayerLessons]:
    """What is to be learned of pages and of links."""
    bare: list[Evidence] = []
    links: list[Evidence] = []
    for page in ground.pages:
        view = sight.view(page)
        bare.append(sight.of_page(view))
        links.append(sight.of_links(view, page.links))
        tick()
    return _of_pages(ground, sight, bare, links), _of_links(ground, links, beside)


def _of_pages(ground: Ground, sight: Sight, bare: Sequence[Evidence], links: Sequence[Evidence]) -> LayerLessons:
    """A sample for each way by which a page is reached, from nowhere or by a link."""
    steps = list(_ways(ground))
    rows = [sight.on_arrival(bare[v], links[u].row(link).ids if link >= 0 else _NOTHING) for u, link, v in steps]
    before = [ground.layers[u] if u != NO_PAGE else NO_STATE for u, _, _ in steps]
    pages = np.array([v for _, _, v in steps], np.int64)
    state = np.array(ground.layers)[pages]
    samples = Samples(Evidence.concat(rows), np.array(before), state, np.ones(len(steps)))
    where = _places(ground.pages)
    return LayerLessons(samples, steps, [where[v] for v in pages.tolist()], ground.held_out()[pages])


def _ways(ground: Ground) -> Iterator[LayerStep]:
    """The steps of the paths, and the links between their pages that no path has taken."""
    yield from ground.steps
    yield from (way for way in ground.links() if way[2] not in (NO_PAGE, way[0]) and way not in ground.steps)


def _of_links(ground: Ground, links: Sequence[Evidence], beside: float) -> LayerLessons:
    """A sample for each link of each page."""
    where, steps = _places(ground.pages), ground.links()
    source, _, pages = np.array(steps, np.int64).reshape(-1, 3).T
    layers = np.array([*ground.layers, FURTHEST])  # the last is that of NO_PAGE
    weight = np.where(pages != NO_PAGE, 1.0, beside)
    samples = Samples(Evidence.concat(links), layers[source], layers[pages], weight)
    held_out = np.array([is_held_out(url) for page in ground.pages for url in page.links.urls], np.bool_)
    return LayerLessons(samples, steps, [where[u] for u in source.tolist()], held_out)


def _places(pages: Sequence[Page]) -> list[str]:
    """The place of each page: its host or, where nearly all have the same host, the page itself.

    A word that only one site uses, such as a name, says nothing of another site.
    """
    hosts = [url_to_host(page.url) for page in pages]
    most = max(Counter(hosts).values(), default=0)
    return hosts if most <= _MOST_OF_ONE * len(hosts) else [page.url for page in pages]


def choose_keywords(ground: Ground, critic: Critic | None, most: int, said: Sequence[str] = ()) -> Ids:
    """The words of the class of the target pages, those that the user has ``said``, and the best of the targets' own.

    These are the words of their titles, headings and meta tags that distinguish them best from the other pages.
    Best: p0 · log(p0 / p), where p0 is the share of target pages with the word and p that of all pages. Words that
    stand in the text of most pages ("and", "home") are none.
    """
    usual = _on_most(ground.pages)
    described = [set(described_by(page).tolist()) for page in ground.pages]
    targets = [row for row, layer in enumerate(ground.layers) if layer == 0]
    where = dict(zip(targets, _places([ground.pages[row] for row in targets]), strict=True))
    everywhere = Counter(number for found in described for number in found)
    on_targets = Counter(number for row in targets for number in described[row])
    places = Counter(number for number, _ in {(number, where[row]) for row in targets for number in described[row]})
    gain = {
        number: count / len(targets) * np.log(_share(count, len(targets)) / _share(everywhere[number], len(described)))
        for number, count in on_targets.items()
        if places[number] >= min(_LEAST_PLACES, len(targets)) and number not in usual
    }
    best = [number for number in sorted(gain, key=lambda one: (-gain[one], one)) if gain[number] > 0]
    named = list(dict.fromkeys([*_named(ground, targets, critic), *map(word_to_id, words(" ".join(said)))]))
    return np.array(sorted({*named[:most], *best[: max(most - len(named), 0)]}), np.uint32)


def _on_most(pages: Sequence[Page]) -> set[int]:
    on = Counter(number for page in pages for number in page.bag[0].tolist())
    return {number for number, count in on.items() if count > len(pages) / 2}


def _share(count: int, of: int) -> float:
    return (count + 0.5) / (of + 1)


def _named(ground: Ground, targets: Sequence[int], critic: Critic | None) -> list[int]:
    if critic is None:
        return []
    names = Counter(critic.judge(ground.pages[row]).best_class for row in targets)
    return [word_to_id(word) for word in words(names.most_common(1)[0][0])]
