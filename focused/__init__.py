"""A focused crawler: the names that other projects build on. Each is imported when it is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from focused.addon import Addon as Addon
    from focused.critics.base import Critic as Critic
    from focused.critics.base import Verdict as Verdict
    from focused.pages.page import Page as Page
    from focused.prioritizers.base import Prioritizer as Prioritizer
    from focused.prioritizers.simple import Link as Link
    from focused.prioritizers.simple import SimplePrioritizer as SimplePrioritizer
    from focused.testing import check_critic as check_critic
    from focused.testing import check_prioritizer as check_prioritizer
    from focused.testing import check_store as check_store

__version__ = "0.1.0"
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
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604  (names are strings)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
