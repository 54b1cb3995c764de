"""Calls of the frontier's script on a Redis server that may be away for a while.

A call is numbered, and the server keeps its answer: one that was carried out although its answer was lost is not
carried out a second time when it is sent again. So whatever fails on the way is simply tried again, until patience is
over.
"""

from __future__ import annotations

import logging
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, fields
from functools import partial
from hashlib import sha1
from importlib.resources import files
from math import isfinite
from time import monotonic, sleep
from typing import Any

import msgpack
from redis import Redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.exceptions import (
    ClusterDownError,
    MasterDownError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import TimeoutError as NoAnswer
from redis.retry import Retry

from focused.frontier.store import JobRefused, Standing, StoreBroken
from focused.report.text import short

logger = logging.getLogger(__name__)

_SCRIPTS = sorted((files("focused.redis") / "lua").iterdir(), key=lambda file: file.name)
_LUA = "\n".join(file.read_text("utf-8") for file in _SCRIPTS if file.name.endswith(".lua"))
# Of another version of this code on the same server nothing is shared but the data.
_NAME = f"focused_{sha1(_LUA.encode(), usedforsecurity=False).hexdigest()[:16]}"
_LIBRARY = f"#!lua name={_NAME}\n{_LUA}".replace("@NAME@", _NAME)
# What a server says that is starting, full, or cut off from the others: it may pass. Some come as errors of their own.
_PASSING = ("BUSY", "MISCONF", "NOREPLICAS")
_PASSING_ERRORS = (OutOfMemoryError, ReadOnlyError, ClusterDownError, MasterDownError, TryAgainError)
_LOST, _DAMAGED = "LOST", "DAMAGED"
UNREADABLE = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, MemoryError),
    *(EOFError, NotImplementedError, struct.error),
)
"""What is raised by reading bytes, numbers and JSON that somebody else has written."""
# Beyond this, doubles have gaps.
_MOST = 2.0**53
_BEFORE, _AFTER = "{focused:", "}:"
_NAMED = re.compile(r"[A-Za-z0-9._-]{1,100}")
# So much of what Redis says, or holds, is shown.
_SHOWN = 300
# Somebody may flush the functions of the server again and again.
_TIMES_LOADED = 10
# Every worker calls about once a second.
_LATELY = 5.0
# Seconds to look through all keys of a server for those of a crawl.
_LONGEST_SCAN = 300
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.5
_TRIED_AGAIN = (NoConnection, NoAnswer, OSError, ResponseError)


class CallRefused(StoreBroken):
    """The script failed, and would fail again: what this process told it cannot be right."""


class CrawlDamaged(CallRefused):
    """What Redis holds of the crawl is not what workers have written: somebody has deleted or changed it."""


@contextmanager
def whole(crawl: str, what: str) -> Iterator[None]:
    """CrawlDamaged instead of whatever is raised by reading ``what`` Redis holds of a crawl."""
    try:
        yield
    except UNREADABLE as error:
        logger.debug("%s of %r cannot be read", what, crawl, exc_info=True)
        raise damaged(crawl, f"{what} cannot be read ({type(error).__name__}: {error})") from error


def damaged(crawl: str, how: str) -> CrawlDamaged:
    """What to say of a crawl that is damaged, and what can be done."""
    return CrawlDamaged(
        f"the crawl {crawl!r} in Redis is damaged: {short(how, _SHOWN)}. Restore it from a copy, or begin anew "
        f"(SCHEDULER_FLUSH_ON_START=True)"
    )


@dataclass(frozen=True, slots=True)
class SharedStanding(Standing):
    """How a shared crawl stands, as the script tells it.

    ``model`` counts the models published, ``last_lesson`` is the number of the lessons that came last, ``revised``
    counts the changes of notes, ``dropped`` the links there was no room for, ``taken_back`` the leases of dead workers,
    ``refused`` what was said under leases that were lost.

    ``critic`` is the newest version of a critic that learns on the job, from ``learned_at`` pages; ``judged`` is the
    version by which all pages before it were judged anew, and ``outdated`` counts those that came in since then with
    older verdicts. ``answers`` counts what somebody said of pages, and ``learned_answers`` how much of it that version
    knows.
    """

    model: int = 0
    last_lesson: int = 0
    revised: int = 0
    critic: int = 0
    learned_at: int = 0
    judged: int = 0
    outdated: int = 0
    answers: int = 0
    learned_answers: int = 0
    dropped: int = 0
    taken_back: int = 0
    refused: int = 0

    @property
    def has_outdated(self) -> bool:
        """Are there pages with verdicts of a critic that is not the newest?"""
        return self.judged < self.critic or self.outdated > 0


