"""The crawls that are watched, and what was read of each: once for all who look, and never for more than its share.

Nothing is read while nobody asks. What is read again and again (the status, pages that have come, marks) has a pace: at
most once a second, and never more than a hundredth or two of a processor each, so a large job is read less often.
"""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from scrapy.settings import BaseSettings

from focused.arrays import Damaged
from focused.frontier.inbox import Letter, Mark
from focused.frontier.records import FILE
from focused.frontier.store import JobRefused
from focused.report.marks import MarkBook
from focused.report.now import Now
from focused.report.places import open_crawls
from focused.report.reader import CrawlReader, PageLine
from focused.report.status import CUT_SHORT, Status
from focused.report.text import clean, short
from focused.watch.found import FoundPages, HostTally

T = TypeVar("T")

PROBLEMS = (JobRefused, sqlite3.Error, OSError, Damaged)
"""What can be wrong with a crawl: each is told, and tried again later."""
# Whatever was damaged since it was checked.
_UNREADABLE = (*PROBLEMS, ValueError, LookupError, TypeError)
_LEAST = 1.0
_STATUS_SHARE, _NEW_SHARE, _ALL_SHARE, _SEARCH_SHARE = 0.02, 0.01, 0.015, 0.02
# A crawl that cannot be read is tried again after so many seconds.
_AGAIN = 5.0
_MOST_CRAWLS = 500
_PLAIN = re.compile(r"[A-Za-z0-9][\w.-]{0,79}")
_MOST_SAID = 500
_KEPT = 200


class ReadingPace:
    """When something may be done again: not before a second, and not for more than a share of the time."""

    def __init__(self, share: float, least: float = _LEAST, clock: Callable[[], float] = monotonic) -> None:
        self._share, self._least, self._clock = share, least, clock
        self._next = -1.0

    def is_due(self) -> bool:
        """Has enough time passed?"""
        return self._clock() >= self._next

    def run(self, work: Callable[[], T]) -> T:
        """Do it, and note what it has cost."""
        began = self._clock()
        try:
            return work()
        finally:
            now = self._clock()
            self._next = now + max(self._least, (now - began) / self._share)


@dataclass(frozen=True, slots=True)
class LastLook:
    """What was read of a crawl last. ``problem`` is a sentence if it could not be; the rest is then from before.

    ``number`` grows whenever something has changed.
    """

    number: int = 0
    status: Status | None = None
    pages: Sequence[PageLine] = ()
    marks: Mapping[str, Mark] | None = None
    about: Mapping[str, Any] | None = None
    now: Now = field(default_factory=Now)
    problem: str = ""

    @property
    def is_running(self) -> bool:
        """Was it running then?"""
        return self.status is not None and self.status.is_running


class Watched:
    """A crawl that somebody looks at. ``open_reader`` opens it anew."""

    def __init__(
        self, key: str, name: str, open_reader: Callable[[], CrawlReader], clock: Callable[[], float] = monotonic
    ) -> None:
        self.key, self.name = key, name
        self.seen = LastLook()
        self._quick, self._slow = _Desk(open_reader), _Desk(open_reader)
        self._found, self._marks = FoundPages(), MarkBook()
        self._again = ReadingPace(_STATUS_SHARE, _AGAIN, clock)
        self._status_pace = ReadingPace(_STATUS_SHARE, clock=clock)
        self._new_pace = ReadingPace(_NEW_SHARE, clock=clock)
        self._all_pace = ReadingPace(_ALL_SHARE, clock=clock)
        self._doubts = False
        self._answers: dict[str, tuple[ReadingPace, Any]] = {}

    @property
    def hosts(self) -> Mapping[str, HostTally]:
        """What came from each host."""
        return self._found.hosts

    async def look(self) -> LastLook:
        """What is known of it now; read again if that is due."""
        if self._is_due():
            async with self._quick.lock:
                if self._is_due():
                    self.seen = await asyncio.to_thread(lambda: self._again.run(self._read))
        return self.seen

    def _is_due(self) -> bool:
        if not self.seen.number:
            return True
        if self.seen.problem:
            return self._again.is_due()
        return self._status_pace.is_due() or (self.seen.is_running and self._new_pace.is_due())

    def _read(self) -> LastLook:
        before = self.seen
        try:
            with self._quick as reader:
                seen = self._read_from(reader)
        except _UNREADABLE as error:
            # What was read may be of a job that is not there any more; another one may take its place.
            self._found, self._marks = FoundPages(), MarkBook()
            words = short(clean(str(error)), _MOST_SAID)
            return before if before.problem == words else LastLook(before.number + 1, before.status, problem=words)
        return seen if before.status is None or _differs(seen, before) else before

    def _read_from(self, reader: CrawlReader) -> LastLook:
        before, status = self.seen, None
        if self._status_pace.is_due():
            status = self._status_pace.run(reader.status)
            # Between letting go of its job and noting why it has ended, it looks as if it had been cut short.
            self._doubts = self.seen.is_running and status.state == CUT_SHORT and not self._doubts
            status = before.status if self._doubts else status
        if self._new_pace.is_due():
            self._new_pace.run(lambda: self._found.read_new(reader))
            self._marks.read(reader.inbox)
        if status is not None:
            self._found.compare(status)
        if self._found.is_stale and self._all_pace.is_due():
            self._all_pace.run(lambda: self._found.read_all(reader))
        about = before.about if before.about is not None and status is None else _about(reader)
        return LastLook(
            before.number + 1, status or before.status, self._found.rows, dict(self._marks.marks), about, reader.now()
        )

    async def ask(self, work: Callable[[CrawlReader], T]) -> T:
        """Something small that must be true now."""

        def read() -> T:
            with self._quick as reader:
                return work(reader)

        async with self._quick.lock:
            return await asyncio.to_thread(read)

    async def tell(self, letters: Sequence[Letter]) -> None:
        """Append letters to the inbox of the crawl."""

        def append() -> None:
            with self._quick as reader:
                reader.inbox.append(letters)

        async with self._quick.lock:
            await asyncio.to_thread(append)
            # Seen at once: nothing has to be read for that.
            marks = {letter.url: letter for letter in letters if isinstance(letter, Mark)}
            self.seen = replace(self.seen, number=self.seen.number + 1, marks={**(self.seen.marks or {}), **marks})

    async def answer(self, what: str, work: Callable[[CrawlReader], T]) -> T:
        """Something that takes longer: the same answer for all who ask, at a pace of its own."""
        async with self._slow.lock:
            pace, known = self._answers.pop(what, (ReadingPace(_SEARCH_SHARE), None))
            if known is None or pace.is_due():

                def read() -> T:
                    with self._slow as reader:
                        return work(reader)

                known = await asyncio.to_thread(lambda: pace.run(read))
            self._answers[what] = pace, known
            while len(self._answers) > _KEPT:
                del self._answers[next(iter(self._answers))]
            return known  # type: ignore[no-any-return]  # of the same question


