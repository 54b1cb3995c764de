"""The handler without sockets gives a crawler what the server gives it, byte for byte."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from focused.lab.replay.log import read_log
from focused.lab.replay.server import serve
from focused.lab.replay.write import write_web
from focused.warc.reader import Recorded
from focused.warc.web import Web

ROOT = Path(__file__).parents[3]
CORPORA = Path(os.environ.get("FOCUSED_CORPORA", ROOT.parent / "shared" / "corpora"))
HANDLER = "focused.lab.replay.handler.ReplayHandler"
HTML = "text/html"
PAGES = {
    "http://one.example/": "<html><body>Ünïcode</body></html>",
    "http://one.example/latin": Recorded(
        200, (("Content-Type", f"{HTML}; charset=iso-8859-1"),), "<html>é</html>".encode("latin-1")
    ),
    "http://one.example/meta": Recorded(
        200, (("Content-Type", HTML),), '<meta charset="windows-1251"><p>да'.encode("cp1251")
    ),
    "http://one.example/untyped": Recorded(200, (), b"<html>no type</html>"),
    "http://one.example/image": Recorded(200, (("Content-Type", "image/png"),), bytes(range(256))),
    "http://one.example/empty": "",
    "http://one.example/old": Recorded(
        301, (("Location", "http://two.example/"), ("Content-Length", "0"), ("X-Twice", "a"), ("X-Twice", "b"))
    ),
    "http://one.example/round": Recorded(301, (("Location", "http://one.example/round"), ("Content-Length", "0"))),
    "http://two.example/": "<html>two</html>",
    "http://two.example/robots.txt": Recorded(
        200, (("Content-Type", "text/plain"),), b"User-agent: *\nDisallow: /no\n"
    ),
}
ADDRESSES = [
    *PAGES,
    "http://two.example/no",
    "http://two.example/missing",
    "https://two.example/",
    "http://ONE.example",
]


def fetch(urls, settings, **env):
    clean = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    command = [sys.executable, Path(__file__).with_name("fetch_all.py"), json.dumps(settings), *urls]
    run = subprocess.run(command, env={**clean, "PYTHONPATH": str(ROOT), **env}, capture_output=True, check=True)
    return json.loads(run.stdout)


def through_the_server(path, urls, log, **settings):
    handlers = {"DOWNLOAD_HANDLERS": {"https": "focused.lab.replay.fold.FoldedHttps"}}
    with serve(Web.open(path), log=log) as server:
        return fetch(urls, handlers | settings, http_proxy=server.url, https_proxy=server.url)


def in_process(path, urls, log, **settings):
    handlers = {"DOWNLOAD_HANDLERS": {"http": HANDLER, "https": HANDLER}}
    own = {"FOCUSED_REPLAY_WEB": str(path), "FOCUSED_REPLAY_LOG": str(log)}
    return fetch(urls, handlers | own | settings)


def compare(path, urls, tmp_path, **settings):
    real = through_the_server(path, urls, tmp_path / "server.tsv", **settings)
    fast = in_process(path, urls, tmp_path / "fast.tsv", **settings)
    assert fast == real
    logs = [[(f.status, f.url) for f in read_log(tmp_path / name)] for name in ("server.tsv", "fast.tsv")]
    assert logs[0] == logs[1]
    return fast, logs[0]


@pytest.fixture
def warc(tmp_path):
    path = tmp_path / "web.warc.gz"
    write_web(path, PAGES)
    return path


def test_every_kind_of_answer_is_the_same(warc, tmp_path):
    seen, log = compare(warc, ADDRESSES, tmp_path)
    assert [page["status"] for page in seen].count(404) == 2
    assert next(page for page in seen if page["redirects"])["url"] == "http://two.example/"
    assert {page["type"] for page in seen} >= {"HtmlResponse", "Response", "TextResponse"}
    assert {page["encoding"] for page in seen} >= {"utf-8", "cp1252", "cp1251"}
    assert "https://two.example/" in {page["url"] for page in seen}
    assert not [url for _, url in log if url.startswith("https")]


def test_robots_txt_rules_in_both(warc, tmp_path):
    seen, log = compare(warc, ADDRESSES, tmp_path, ROBOTSTXT_OBEY=True)
    assert "http://two.example/no" not in {page["url"] for page in seen}
    assert (200, "http://two.example/robots.txt") in log
    assert (404, "http://one.example/robots.txt") in log


def test_bodies_that_are_too_long_are_refused_in_both(warc, tmp_path):
    seen, _ = compare(warc, ADDRESSES, tmp_path, DOWNLOAD_MAXSIZE=100)
    assert "http://one.example/image" not in {page["url"] for page in seen}


def test_without_a_web_the_handler_says_what_is_missing(tmp_path):
    settings = {"DOWNLOAD_HANDLERS": {"http": HANDLER}}
    clean = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, Path(__file__).with_name("fetch_all.py"), json.dumps(settings), "http://one.example/"]
    run = subprocess.run(command, env=clean, capture_output=True, check=False, text=True)
    assert "FOCUSED_REPLAY_WEB names no recorded web" in run.stderr


@pytest.mark.skipif(not (CORPORA / "webkb.warc.gz").exists(), reason="the corpora are not here (FOCUSED_CORPORA)")
def test_a_sample_of_a_real_web_is_the_same(tmp_path):
    path = CORPORA / "webkb.warc.gz"
    urls = random.Random(1).sample(Web.open(path).urls, 150)
    seen, _ = compare(path, [*urls, *(f"{url}.gone" for url in urls[:10])], tmp_path)
    assert len(seen) >= 150
