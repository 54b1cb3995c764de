"""The generated webs by name."""

from __future__ import annotations

from collections.abc import Callable

from focused.lab.demo.bulk import bulk_web
from focused.lab.demo.demonstration import demonstration_web
from focused.lab.demo.hard import hard_web
from focused.lab.demo.web import GeneratedWeb

WEBS: dict[str, tuple[Callable[[int, int], GeneratedWeb], int]] = {
    "demo": (demonstration_web, 2_400),
    "hard": (hard_web, 4_500),
    "bulk": (bulk_web, 5_000),
}
"""Name → what makes it, and how many pages it has unless told otherwise."""


def make_web(name: str, *, pages: int = 0, seed: int = 0) -> GeneratedWeb:
    """A generated web; the same name, size and seed give the same web, to the byte."""
    make, usual = WEBS[name]
    return make(pages or usual, seed)
