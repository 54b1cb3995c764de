"""Strangers' text made fit to be shown: titles, addresses, words of pages."""

from __future__ import annotations

import re
from typing import Any

# Control characters (a terminal would obey them), invisible ones, and those that turn the direction of text.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufff9-\uffff]"
)


def short(text: Any, most: int) -> str:
    """Text without hidden characters, cut to a length."""
    plain = _HIDDEN.sub("", " ".join(str(text).split()))
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


def signed(offset: int) -> str:
    """An offset as the paper writes it: −2, 0, +3."""
    return f"\u2212{-offset}" if offset < 0 else f"+{offset}" if offset else "0"
