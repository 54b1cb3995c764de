"""Writing TOML: topic files for crawls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def to_toml(values: Mapping[str, Any]) -> str:
    """Values as a TOML file."""
    return "".join(f"{key} = {_to_value(value)}\n" for key, value in values.items())


def _to_value(value: Any) -> str:
    """Strings, numbers and lists look in TOML as they do in JSON."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_to_value(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_to_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
