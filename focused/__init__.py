"""A focused crawler: the names that other projects build on. Each is imported when it is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from focused.addon import Addon
    from focused.critics.base import Critic, Verdict
    from focused.pages.page import Page
    from focused.prioritizers.base import Prioritizer
    from focused.prioritizers.simple import Link, SimplePrioritizer
    from focused.testing import check_critic, check_prioritizer, check_store

__version__ = "0.1.0"
__all__ = [
    "Addon",
    "Critic",
    "Link",
    "Page",
    "Prioritizer",
    "SimplePrioritizer",
    "Verdict",
    "__version__",
    "check_critic",
    "check_prioritizer",
    "check_store",
]

_HOMES = {
    "Addon": "focused.addon",
    "Critic": "focused.critics.base",
    "Link": "focused.prioritizers.simple",
    "Page": "focused.pages.page",
    "Prioritizer": "focused.prioritizers.base",
    "SimplePrioritizer": "focused.prioritizers.simple",
    "Verdict": "focused.critics.base",
    "check_critic": "focused.testing",
    "check_prioritizer": "focused.testing",
    "check_store": "focused.testing",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
