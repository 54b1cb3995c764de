"""How the checks of other people's parts complain."""

from __future__ import annotations

from typing import Any


def must(holds: bool, promise: str, seen: Any) -> None:
    """AssertionError with the promise that is broken, and what was seen instead. (`assert` is left out by -O.)"""
    if not holds:
        raise AssertionError(f"{promise}; here: {seen!r:.1000}")
