"""Servers that answer with anything but HTTP: one crawl meets all of them, each link ends, and all else is fetched."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest

from focused.frontier.records import read_records
from focused.frontier.store import Outcome, State
from focused.lab.site.broken import BROKEN
from focused.lab.site.crawl import CrawlResult, run_crawl
from focused.lab.site.reply import linking
from focused.lab.site.server import SiteServer

STARS = "A star is seen through a telescope, and a galaxy is seen as many stars. " * 3
# Those whose pages come all the same, as browsers show them.
PAGES = """
    a base that is none, a base with a wrong port, a header without colon, a header in Latin-1, a folded header,
    line ends of Unix, very many headers, a status without words, a date that is none, a cookie that is none,
    the same length twice, a header without name, a header of three words
"""


class Crawled:
    """The crawl, and how each link ended."""

    def __init__(self, result: CrawlResult, folder: Path, urls: dict[str, str], good: list[str]) -> None:
        self.result, self.urls, self.good = result, urls, good
        with closing(read_records(folder / "job")) as records:
            self.ends = {url: (state, outcome) for url, state, outcome in records.execute(LINKS)}


LINKS = "SELECT url, state, outcome FROM links"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """Each broken server has an address of its own, and so has each of the good ones between them."""
    addresses = ["127.0.0.1"] + [f"127.0.{kind}.{i + 1}" for i in range(len(BROKEN)) for kind in (1, 2)]
    pages = {f"/broken-{i}": reply for i, reply in enumerate(BROKEN.values())}
    with SiteServer({}, addresses=addresses) as site:
        urls = {name: f"http://127.0.1.{i + 1}:{site.port}/broken-{i}" for i, name in enumerate(BROKEN)}
        good = [f"http://127.0.2.{i + 1}:{site.port}/good-{i}" for i in range(len(BROKEN))]
        links = [url for pair in zip(urls.values(), good, strict=True) for url in pair]
        site.pages = {
            **pages,
            "/": linking(*links, text=STARS),
            **{f"/good-{i}": linking(url, text=STARS) for i, url in enumerate(good)},
        }
        folder = tmp_path_factory.mktemp("broken")
        arguments = {"topic": "star galaxy telescope", "seeds": f"{site.url}/"}
        settings = {"DOWNLOAD_TIMEOUT": 3, "RETRY_TIMES": 1, "FOCUSED_INNER_ALLOWED": "127.0.0.0/8"}
        settings |= {"FOCUSED_ARCHIVE": folder / "warc", "FOCUSED_ARCHIVE_ALL": True}
        settings |= {"FOCUSED_BACKOFF_FIRST": 0.3, "FOCUSED_ROBOTS_RETRY": 0.3}
        result = run_crawl(arguments, folder=folder, site=site, settings=settings)
    assert result.exit_code == 0, result.log[-3_000:]
    return Crawled(result, folder, urls, good)


def test_the_crawl_ends_by_itself_and_says_nothing_of_its_inside(crawled: Crawled):
    assert crawled.result.reason() == "finished"
    assert "Traceback" not in crawled.result.log
    assert "Unhandled" not in crawled.result.log
    assert "CRITICAL" not in crawled.result.log


@pytest.mark.parametrize("name", BROKEN)
def test_the_link_ends(crawled: Crawled, name: str):
    url = crawled.urls[name]
    assert url in [visit.url for visit in crawled.result.visits], "it was met"
    state, outcome = crawled.ends[url]
    assert State(state) is State.DONE
    assert Outcome(outcome) is not Outcome.FAILED


def test_all_good_hosts_are_fetched(crawled: Crawled):
    assert set(crawled.good) <= {item["url"] for item in crawled.result.items}


@pytest.mark.parametrize("name", [" ".join(name.split()) for name in PAGES.split(",")])
def test_what_browsers_show_is_a_page(crawled: Crawled, name: str):
    # (All of them have the same words.)
    assert Outcome(crawled.ends[crawled.urls[name]][1]) in {Outcome.PAGE, Outcome.DUPLICATE}


def test_each_kind_of_failure_is_told_once_and_counted(crawled: Crawled):
    told = re.findall(r"Error downloading .* are only counted, in (\S+)", crawled.result.log)
    counted = {name: count for name, count in crawled.result.stats.items() if name.startswith("focused/failed/")}
    assert sorted(told) == sorted(counted)
    assert sum(counted.values()) > 3 * len(counted)


def test_what_each_link_came_to_is_counted(crawled: Crawled):
    ends = {name: count for name, count in crawled.result.stats.items() if name.startswith("focused/outcome/")}
    del ends["focused/outcome/redirect"]
    # A link that leads on is no end.
    links = [outcome for _, outcome in crawled.ends.values() if outcome != Outcome.REDIRECT]
    assert sum(ends.values()) == len(links)


def test_what_is_left_out_is_counted(crawled: Crawled):
    stats = crawled.result.stats
    # Interim answers, headers and folded lines without end, each tried twice.
    assert stats["focused/broken/heads"] == 6
    assert stats["focused/broken/headers"] >= 4
    assert stats["focused/broken/body"] >= 6
    assert stats["focused/broken/packing"] == 2
    assert stats["focused/broken/redirects"] >= 8


def test_memory_stays_bounded(crawled: Crawled):
    assert crawled.result.peak_mb < 400
