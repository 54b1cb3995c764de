"""How many of the cases of an attack are run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def some(cases: Sequence[T], of: int) -> Sequence[T]:
    """All of them with `make attack`, else one in so many."""
    return cases if "FOCUSED_ATTACK" in os.environ else cases[::of]
