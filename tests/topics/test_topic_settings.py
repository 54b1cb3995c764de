"""A topic's settings: above the project's, below the command line; those that would do nothing are refused."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import scrapy
from scrapy.settings import Settings, default_settings

from focused.defaults import DEFAULTS, read
from focused.problems import Problems
from focused.topics.settings import (
    READ_BEFORE_THE_SPIDER,
    SCRAPYS,
    apply_settings,
    check_settings,
    check_topic_settings,
)
from focused.topics.topic import Topic

# `run` runs `scrapy crawl` and prints which settings are read before the spider is made, and which of the crawl's own
# are read after it.
PROBE = """
import json, sys
import scrapy
from scrapy.cmdline import execute
from scrapy.settings import BaseSettings, default_settings

NAMES = {name for name in vars(default_settings) if name.isupper()}
COPYING = ("settings/__init__.py", "_collections_abc.py", "<frozen _collections_abc>")
reads = {"before": set(), "after": set()}
of_the_crawl = []
original = BaseSettings.__getitem__

def spy(self, name):
    caller = sys._getframe(1).f_code
    if name in NAMES and (caller.co_name.startswith("get") or not caller.co_filename.endswith(COPYING)):
        reads["after" if any(self is settings for settings in of_the_crawl) else "before"].add(name)
    return original(self, name)

BaseSettings.__getitem__ = spy

class Probe(scrapy.Spider):
    name = "probe"

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        of_the_crawl.append(crawler.settings)
        return super().from_crawler(crawler, *args, **kwargs)

    async def start(self):
        return
        yield

def run():
    try:
        execute(["scrapy", "crawl", "probe"])
    finally:
        print(json.dumps({when: sorted(names) for when, names in reads.items()}))
