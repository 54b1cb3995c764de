"""A topic: what is sought, as the user wrote it down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec


class Topic(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A topic file, typed. ``examples`` is a path (made absolute on loading); tables are kept as they were given."""

    name: str
    description: str = ""
    keywords: list[str] = []
    seeds: list[str] = []
    examples: str = ""
    focus: list[str] = []
    allowed_hosts: list[str] = []
    critic: dict[str, Any] = {}
    prioritizer: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    path: Path | None = None
