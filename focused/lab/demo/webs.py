"""The generated webs by name."""

from __future__ import annotations

from collections.abc import Callable

from focused.lab.demo.bulk import bulk_web
from focused.lab.demo.demonstration import demonstration_web
from focused.lab.demo.hard import hard_web
from focused.lab.demo.web import GeneratedWeb

WEBS: dict[str, Callable[..., GeneratedWeb]] = {"demo": demonstration_web, "hard": hard_web, "bulk": bulk_web}


def make_web(name: str, *, pages: int = 0, seed: int = 0) -> GeneratedWeb:
    """A generated web, of its usual size if no other is given.

    The same name, size and seed give the same web, to the byte.
    """
    return WEBS[name](pages, seed) if pages else WEBS[name](seed=seed)
