"""Paths with their pages at hand: what a path model learns from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from focused.pages.page import Page
from focused.papers.paths.path import Path, layers_of

FURTHEST = 4
"""Layers beyond are taken for this one: "k - 1 or more hops" (Liu, Milios, Korba 2008, §3.1)."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A page on a path. ``link`` is the row of ``page.links`` that leads to the next stop, -1 if there is none.

    ``state`` is the page's label or prefix state, ``layer`` its distance from a target.
    """

    page: Page
    state: str
    layer: int
    link: int


Stops = list[Stop]


def resolve(paths: Sequence[Path], page_of: Callable[[str], Page | None], same: Callable[[str], str]) -> list[Stops]:
    """The stops of each path, up to the first page that is not to be had; ``same`` gives an address its normal form.

    A link that is not on the page (it was left out, or the page has changed) is -1: the pages still follow each
    other, but nothing is learned of the link.
    """
    layers = layers_of(paths, FURTHEST)
    return [_stops(path, page_of, same, layers) for path in paths]


def _stops(
    path: Path, page_of: Callable[[str], Page | None], same: Callable[[str], str], layers: Mapping[str, int]
) -> Stops:
    stops: Stops = []
    coming = [step.url for step in path.steps[1:]]
    for i, (step, state) in enumerate(zip(path.steps, path.states(), strict=True)):
        page = page_of(step.url)
        if page is None:
            break
        link = _find(page.links.urls, same(coming[i]), same) if i < len(coming) else -1
        stops.append(Stop(page, state, layers[step.url], link))
    return stops


def _find(urls: Sequence[str], wanted: str, same: Callable[[str], str]) -> int:
    return next((row for row, url in enumerate(urls) if same(url) == wanted), -1)
