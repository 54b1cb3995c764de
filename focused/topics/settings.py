"""The ``[settings]`` table of a topic: Scrapy's settings and ours, for this topic only.

They are set while the spider is made: above the project's settings, below the command line. By then Scrapy has read
some settings for good, when the process, its reactor and its log were set up. Those would do nothing here, without
a word, so they are refused by name; a test compares the list with what the installed Scrapy reads.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
from scrapy.settings import SETTINGS_PRIORITIES, default_settings  # noqa: TID251  (names and priorities alone)

from focused.defaults import DEFAULTS, misfit, read
from focused.topics.limits import read_dry
from focused.topics.problems import Problems, did_you_mean, near

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings  # noqa: TID251  (only the type)

    from focused.topics.topic import Topic

logger = logging.getLogger(__name__)

# LOG_FILE, LOG_LEVEL and their kind are not here: Scrapy opens the log again once the spider has been made.
READ_BEFORE_THE_SPIDER = frozenset(
    {
        "ADDONS",  # half of an add-on would still work, which is worse than none
        "ASYNCIO_EVENT_LOOP",
        "BOT_NAME",
        "COMMANDS_MODULE",
        "DNSCACHE_ENABLED",
        "DNSCACHE_SIZE",
        "DNS_RESOLVER",
        "DNS_TIMEOUT",
        "EDITOR",
        "FORCE_CRAWLER_PROCESS",
        "LOG_INSTALL_ROOT_HANDLER",
        "LOG_STDOUT",
        "LOG_VERSIONS",
        "NEWSPIDER_MODULE",
        "REACTOR_THREADPOOL_MAXSIZE",
        "SPIDER_CONTRACTS",
        "SPIDER_CONTRACTS_BASE",
        "SPIDER_LOADER_CLASS",
        "SPIDER_LOADER_WARN_ONLY",
        "SPIDER_MODULES",
        "TEMPLATES_DIR",
        "TWISTED_DNS_RESOLVER",
        "TWISTED_REACTOR",
        "TWISTED_REACTOR_ENABLED",
    }
)
_KINDS = {int: "a whole number", float: "a number", bool: "True or False"}
_KNOWN = frozenset(name for name in vars(default_settings) if name.isupper()) | {
    # Those of scrapy-redis that are looked at here.
    "REDIS_DB",
    "REDIS_ENCODING",
    "REDIS_HOST",
    "REDIS_PARAMS",
    "REDIS_PORT",
    "REDIS_START_URLS_AS_SET",
    "REDIS_START_URLS_AS_ZSET",
    "REDIS_START_URLS_KEY",
    "REDIS_URL",
    "SCHEDULER_FLUSH_ON_START",
    "SCHEDULER_IDLE_BEFORE_CLOSE",
}


def apply_settings(topic: Topic, settings: BaseSettings) -> None:
    """Set a topic's settings, for a spider's ``from_crawler``, where Scrapy has not frozen them yet.

    A table is added to the one that is there: what it does not name stays. ``false`` takes a component out.
    """
    for name, value in topic.settings.items():
        settings.set(name, _merged(name, settings.get(name), value), priority="spider")


def check_settings(table: Mapping[str, Any], where: str, problems: Problems) -> None:
    """Note what is wrong with a ``[settings]`` table."""
    for name, value in table.items():
        what = _refusal(name, value)
        if what:
            problems.add(f"{where}: settings.{name}", what)
        else:
            _warn_if_misspelt(f"{where}: settings.", name)


@cache  # A topic is read more than once.
def _warn_if_misspelt(where: str, name: str) -> None:
    """Not refused: components of others bring settings of their own, with names much like Scrapy's."""
    if name not in DEFAULTS and name not in _KNOWN and near(name, _KNOWN):
        logger.warning("%s%s is no setting of Scrapy's%s", where, name, did_you_mean(name, _KNOWN))


def check_ours(settings: BaseSettings, problems: Problems) -> None:
    """Note which settings of ours do not exist or cannot be read, wherever they come from.

    Of others it is only told when the command line has them, and they may be misspelt.
    """
    for name in settings:
        if settings.getpriority(name) == SETTINGS_PRIORITIES["cmdline"] and not name.startswith("FOCUSED_"):
            _warn_if_misspelt("-s ", name)
    for name in filter(lambda name: name.startswith("FOCUSED_"), settings):
        if name not in DEFAULTS:
            problems.add(name, f"unknown setting{did_you_mean(name, DEFAULTS)}")
            continue
        try:
            value = read(settings, name)
        except ValueError:
            kind = _KINDS[type(DEFAULTS[name])]
            problems.add(name, f"{settings.get(name)!r} does not fit: give {kind} (the default is {DEFAULTS[name]!r})")
        else:
            what = misfit(name, value)
            if what:
                problems.add(name, what)
            if name == "FOCUSED_STOP_DRY" and value:
                read_dry(name, value, problems)


def _refusal(name: str, value: object) -> str:
    if name in READ_BEFORE_THE_SPIDER:
        return f"Scrapy reads this before it reads topics; give it on the command line (-s {name}=…) or in settings.py"
    if name.upper().startswith("FOCUSED_"):
        return _misfit(name, value)
    if name.isupper():
        return _scrapys_misfit(name, value)
    return f"names of settings are in upper case{did_you_mean(name, _KNOWN | DEFAULTS.keys())}"


def _scrapys_misfit(name: str, value: object) -> str:
    """Why a value cannot be that of one of Scrapy's numbers."""
    default = getattr(default_settings, name, None)
    if type(default) not in {int, float} or isinstance(value, int | float):
        return ""
    return f"{value!r} does not fit: give {_KINDS[type(default)]} (the default is {default!r})"


def _misfit(name: str, value: object) -> str:
    """Why a value does not fit one of our own settings."""
    if name not in DEFAULTS:
        return f"unknown setting{did_you_mean(name, DEFAULTS)}"
    try:
        return misfit(name, msgspec.convert(value, type(DEFAULTS[name])))
    except msgspec.ValidationError as error:
        return f"{value!r} does not fit, the default is {DEFAULTS[name]!r} ({error})"


def _merged(name: str, there: Any, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if f"{name}_BASE" in _KNOWN:
        # TOML has no word for nothing, and nothing is how Scrapy switches a component off.
        value = {key: None if entry is False else entry for key, entry in value.items()}
    return {**there, **value} if isinstance(there, Mapping) else value
