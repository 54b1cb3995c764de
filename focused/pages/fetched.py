"""Pages that were wanted by address: those that are there, and why the others are not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from focused.pages.page import Page

_MOST_REASONS = 5


class NoPage(ValueError):
    """What holds no page that could be judged; the message says why."""


@dataclass
class Fetched:
    """The pages that were found, by the address asked for, and why the others were not."""

    pages: dict[str, Page] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def page(self, url: str) -> Page:
        """The page at an address; NoPage says why it is not there."""
        if url not in self.pages:
            raise NoPage(self.failures[url])
        return self.pages[url]

    def reasons(self) -> dict[str, int]:
        """How many pages are missing, by reason, the most frequent first."""
        return dict(Counter(self.failures.values()).most_common())

    def missing(self) -> str:
        """The most frequent reasons, each with the first page that is missing for it; nothing if none is."""
        first = {reason: url for url, reason in reversed(self.failures.items())}
        reasons = list(self.reasons().items())[:_MOST_REASONS]
        return ", ".join(f"{reason} ({count}, first {first[reason]})" for reason, count in reasons)
