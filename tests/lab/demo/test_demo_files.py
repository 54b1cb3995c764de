"""Promises of the files of a generated web, and of the command that writes them."""

from __future__ import annotations

import csv
import json
import os
import signal
import socket
import subprocess
import sys
import tomllib
import urllib.request
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator

from focused.lab.demo.files import write_web
from focused.lab.demo.webs import make_web

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("web")
    return {path.name: path for path in write_web(make_web("demo", pages=200), folder / "small.warc.gz")}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "scrapy", "demo", *args],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )


def test_the_warc_holds_every_answer(written: dict[str, Path]):
    web = make_web("demo", pages=200)
    with written["small.warc.gz"].open("rb") as file:
        found = {}
        for record in ArchiveIterator(file):
            headers = dict(record.http_headers)
            found[record.headers["WARC-Target-URI"]] = (record.http_headers.status_code, record.reader.read())
            assert "Content-Type" in headers
    assert found == {url: (answer.status, answer.body) for url, answer in web.pages.items()}


def test_the_same_web_gives_the_same_files(written: dict[str, Path], tmp_path: Path):
    again = write_web(make_web("demo", pages=200), tmp_path / "small.warc.gz")
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in written.values()]


def test_topics_name_targets_that_are_labelled(written: dict[str, Path]):
    labels = {row["url"]: row["labels"] for row in rows(written["small.labels.tsv"])}
    examples = {row["url"]: row["class"] for row in rows(written["small.examples.tsv"])}
    topic = json.loads(written["small.topics.json"].read_text("utf-8"))["stars"]
    assert topic["focus"] == ["stars"]
    assert topic["targets"] == len(topic["target_urls"]) > 0
    assert all(labels[url] == "stars" for url in topic["target_urls"])
    assert not set(examples) & set(topic["target_urls"])
    assert all(labels[url] == kind for url, kind in examples.items())
    assert topic["seeds_on"]
    assert topic["seeds_far"]
    assert topic["seeds_root"]


def test_the_topic_file_brings_its_examples_as_text(written: dict[str, Path]):
    topic = tomllib.loads(written["small.stars.toml"].read_text("utf-8"))
    examples = rows(written["small.stars.toml"].parent / topic["examples"])
    assert topic["focus"] == ["stars"]
    assert {row["class"] for row in examples} >= {"stars", "kitchen", "other"}
    assert all(len(row["text"]) > 50 for row in examples)


def test_a_crawl_accepts_the_topic_file(written: dict[str, Path]):
    from focused.topics.topic import load_topic

    topic = load_topic(str(written["small.stars.toml"]), seeds_needed=True)
    assert topic.name == "stars"


def test_the_command_writes_all_files(tmp_path: Path):
    done = run("hard", "--pages", "50", "--out", str(tmp_path / "h.warc.gz"))
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {
        "h.warc.gz", "h.labels.tsv", "h.examples.tsv", "h.topics.json", "h.stars.toml", "h.stars.tsv"
    }  # fmt: skip
    assert done.stdout.splitlines() == [str(tmp_path / name) for name in map(os.path.basename, done.stdout.split())]


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["easy", "--serve"], "demo, hard, bulk"),
        ([], "demo, hard, bulk"),
        (["demo"], "--out FILE.warc.gz"),
        (["demo", "--out", "web.zip"], "'web.zip'"),
        (["demo", "--pages", "-3", "--serve"], "-3"),
        (["demo", "--port", "99999", "--serve"], "--port: '99999': give a whole number from 0 to 65535"),
        (["hard", "--out", "setup.py/web.warc.gz"], "--out 'setup.py/web.warc.gz'"),
    ],
)
def test_the_command_says_what_it_wants(args: list[str], complaint: str):
    done = run(*args)
    assert done.returncode == 2
    assert complaint in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_told_in_a_sentence():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("hard", "--pages", "50", "--serve", "--port", str(port))
    assert done.returncode == 2
    assert f"--port {port}: " in done.stderr
    assert "in use" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_serves_a_web_as_a_proxy():
    args = [sys.executable, "-m", "scrapy", "demo", "hard", "--pages", "50", "--serve"]
    with subprocess.Popen(args, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline().split()
        proxy = urllib.request.ProxyHandler({"http": line[0].removeprefix("http_proxy=")})
        with urllib.request.build_opener(proxy).open(line[-1], timeout=120) as response:
            assert response.status == 200
        server.send_signal(signal.SIGINT)
        assert "1 requests answered" in server.stdout.read()
    assert server.returncode == 0