class Server:
    """One connection's calls for one crawl; ``options`` are the script's. Redis is waited for ``patience`` seconds.

    ``is_ending`` is asked while waiting: True ends it at once. ``standing`` is what the script told last.
    ``tell_of_wait`` hears how many hosts had to wait for a domain or an address.
    """

    def __init__(
        self,
        client: Redis,
        crawl: str,
        worker: str,
        options: Mapping[str, Any],
        *,
        patience: float = 0.0,
        is_ending: Callable[[], bool] = lambda: False,
    ) -> None:
        self.client = client
        self.crawl = crawl
        self.prefix = prefix_of(crawl)
        self.worker = worker
        self.options = options
        self.standing = SharedStanding()
        self.tell_of_wait: Callable[[str, int], None] = lambda _, __: None
        self._patience = patience
        self.is_ending = is_ending
        self._number = 0
        self._is_away = False
        # Whether to try again is decided here.
        client.set_retry(Retry(NoBackoff(), 0))
        self._retry = Retry(ExponentialBackoff(_LONGEST_PAUSE, _FIRST_PAUSE), -1, _TRIED_AGAIN)

    def beside(self, client: Redis) -> Server:
        """The same worker's calls over another connection, for a thread that does not wait when Redis is away."""
        return Server(client, self.crawl, self.worker, self.options, is_ending=self.is_ending)

    def ask(self, name: str, *arguments: Any) -> Any:
        """The answer of one operation that may be carried out twice."""
        return self.call([operation(name, *arguments)], numbered=False)[0]

    def call(self, operations: Sequence[bytes], *, numbered: bool = True) -> list[Any]:
        """Carry out some operations in one script; their answers.

        Operations without a number may be carried out twice.
        """
        self._number += numbered
        number = self._number if numbered else 0
        options = msgpack.packb(self.options)
        packed = self.read(partial(self.run, "", f"{self.prefix}meta", self.worker, number, options, *operations))
        with self.whole("an answer"):
            answers: list[Any] = msgpack.unpackb(packed, raw=True, strict_map_key=False)
            standing = answers.pop()
            waited = {bytes(name).decode(): int(times) for name, times in dict(standing.pop(b"waited") or {}).items()}
            self.standing = _to_standing(standing)
            if len(answers) != len(operations):
                raise ValueError(f"{len(answers)} answers to {len(operations)} operations")
        for name, times in waited.items():
            self.tell_of_wait(name, times)
        return answers

    def whole(self, what: str) -> AbstractContextManager[None]:
        """CrawlDamaged instead of whatever is raised by reading ``what`` Redis holds of this crawl."""
        return whole(self.crawl, what)

    def read(self, what: Callable[[], Any]) -> Any:
        """What a call to Redis gives; CallRefused if Redis has it and cannot give it."""
        try:
            return self.wait_for(what)
        except ResponseError as error:
            raise CallRefused(
                f"Redis could not carry out a call for the crawl {self.crawl!r} ({short(error, _SHOWN)}); what was "
                f"acknowledged is safe. If keys of the crawl were changed, begin anew (SCHEDULER_FLUSH_ON_START=True)"
            ) from error

    def run(self, function: str, key: str, *arguments: Any) -> Any:
        """What a function of the library returns; '' is the one that carries out operations."""
        name = f"{_NAME}_{function}" if function else _NAME
        return self.wait_for(lambda: self._run(name, key, *arguments))

    def wait_for(self, what: Callable[[], Any]) -> Any:
        """What a call to Redis gives; while there is none to be had, wait and try again."""
        began = monotonic()
        if self._is_away and self.is_ending():
            # Each attempt may take as long as the socket's time-out, and who ends has several calls to make.
            raise StoreBroken("Redis was away when the crawl was ended; nothing acknowledged is lost")
        found = self._retry.call_with_retry(what, lambda error: self._failed(error, began))
        if self._is_away:
            self._is_away = False
            logger.warning("Redis is back after %.0f seconds", monotonic() - began)
        return found

    def _failed(self, error: Exception, began: float) -> None:
        """Raise what need not be tried again."""
        if str(error).startswith(_LOST):
            raise StoreBroken(
                f"{self.prefix[:-1]} is no longer in Redis: it was deleted, or Redis restarted without what it had; "
                f"with appendonly it keeps a crawl"
            ) from error
        if str(error).startswith(_DAMAGED):
            raise damaged(self.crawl, str(error).removeprefix(_DAMAGED).strip()) from error
        may_pass = isinstance(error, _PASSING_ERRORS) or str(error).startswith(_PASSING)
        if isinstance(error, ResponseError) and not may_pass:
            raise error
        self._check_patience(began, error)
        if not self._is_away:
            self._is_away = True
            logger.warning("Redis is away (%s): waiting for up to %.0f seconds", error, self._patience)

    def _run(self, name: str, key: str, *arguments: Any) -> Any:
        for _ in range(_TIMES_LOADED):
            try:
                return self.client.fcall(name, 1, key, *arguments)
            except ResponseError as error:
                if "Function not found" not in str(error):
                    raise
            self.client.function_load(_LIBRARY, replace=True)
        return self.client.fcall(name, 1, key, *arguments)

    def _check_patience(self, began: float, error: Exception) -> None:
        if self.is_ending():
            self._is_away = True
            raise StoreBroken(f"the crawl was ended while Redis was away ({error}); nothing acknowledged is lost")
        if monotonic() - began >= self._patience:
            raise StoreBroken(
                f"Redis did not come back within {self._patience:.0f} seconds ({error}); what was acknowledged is as "
                f"safe as Redis keeps it: start the same command again when it is there"
            )


