"""``scrapy replay``, as a user runs it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from focused.lab.replay.log import read_log
from focused.lab.replay.write import write_web

ROOT = Path(__file__).parents[3]
ENVIRONMENT = {**os.environ, "SCRAPY_SETTINGS_MODULE": "focused.settings", "PYTHONPATH": str(ROOT)}


def command(*arguments):
    return [sys.executable, "-m", "scrapy", "replay", *map(str, arguments)]


def test_a_web_is_served_until_interrupted(tmp_path):
    warc, log = tmp_path / "web.warc.gz", tmp_path / "log.tsv"
    write_web(warc, {"http://one.example/": "one", "http://two.example/": "two"})
    with subprocess.Popen(command(warc, "--log", log), env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as replay:
        said = replay.stdout.readline()
        assert said.startswith("2 pages of 2 hosts at http://127.0.0.1:")
        proxy = re.search(r"http://\S+", said)[0]
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy}))
        assert opener.open("http://two.example/").read() == b"two"
        replay.send_signal(signal.SIGINT)
        assert replay.wait(30) == 0
    assert [(fetch.status, fetch.url) for fetch in read_log(log)] == [(200, "http://two.example/")]


def test_a_port_that_is_taken_is_told_in_a_sentence(tmp_path):
    warc = tmp_path / "web.warc.gz"
    write_web(warc, {"http://one.example/": "one"})
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        run = subprocess.run(
            command(warc, "--port", port), env=ENVIRONMENT, capture_output=True, text=True, check=False
        )
    assert run.returncode != 0
    assert "in use" in run.stdout + run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--port", "99999", "--port: '99999': give a whole number from 0 to 65535"),
        ("--port", "-1", "--port: '-1': give a whole number from 0 to 65535"),
        ("--log", "none/log.tsv", "--log 'none/log.tsv': No such file or directory"),
    ],
)
def test_a_port_or_a_log_that_cannot_be_is_refused_in_a_sentence(tmp_path, option, value, words):
    warc = tmp_path / "web.warc.gz"
    write_web(warc, {"http://one.example/": "one"})
    run = subprocess.run(
        command(warc, option, value), env=ENVIRONMENT, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    assert words in run.stderr
    assert "Traceback" not in run.stderr


def test_a_file_that_is_no_web_is_refused_in_a_sentence(tmp_path):
    for name, words in (
        ("none.warc.gz", "none.warc.gz' cannot be read: No such file or directory; give a WARC file"),
        ("text.warc.gz", "it contains no recorded response"),
    ):
        path = tmp_path / name
        if "text" in name:
            path.write_text("no archive")
        run = subprocess.run(command(path), env=ENVIRONMENT, capture_output=True, text=True, check=False)
        assert run.returncode != 0
        assert words in run.stdout + run.stderr
        assert "Traceback" not in run.stderr
