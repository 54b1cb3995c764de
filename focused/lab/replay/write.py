"""Pages as a WARC file, so that a generated web can be replayed like a recorded one."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from fastwarc.stream_io import GzipWriter
from fastwarc.warc import WarcRecord, WarcRecordType

from focused.lab.site.reply import stored
from focused.warc.reader import Recorded
from focused.warc.web import Web

# All records carry this date, so that the same pages give the same file.
_DATE = "2002-05-07T00:00:00Z"


def write_web(path: str | Path, pages: Mapping[str, Recorded | bytes | str]) -> None:
    """Write pages (plain HTML stands for a 200) to a WARC file, gzipped by record if it is called ``….gz``."""
    web, path = Web.from_pages(pages), Path(path)
    with ExitStack() as stack:
        file = stack.enter_context(path.open("wb"))
        zipped = stack.enter_context(GzipWriter(file)) if path.suffix == ".gz" else None
        for row, url in enumerate(web.urls):
            _to_record(url, web.response(row), row).write(zipped or file)
            if zipped:
                zipped.finish()


def _to_record(url: str, recorded: Recorded, number: int) -> WarcRecord:
    record = WarcRecord()
    record.init_headers(WarcRecordType.response)
    record.headers["WARC-Record-ID"] = f"<urn:uuid:{number:032x}>"
    record.headers["WARC-Date"] = _DATE
    record.headers["WARC-Target-URI"] = url
    record.headers["Content-Type"] = "application/http; msgtype=response"
    record.set_bytes_content(stored(recorded).head() + recorded.body)
    return record
