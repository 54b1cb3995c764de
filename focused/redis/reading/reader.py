"""Reads a crawl in Redis as `focused.report.reader` says; the workers take no notice.

What it lacks beside a job folder: the starts of single workers, the address of the page that a duplicate repeats, and
through which redirect a link led to a page.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

import numpy as np
from redis import Redis
from redis.exceptions import RedisError
from scrapy.settings import BaseSettings

from focused.frontier.inbox import LETTERS
from focused.frontier.steering import STEERING, Steering
from focused.frontier.store import SEED_RANK, Answer, JobRefused, Outcome, State
from focused.pages.evidence import Evidence
from focused.pages.urls import url_to_key
from focused.prioritizers.base import Prioritizer
from focused.redis.inbox import RedisInbox
from focused.redis.reading.figures import read_redis_status
from focused.redis.reading.status import RedisStatus, StartList
from focused.redis.records import HEAD, Packing, bytes_to_answer
from focused.redis.server import UNREADABLE, crawls_on, is_at_work, prefix_of
from focused.redis.store import FORMAT
from focused.redis.workers.connection import connect, server_name, start_urls_key
from focused.report.marks import told_to
from focused.report.now import MOST_HOSTS as MOST_ASLEEP
from focused.report.now import HostLeftAlone, Now
from focused.report.reader import CrawlReader, LinkLine, PageLine, PageTable, WaitingLinks
from focused.report.status import MOST_HOSTS
from focused.report.text import short
from focused.report.words import WordTable
from focused.scheduling.starts import ABOUT, parse_about
from focused.visits.training import MODEL

F = TypeVar("F", bound=Callable[..., Any])

# So much of what is wrong is shown.
_SHOWN = 300
# Others push seeds to a key that has the name of the spider in it.
_SPIDER = "focused"
# As the store's script writes it, before the class and the address.
_PAGE = np.dtype(
    [
        ("relevance", "<f8"),
        ("outcome", "u1"),
        ("order", "<u4"),
        ("host", "<u4"),
        ("span", "<u4"),
        ("version", "<u2"),
        ("class", "u1"),
    ]
)
_LONGEST_CLASS = 255
_RUN = np.dtype([("rank", "<f4"), ("link", "<u4")])
_HEADS = (files("focused.redis.reading") / "heads.lua").read_text("utf-8")
_AT_ONCE = 1_000
# Of pages that were begun, far more than one in so many is acknowledged.
_ORDERS_PER_PAGE = 10
_LONGEST_DETAIL = 255
_SUSPECT = 4
# What is shorter may be the usual delay of a host.
_SHORTEST_SLEEP = 10.0


def open_readers(url: str, crawl: str | None, settings: BaseSettings) -> list[CrawlReader]:
    """The readers of all crawls on a server, or of one; REDIS_PARAMS holds as for a crawl.

    JobRefused if the server does not answer, or there is no such crawl.
    """
    settings = settings.copy()
    settings.set("REDIS_URL", url, "cmdline")
    place = server_name(settings)
    if not _is_address(url):
        raise JobRefused(f"{place!r} is not the address of a Redis server: give redis://HOST:PORT/DB")
    if crawl is not None:
        # Checked before it is looked for.
        prefix_of(crawl)
    client = connect(settings, key="")
    with _reading(place):
        found = sorted(set(crawls_on(client)))
    if crawl is not None and crawl not in found:
        raise JobRefused(f"there is no crawl {crawl!r} at {place} (known: {', '.join(map(repr, found)) or 'none'})")
    if not found:
        raise JobRefused(f"there is no crawl at {place}")
    return [RedisReader(client, name, place, settings) for name in found if crawl in {None, name}]


@contextmanager
def _reading(place: str) -> Iterator[None]:
    """JobRefused instead of whatever is raised by asking Redis, and by reading what somebody has written there."""
    try:
        yield
    except JobRefused:
        raise
    except (RedisError, OSError) as error:
        raise JobRefused(f"Redis at {place} cannot be read ({short(error, _SHOWN)})") from error
    except UNREADABLE as error:
        how = short(f"{type(error).__name__}: {error}", _SHOWN)
        raise JobRefused(f"what Redis at {place} holds of this crawl is damaged ({how})") from error


def _guarded(method: F) -> F:
    """A method that reads; JobRefused if what it reads cannot be read."""

    @wraps(method)
    def guarded(self: RedisReader, *args: Any, **options: Any) -> Any:
        with _reading(self.place):
            return method(self, *args, **options)

    return cast(F, guarded)


class RedisReader(CrawlReader):
    """One crawl on a server that is called ``place``."""

    def __init__(self, client: Redis, crawl: str, place: str, settings: BaseSettings) -> None:
        self._client = client
        self._settings = settings
        self._prefix = prefix_of(crawl)
        self.name, self.place = crawl, place
        self.report_path = Path(f"{crawl}.html")
        self.inbox = RedisInbox(client, crawl)

    def close(self) -> None:
        self._client.close()

    def rest(self) -> None:
        """Its connections cost nothing, and are used again."""

    # --- how it was made, and its status ----------------------------------------------------------------------

    @_guarded
    def status(self, most_hosts: int = MOST_HOSTS) -> RedisStatus:
        self._check_format()
        told, seeds = told_to(self), self._start_urls()
        status = read_redis_status(self._client, self.name, self.place, seeds, most_hosts, told=told)
        if status is None:
            raise JobRefused(f"there is no crawl {self.name!r} at {self.place} any more")
        return status

    def _start_urls(self) -> StartList:
        key = start_urls_key(_SPIDER, self.name, self._settings)
        count = {b"list": self._client.llen, b"set": self._client.scard, b"zset": self._client.zcard}
        kind = self._client.type(key)
        return StartList(key, count[kind](key) if kind in count else 0)

    @_guarded
    def is_running(self) -> bool:
        self._check_format()
        return is_at_work(self._client, self.name)

    @_guarded
    def now(self) -> Now:
        """Hosts that sleep for longer than a delay is; warnings are in the logs of its workers."""
        clock = float(self._ask("hget", "meta", "clock") or 0.0)
        asleep = self._ask("zrevrange", "asleep", 0, MOST_ASLEEP - 1, withscores=True)
        sleepers = [(host, until - clock) for host, until in asleep if _SHORTEST_SLEEP < until - clock < float("inf")]
        names = self._ask("hmget", "names", [host for host, _ in sleepers]) if sleepers else []
        return Now(
            hosts=[
                HostLeftAlone(
                    short((name or b"").decode("utf-8", "replace"), 300), round(seconds), "its turn comes later"
                )
                for name, (_, seconds) in zip(names, sleepers, strict=True)
            ]
        )

    @_guarded
    def inbox_place(self) -> int:
        return int(self._ask("hget", "notes", LETTERS) or 0)

    @_guarded
    def steering(self) -> Steering:
        return Steering.of(self._ask("hget", "notes", STEERING))

    @_guarded
    def about(self) -> dict[str, Any]:
        return parse_about(self._ask("hget", "notes", ABOUT))

    # --- pages -------------------------------------------------------------------------------------------------

    @_guarded
    def page_count(self) -> int:
        return int(float(self._ask("hget", "meta", "pages") or 0))

    @_guarded
    def page_table(self) -> PageTable:
        self._check_format()
        links, heads, classes = self._judged()
        names = {int.from_bytes(number, "big"): name.decode("utf-8", "replace") for number, name in self._scan("names")}
        return PageTable(
            link=links,
            relevance=heads["relevance"].astype(np.float64),
            is_new=heads["outcome"] == Outcome.PAGE,
            host=[names.get(number, "") for number in heads["host"].tolist()],
            best_class=classes,
        )

    def _judged(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], list[str]]:
        """All pages in order: the numbers of their links, what is said of each before its class, and the class."""
        entries = dict(self._cut("pages", _PAGE.itemsize + _LONGEST_CLASS))
        heads = np.frombuffer(b"".join(raw[: _PAGE.itemsize] for raw in entries.values()), _PAGE)
        links = np.frombuffer(b"".join(entries), ">u4").astype(np.int64)
        classes = [_class_of(raw) for raw in entries.values()]
        rows = np.argsort(heads["order"])
        return links[rows], heads[rows], [classes[row] for row in rows.tolist()]

    @_guarded
    def pages(self, links: Sequence[int]) -> list[PageLine]:
        self._check_format()
        lines = []
        for begin in range(0, len(links), _AT_ONCE):
            some = links[begin : begin + _AT_ONCE]
            found = zip(some, self._ask("hmget", "pages", [_bin(link) for link in some]), strict=True)
            heads = [(link, raw, np.frombuffer(raw, _PAGE, 1)[0]) for link, raw in found if raw]
            if not heads:
                continue
            items = self._ask("hmget", "items", [str(head["order"]) for _, _, head in heads])
            said = self._ask("hmget", "said", [_bin(link) for link, _, _ in heads])
            for (link, raw, head), item, answer in zip(heads, items, said, strict=True):
                said_of_it = bytes_to_answer(link, answer) if answer else None
                lines.append(_page(link, raw, head, json.loads(item or "{}"), said_of_it))
        return lines

    @_guarded
    def pages_after(self, order: int) -> list[PageLine]:
        """The latest by their items, whose addresses lead to their links: all pages are one long scan."""
        self._check_format()
        if not order:
            links, heads, _ = self._judged()
            return self.pages(links[heads["outcome"] == Outcome.PAGE].tolist())
        last, lines = self._last_order(), []
        for first in range(order + 1, last + 1, _AT_ONCE):
            orders = [str(number) for number in range(first, min(first + _AT_ONCE, last + 1))]
            urls = [json.loads(item).get("url", "") for item in self._ask("hmget", "items", orders) if item]
            keys = [url_to_key(url).to_bytes(8, "big") for url in urls]
            entries = self._ask("hmget", "ids", keys) if keys else []
            lines += self.pages([int.from_bytes(entry[:4], "big") for entry in entries if entry])
        fresh = [line for line in lines if line.order > order and not line.is_duplicate]
        return sorted(fresh, key=lambda line: line.order)

    @_guarded
    def gists(self, links: Sequence[int]) -> dict[int, bytes]:
        orders = [str(page.order) for page in self.pages(links)]
        kept = self._ask("hmget", "gists", orders) if orders else []
        return {int.from_bytes(one[:4], "big"): one[4:] for one in kept if one}

    def items(self) -> Iterator[dict[str, Any]]:
        with _reading(self.place):
            last, revised = self._last_order(), self._revised()
        for first in range(1, last + 1, _AT_ONCE):
            orders = range(first, first + _AT_ONCE)
            found = zip(orders, self._ask("hmget", "items", [str(order) for order in orders]), strict=True)
            yield from (self._item(order, item) | revised.get(order, {}) for order, item in found if item)

    def _last_order(self) -> int:
        last = int(self._ask("hget", "meta", "order") or 0)
        if last > _ORDERS_PER_PAGE * (self._ask("hlen", "pages") + _AT_ONCE):
            raise ValueError(f"{last:,} pages are too many")
        return last

    def _item(self, order: int, item: bytes) -> dict[str, Any]:
        with _reading(self.place):
            try:
                return dict(json.loads(item))
            except UNREADABLE as error:
                raise ValueError(
                    f"item {order} of {self._prefix}items: {error}; delete it to have the others"
                ) from error

    def _revised(self) -> dict[int, dict[str, Any]]:
        """The fields of items whose pages were judged by a critic that had learned, or by somebody, by their order."""
        said = {int.from_bytes(link, "big") for link in self._ask("hkeys", "said")}
        if not said and not int(self._ask("hget", "meta", "critic") or 0):
            return {}
        links, heads, classes = self._judged()
        columns = (heads[name].tolist() for name in ("order", "relevance", "version"))
        return {
            order: {"relevance": round(relevance, 6)} | ({"class": best_class, "version": version} if version else {})
            for link, order, relevance, version, best_class in zip(links.tolist(), *columns, classes, strict=True)
            if version or link in said
        }

    # --- links -------------------------------------------------------------------------------------------------

    @_guarded
    def link_at(self, *urls: str) -> LinkLine | None:
        self._check_format()
        keys = [url_to_key(url).to_bytes(8, "big") for url in urls]
        entries = self._ask("hmget", "ids", keys) if keys else []
        links = (self.link(int.from_bytes(entry[:4], "big")) for entry in entries if entry)
        return next(filter(None, links), None)

    @_guarded
    def link(self, number: int) -> LinkLine | None:
        ((record, outcome, detail),) = self._records(number)
        if not record:
            return None
        head = np.frombuffer(record, HEAD, 1)[0]
        state = State.DONE if outcome else State.WAITING if head["state"] == _SUSPECT else State(int(head["state"]))
        url = record[HEAD.itemsize : HEAD.itemsize + int(head["length"])]
        return LinkLine(
            number=number,
            url=url.decode("utf-8", "replace"),
            host=(self._ask("hget", "names", _bin(int(head["host"]))) or b"").decode("utf-8", "replace"),
            depth=int(head["depth"]),
            state=state,
            outcome=outcome,
            detail=detail,
            is_seed=bool(head["base"] == SEED_RANK),
            target=int.from_bytes(self._ask("hget", "targets", _bin(number)) or b"", "big"),
        )

    def _records(self, *links: int) -> Iterator[tuple[bytes, Outcome, str]]:
        """The record of each link, and how it ended if it has; b'' if it is not known."""
        keys = [_bin(link) for link in links]
        for record, past in zip(*(self._ask("hmget", key, keys) for key in ("links", "past")), strict=True):
            if record or not past:
                yield record or b"", Outcome.NONE, ""
            else:
                end = 2 + past[1]
                yield past[end:], Outcome(past[0]), past[2:end].decode("utf-8", "replace")

    @_guarded
    def waiting_links(self, prioritizer: Prioritizer) -> WaitingLinks:
        """As Redis has them in order: by the model that scored them last."""
        self._check_format()
        links, heads = self._heads("links", HEAD)
        rank = np.zeros(int(links.max(initial=0)) + 1, np.float32)
        for numbers, ranks in self._ranks():
            known = numbers < len(rank)
            rank[numbers[known]] = ranks[known]
        waits = np.isin(heads["state"], [State.WAITING.value, _SUSPECT])
        # What is scanned while it changes may come twice.
        links, first = np.unique(links[waits], return_index=True)
        heads = heads[waits][first]
        return WaitingLinks(links, heads["host"].astype(np.int64), rank[links] - heads["base"], rank[links])

    def _ranks(self) -> Iterator[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
        """Links and their ranks; a later rank of a link replaces an earlier one, as in 3_hosts.lua."""
        yield _to_ranks(self._ask("zrange", "suspects", 0, -1, withscores=True))
        for host in self._ask("zrange", "crowds", 0, -1):
            number = int.from_bytes(host, "big")
            run = np.frombuffer(self._ask("get", f"run:{number}") or b"", _RUN)
            yield run["link"].astype(np.int64), run["rank"]
            for key in ("old", "order"):
                yield _to_ranks(self._ask("zrange", f"{key}:{number}", 0, -1, withscores=True))

    @_guarded
    def details(self, outcome: Outcome, most: int) -> list[tuple[str, int]]:
        counts: Counter[str] = Counter()
        for _, past in self._cut("past", 2 + _LONGEST_DETAIL):
            if past[0] == outcome and past[1]:
                counts[past[2 : 2 + past[1]].decode("utf-8", "replace")] += 1
        return counts.most_common(most)

    # --- what was learned --------------------------------------------------------------------------------------

    @_guarded
    def learned_state(self) -> tuple[bytes, str] | None:
        version, data = self._ask("hmget", f"model:{MODEL}", ["version", "data"])
        return (data or b"", f"published last (version {int(version):,})") if version else None

    @_guarded
    def words(self) -> WordTable:
        words = dict(self._scan("words"))
        ids = np.frombuffer(b"".join(words), ">u4").astype(np.uint32)
        return WordTable(ids, [word.decode("utf-8", "replace") for word in words.values()], self._packing().bits)

    @_guarded
    def evidence_of(self, *links: int) -> Evidence | None:
        records = [record for record, _, _ in self._records(*links)]
        known = np.flatnonzero(list(map(bool, records)))
        evidence = self._packing().read([records[i] for i in known.tolist()], np.array(links, np.int64)[known]).evidence
        return evidence if len(evidence) else None

    # --- asking ------------------------------------------------------------------------------------------------

    def _check_format(self) -> None:
        """JobRefused if another version has written the crawl; its items and its model can be read all the same."""
        written = (self._ask("hget", "meta", "of:format") or b"").decode("utf-8", "replace")
        if written not in {"", str(FORMAT)}:
            raise JobRefused(
                f"the crawl {self.name!r} at {self.place} was written by another version (format "
                f"{short(written, 20)}, this one reads {FORMAT}): `scrapy export` still writes its items"
            )

    def _packing(self) -> Packing:
        return Packing(int(self._ask("hget", "meta", "of:id bits") or 32))

    def _ask(self, command: str, key: str, *arguments: Any, **options: Any) -> Any:
        with _reading(self.place):
            return getattr(self._client, command)(f"{self._prefix}{key}", *arguments, **options)

    def _scan(self, key: str) -> Iterator[tuple[bytes, bytes]]:
        with _reading(self.place):
            yield from self._client.hscan_iter(f"{self._prefix}{key}", count=_AT_ONCE)

    def _heads(self, key: str, kind: np.dtype[Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """The numbers of links, and the heads of what a hash has of them."""
        entries = list(self._cut(key, kind.itemsize))
        links = np.frombuffer(b"".join(link for link, _ in entries), ">u4").astype(np.int64)
        return links, np.frombuffer(b"".join(head for _, head in entries), kind)

    def _cut(self, key: str, size: int) -> Iterator[tuple[bytes, bytes]]:
        cursor = b"0"
        with _reading(self.place):
            while True:
                cursor, found = self._client.eval_ro(_HEADS, 1, f"{self._prefix}{key}", cursor, _AT_ONCE, size)
                yield from zip(found[::2], found[1::2], strict=True)
                if cursor == b"0":
                    return


def _page(link: int, raw: bytes, head: Any, item: dict[str, Any], answer: Answer | None) -> PageLine:
    score = item.get("score")
    return PageLine(
        link=link,
        order=int(head["order"]),
        url=raw[_PAGE.itemsize + int(head["class"]) :].decode("utf-8", "replace"),
        title=item.get("title") or "",
        relevance=float(head["relevance"]),
        best_class=_class_of(raw),
        is_duplicate=bool(head["outcome"] == Outcome.DUPLICATE),
        same_as="",
        score=None if score is None else float(score),
        said=answer.said if answer else "",
        who=answer.who if answer else "",
    )


def _class_of(page: bytes) -> str:
    head = np.frombuffer(page, _PAGE, 1)[0]
    return page[_PAGE.itemsize : _PAGE.itemsize + int(head["class"])].decode("utf-8", "replace")


def _to_ranks(entries: Sequence[tuple[bytes, float]]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Members and scores of a sorted set, where the best has the lowest score."""
    links = np.frombuffer(b"".join(member for member, _ in entries), ">u4").astype(np.int64)
    return links, -np.array([score for _, score in entries], np.float32)


def _bin(number: int) -> bytes:
    return number.to_bytes(4, "big")


def _is_address(url: str) -> bool:
    """A wrong number of the database would be taken for none."""
    try:
        parts = urlsplit(url)
        return parts.scheme == "unix" or (parts.port != 0 and bool(re.fullmatch("(/[0-9]*)?", parts.path)))
    except ValueError:
        return False