def operation(name: str, *arguments: Any) -> bytes:
    """An operation of the script, as bytes. Texts and bytes are the same there."""
    packed: bytes = msgpack.packb([name, *arguments], use_bin_type=False, unicode_errors="surrogatepass")
    return packed


def _to_standing(numbers: Mapping[bytes, Any]) -> SharedStanding:
    standing = SharedStanding(**{what.decode(): number for what, number in numbers.items()})
    for what in fields(standing):
        number = getattr(standing, what.name)
        # A sum of relevances that change may be a hair below nothing.
        if not isfinite(number) or not -0.5 < number < _MOST:
            raise ValueError(f"{what.name} is {number!r}")
    return standing


def is_crawl_name(name: str) -> bool:
    """May a crawl be called so? Names become keys, and paths of reports, and are shown."""
    return _NAMED.fullmatch(name) is not None


def prefix_of(crawl: str) -> str:
    """How all keys of a crawl begin: what stands in braces puts them into one slot of a cluster."""
    if not is_crawl_name(crawl):
        raise JobRefused(
            f"{short(crawl, 100)!r} is not the name of a crawl: it consists of letters, digits, '.', '-' and '_', at "
            f"most 100"
        )
    return f"{_BEFORE}{crawl}{_AFTER}"


def crawls_on(client: Redis) -> Iterator[str]:
    """The names of all crawls on a server."""
    for key in client.scan_iter(match=f"{_BEFORE}*{_AFTER}meta", count=1_000):
        name = key.decode("utf-8", "replace").removeprefix(_BEFORE).removesuffix(f"{_AFTER}meta")
        # Somebody else's key: no crawl can have this name.
        if is_crawl_name(name):
            yield name


@contextmanager
def anew(client: Redis, crawl: str, is_ending: Callable[[], bool]) -> Iterator[bool]:
    """Who begins anew is alone until it is at work: False for all others, once somebody is.

    The lock is none of the crawl's keys, which are forgotten, and goes by itself should its holder die.
    """
    lock = f"{prefix_of(crawl)[:-1]}/anew"
    while not client.set(lock, 1, nx=True, ex=_LONGEST_SCAN):
        if is_at_work(client, crawl) or is_ending():
            yield False
            return
        sleep(_FIRST_PAUSE)
    try:
        is_first = not is_at_work(client, crawl)
        if is_first:
            for _ in forget(client, crawl):
                client.expire(lock, _LONGEST_SCAN)
        yield is_first
    finally:
        client.delete(lock)


def forget(client: Redis, crawl: str) -> Iterator[bytes]:
    """Nothing of a crawl is left when all of these keys have been gone through."""
    for key in client.scan_iter(match=f"{prefix_of(crawl)}*".replace("[", "\\["), count=1_000):
        client.unlink(key)
        yield key


def is_at_work(client: Redis, crawl: str) -> bool:
    """Has anybody called lately who did not leave?"""
    prefix = prefix_of(crawl)
    try:
        heard, (seconds, _) = client.hget(f"{prefix}meta", "heard"), client.time()
        is_fresh = heard is not None and seconds - float(heard) < _LATELY
        return is_fresh and client.zcard(f"{prefix}workers") > 0
    except (ResponseError, ValueError):
        # What lies there is not what workers write.
        return False


def whose(client: Redis, crawl: str, what: str) -> str | None:
    """What a crawl was made with: its topic, its prioritizer…; None if there is none."""
    kept = client.hget(f"{prefix_of(crawl)}meta", f"of:{what}")
    return kept.decode("utf-8", "replace") if isinstance(kept, bytes) else None
