"""Where a crawl of several workers is: its Redis server, its name there, and the list that seeds are pushed to.

The connection is made by scrapy-redis from its own settings: REDIS_URL, REDIS_HOST, REDIS_PARAMS and so on.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from redis import Redis
from redis.exceptions import AuthenticationError, BusyLoadingError, RedisError, ResponseError
from scrapy.settings import BaseSettings
from scrapy_redis.connection import get_redis_from_settings
from scrapy_redis.defaults import START_URLS_KEY

from focused.defaults import read
from focused.frontier.store import JobRefused, StoreAway
from focused.redis.server import is_crawl_name
from focused.report.text import short
from focused.topics.identity import slug
from focused.topics.topic import Topic

# A call blocks the crawl, and a signal is heeded only between two attempts.
_TIMEOUT = 5.0


def crawl_name(topic: Topic, settings: BaseSettings) -> str:
    """The name of the crawl in Redis; workers with the same one share it."""
    name: str = read(settings, "FOCUSED_CRAWL") or slug(topic)
    if not is_crawl_name(name):
        raise JobRefused(f"FOCUSED_CRAWL={short(name, 100)!r}: give letters, digits, '.', '-' and '_', at most 100")
    return name


def start_urls_key(spider: str, crawl: str, settings: BaseSettings) -> str:
    """The key to which seeds are pushed while the crawl runs."""
    pattern = settings.get("REDIS_START_URLS_KEY") or START_URLS_KEY
    try:
        key: str = pattern % {"name": spider, "crawl": crawl}
    except (KeyError, ValueError, TypeError) as error:
        raise JobRefused(
            f"REDIS_START_URLS_KEY={pattern!r} cannot be filled in: beside plain text it may hold %(name)s, the "
            f"spider's name, and %(crawl)s, the crawl's"
        ) from error
    return key


def connect(settings: BaseSettings, *, key: str = "REDIS_URL=") -> Redis:
    """A client of the server that the settings name; JobRefused if they are wrong, StoreAway if nobody answers.

    ``key`` is what stands before the address where the user gives it.
    """
    where = server_name(settings)
    own = _for_us(settings)
    try:
        client: Redis = get_redis_from_settings(own)
        client.ping()
    except (RedisError, OSError) as error:
        raise _unreached(where, error, key) from error
    except (ValueError, TypeError, ImportError, AttributeError) as error:
        raise JobRefused(
            f"Redis cannot be reached as the settings say ({where}: {error}): give "
            f"{key}redis://HOST:PORT/DB, and REDIS_PARAMS as redis-py has them"
        ) from error
    return client


def _unreached(where: str, error: Exception, key: str) -> JobRefused:
    words = str(error)
    if isinstance(error, AuthenticationError) or "NOAUTH" in words or words.startswith("HELLO must be called"):
        return JobRefused(
            f"Redis at {where} wants another name or password ({words}): give "
            f'{key}redis://:PASSWORD@HOST:PORT/DB, or REDIS_PARAMS={{"password": "…"}} in the settings'
        )
    if isinstance(error, BusyLoadingError):
        return StoreAway(f"Redis at {where} has just started and is loading its data: try again in a while")
    if isinstance(error, ResponseError):
        way_out = f": give {key}redis://HOST:PORT/DB with a number from 0 on, mostly up to 15 (its setting databases)"
        return JobRefused(f"Redis at {where} refuses: {words}{way_out if 'DB index' in words else ''}")
    way_out = f"start it, or give the right address ({key}redis://HOST:PORT/DB)"
    return StoreAway(f"Redis does not answer at {where} ({words}): {way_out}")


def server_name(settings: BaseSettings) -> str:
    """The server's address as it may be shown: without a password, and without options, which may hold one."""
    url = settings.get("REDIS_URL")
    if not url:
        host, port = settings.get("REDIS_HOST") or "localhost", settings.get("REDIS_PORT") or 6379
        return f"redis://{host}:{port}/{settings.get('REDIS_DB') or 0}"
    if "://" not in str(url):
        return str(url).rpartition("@")[2].partition("?")[0]
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    except ValueError:
        return str(url).rpartition("@")[2]


def _for_us(settings: BaseSettings) -> BaseSettings:
    """The settings with short time-outs, unless the user has others; answers come as bytes."""
    try:
        own = settings.getdict("REDIS_PARAMS")
    except (ValueError, TypeError) as error:
        # Its value is not shown: it may hold a password.
        raise JobRefused(
            f"REDIS_PARAMS cannot be read as a JSON object ({error}): "
            """give one such as REDIS_PARAMS='{"socket_timeout": 10}', or leave it out"""
        ) from error
    params = {"socket_timeout": _TIMEOUT, "socket_connect_timeout": _TIMEOUT, **own, "decode_responses": False}
    return BaseSettings({**settings.copy_to_dict(), "REDIS_PARAMS": params, "REDIS_DECODE_RESPONSES": False})
