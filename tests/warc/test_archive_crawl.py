"""FOCUSED_ARCHIVE: everything that the job has acknowledged is in the archive, and can be replayed."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from focused.lab.site.crawl import CrawlResult, run_crawl
from focused.lab.site.reply import Reply, gzipped, html, redirect
from focused.lab.site.server import SiteServer
from focused.warc.web import Web

A = "http://a.example"


def page(number: int) -> str:
    links = "".join(f"<a href=/{i}>bird {i}</a> " for i in range(1, 12))
    return f"<title>Bird {number}</title><p>bird wing nest number{number}</p>{links}<a href=/old>o</a><a href=/no>n</a>"


@pytest.fixture
def site() -> Iterator[SiteServer]:
    pages = {f"{A}/{i or ''}": html(page(i), headers={"X-Number": str(i)}) for i in range(12)}
    pages[f"{A}/3"] = gzipped(html(page(3)))
    pages[f"{A}/old"] = redirect(f"{A}/1")
    pages[f"{A}/4"] = Reply(body=lambda: [page(4).encode()[:50], page(4).encode()[50:]])  # in chunks
    with SiteServer(pages) as server:
        yield server


def crawl(
    folder: Path, site: SiteServer, *, pages: int = 0, kill_after: int | None = None, **settings: object
) -> CrawlResult:
    topic = folder / "birds.toml"
    topic.write_text(f'name = "birds"\nkeywords = ["bird"]\nseeds = ["{A}/"]\n')
    settings = {"FOCUSED_ARCHIVE": folder / "archive", **settings}
    arguments = {"topic": topic, **({"pages": pages} if pages else {})}
    return run_crawl(arguments, folder=folder, site=site, settings=settings, kill_after=kill_after)


def archived(folder: Path, kind: str = "response") -> dict[str, int]:
    """Address → status of what is in the archive."""
    found = {}
    for path in sorted((folder / "archive").glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type == kind:
                    status = record.http_headers.statusline.split()[0]
                    found[record.rec_headers.get_header("WARC-Target-URI")] = int(status) if status.isdigit() else 0
    return found


def test_the_pages_of_a_crawl_can_be_replayed(site: SiteServer, tmp_path: Path) -> None:
    result = crawl(tmp_path, site)
    assert result.exit_code == 0, result.log
    web = Web.open(*(tmp_path / "archive").glob("*.warc.gz"))
    assert set(archived(tmp_path)) == {f"{A}/{i or ''}" for i in range(12)}
    assert set(archived(tmp_path).values()) == {200}
    for i in range(12):
        assert web.get(f"{A}/{i or ''}").body == page(i).encode()
    assert ("X-Number", "5") in web.get(f"{A}/5").headers
    assert result.stats["focused/archive/responses"] == 12
    assert result.stats["focused/archive/bytes"] == pytest.approx(
        sum(path.stat().st_size for path in (tmp_path / "archive").iterdir()), rel=0.2
    )


def test_bodies_are_as_they_came(site: SiteServer, tmp_path: Path) -> None:
    crawl(tmp_path, site)
    (path,) = (tmp_path / "archive").iterdir()
    with path.open("rb") as file:
        record = next(
            r
            for r in ArchiveIterator(file)
            if r.rec_type == "response" and r.rec_headers["WARC-Target-URI"] == f"{A}/3"
        )
        assert gzip.decompress(record.raw_stream.read()) == page(3).encode()


def test_everything_that_was_answered(site: SiteServer, tmp_path: Path) -> None:
    crawl(tmp_path, site, FOCUSED_ARCHIVE_ALL=True)
    found = archived(tmp_path)
    assert found[f"{A}/robots.txt"] == 404
    assert found[f"{A}/old"] == 301
    assert found[f"{A}/no"] == 404
    assert found[f"{A}/1"] == 200
    assert set(archived(tmp_path, "request")) == set(found)


def test_after_kills_all_pages_of_the_job_are_in_whole_files(site: SiteServer, tmp_path: Path) -> None:
    for kill_after in (5, 4, None):
        result = crawl(tmp_path, site, kill_after=kill_after, DOWNLOAD_DELAY=0.05)
    assert result.exit_code == 0, result.log
    names = sorted(path.name for path in (tmp_path / "archive").iterdir())
    assert names == [f"birds-0000{i}.warc.gz" for i in range(len(names))]
    assert set(archived(tmp_path)) == {f"{A}/{i or ''}" for i in range(12)}


def test_a_full_disk_ends_the_crawl_and_the_next_start_fetches_what_is_missing(
    site: SiteServer, tmp_path: Path
) -> None:
    full = '{"tests.warc.full_disk.FullDisk": 1}'
    result = crawl(tmp_path, site, EXTENSIONS=full)
    assert result.exit_code == 1
    assert "No space left on device" in result.last_line
    assert "make room and start the same command again" in result.last_line
    assert len(result.items) == len(archived(tmp_path)) == 3
    again = crawl(tmp_path, site)
    assert again.exit_code == 0, again.log
    assert set(archived(tmp_path)) == {f"{A}/{i or ''}" for i in range(12)}
    assert len({item["url"] for item in again.items}) == 12


def test_a_place_that_cannot_be_written_is_told(site: SiteServer, tmp_path: Path) -> None:
    (tmp_path / "archive").write_text("a file, not a folder")
    result = crawl(tmp_path, site)
    assert result.exit_code == 1
    assert "the archive in" in result.last_line
    assert "cannot be written" in result.last_line
    assert result.items == []
