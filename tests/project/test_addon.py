"""One line in ADDONS of somebody else's project: nothing for spiders without a topic, everything for the others."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from focused.lab.site.reply import Reply, linking
from focused.lab.site.server import SiteServer
from tests.project.foreign import ADDON, ROOT, ForeignProject, Ran

HUB = "http://hub.example/"
PAGES = {
    HUB: linking("http://a.example/", "http://b.example/", text="a star"),
    "http://a.example/": linking(text="a star, a galaxy and a telescope"),
    "http://b.example/": linking(text="a soup"),
}
TOPIC = "topic=star, galaxy, telescope"
# What the spider of the project saw of its crawl.
TELLTALE = """
    def closed(self, reason):
        import json

        crawler = self.crawler
        managers = {
            "extensions": crawler.extensions,
            "downloader": crawler.engine.downloader.middleware,
            "spider": crawler.engine.scraper.spidermw,
            "pipelines": crawler.engine.scraper.itemproc,
        }
        seen = {
            "settings": crawler.settings.copy_to_dict(),
            "scheduler": type(crawler.engine.scheduler).__name__,
            "components": {
                name: [type(one).__name__ for one in manager.middlewares] for name, manager in managers.items()
            },
            "stats": crawler.stats.get_stats(),
        }
        with open("seen.json", "w") as file:
            json.dump(seen, file, default=str)
