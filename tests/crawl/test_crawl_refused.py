"""What cannot work is refused before anything is fetched: exit code above 0, and the reason without a traceback.

One of each kind; the mistakes that there can be in arguments and topic files are tested where they are read.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from focused.testing.crawl import CrawlResult, run_crawl
from focused.testing.reply import Reply, linking
from focused.testing.site import SiteServer

WORDS = {"topic": "star galaxy telescope", "seeds": "http://hub.example/"}
EXAMPLES = "class\ttext\nstars\ta star and a galaxy\nother\ta soup and a stew\n"


def refused(folder: Path, arguments: dict[str, object], *, settings: dict[str, object] | None = None) -> CrawlResult:
    with SiteServer({"/": linking("http://a.example/")}) as site:
        result = run_crawl(arguments, folder=folder, site=site, settings=settings)
    assert result.exit_code > 0, result.log[-2_000:]
    assert not result.visits
    assert "Traceback" not in result.log
    return result


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"topic": "astronmy"}, "'astronomy'"),
        ({"topic": "missing.toml"}, "missing.toml"),
        ({**WORDS, "prioritizer": "aprentice"}, "'apprentice'"),
        ({**WORDS, "page": "5"}, "'pages'"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else None,
)
def test_arguments_that_cannot_be_used(tmp_path: Path, arguments: dict[str, object], reason: str):
    assert reason in refused(tmp_path, arguments).log


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ({"FOCUSED_TRAIN_EVRY": 3}, "'FOCUSED_TRAIN_EVERY'"),
        ({"FOCUSED_TRAIN_EVERY": "often"}, "the default is 10"),
        ({"JOBDIR": __file__}, "is a file"),
    ],
    ids=["unknown", "no number", "no folder"],
)
def test_settings_that_cannot_be_used(tmp_path: Path, setting: dict[str, object], reason: str):
    assert reason in refused(tmp_path, WORDS, settings=setting).log


@pytest.mark.parametrize(
    ("text", "examples", "reason"),
    [
        ('name = "stars', EXAMPLES, "topic.toml"),
        ('name = "stars"\nexamples = "none.tsv"\nfocus = ["stars"]\n', EXAMPLES, "none.tsv"),
        ('name = "stars"\nexamples = "topic.tsv"\nfocus = ["stars"]\n', "class\ttext\n", "topic.tsv"),
        ('name = "stars"\nexamples = "topic.tsv"\nfocus = ["moons"]\n', EXAMPLES, "moons"),
    ],
    ids=["toml", "no examples", "empty examples", "focus"],
)
def test_topic_files_that_cannot_be_used(tmp_path: Path, text: str, examples: str, reason: str):
    (tmp_path / "topic.toml").write_text(text, "utf-8")
    (tmp_path / "topic.tsv").write_text(examples, "utf-8")
    assert reason in refused(tmp_path, {"topic": tmp_path / "topic.toml", "seeds": "http://hub.example/"}).log


def test_a_job_of_another_topic(tmp_path: Path):
    with SiteServer({"/": linking("http://a.example/")}) as site:
        assert run_crawl(WORDS, folder=tmp_path, site=site).exit_code == 0
    assert "JOBDIR" in refused(tmp_path, {**WORDS, "topic": "rock climbing"}).log


def test_a_job_that_another_crawl_is_at(tmp_path: Path):
    with SiteServer({}, missing=Reply(hang=True)) as site:
        first = subprocess.Popen(
            [sys.executable, "-c", _FIRST.format(folder=tmp_path, proxy=site.url)], stderr=subprocess.DEVNULL
        )
        try:
            assert site.wait_for(1, timeout=60)
            assert "another" in refused(tmp_path, WORDS).last_line
        finally:
            first.kill()
            first.wait()


_FIRST = """
import os, sys
from scrapy.cmdline import execute
os.environ |= {{"http_proxy": "{proxy}", "SCRAPY_SETTINGS_MODULE": "focused.settings"}}
execute(["scrapy", "crawl", "focused", "-a", "topic=star galaxy telescope", "-a", "seeds=http://hub.example/",
         "-s", "JOBDIR={folder}/job", "-s", "FOCUSED_MODELS={folder}/models", "-s", "LOG_LEVEL=ERROR"])
"""


def test_a_file_that_is_no_apprentice(tmp_path: Path):
    (tmp_path / "notes.md").write_text("not arrays at all")
    result = refused(tmp_path, {"topic": "chess", "seeds": "http://hub.example/", "apprentice": tmp_path / "notes.md"})
    assert "is not a saved apprentice" in result.last_line
    assert "Traceback" not in result.log
