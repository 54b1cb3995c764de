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

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings  # noqa: TID251  (they are all it uses)

from focused.defaults import DEFAULTS, RENAMED, SETTINGS, read
from focused.problems import Problems, did_you_mean, near
from focused.registry import names
from focused.schema import AMOUNT, POSITIVE
from focused.topics.library import TRUST

if TYPE_CHECKING:
    from focused.topics.topic import Topic

logger = logging.getLogger(__name__)

# LOG_FILE, LOG_LEVEL and their kind are not here: Scrapy opens the log again once the spider has been made. Half of
# what is in ADDONS would still work, which is worse than nothing.
_READ_BEFORE = """
    ADDONS ASYNCIO_EVENT_LOOP BOT_NAME COMMANDS_MODULE DNSCACHE_ENABLED DNSCACHE_SIZE DNS_RESOLVER DNS_TIMEOUT
    EDITOR FORCE_CRAWLER_PROCESS LOG_INSTALL_ROOT_HANDLER LOG_STDOUT LOG_VERSIONS NEWSPIDER_MODULE
    REACTOR_THREADPOOL_MAXSIZE SPIDER_CONTRACTS SPIDER_CONTRACTS_BASE SPIDER_LOADER_CLASS
    SPIDER_LOADER_WARN_ONLY SPIDER_MODULES TEMPLATES_DIR TWISTED_DNS_RESOLVER TWISTED_REACTOR
    TWISTED_REACTOR_ENABLED
"""
READ_BEFORE_THE_SPIDER = frozenset(_READ_BEFORE.split())
# Of Scrapy's settings: fractions whose defaults are whole, and numbers with which a crawl would never begin, or end.
SCRAPYS = {
    "CONCURRENT_ITEMS": POSITIVE,
    "CONCURRENT_REQUESTS": POSITIVE,
    "CONCURRENT_REQUESTS_PER_DOMAIN": POSITIVE,
    "DNS_TIMEOUT": AMOUNT,
    "DOWNLOAD_DELAY": AMOUNT,
    "DOWNLOAD_TIMEOUT": AMOUNT,
}
HARMLESS = frozenset(
    {"FOCUSED_LATE_LESSONS", "FOCUSED_OUTPUT_RELEVANT", "FOCUSED_PATIENCE", "FOCUSED_SAVE_EVERY", "FOCUSED_TRAIN_EVERY"}
)
"""What a topic file that is not trusted may set."""
_READERS = {
    bool: (BaseSettings.getbool, "True or False"),
    int: (BaseSettings.getint, "a whole number"),
    float: (BaseSettings.getfloat, "a number"),
}
_OF_SCRAPY_REDIS = """
    REDIS_DB REDIS_ENCODING REDIS_HOST REDIS_PARAMS REDIS_PORT REDIS_START_URLS_AS_SET REDIS_START_URLS_AS_ZSET
    REDIS_START_URLS_KEY REDIS_URL SCHEDULER_FLUSH_ON_START SCHEDULER_IDLE_BEFORE_CLOSE
"""
_KNOWN = {name for name in vars(default_settings) if name.isupper()} | set(_OF_SCRAPY_REDIS.split())


def apply_settings(topic: Topic, settings: BaseSettings) -> None:
    """Set a topic's settings, for a spider's ``from_crawler``, where Scrapy has not frozen them yet.

    A table is added to the one that is there: what it does not name stays. ``false`` takes a component out. The
    topic's hosts are added to those that a crawl may go to anyway.
    """
    for name, value in topic.settings.items():
        settings.set(name, _merged(name, settings.get(name), value), priority="spider")
    if topic.allowed_hosts:
        there = read(settings, "FOCUSED_SCOPE_ALLOWED_HOSTS")
        more = [host for host in topic.allowed_hosts if there and host not in there]
        if more and not topic.is_trusted:
            raise ValueError(
                f"{topic.file}: allowed_hosts: {', '.join(more)}: a topic file that is not trusted cannot add to "
                f"FOCUSED_SCOPE_ALLOWED_HOSTS: leave it out, or {TRUST}"
            )
        hosts = [*there, *topic.allowed_hosts]
        settings.set("FOCUSED_SCOPE_ALLOWED_HOSTS", hosts, priority="cmdline")


