"""Real crawls, and commands, on damaged jobs; every kind of damage is in tests/report/test_damaged_jobs.py."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from focused.frontier.records import FILE
from focused.lab.site.crawl import run_crawl
from focused.lab.site.reply import linking
from focused.lab.site.server import SiteServer

HUB = "http://hub.example/"
LEAVES = [f"http://a.example/{number}" for number in range(6)]
PAGES = {HUB: linking(*LEAVES, text="a star")} | {
    url: linking(text=f"a galaxy of stars, number{url[-1]} of all that a telescope{url[-1]} has shown")
    for url in LEAVES
}
WORDS = {"topic": "star galaxy telescope", "seeds": HUB}


@pytest.fixture(scope="module")
def site():
    with SiteServer(PAGES) as server:
        yield server


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, site: SiteServer) -> Path:
    """A job in which some links wait."""
    folder = tmp_path_factory.mktemp("made")
    result = run_crawl({**WORDS, "pages": 3}, folder=folder, site=site, settings={"FOCUSED_SAVE_EVERY": 1})
    assert result.exit_code == 0, result.log
    return folder / "job"


@pytest.fixture
def job(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "job")
    return tmp_path / "job"


def change(job: Path, statement: str) -> None:
    with closing(sqlite3.connect(job / FILE)) as records, records:
        assert records.execute(statement).rowcount


def cut(job: Path) -> None:
    os.truncate(job / FILE, (job / FILE).stat().st_size // 2)


def pipe(job: Path) -> None:
    (job / FILE).unlink()
    os.mkfifo(job / FILE)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "half of it": cut,
    "a pipe": pipe,
    "a link beyond all": lambda job: change(job, "UPDATE links SET id = 2000000000 WHERE id = 7"),
    "evidence of a link beyond all": lambda job: change(job, "UPDATE evidence SET link = 2000000000 WHERE link = 7"),
    "no pages": lambda job: change(job, "DELETE FROM pages"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_crawl_is_refused_in_one_line(damage: str, job: Path, tmp_path: Path, site: SiteServer) -> None:
    DAMAGES[damage](job)
    result = run_crawl(WORDS, folder=tmp_path, site=site)
    assert result.exit_code == 2
    assert not result.visits
    assert "Traceback" not in result.log
    assert str(job / FILE) in result.last_line
    assert "give another JOBDIR" in result.last_line
    assert result.peak_mb < 1_000


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    "command", ["status", "report", "export -o -", "export --learned l.npz", "why --job", "inspect"]
)
def test_a_command_is_refused_in_one_line(damage: str, command: str, job: Path, scrapy, monkeypatch) -> None:
    monkeypatch.chdir(job.parent)
    DAMAGES[damage](job)
    ran = scrapy(*command.split(), job)
    if command == "inspect":
        assert ran.returncode == 1
        assert "To save what can be read: " in ran.stdout
        return
    assert ran.returncode == 2
    *usage, line = ran.stderr.strip().splitlines()
    assert len(usage) == 3
    assert str(job / FILE) in line
    assert not ran.stdout


def test_a_model_that_is_damaged_is_learned_again(job: Path, tmp_path: Path, site: SiteServer) -> None:
    with closing(sqlite3.connect(job / FILE)) as records:
        ((seq,),) = records.execute("SELECT seq FROM models WHERE name = 'prioritizer'").fetchall()
    change(job, "UPDATE models SET data = substr(data, 1, 100)")
    result = run_crawl(WORDS, folder=tmp_path, site=site)
    assert result.exit_code == 0, result.log
    (line,) = [line for line in result.log.splitlines() if "What the prioritizer has learned in " in line]
    assert line.endswith("it is learned again")
    assert "Traceback" not in result.log
    with closing(sqlite3.connect(job / FILE)) as records:
        ((later,),) = records.execute("SELECT seq FROM models WHERE name = 'prioritizer'").fetchall()
    assert later > seq
    assert len(result.items) == len(PAGES) - 3


def test_what_is_left_of_a_job_is_saved_and_gone_on_with(job: Path, tmp_path: Path, site: SiteServer, scrapy) -> None:
    change(job, "UPDATE pages SET item = 'no JSON' WHERE seq = 2")
    change(job, "UPDATE links SET host = NULL WHERE id = 7")
    saved = tmp_path / "saved"
    refused = scrapy("inspect", job, "--repair", job)
    assert refused.returncode == 2
    assert "it is not empty; give a new folder" in refused.stderr
    ran = scrapy("inspect", job, "--repair", saved)
    assert ran.returncode == 1
    assert "pages: a row with an invalid 'item'" in ran.stdout
    assert "lost: 1 pages, which are fetched again if the crawl goes on" in ran.stdout
    whole = scrapy("inspect", saved)
    assert (whole.returncode, whole.stdout.splitlines()[0]) == (0, f"{saved}: whole")
    for command in ("status", "report", "export -o -", "why --job"):
        assert scrapy(*command.split(), saved).returncode == 0, command
    result = run_crawl(WORDS, folder=tmp_path, site=site, settings={"JOBDIR": saved})
    assert result.exit_code == 0, result.log
    exported = scrapy("export", saved, "-o", "-").stdout.splitlines()
    assert len(exported) == len(PAGES)


def test_a_whole_job_is_whole(job: Path, scrapy) -> None:
    ran = scrapy("inspect", job)
    assert ran.returncode == 0, ran.stdout
    assert ran.stdout.startswith(f"{job}: whole\n")
    assert scrapy("inspect", job / "nowhere").returncode == 2
    assert scrapy("inspect").returncode == 2
