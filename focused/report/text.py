"""Text fit to be shown: strangers' titles and addresses, numbers with their nouns, spans of time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

WIDE = 70
"""So much of a name is shown on a terminal."""

OUTCOMES = {
    "page": "page",
    "duplicate": "duplicate",
    "redirect": "redirect",
    "dead": "dead",
    "unavailable": "unavailable",
    "denied": "denied",
    "not_html": "not HTML",
    "failed": "failed",
    "other": "ended without a page",
}
"""How links end, in words."""
_COUNTABLE = {"page", "duplicate", "redirect"}

# Control characters (a terminal would obey them), invisible ones, and those that turn the direction of text.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufff9-\uffff]"
)


def short(text: Any, most: int) -> str:
    """Text without hidden characters, cut to a length."""
    plain = _HIDDEN.sub("", " ".join(str(text).split()))
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


def clean(text: str) -> str:
    """Lines without hidden characters, however many they are."""
    return "\n".join(_HIDDEN.sub("", line) for line in text.split("\n"))


def signed(offset: int) -> str:
    """An offset as the paper writes it: −2, 0, +3."""
    return f"\u2212{-offset}" if offset < 0 else f"+{offset}" if offset else "0"


def counted(number: int, what: str) -> str:
    """1 link, 2 links."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def outcomes_in_words(counts: Mapping[str, int]) -> list[str]:
    """How many links ended in each way: 3 pages, 1 duplicate, 2 dead."""
    return [
        counted(counts[name], words) if name in _COUNTABLE else f"{counts[name]:,} {words}"
        for name, words in OUTCOMES.items()
        if counts.get(name)
    ]


def listed(heading: str, lines: Sequence[tuple[int, str]], total: int, what: str) -> Iterator[str]:
    """Numbers with names, after an empty line; nothing if there are none. There may be more in ``total``."""
    if not lines:
        return
    yield ""
    yield f"  {heading}"
    yield from (f"  {number:>10,}  {words}" for number, words in lines)
    if total > len(lines):
        yield f"              and {counted(total - len(lines), f'more {what}')}"


def clock(time: str | None) -> str:
    """A point in time, to the minute."""
    return f"{datetime.fromisoformat(time):%Y-%m-%d %H:%M} UTC" if time else "at an unknown time"


def time_span(seconds: float) -> str:
    """A time in the largest unit of which it has two."""
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return counted(max(int(seconds), 0), "second")
