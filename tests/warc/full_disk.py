"""An extension for tests: the archive's disk is full after three pages."""

from __future__ import annotations

import errno
from typing import Any

from scrapy.crawler import Crawler

from focused.warc.writer import WarcFiles

ROOM_FOR = 3


class FullDisk:
    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FullDisk:
        write, written = WarcFiles.write, []

        def write_while_there_is_room(files: WarcFiles, request: Any, response: Any) -> int:
            written.append(request.url)
            if len(written) > ROOM_FOR:
                raise OSError(errno.ENOSPC, "No space left on device")
            return write(files, request, response)

        WarcFiles.write = write_while_there_is_room  # type: ignore[method-assign, assignment]  # as a full disk does it
        return cls()
