"""What cannot work is refused before anything is fetched: exit code above 0, and the reason without a traceback.

One of each kind; the mistakes that there can be in arguments and topic files are tested where they are read.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from numpy.lib.format import write_array_header_1_0

from focused.arrays import save_arrays
from focused.frontier.records import FILE
from focused.lab.site.crawl import CrawlResult, run_crawl
from focused.lab.site.reply import Reply, linking
from focused.lab.site.server import SiteServer
from focused.papers.prioritizers.apprentice import Apprentice
from focused.prioritizers.base import Prioritizer
from focused.prioritizers.focused import Focused
from focused.scheduling.starts import read_about

WORDS = {"topic": "star galaxy telescope", "seeds": "http://hub.example/"}
EXAMPLES = "class\ttext\nstars\ta star and a galaxy\nother\ta soup and a stew\n"


def refused(folder: Path, arguments: dict[str, object], **how: Any) -> CrawlResult:
    with SiteServer({"/": linking("http://a.example/")}) as site:
        result = run_crawl(arguments, folder=folder, site=site, **how)
    assert result.exit_code > 0, result.log[-2_000:]
    assert not result.visits
    assert "Traceback" not in result.log
    return result


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"topic": "astronmy"}, "'astronomy'"),
        ({"topic": "missing.toml"}, "missing.toml"),
        ({"topic": "/dev/zero"}, "/dev/zero: cannot be read: it is larger than 256 MB"),
        ({**WORDS, "learned": "/dev/zero"}, "there is no file '/dev/zero'"),
        ({**WORDS, "prioritizer": "aprentice"}, "'apprentice'"),
        ({**WORDS, "page": "5"}, "'pages'"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else None,
)
def test_arguments_that_cannot_be_used(tmp_path: Path, arguments: dict[str, object], reason: str):
    assert reason in refused(tmp_path, arguments).log


@pytest.mark.parametrize(("level", "times"), [("DEBUG", 2), ("INFO", 1), ("ERROR", 1), ("CRITICAL", 1)])
def test_the_reason_is_the_last_line_whatever_else_is_logged(tmp_path: Path, level: str, times: int):
    reason = "missing.toml: there is no such file"
    result = refused(tmp_path, {"topic": "missing.toml"}, settings={"LOG_LEVEL": level})
    assert result.last_line.endswith(reason)
    assert result.log.count(reason) == times


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ({"FOCUSED_TRAIN_EVRY": 3}, "'FOCUSED_TRAIN_EVERY'"),
        ({"FOCUSED_TRAIN_EVERY": "often"}, "FOCUSED_TRAIN_EVERY: 'often' is not a whole number"),
        ({"FOCUSED_STOP_DRY": "0.05/0"}, "'0.05/0' is not SHARE/PAGES"),
        ({"FOCUSED_STOP_DRY": "often"}, "'often' is not SHARE/PAGES"),
        ({"FOCUSED_BACKOFF_FIRST": "soon"}, "FOCUSED_BACKOFF_FIRST: 'soon' is not a number"),
        ({"JOBDIR": __file__}, "is a file"),
        ({"JOBDIR": "/dev/null/x"}, "'/dev/null' is a file"),
        ({"FOCUSED_EVIDENCE_PIECES": 0}, "FOCUSED_EVIDENCE_PIECES: '0' is not a whole number above 0"),
        ({"FOCUSED_SAVE_EVERY": 0}, "FOCUSED_SAVE_EVERY: '0' is not a whole number above 0"),
        ({"FOCUSED_PATIENCE": 7}, "FOCUSED_PATIENCE: '7' is not a number from 0 to 1"),
        ({"FOCUSED_PATIENCE": "nan"}, "FOCUSED_PATIENCE: 'nan' is not a number from 0 to 1"),
        ({"FOCUSED_STOP_PAGES": "many"}, "FOCUSED_STOP_PAGES: 'many' is not a whole number, 0 or more"),
        ({"FOCUSED_APPRENTICE": "a.npz"}, "FOCUSED_APPRENTICE: is now called FOCUSED_LEARNED"),
        ({"DOWNLOAD_DELAY": "fast"}, "DOWNLOAD_DELAY: 'fast' is not a number, 0 or more"),
        ({"CONCURRENT_REQUESTS": "2.5"}, "CONCURRENT_REQUESTS: '2.5' is not a whole number above 0"),
        ({"ROBOTSTXT_OBEY": "maybe"}, "ROBOTSTXT_OBEY: 'maybe' is not True or False"),
        ({"FOCUSED_INNER_ADDRESSES": "foo"}, "'foo' is not one of refuse, allow"),
    ],
    ids=["unknown", "no whole number", "over no pages", "no harvest", "no number", "no folder", "below a file"]
    + [f"bounds {n}" for n in range(10)],
)
def test_settings_that_cannot_be_used(tmp_path: Path, setting: dict[str, object], reason: str):
    result = refused(tmp_path, WORDS, settings=setting)
    assert reason in result.last_line
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("/proc/x/%(time)s.jsonl", ""),
        ("folder:jsonl", "Is a directory"),
        ("notes.txt/new/y.jsonl", "notes.txt' is a file"),
        (300 * "y" + ".jsonl", "File name too long"),
    ],
    ids=["no file can be made", "a folder", "below a file", "a name that cannot be"],
)
def test_an_output_that_cannot_be_written(tmp_path: Path, output: str, reason: str):
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("earlier\n")
    files = {*tmp_path.iterdir()}
    result = refused(tmp_path, WORDS, options=["-o", "notes.txt:jsonl", "-o", "fine/new.jsonl", "-o", output])
    name = output.removesuffix(":jsonl")
    assert f"ERROR: -o {name!r} cannot be written: " in result.last_line
    assert result.last_line.endswith(f"{reason}; give another file")
    assert result.exit_code == 2
    assert {*tmp_path.iterdir()} - files == {tmp_path / "crawl.log"}, "nothing is left of the check"
    assert (tmp_path / "notes.txt").read_text() == "earlier\n"


def test_a_frontier_that_does_not_exist_is_named_with_the_other_mistakes(tmp_path: Path):
    result = refused(tmp_path, WORDS, settings={"JOBDIR": "", "FOCUSED_FRONTIER": "disk", "FOCUSED_PATIENCE": 7})
    assert "2 mistakes" in result.log
    assert "FOCUSED_FRONTIER: 'disk' is not known" in result.log
    assert result.exit_code == 2


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


@pytest.mark.parametrize("ours_first", [True, False])
def test_a_job_of_another_scheduler(tmp_path: Path, ours_first: bool):
    stock: dict[str, object] = {"SCHEDULER": "scrapy.core.scheduler.Scheduler"}
    first, second = ({}, stock) if ours_first else (stock, {})
    with SiteServer({"/": linking("http://a.example/")}) as site:
        for settings in (first, first):
            assert run_crawl(WORDS, folder=tmp_path, site=site, settings=settings).exit_code == 0
    result = refused(tmp_path, WORDS, settings=second)
    assert result.exit_code == 2
    assert "was made with SCHEDULER " in result.last_line


def test_a_job_that_does_not_say_whose_scheduler_it_had_goes_on(tmp_path: Path):
    with SiteServer({"/": linking("http://a.example/")}) as site:
        assert run_crawl(WORDS, folder=tmp_path, site=site).exit_code == 0
        with closing(sqlite3.connect(tmp_path / "job" / FILE)) as job, job:
            about = read_about(job)
            assert about["settings"].pop("SCHEDULER") == "focused.scheduling.scheduler.FrontierScheduler"
            job.execute("UPDATE meta SET value = ? WHERE key = 'about'", (json.dumps(about),))
        assert run_crawl(WORDS, folder=tmp_path, site=site).exit_code == 0


def test_a_job_that_has_learned_with_other_options(tmp_path: Path):
    topic = tmp_path / "stars.toml"
    arguments = {**WORDS, "topic": topic}
    topic.write_text('name = "stars"\nkeywords = ["star"]\n[prioritizer]\nd_max = 7\nwords = false\n', "utf-8")
    pages = {"http://hub.example/": linking("http://a.example/", "http://b.example/"), "http://a.example/": linking()}
    with SiteServer(pages) as site:
        assert run_crawl(arguments, folder=tmp_path, site=site, settings={"FOCUSED_SAVE_EVERY": 1}).exit_code == 0
    topic.write_text('name = "stars"\nkeywords = ["star"]\n', "utf-8")
    result = refused(tmp_path, arguments)
    assert result.exit_code == 2
    assert "what the job in " in result.last_line
    assert "made with d_max=7, words=false, not d_max=5, words=true: set d_max and words" in result.last_line
    assert "or give another JOBDIR" in result.last_line


def test_a_job_that_another_crawl_is_at(tmp_path: Path):
    with SiteServer({}, missing=Reply(hang=True)) as site:
        first = subprocess.Popen(
            [sys.executable, "-c", _FIRST.format(folder=tmp_path, proxy=site.url)], stderr=subprocess.DEVNULL
        )
        try:
            assert site.wait_for(1, timeout=280)
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


CHESS = {"topic": "chess", "seeds": "http://hub.example/"}


@pytest.mark.parametrize("scheduler", [None, "scrapy.core.scheduler.Scheduler"], ids=["ours", "stock"])
def test_a_file_that_holds_nothing_learned(tmp_path: Path, scheduler: str | None):
    (tmp_path / "notes.md").write_text("not arrays at all")
    settings = {"SCHEDULER": scheduler} if scheduler else None
    result = refused(tmp_path, {**CHESS, "learned": tmp_path / "notes.md"}, settings=settings)
    assert "is not what a crawl has learned" in result.last_line


def test_a_file_that_claims_more_than_there_is_memory(tmp_path: Path):
    header = BytesIO()
    write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (2**40,)})
    with ZipFile(tmp_path / "huge.npz", "w") as huge:
        huge.writestr("mean.npy", header.getvalue())
    result = refused(tmp_path, {**CHESS, "learned": tmp_path / "huge.npz"})
    assert result.exit_code == 2
    assert "is not what a crawl has learned" in result.last_line
    assert result.peak_mb < 600


@pytest.mark.parametrize(("saved_by", "asked"), [(Apprentice, "focused"), (Focused, "apprentice")])
def test_what_another_prioritizer_has_learned(tmp_path: Path, saved_by: type[Prioritizer], asked: str):
    (tmp_path / "saved.npz").write_bytes(save_arrays(saved_by().state()))
    result = refused(tmp_path, {**CHESS, "prioritizer": asked, "learned": tmp_path / "saved.npz"})
    assert f"saved by {saved_by.name!r}, not by {asked!r}: name the prioritizer that saved it" in result.last_line


def test_what_the_same_prioritizer_has_learned_with_other_options(tmp_path: Path):
    (tmp_path / "saved.npz").write_bytes(save_arrays(Focused(d_max=3).state()))
    result = refused(tmp_path, {**CHESS, "learned": tmp_path / "saved.npz"})
    assert "made with d_max=3, not d_max=5: set d_max in [prioritizer] to that" in result.last_line


def test_something_learned_for_a_prioritizer_that_does_not_learn(tmp_path: Path):
    (tmp_path / "saved.npz").write_bytes(save_arrays(Focused().state()))
    (tmp_path / "topic.toml").write_text('name = "chess"\nkeywords = ["chess"]\n[prioritizer]\nname = "best-first"\n')
    result = refused(tmp_path, {**CHESS, "topic": tmp_path / "topic.toml", "learned": tmp_path / "saved.npz"})
    assert "'best-first' does not learn on the job" in result.last_line