"""


@pytest.fixture
def site():
    with SiteServer(PAGES) as server:
        yield server


@pytest.fixture
def project(tmp_path: Path) -> ForeignProject:
    return ForeignProject.make(tmp_path / "news", [HUB])


def seen(project: ForeignProject) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((project.folder / "seen.json").read_text("utf-8"))
    return found


_VARIES = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|'(elapsed|finish|start)_time.*|'memusage/.*")


def lines(ran: Ran) -> list[str]:
    """A log without what differs from run to run."""
    return _VARIES.sub("…", ran.log).splitlines()


def test_a_spider_without_a_topic_runs_as_if_we_were_not_there(tmp_path: Path, site: SiteServer):
    with_us = ForeignProject.make(tmp_path / "with", [HUB], spider=TELLTALE)
    without = ForeignProject.make(tmp_path / "without", [HUB], spider=TELLTALE, settings="")
    how = ("crawl", "articles", "-O", "items.jsonl", "-s", "CONCURRENT_REQUESTS=1")
    first, second = [one.scrapy(*how, site=site) for one in (with_us, without)]
    assert first.code == second.code == 0
    assert lines(first) == lines(second)
    assert sorted(first.fetched) == sorted(second.fetched)
    ours, theirs = seen(with_us), seen(without)
    assert ours["settings"].pop("ADDONS") == {"focused.Addon": 500}
    theirs["settings"].pop("ADDONS")
    for known in (ours, theirs):
        known["stats"] = {
            name: value for name, value in known["stats"].items() if "time" not in name and "mem" not in name
        }
    assert ours == theirs
    items = [sorted((one.folder / "items.jsonl").read_text("utf-8").splitlines()) for one in (with_us, without)]
    assert items[0] == items[1]


@pytest.mark.parametrize("way", ["argument", "attribute", "setting"])
def test_a_topic_turns_everything_on(tmp_path: Path, site: SiteServer, way: str):
    spider = TELLTALE + ('    topic = "star, galaxy"\n' if way == "attribute" else "")
    project = ForeignProject.make(tmp_path / "news", [HUB], spider=spider)
    how = {"argument": ["-a", TOPIC], "attribute": [], "setting": ["-s", f"FOCUSED_{TOPIC.upper()}"]}[way]
    ran = project.scrapy("crawl", "articles", *how, site=site)
    assert ran.code == 0, ran.log
    found = seen(project)
    assert found["scheduler"] == "FrontierScheduler"
    assert "RobotsMiddleware" in found["components"]["downloader"]
    assert "PrioritizerMiddleware" in found["components"]["spider"]
    assert "CriticPipeline" in found["components"]["pipelines"]
    assert "ProgressExtension" in found["components"]["extensions"]
    assert "INFO: Topic 'star, galaxy" in ran.log.replace("STAR, GALAXY", "star, galaxy")
    assert not (project.folder / "jobs").exists(), "a job folder of its own is for our spider"


def test_the_settings_of_the_project_win_and_what_that_costs_is_said_in_one_line(tmp_path: Path, site: SiteServer):
    own = ADDON + 'ROBOTSTXT_OBEY = False\nSCHEDULER = "scrapy.core.scheduler.Scheduler"\nRETRY_TIMES = 7\n'
    own += 'DOWNLOADER_MIDDLEWARES = {"focused.middlewares.archive.ArchiveMiddleware": None}\n'
    project = ForeignProject.make(tmp_path / "news", [HUB], spider=TELLTALE, settings=own)
    ran = project.scrapy("crawl", "articles", "-a", TOPIC, site=site)
    found = seen(project)
    assert found["scheduler"] == "Scheduler"
    assert found["settings"]["RETRY_TIMES"] == 7
    assert found["settings"]["DOWNLOAD_DELAY"] == 0
    assert found["settings"]["DOWNLOAD_TIMEOUT"] == 30, "what the project does not say is as in our own"
    assert not {"ArchiveMiddleware", "RobotsMiddleware", "BackoffMiddleware"} & {*found["components"]["downloader"]}
    [told] = [line for line in ran.log.splitlines() if "Not guaranteed" in line]
    for name in ("ROBOTSTXT_OBEY", "DOWNLOAD_DELAY", "SCHEDULER"):
        assert name in told
    assert "FOCUSED_INNER_ADDRESSES" not in told


def test_the_log_begins_with_what_matters(project: ForeignProject, site: SiteServer):
    ran = project.scrapy("crawl", "articles", "-a", TOPIC, "-L", "INFO", site=site)
    assert "Enabled" not in ran.log
    assert "Overridden settings" not in ran.log
    loud = project.scrapy("crawl", "articles", "-a", TOPIC, "-L", "DEBUG", site=site)
    assert "[scrapy.middleware] DEBUG: Enabled item pipelines:" in loud.log
    assert "[scrapy.crawler] DEBUG: Overridden settings:" in loud.log


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["articles", "-a", "topic=missing.toml"], "missing.toml"),
        (["articles", "-a", TOPIC, "-s", "FOCUSED_PATIENCE=7"], "FOCUSED_PATIENCE"),
        (["articles", "-a", TOPIC, "-s", "DOWNLOAD_DELAY=fast"], "DOWNLOAD_DELAY: 'fast'"),
        (["articles", "-a", TOPIC, "-s", "JOBDIR=scrapy.cfg/job"], "'scrapy.cfg' is a file"),
        (["focused"], "topic: missing"),
        (["focused", "-a", "topic=astronmy"], "'astronomy'"),
    ],
    ids=lambda value: None if isinstance(value, str) else " ".join(value),
)
def test_what_cannot_begin_is_refused_under_scrapys_own_command(
    project: ForeignProject, site: SiteServer, arguments: list[str], reason: str
):
    (project.folder / "items.jsonl").write_text("earlier\n")
    ran = project.scrapy("crawl", *arguments, "-O", "items.jsonl", site=site)
    [error] = [line for line in ran.log.splitlines() if " ERROR: " in line]
    assert reason in error
    assert "Traceback" not in ran.log
    assert "Closing spider (refused)" in ran.log
    assert not ran.fetched
    assert (project.folder / "items.jsonl").read_text() == "earlier\n", "what an earlier crawl has found is still there"


def test_a_feed_that_cannot_be_written_is_refused_where_there_is_a_topic(tmp_path: Path, site: SiteServer):
    own = ADDON + 'FEEDS = {"s3://bucket/x.json": {"format": "json"}, "news": {"format": "json"}}\n'
    project = ForeignProject.make(tmp_path / "news", [HUB], settings=own)
    ran = project.scrapy("crawl", "articles", "-a", TOPIC, site=site)
    assert "ERROR: FEEDS: 'news' cannot be written: Is a directory; give another file" in ran.log
    assert not ran.fetched


def test_our_spider_is_there_and_makes_itself_a_job_folder_for_each_run(project: ForeignProject, site: SiteServer):
    for _ in range(2):
        ran = project.scrapy("crawl", "focused", "-a", TOPIC, "-a", f"seeds={HUB}", site=site)
        assert ran.code == 0, ran.log
    jobs = sorted((project.folder / "jobs").iterdir())
    assert len(jobs) == 2
    assert all((job / "report.html").exists() for job in jobs)
    [told] = [line for line in ran.log.splitlines() if "Job folder: " in line]
    assert told.endswith(f"jobs/{jobs[1].name}")


def test_with_an_output_our_spider_makes_no_job_folder(project: ForeignProject, site: SiteServer):
    project.scrapy("crawl", "focused", "-a", TOPIC, "-a", f"seeds={HUB}", "-o", "items.jsonl", site=site)
    assert (project.folder / "items.jsonl").stat().st_size
    assert not (project.folder / "jobs").exists()


def test_a_missing_critic_is_taught_first_under_scrapys_own_command(project: ForeignProject, site: SiteServer):
    rows = [f"stars\ta star, a galaxy and telescope {i}\nother\ta soup, a stew and spoon {i}\n" for i in range(6)]
    (project.folder / "stars.tsv").write_text("class\ttext\n" + "".join(rows))
    topic = 'name = "stars"\nseeds = ["http://hub.example/"]\nexamples = "stars.tsv"\nfocus = ["stars"]\n'
    (project.folder / "stars.toml").write_text(topic)
    ran = project.scrapy("crawl", "articles", "-a", "topic=stars.toml", "-O", "items.jsonl", site=site)
    assert ran.code == 0, ran.log
    assert "Topic 'stars' has no trained critic yet: training it first" in ran.log
    assert "INFO: Enabled" not in ran.log
    assert (project.folder / "models" / "stars").is_dir()
    assert len((project.folder / "items.jsonl").read_text().splitlines()) == len(PAGES) - 1


def test_a_critic_that_cannot_be_taught_ends_the_crawl(project: ForeignProject, site: SiteServer):
    examples = "class\turl\nstars\thttp://gone.example/1\nother\thttp://gone.example/2\n"
    (project.folder / "stars.tsv").write_text(examples)
    topic = 'name = "stars"\nseeds = ["http://hub.example/"]\nexamples = "stars.tsv"\nfocus = ["stars"]\n'
    (project.folder / "stars.toml").write_text(topic)
    (project.folder / "items.jsonl").write_text("earlier\n")
    ran = project.scrapy("crawl", "articles", "-a", "topic=stars.toml", "-O", "items.jsonl", site=site)
    assert "ERROR: none of the 2 example pages could be fetched" in ran.log
    assert "Closing spider (not_taught)" in ran.log
    assert "Traceback" not in ran.log
    assert HUB not in ran.fetched
    assert (project.folder / "items.jsonl").read_text() == "earlier\n"


SCRIPT = """
import sys

