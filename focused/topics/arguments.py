"""The spider's arguments (``-a name=value``): strings from the command line or from scrapyd, or typed from a script.

Most set a setting, and are declared with it in `focused.defaults`. All bad values are reported at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from focused.defaults import RENAMED, SETTINGS, read
from focused.problems import Problems, ProblemsError, did_you_mean
from focused.schema import COUNT, POSITIVE, TEXT, URLS

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings  # noqa: TID251  (only the type)


KINDS = {
    #: The topic (see above); the only required argument
    "topic": TEXT,
    #: Addresses to start from, in place of the topic's seeds
    "seeds": URLS,
    # A limit of 0 is none: as an argument it would say nothing.
    **{one.argument: POSITIVE if one.kind is COUNT else one.kind for one in SETTINGS.values() if one.argument},
}
"""What each argument takes."""
_SETS = {setting.argument: name for name, setting in SETTINGS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """What a crawl was asked for: the topic, seeds in place of its own, and settings by their names, converted."""

    topic: str
    seeds: tuple[str, ...]
    settings: Mapping[str, Any]

    def apply(self, settings: BaseSettings) -> None:
        """Set what was asked for, above all else; hosts and patterns are added to those that are there."""
        for name, value in self.settings.items():
            added = [*read(settings, name), *value] if isinstance(value, list) else value
            settings.set(name, added, priority="cmdline")


def parse_arguments(kwargs: Mapping[str, Any]) -> Arguments:
    """The arguments, converted; ProblemsError lists all that is wrong with them.

    Those that others add for themselves (scrapyd's ``_job``) begin with ``_`` and are left out.
    """
    problems = Problems()
    values = {name: _convert(name, value, problems) for name, value in kwargs.items() if not name.startswith("_")}
    if "topic" not in kwargs:
        problems.add("topic", "missing: give -a topic=NAME, a topic file, or words with -a seeds=https://…")
    for host in set(values.get("allow_hosts") or ()) & set(values.get("deny_hosts") or ()):
        problems.add("deny_hosts", f"{host!r} is also in allow_hosts")
    problems.raise_as(ProblemsError)
    topic, seeds = values.pop("topic").strip(), tuple(values.pop("seeds", ()))
    return Arguments(topic=topic, seeds=seeds, settings={_SETS[name]: value for name, value in values.items()})


def _convert(name: str, value: Any, problems: Problems) -> Any:
    if name in RENAMED:
        problems.add(name, f"is now called {RENAMED[name]!r}: give -a {RENAMED[name]}={value}")
    elif name not in KINDS:
        problems.add(name, f"unknown argument{did_you_mean(name, KINDS)} (known: {', '.join(KINDS)})")
    elif isinstance(value, str) and not value.strip():
        problems.add(name, "is empty: give a value or leave it out")
    else:
        return KINDS[name].convert(value, name, problems)
    return None
