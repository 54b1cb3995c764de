"""Checks for tests: what every critic, prioritizer and store must keep."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from focused.testing.critic_checks import check_critic
    from focused.testing.prioritizer_checks import check_prioritizer
    from focused.testing.store_checks import check_store

__all__ = ["check_critic", "check_prioritizer", "check_store"]

_HOMES = {
    "check_critic": "focused.testing.critic_checks",
    "check_prioritizer": "focused.testing.prioritizer_checks",
    "check_store": "focused.testing.store_checks",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
