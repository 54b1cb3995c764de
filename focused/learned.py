"""What was learned, in this crawl or an earlier one, for a prioritizer to go on with."""

from __future__ import annotations

from pathlib import Path

from focused.arrays import Arrays, Damaged, load_arrays
from focused.frontier.store import JobRefused
from focused.prioritizers.base import Prioritizer

SHOWN = "shown"
"""Beside what was learned: what has taught it, if that was no crawl."""
_LONGEST = 100


def begin_with(prioritizer: Prioritizer, path: str) -> str:
    """Let a prioritizer begin with what an earlier crawl has learned; JobRefused if it cannot.

    Gives what has taught it, if that was no crawl.
    """
    if not prioritizer.learns:
        raise JobRefused(
            f"learned={path!r}: {prioritizer.name!r} does not learn on the job: name the prioritizer that saved it"
        )
    try:
        state = load_arrays(Path(path))
    except (OSError, Damaged) as error:
        raise JobRefused(
            f"learned={path!r} is not what a crawl has learned: make such a file with scrapy export --learned"
        ) from error
    restore(prioritizer, state, f"learned={path!r}", "begin without it")
    # The file may be a stranger's: a terminal obeys control characters.
    return "".join(filter(str.isprintable, str(state.get(SHOWN, ""))))[:_LONGEST]


def restore(prioritizer: Prioritizer, state: Arrays, what: str, instead: str) -> None:
    """Give a prioritizer what was learned; JobRefused if it does not fit, with what may be done ``instead``."""
    try:
        prioritizer.restore(state)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else error
        raise JobRefused(f"{what} does not fit the prioritizer {prioritizer.name!r}: {reason}, or {instead}") from error