class _Desk:
    """Where one thread at a time reads a crawl: it is checked once, when it is opened, and let go of in between."""

    def __init__(self, open_reader: Callable[[], CrawlReader]) -> None:
        self.lock = asyncio.Lock()
        self._open_reader = open_reader
        self._reader: CrawlReader | None = None

    def __enter__(self) -> CrawlReader:
        if self._reader is None:
            self._reader = self._open_reader()
        return self._reader

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, *_: object) -> None:
        reader = self._reader
        assert reader is not None
        if error is None:
            reader.rest()
            return
        self._reader = None
        # It may say more clearly what is wrong.
        reader.__exit__(kind, error)


def _about(reader: CrawlReader) -> Mapping[str, Any]:
    try:
        return reader.about()
    except JobRefused:
        return {}


def _differs(seen: LastLook, before: LastLook) -> bool:
    return (
        bool(before.problem)
        or seen.pages is not before.pages
        or seen.marks != before.marks
        or seen.now != before.now
        or _figures(seen.status) != _figures(before.status)
    )


def _figures(status: Status | None) -> Any:
    return None if status is None else [value for name, value in asdict(status).items() if name not in _OF_READING]


_OF_READING = {"read", "seconds"}


class WatchedCrawls:
    """All crawls at a place: one job, those in a folder of jobs, or those on a Redis server."""

    def __init__(self, place: str, crawl: str | None, settings: BaseSettings) -> None:
        self._place, self._crawl, self._settings = place, crawl, settings
        self._known: dict[str, Watched] = {}
        self._pace = ReadingPace(_STATUS_SHARE, _AGAIN)
        self._lock = asyncio.Lock()
        self.problem = ""
        self.is_one = crawl is not None or (Path(place) / FILE).exists()
        """Can there be no others?"""
        self.folder = None if self.is_one or "://" in place or Path(place).is_file() else Path(place)
        """Where new crawls can be begun."""

    async def all(self) -> list[Watched]:
        """All crawls by now, by name."""
        async with self._lock:
            if self._pace.is_due():
                await asyncio.to_thread(lambda: self._pace.run(self._find_again))
        return list(self._known.values())

    async def get(self, key: str) -> Watched | None:
        """The crawl with this key."""
        if key not in self._known:
            await self.all()
        return self._known.get(key)

    async def find_now(self) -> None:
        """Look again which crawls there are, whatever it costs: one has begun."""
        async with self._lock:
            await asyncio.to_thread(self._find_again)

    def find(self) -> None:
        """Look which crawls there are; JobRefused if there is none, and none can be begun there."""
        found = dict(self._openers())
        for name, open_reader in found.items():
            key = key_of(name)
            if key not in self._known:
                self._known[key] = Watched(key, name, open_reader)

    def _find_again(self) -> None:
        try:
            self.find()
            self.problem = ""
        except PROBLEMS as error:
            self.problem = short(clean(str(error)), _MOST_SAID)

    def _openers(self) -> Iterator[tuple[str, Callable[[], CrawlReader]]]:
        folder = Path(self._place)
        if "://" not in self._place and not (folder / FILE).exists():
            jobs = sorted(job.parent for depth in ("*", "*/*") for job in folder.glob(f"{depth}/{FILE}"))
            for job in jobs[:_MOST_CRAWLS]:
                yield job.relative_to(folder).as_posix(), self._opener(str(job), None)
            # One may be begun in a folder that is there, or in a new one.
            if jobs or (folder.parent.is_dir() and (folder.is_dir() or not os.path.lexists(folder))):
                return
        readers = open_crawls(self._place, self._crawl, self._settings)
        for reader in readers:
            with reader:
                name = reader.name if "://" in self._place else folder.resolve().name
                yield name, self._opener(self._place, reader.name if "://" in self._place else None)

    def _opener(self, place: str, crawl: str | None) -> Callable[[], CrawlReader]:
        return lambda: open_crawls(place, crawl, self._settings)[0]


def key_of(name: str) -> str:
    """What a crawl is called in addresses."""
    return name if _PLAIN.fullmatch(name) else sha256(name.encode()).hexdigest()[:12]
