"""When a crawl stops, or leaves a host: the limits that settings, arguments and orders set, each by the same name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from focused.defaults import SETTINGS, read_all
from focused.problems import Problems, ProblemsError, did_you_mean
from focused.schema import Dry

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_NAMES = ("FOCUSED_STOP_PAGES", "FOCUSED_STOP_FOUND", "FOCUSED_STOP_DRY", "FOCUSED_STOP_PER_HOST")
SETTING_OF = {SETTINGS[name].argument: name for name in _NAMES}
"""The settings of all limits, by their names, which are those of the spider's arguments."""
LIMITS = tuple(SETTING_OF)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlLimits:
    """The limits of a crawl; 0 and '' are none."""

    pages: int = 0
    found: int = 0
    dry: Dry | str = ""
    per_host: int = 0

    @classmethod
    def of(cls, settings: BaseSettings) -> Self:
        """Those of the settings."""
        return read_all(cls, settings, "STOP")

    def but(self, told: Mapping[str, str]) -> Self:
        """With other limits in place of some."""
        return replace(self, **{name: to_limit(name, text) for name, text in told.items()})


def to_limit(name: str, text: str) -> Any:
    """The value of a limit; a ValueError says what is wrong with its name or with the text."""
    if name not in LIMITS:
        raise ValueError(f"{name!r} is not a limit{did_you_mean(name, LIMITS)} (there are {', '.join(LIMITS)})")
    problems = Problems()
    value = SETTINGS[SETTING_OF[name]].convert(text, name, problems)
    problems.raise_as(ProblemsError)
    return value
