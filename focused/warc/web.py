"""A recorded web: address → response, from WARC files or from a dictionary."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self
from urllib.parse import quote, unquote_to_bytes

from focused.pages.urls import join
from focused.warc.reader import Archive, Entry, Recorded

logger = logging.getLogger(__name__)

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ESCAPES = re.compile(r"(?:%[0-9a-fA-F]{2})+")


class Web:
    """The responses of a recorded web, found by address.

    Pages (200) and redirects are served as they were stored, everything else is a 404. An address is looked up as it
    is written, then in its `normal_form`. If an address was recorded several times, the first recording is used.
    """

    def __init__(self, stored: Iterable[tuple[str, int, Recorded | tuple[Archive, Entry]]]) -> None:
        self.urls: list[str] = []
        self.status: list[int] = []
        self._stored: list[Recorded | tuple[Archive, Entry]] = []
        self._exact: dict[str, int] = {}
        self._normal: dict[str, int] = {}
        for url, status, what in stored:
            if (status == 200 or status in REDIRECTS) and url not in self._exact:
                self._add(url, status, what)

    @classmethod
    def open(cls, *paths: str | Path) -> Self:
        """The web in some WARC files. OSError or ValueError, in a sentence, if one cannot be read."""
        archives = [_archive(path) for path in paths]
        for archive in archives:
            if archive.lost:
                logger.warning(
                    "%s is damaged or cut off: %d bytes could not be read, %d responses could",
                    archive.path, archive.lost, len(archive.entries),
                )  # fmt: skip
        return cls((entry.url, entry.status, (archive, entry)) for archive in archives for entry in archive.entries)

    @classmethod
    def from_pages(cls, pages: Mapping[str, Recorded | bytes | str]) -> Self:
        """A web of given pages; plain HTML stands for a page with status 200."""
        recorded = {url: _to_recorded(page) for url, page in pages.items()}
        return cls((url, page.status, page) for url, page in recorded.items())

    def __len__(self) -> int:
        return len(self.urls)

    def _add(self, url: str, status: int, what: Recorded | tuple[Archive, Entry]) -> None:
        row = len(self.urls)
        self._exact[url] = row
        self._normal.setdefault(normal_form(url), row)
        self.urls.append(url)
        self.status.append(status)
        self._stored.append(what)

    def find(self, url: str) -> int:
        """The number of the response that an address leads to, -1 if there is none."""
        row = self._exact.get(url)
        return self._normal.get(normal_form(url), -1) if row is None else row

    def response(self, row: int) -> Recorded:
        """The response of one number."""
        what = self._stored[row]
        return what if isinstance(what, Recorded) else what[0].read(what[1])

    def get(self, url: str) -> Recorded:
        """What the web answers to a request for an address."""
        row = self.find(url)
        return NOT_FOUND if row < 0 else self.response(row)

    def pages(self) -> list[int]:
        """The numbers of the responses with status 200."""
        return [row for row, status in enumerate(self.status) if status == 200]


def _archive(path: str | Path) -> Archive:
    try:
        return Archive(Path(path))
    except OSError as error:
        raise OSError(
            f"the recorded web {str(path)!r} cannot be read: {error.strerror}; give a WARC file (WEB.warc.gz)"
        ) from error


def normal_form(url: str) -> str:
    """An address without what crawlers spell differently: scheme, case of the host, default port, escapes."""
    joined = join(url, "") or url
    folded = "http" + joined[5:] if joined.startswith("https:") else joined
    return _ESCAPES.sub(lambda match: quote(unquote_to_bytes(match.group()), safe=""), folded)


def _to_recorded(page: Recorded | bytes | str, status: int = 200) -> Recorded:
    if isinstance(page, Recorded):
        return page
    body = page.encode() if isinstance(page, str) else page
    return Recorded(status, (("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(body)))), body)


NOT_FOUND = _to_recorded("<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1></body></html>\n", 404)
"""The answer for everything that was not recorded, including robots.txt."""
