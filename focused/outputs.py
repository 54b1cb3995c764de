"""What a crawl writes beside its job (items, report, statistics, log) when there is no room for it.

Each file that cannot be written is reported in one line. What the job can give again does not end the crawl, which then
ends with that line and with exit code 1; what is kept nowhere else ends it.
"""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, ClassVar, cast

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.extensions.feedexport import FileFeedStorage, StdoutFeedStorage
from scrapy.utils.defer import _schedule_coro

from focused.files import NotWritten, append_whole
from focused.parts import parts_of
from focused.spiders.focused import FocusedSpider
from focused.starting import topic_of

logger = logging.getLogger(__name__)

NOT_WRITTEN = "focused/not_written"
"""The statistic in which each file that could not be written has its line."""


def note_not_written(crawler: Crawler, words: str) -> None:
    """A file could not be written: said once, and again at the end of the crawl, whose exit code is 1."""
    told = crawler.stats.get_value(NOT_WRITTEN, [])
    if words not in told:
        crawler.stats.set_value(NOT_WRITTEN, [*told, words])
        logger.error("%s", words)


class OutputFile(io.RawIOBase):
    """A file for items. Each write is written whole or not at all; after the first one that fails nothing is.

    So what is in the file are whole lines, and nothing is raised. ``failed`` is called once, also if the file cannot be
    opened (unbuffered, by ``open_file``).
    """

    def __init__(self, open_file: Callable[[], IO[bytes]], failed: Callable[[OSError], None]) -> None:
        self._failed = failed
        self._file: IO[bytes] | None = None
        self.error: OSError | None = None
        self.lost = 0
        try:
            self._file = open_file()
        except OSError as error:
            self._fail(error)

    def write(self, data: Any) -> int:
        """Whatever became of it: all of it was taken."""
        view = memoryview(data).cast("B")
        if self._file is not None and self.error is None:
            try:
                append_whole(self._file, view)
            except OSError as error:
                self._fail(error)
        self.lost += self.error is not None
        return view.nbytes

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        super().close()
        try:
            if self._file is not None:
                self._file.close()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        if self.error is None:
            self.error = error
            self._failed(error)


class _Storage:
    """What both storages add to Scrapy's: `OutputFile`, and what a failure means for the crawl."""

    _plain: ClassVar[type[Any]]
    _crawler: Crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler, uri: str, *, feed_options: dict[str, Any] | None = None) -> Any:
        """For a crawl without a topic Scrapy's own."""
        if topic_of(crawler) is None:
            return cls._plain(uri, feed_options=feed_options)
        storage: Any = cls(uri, feed_options=feed_options)  # type: ignore[call-arg]  # the constructor is Scrapy's
        storage._crawler = crawler
        return storage

    def open(self, spider: Spider) -> IO[bytes]:
        """A file that raises nothing, even if there is none."""
        return cast("IO[bytes]", OutputFile(self._open, self._failed))

    def store(self, file: Any) -> None:
        """NotWritten if not all of it could be: Scrapy counts that."""
        file.close()
        if file.error is not None:
            self._crawler.stats.inc_value("focused/output/lost", file.lost)
            raise NotWritten(self._where, file.error)

    def _open(self) -> IO[bytes]:
        raise NotImplementedError

    @property
    def _where(self) -> str:
        raise NotImplementedError

    def _failed(self, error: OSError) -> None:
        words = f"items cannot be written to {self._where} ({error.strerror or error})"
        again = _written_again_by(self._crawler)
        if again:
            note_not_written(self._crawler, f"{words}: `{again}` writes all of them when there is room")
            return
        words += ", and this crawl keeps them nowhere else: make room and start it again, best with a JOBDIR"
        note_not_written(self._crawler, words)
        self._crawler.stats.set_value("focused/stopped_by", words)
        _schedule_coro(self._crawler.engine.close_spider_async(reason="output_broken"))


class ItemFileStorage(_Storage, FileFeedStorage):
    """A file for items that holds whole lines on a full disk, too."""

    _plain = FileFeedStorage

    def _open(self) -> IO[bytes]:
        path = Path(self.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        return cast("IO[bytes]", path.open(self.write_mode, buffering=0))

    @property
    def _where(self) -> str:
        return repr(self.path)


class ItemStdoutStorage(_Storage, StdoutFeedStorage):
    """The same for standard output, behind which a full disk may be, or somebody who has stopped reading."""

    _plain = StdoutFeedStorage

    def _open(self) -> IO[bytes]:
        return open(sys.stdout.fileno(), "wb", buffering=0, closefd=False)

    @property
    def _where(self) -> str:
        return "standard output"


def _written_again_by(crawler: Crawler) -> str:
    """The command that writes the items of a crawl from its job; '' if they are not all there."""
    job = parts_of(crawler).job
    # What somebody's own spider gives out is more than the job knows.
    if job is None or not job.lasts or type(crawler.spider) is not FocusedSpider:
        return ""
    return f"scrapy export {job.folder or 'redis://…'} -o FILE"
