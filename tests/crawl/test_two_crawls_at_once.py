"""Two crawls at once in one process: what each of them has read is kept with its own records, and there alone."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from focused.frontier.records import read_records
from focused.lab.process import crawl_environment
from focused.lab.site.server import SiteServer

BOTH = """
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.utils.project import get_project_settings

from focused.spiders.focused import FocusedSpider

process = AsyncCrawlerProcess(get_project_settings())
for name, topic in (("stars", "galaxy"), ("kitchen", "soup")):
    settings = process.settings.copy()
    own = {"JOBDIR": name, "FOCUSED_MODELS": "models", "DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False}
    settings.update(own, priority="cmdline")
    process.crawl(Crawler(FocusedSpider, settings), topic=topic, seeds=f"http://{name}.example/")
process.start()
"""
PAGES = 12


def site(name: str, topic: str) -> dict[str, str]:
    """Pages about a topic, in words that the other site has not."""
    urls = [f"http://{name}.example/{name}path{number}" for number in range(PAGES)]
    links = "".join(f"<li>{name}before{i} <a href='{url}'>{topic} {name}anchor{i}</a>" for i, url in enumerate(urls))
    page = f"<title>{name}title</title><div class='{name}box'><p>{topic} shared {name}words {{}}<ul>{links}</ul></div>"
    return {url: page.format(i) for i, url in enumerate([f"http://{name}.example/", *urls])}


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the jobs ``stars`` and ``kitchen``, crawled at the same time by one process."""
    folder = tmp_path_factory.mktemp("both")
    pages = site("stars", "galaxy") | site("kitchen", "soup")
    with SiteServer(pages) as server:
        command = [sys.executable, "-c", BOTH]
        environment = crawl_environment(server.url)
        run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        paths = [visit.url.split("/")[2] for visit in server.visits]
    assert run.returncode == 0, run.stderr[-3_000:]
    # Neither waited for the other.
    assert paths.index("kitchen.example") < len(paths) - 1 - paths[::-1].index("stars.example")
    return folder


def words_of(job: Path) -> set[str]:
    with closing(read_records(job)) as records:
        return {word for (word,) in records.execute("SELECT word FROM words")}


@pytest.mark.parametrize(("name", "other"), [("stars", "kitchen"), ("kitchen", "stars")])
def test_the_words_of_a_job_are_those_of_its_own_pages(jobs: Path, name: str, other: str) -> None:
    words = words_of(jobs / name)
    assert {"shared", f"{name}words", f"{name}anchor3", f"{name}before3", f"{name}path3"} <= words
    assert not [word for word in words if word.startswith(other)]


@pytest.mark.parametrize(("name", "other"), [("stars", "kitchen"), ("kitchen", "stars")])
def test_a_story_is_told_in_the_words_of_its_own_crawl(jobs: Path, name: str, other: str) -> None:
    command = [sys.executable, "-m", "scrapy", "why", f"http://{name}.example/{name}path3", "--job", str(jobs / name)]
    run = subprocess.run(command, env=crawl_environment(), capture_output=True, text=True, check=True)
    assert f"{name}anchor3" in run.stdout
    assert f"{name}before3" in run.stdout
    assert other not in run.stdout
