"""One small crawl of a site with strangers' titles, and the application that watches it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page
from scrapy.settings import Settings

from focused.lab.site.crawl import run_crawl
from focused.lab.site.server import SiteServer
from focused.watch.app import make_app
from focused.watch.crawls import WatchedCrawls
from focused.watch.guard import Guard
from tests.watch.asking import TOKEN, Asker
from tests.watch.served import LONG, WIDE, chromium
from tests.watch.small_site import PAGES, TOPIC, small_site


@pytest.fixture(scope="session")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The job of a crawl that has ended at its limit."""
    folder = tmp_path_factory.mktemp("watched")
    (folder / "stars.toml").write_text(TOPIC)
    with SiteServer(small_site()) as site:
        arguments = {"topic": folder / "stars.toml", "pages": PAGES}
        settings = {"CONCURRENT_REQUESTS": 1, "ROBOTSTXT_OBEY": False, "FOCUSED_TRAIN_EVERY": 5}
        crawl = run_crawl(arguments, folder=folder, site=site, settings=settings)
    assert crawl.exit_code == 0, crawl.log
    return folder / "job"


@pytest.fixture
def job(ended: Path, tmp_path: Path) -> Path:
    """The same in a folder of the test's own."""
    return Path(shutil.copytree(ended, tmp_path / "jobs" / "stars"))


@pytest.fixture
def crawls(job: Path) -> WatchedCrawls:
    found = WatchedCrawls(str(job), None, Settings())
    found.find()
    return found


@pytest.fixture
def asker(crawls: WatchedCrawls) -> Iterator[Asker]:
    """Asks with the token, as a program does."""
    asking = Asker(Guard(make_app(crawls), TOKEN, 8899), authorization=f"Bearer {TOKEN}")
    yield asking
    asking.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a browser that knows nothing of earlier ones. Whatever it complains of fails the test."""
    context = browser.new_context(viewport=WIDE)
    opened, complaints = context.new_page(), []
    opened.set_default_timeout(LONG)

    def note(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            complaints.append(message.text)

    opened.on("console", note)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("dialog", lambda dialog: complaints.append(dialog.message))
    yield opened
    context.close()
    # What is refused is told on the page.
    assert [words for words in complaints if "ERR_" not in words and "400 (Bad Request)" not in words] == []