"""
PROBE_SETTINGS = 'SPIDER_MODULES = ["probe"]\nTELNETCONSOLE_ENABLED = REMOTE_CONTROL_ENABLED = False\n'


def topic_with(**settings: object) -> Topic:
    return Topic(name="x", settings=settings)


def problems_with(**settings: object) -> list[str]:
    problems = Problems()
    check_topic_settings(settings, "x.toml: settings", problems)
    return problems.found


def test_a_topics_setting_stands_above_the_projects_and_below_the_command_line() -> None:
    settings = Settings({"DOWNLOAD_DELAY": 1, "DEPTH_LIMIT": 3}, priority="project")
    settings.set("DEPTH_LIMIT", 7, priority="cmdline")
    apply_settings(topic_with(DOWNLOAD_DELAY=5, DEPTH_LIMIT=9, FOCUSED_DEATHS=2), settings)
    assert settings.getint("DOWNLOAD_DELAY") == 5
    assert settings.getint("DEPTH_LIMIT") == 7
    assert settings.getint("FOCUSED_DEATHS") == 2


def test_a_table_is_added_to_the_one_that_is_there() -> None:
    settings = Settings({"ITEM_PIPELINES": {"a.A": 100, "b.B": 200}}, priority="project")
    apply_settings(topic_with(ITEM_PIPELINES={"b.B": False, "c.C": 300}), settings)
    assert dict(settings["ITEM_PIPELINES"]) == {"a.A": 100, "b.B": None, "c.C": 300}


def test_a_table_leaves_what_scrapy_itself_has() -> None:
    settings = Settings()
    apply_settings(
        topic_with(DOWNLOAD_HANDLERS={"ftp": False}, DEFAULT_REQUEST_HEADERS={"Accept": "text/html"}), settings
    )
    assert settings.getwithbase("DOWNLOAD_HANDLERS")["ftp"] is None
    assert settings.getwithbase("DOWNLOAD_HANDLERS")["http"]
    assert settings["DEFAULT_REQUEST_HEADERS"]["Accept-Language"] == "en"


def test_a_table_does_not_change_the_command_lines() -> None:
    settings = Settings()
    settings.set("ITEM_PIPELINES", {"a.A": 100}, priority="cmdline")
    apply_settings(topic_with(ITEM_PIPELINES={"b.B": 200}), settings)
    assert dict(settings["ITEM_PIPELINES"]) == {"a.A": 100}


@pytest.mark.parametrize("name", sorted(READ_BEFORE_THE_SPIDER))
def test_what_scrapy_reads_before_is_refused_by_name(name: str) -> None:
    (problem,) = problems_with(**{name: "x"})
    assert problem.startswith(f"x.toml: settings.{name}: Scrapy reads this before")


def test_the_refused_are_those_that_the_installed_scrapy_reads_only_before_the_spider(tmp_path: Path) -> None:
    (tmp_path / "probe.py").write_text(PROBE, encoding="utf-8")
    (tmp_path / "probe_settings.py").write_text(PROBE_SETTINGS, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-c", "import probe; probe.run()"],
        cwd=tmp_path,
        env={"SCRAPY_SETTINGS_MODULE": "probe_settings"},
        capture_output=True,
        text=True,
        check=True,
        timeout=280,
    )
    reads = json.loads(run.stdout.splitlines()[-1])
    before, after = set(reads["before"]), set(reads["after"])
    assert "SPIDER_MODULES" in before
    assert "USER_AGENT" in after
    assert before - after <= READ_BEFORE_THE_SPIDER
    assert "LOG_LEVEL" in before & after, "the log is opened again for the crawl, so its settings may be a topic's"


def test_unknown_settings_of_ours_are_refused_and_those_of_others_are_not(caplog: pytest.LogCaptureFixture) -> None:
    (problem,) = problems_with(FOCUSED_PAGE_LINK=5, ZYTE_API_KEY="x", DOWNLOAD_DELY=3)
    assert "unknown setting; did you mean 'FOCUSED_PAGE_LINKS'?" in problem
    assert "settings.DOWNLOAD_DELY is not a setting of Scrapy's; did you mean 'DOWNLOAD_DELAY'?" in caplog.text
    assert "ZYTE" not in caplog.text


def test_a_misspelt_setting_of_the_command_line_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    settings = Settings({"CONCURENT_REQUESTS": 3})
    for name in ("DOWNLOAD_DELLAY", "REDIS_ULR", "ZYTE_API_KEY", "JOBDIR", "REDIS_URL"):
        settings.set(name, "x", priority="cmdline")
    problems = Problems()
    for _ in range(2):
        check_settings(settings, problems)
    assert problems.found == []
    assert [record.getMessage() for record in caplog.records] == [
        "-s DOWNLOAD_DELLAY is not a setting of Scrapy's; did you mean 'DOWNLOAD_DELAY'?",
        "-s REDIS_ULR is not a setting of Scrapy's; did you mean 'REDIS_URL'?",
    ]


def test_a_value_must_be_one_that_the_setting_takes() -> None:
    assert problems_with(**DEFAULTS) == []
    assert problems_with(
        FOCUSED_PAGE_LINKS="many",
        FOCUSED_PATIENCE=2,
        FOCUSED_SCOPE_DENIED_HOSTS=["a.org", "b c"],
        FOCUSED_INNER_ALLOWED="127.0.0.1, 10.0.0.0/99",
    ) == [
        "x.toml: settings.FOCUSED_PAGE_LINKS: 'many' is not a whole number above 0",
        "x.toml: settings.FOCUSED_PATIENCE: 2 is not a number from 0 to 1",
        "x.toml: settings.FOCUSED_SCOPE_DENIED_HOSTS[1]: 'b c' is not a host name such as 'example.org'",
        "x.toml: settings.FOCUSED_INNER_ALLOWED[1]: '10.0.0.0/99' is not an address, a network like '10.0.0.0/8' "
        "or a name, each with or without ':port'",
    ]


def test_numbers_and_switches_of_scrapys_are_checked_as_scrapy_reads_them() -> None:
    assert problems_with(DOWNLOAD_DELAY=0.5, DOWNLOAD_TIMEOUT="7.5", RETRY_TIMES="2", COOKIES_ENABLED="1") == []
    assert problems_with(DOWNLOAD_DELAY="slow", RETRY_TIMES="often", COOKIES_ENABLED="maybe", USER_AGENT=5) == [
        "x.toml: settings.DOWNLOAD_DELAY: 'slow' is not a number, 0 or more",
        "x.toml: settings.RETRY_TIMES: 'often' is not a whole number",
        "x.toml: settings.COOKIES_ENABLED: 'maybe' is not True or False",
    ]


def test_scrapy_reads_each_number_as_it_is_checked() -> None:
    """What its default is, a whole number, a fraction or a switch, so it is read, but for those that are listed."""
    sources = [path.read_text("utf-8") for path in Path(scrapy.__file__).parent.rglob("*.py")]
    for name, default in vars(default_settings).items():
        readers = {found for text in sources for found in re.findall(rf'\.get(bool|int|float)\(\s*"{name}"', text)}
        if type(default) in {bool, int, float} and readers and name != "TELNETCONSOLE_ENABLED":
            assert readers == {
                "float" if name in SCRAPYS and SCRAPYS[name].words.startswith("a number") else type(default).__name__
            }, name


def test_what_is_wrong_with_settings_is_found_wherever_they_come_from() -> None:
    settings = Settings({"FOCUSED_STOP_PAGES": "many", "FOCUSED_APPRENTICE": "a.npz"})
    settings.set("CONCURRENT_REQUESTS", "few", priority="cmdline")
    settings.set("FOCUSED_TRAIN_EVRY", 3, priority="cmdline")
    problems = Problems()
    check_settings(settings, problems)
    assert sorted(problems.found) == [
        "CONCURRENT_REQUESTS: 'few' is not a whole number above 0",
        "FOCUSED_APPRENTICE: is now called FOCUSED_LEARNED",
        "FOCUSED_STOP_PAGES: 'many' is not a whole number, 0 or more",
        "FOCUSED_TRAIN_EVRY: unknown setting; did you mean 'FOCUSED_TRAIN_EVERY'?",
    ]


def test_hosts_of_a_topic_are_added_to_those_of_the_settings() -> None:
    settings = Settings({"FOCUSED_SCOPE_ALLOWED_HOSTS": "a.example"}, priority="cmdline")
    apply_settings(Topic(name="x", allowed_hosts=["b.example"]), settings)
    assert read(settings, "FOCUSED_SCOPE_ALLOWED_HOSTS") == ["a.example", "b.example"]