def check_untrusted(table: Mapping[str, Any], label: str, problems: Problems) -> None:
    """Add what a topic file of a stranger must not set: what may run code, reach further, or lift a limit."""
    settings = table.get("settings")
    for name in settings if isinstance(settings, dict) else ():
        if name not in HARMLESS:
            problems.add(
                f"{label}: settings.{name}",
                f"not allowed in a topic file that is not trusted: leave it out, give it with -s {name}=…, or {TRUST}",
            )
    for part in ("critic", "prioritizer"):
        chosen = table.get(part)
        name = chosen.get("name", "") if isinstance(chosen, dict) else ""
        if isinstance(name, str) and name and name not in names(part):
            problems.add(
                f"{label}: {part}.name",
                f"{name!r} is not allowed in a topic file that is not trusted: give a short name, or {TRUST}",
            )


def check_topic_settings(table: Mapping[str, Any], label: str, problems: Problems) -> None:
    """Add what is wrong with a ``[settings]`` table; ``label`` is what messages call it."""
    for name in table:
        where = f"{label}.{name}"
        if name in READ_BEFORE_THE_SPIDER:
            problems.add(where, f"Scrapy reads this before it reads topics: give it with -s {name}=… or in settings.py")
        elif name.upper() != name:
            problems.add(where, f"names of settings are in upper case{did_you_mean(name, _KNOWN | DEFAULTS.keys())}")
        else:
            _check(name, table, where, problems)
            _warn_if_misspelt(f"{label}.", name)


def check_settings(settings: BaseSettings, problems: Problems) -> None:
    """Add which settings, ours and Scrapy's, do not exist or cannot be read, wherever they come from.

    Of others only those on the command line are looked at, whether they may be misspelt.
    """
    for name in settings:
        _check(name, settings, name, problems)
        if settings.getpriority(name) == SETTINGS_PRIORITIES["cmdline"]:
            _warn_if_misspelt("-s ", name)


def _check(name: str, settings: Mapping[str, Any] | BaseSettings, where: str, problems: Problems) -> None:
    known = SETTINGS.get(name) or SCRAPYS.get(name)
    if known is not None:
        known.convert(settings.get(name), where, problems)
    elif name in RENAMED:
        problems.add(where, f"is now called {RENAMED[name]}")
    elif name.startswith("FOCUSED_"):
        problems.add(where, f"unknown setting{did_you_mean(name, DEFAULTS)}")
    else:
        # Can Scrapy read a value of its own as the number, or the switch, that its default is?
        kind = type(getattr(default_settings, name, None))
        if kind in _READERS and (value := settings.get(name)) is not None:
            reader, words = _READERS[kind]
            try:
                reader(BaseSettings({name: value}), name)
            except (ValueError, TypeError):
                problems.add(where, f"{value!r} is not {words}")


@cache  # A topic is read more than once.
def _warn_if_misspelt(where: str, name: str) -> None:
    """Not refused: components of others bring settings of their own, with names much like Scrapy's."""
    if not name.startswith("FOCUSED_") and name not in _KNOWN and near(name, _KNOWN):
        logger.warning("%s%s is not a setting of Scrapy's%s", where, name, did_you_mean(name, _KNOWN))


def _merged(name: str, there: Any, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if f"{name}_BASE" in _KNOWN:
        # TOML has no word for nothing, and nothing is how Scrapy switches a component off.
        value = {key: None if entry is False else entry for key, entry in value.items()}
    return {**there, **value} if isinstance(there, Mapping) else value