from scrapy.crawler import {process}

from focused.spiders.focused import FocusedSpider

process = {process}({{"DOWNLOAD_DELAY": 0, "FEEDS": {{"items.jsonl": {{"format": "jsonlines"}}}}}})
process.crawl(FocusedSpider, topic="star, galaxy, telescope", seeds="http://hub.example/")
process.start()
"""


@pytest.mark.parametrize("process", ["CrawlerProcess", "AsyncCrawlerProcess"])
def test_our_spider_brings_all_it_needs_to_a_script(tmp_path: Path, site: SiteServer, process: str):
    (tmp_path / "script.py").write_text(SCRIPT.format(process=process))
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "http_proxy": site.url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert {item["url"] for item in items} == set(PAGES)
    assert all(0 <= item["relevance"] <= 1 for item in items)


def test_a_spider_in_a_file_of_its_own(tmp_path: Path, site: SiteServer):
    project = ForeignProject.make(
        tmp_path / "news", [HUB], spider='    custom_settings = {"ADDONS": {"focused.Addon": 500}}\n'
    )
    (tmp_path / "alone.py").write_text((project.folder / "news" / "spiders" / "articles.py").read_text())
    alone = ForeignProject(tmp_path)
    ran = alone.scrapy("runspider", "alone.py", "-a", TOPIC, "-s", "JOBDIR=job", "-o", "items.jsonl", site=site)
    assert ran.code == 0, ran.log
    assert (tmp_path / "job" / "report.html").exists()
    assert sorted(set(ran.fetched)) == sorted(PAGES)


def test_a_spider_of_somebody_elses_may_fetch_what_is_no_page(tmp_path: Path):
    """A SitemapSpider does so first of all."""
    (tmp_path / "spider.py").write_text(
        "from scrapy.spiders import SitemapSpider\n\n\n"
        "class TheirSpider(SitemapSpider):\n"
        '    name = "theirs"\n'
        '    sitemap_urls = ["http://hub.example/sitemap.xml"]\n'
        '    custom_settings = {"ADDONS": {"focused.Addon": 500}, "DOWNLOAD_DELAY": 0}\n\n'
        "    def parse(self, response):\n"
        '        yield {"url": response.url}\n'
    )
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in PAGES)
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
    reply = Reply(body=sitemap.encode(), headers={"Content-Type": "application/xml"})
    with SiteServer({**PAGES, "http://hub.example/sitemap.xml": reply}) as site:
        project = ForeignProject(tmp_path)
        ran = project.scrapy("runspider", "spider.py", "-a", TOPIC, "-o", "items.jsonl", site=site)
    assert ran.code == 0, ran.log
    found = [json.loads(line)["url"] for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert sorted(found) == sorted(PAGES)


def test_settings_that_are_the_projects_own_affair_are_left_alone():
    """The bot's name, its log, its output: they are no part of how a topic is crawled."""
    from scrapy.settings import Settings

    from focused.enabling import enable

    settings, plain = Settings(), Settings()
    enable(settings)
    for name in (
        "BOT_NAME",
        "USER_AGENT",
        "LOG_LEVEL",
        "FEED_EXPORT_ENCODING",
        "ASYNCIO_EVENT_LOOP",
        "CONCURRENT_ITEMS",
    ):
        assert settings[name] == plain[name]


