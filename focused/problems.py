"""Mistakes of a user, gathered so that all are reported at once.

Whoever checks something adds to a `Problems` and goes on; at the end one error is raised whose message is a list
that can be worked through from top to bottom.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches

MOST_LISTED = 100


class ProblemsError(ValueError):
    """One or more mistakes; ``problems`` has a line for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return self.problems[0]
        listed = self.problems[:MOST_LISTED]
        more = len(self.problems) - len(listed)
        lines = [f"{len(self.problems)} mistakes:", *listed, *([f"and {more} more"] if more else [])]
        return "\n  ".join(lines)


class Problems:
    """The mistakes found so far, each with where it is (a file and a key, a line, an argument)."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, where: str, what: str) -> None:
        """Note a mistake."""
        self.found.append(f"{where}: {what}")

    def raise_as(self, error: type[ProblemsError]) -> None:
        """Raise if there was any."""
        if self.found:
            raise error(self.found)


def near(name: str, known: Collection[str], *, most: int = 1) -> list[str]:
    """The known names that ``name`` may have been meant for, whatever the case; the nearest first."""
    by_lower = {other.lower(): other for other in known}
    return [by_lower[match] for match in get_close_matches(name.lower(), by_lower, n=most)]


def instead(name: str, known: Collection[str], table: str) -> str:
    """What to write in place of a part's name that is not known: another name, or its options elsewhere."""
    alone = name.partition(":")[0]
    if alone != name and alone in known:
        return f": its options go into the [{table}] table of the topic file, with name = {alone!r}"
    return did_you_mean(name, known)


def did_you_mean(name: str, known: Collection[str]) -> str:
    """``; did you mean 'x'?``, or nothing when no known name is near."""
    matches = near(name, known)
    return f"; did you mean {matches[0]!r}?" if matches else ""
