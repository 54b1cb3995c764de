"""Which classes of examples are wanted."""

from __future__ import annotations

from collections.abc import Sequence


def in_focus(name: str, focus: Sequence[str]) -> bool:
    """Is a class wanted? A prefix includes its subtree: ``Science`` includes ``Science.Biology``, not ``Sciences``."""
    return any(name == wanted or name.startswith(f"{wanted}.") for wanted in focus)