def test_download_handlers_are_ours_where_a_project_has_none_of_its_own():
    from scrapy.settings import Settings

    from focused import settings as ours
    from focused.enabling import enable

    plain, own = Settings(), Settings({"DOWNLOAD_HANDLERS": {"https": "news.Browser", "ftp": None}})
    enable(plain)
    enable(own)
    assert plain.getdict("DOWNLOAD_HANDLERS") == ours.DOWNLOAD_HANDLERS
    assert own.getdict("DOWNLOAD_HANDLERS") == {**ours.DOWNLOAD_HANDLERS, "https": "news.Browser", "ftp": None}


def test_what_others_build_on_is_named_in_one_place_and_loads_nothing_before_it_is_used():
    code = "import sys, focused; print('numpy' in sys.modules); [getattr(focused, name) for name in focused.__all__]"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    "scheduler", ["focused.scheduling.scheduler.FrontierScheduler", "scrapy.core.scheduler.Scheduler"]
)
def test_the_first_page_of_a_spider_is_named_if_it_cannot_be_crawled(project: ForeignProject, scheduler: str):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        proxy = f"http://127.0.0.1:{taken.getsockname()[1]}"
        options = ["-a", TOPIC, "-s", f"SCHEDULER={scheduler}", "-s", "ROBOTSTXT_OBEY=False"]
        ran = project.scrapy("crawl", "articles", *options, http_proxy=proxy)
    assert f"The seed {HUB} was not crawled: the proxy {proxy} cannot be reached" in ran.log
    assert "The crawl ended: nothing was fetched" in ran.log
