"""``scrapy paths record``: what it fetches, keeps and prints; without a browser."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from focused.lab.replay.write import write_web
from focused.lab.site.reply import Reply, html
from focused.lab.site.server import SiteServer
from focused.papers.paths.reading import read_paths
from tests.watch.recording.pages import COURSES, UNIVERSITY, U
from tests.watch.recording.recorder import FAST, Recording, recording


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    file = tmp_path / "courses.toml"
    file.write_text(COURSES)
    return file


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "new" / "paths.jsonl"


def ask(server: Recording, path: str, value: object = None) -> Any:
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    data = None if value is None else json.dumps(value).encode()
    with urlopen(Request(f"{server.url}/api/{path}", data, headers), timeout=60) as answer:
        return json.load(answer)


def problem(server: Recording, url: str) -> str:
    """What is said of an address that is opened."""
    return str(ask(server, "open", {"url": url})["problem"]).removeprefix(f"{url} cannot be shown: ")


def test_each_click_is_kept_and_the_same_command_goes_on(topic: Path, out: Path) -> None:
    pages = {url: html(page) for url, page in UNIVERSITY.items()}
    start = ("--start", f"{U}/", *FAST)
    with SiteServer(pages) as site:
        with recording(topic, out, *start, proxy=site.url) as server:
            for name in ("", "cs"):
                ask(server, "open", {"url": f"{U}/{name}"})
            server.process.kill()
        with recording(topic, out, *start, proxy=site.url) as server:
            ask(server, "open", {"url": f"{U}/"})
            assert server.end(interrupt=True) == [
                "Finish on the page, or by Ctrl-C; each click is kept.",
                "no path so far: say on the page which ones are goals; the same command goes on",
            ]
    clicks = [json.loads(line)["urls"] for line in out.with_suffix(".clicks.jsonl").read_bytes().splitlines()]
    assert [*dict.fromkeys(url for urls in clicks for url in urls)] == [f"{U}/", f"{U}/cs"]
    assert not out.exists()


def test_what_cannot_be_shown_is_said_in_a_sentence(topic: Path, out: Path) -> None:
    pages = {
        f"{U}/": html("<title>Home</title><a href=/x>x</a>"),
        f"{U}/robots.txt": "User-agent: *\nDisallow: /secret\n",
        f"{U}/pdf": Reply(headers={"Content-Type": "application/pdf"}, body=b"%PDF-1.4"),
        f"{U}/moved": Reply(status=302, headers={"Location": "http://10.0.0.1/"}),
        f"{U}/old": Reply(status=301, headers={"Location": "/"}),
        f"{U}/slow": Reply(status=503),
    }
    with SiteServer(pages) as site, recording(topic, out, "--start", f"{U}/secret", *FAST, proxy=site.url) as server:
        assert problem(server, f"{U}/secret") == "the robots.txt of the site forbids this page"
        assert problem(server, f"{U}/gone") == "the server answered 404"
        assert problem(server, f"{U}/pdf").startswith("this is not a page of HTML (")
        assert "'127.0.0.1' is an inner address" in problem(server, f"{site.url}/")
        assert "'10.0.0.1' is an inner address" in problem(server, f"{U}/moved")
        assert ask(server, "back", {})["problem"] == ""
        shown = ask(server, "open", {"url": f"{U}/old"})
        assert (shown["title"], shown["url"], shown["problem"]) == ("Home", f"{U}/old", "")
        assert "try again in" in problem(server, f"{U}/slow")
        server.end(interrupt=True)
    fetched = site.fetched(status=None)
    assert fetched.count(f"{U}/secret") == 0
    assert set(fetched) <= set(pages) | {f"{U}/gone"}


def test_nothing_listens_for_a_command_that_cannot_be(scrapy, topic: Path, out: Path, tmp_path: Path) -> None:
    (tmp_path / "web.txt").write_text("no web")
    for arguments, wrong in [
        ((topic,), "seeds"),
        ((topic, "--start", "u.example"), "is not an http(s) address"),
        ((topic, topic, "--start", f"{U}/"), "give one topic"),
        ((topic, "--start", f"{U}/", "--web", tmp_path / "web.txt"), "web.txt"),
        ((topic, "--start", f"{U}/", "--web", tmp_path / "none.warc"), "none.warc"),
    ]:
        refused = scrapy("paths", "record", *arguments, "--out", out, "--port", "0")
        assert (refused.returncode, wrong in refused.stderr, refused.stdout) == (2, True, ""), refused.stderr
    assert scrapy("paths", "record", topic, "--start", f"{U}/").returncode == 2
    assert not list(tmp_path.rglob("*.jsonl"))
    assert scrapy("paths", topic, "--start", f"{U}/", "--out", out).stderr.endswith("are for 'paths record TOPIC'\n")


def test_what_is_not_installed_is_named(scrapy, topic: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.startswith(("focused.watch.recording", "focused.watch"))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    refused = scrapy("paths", "record", topic, "--start", f"{U}/", "--out", out)
    assert refused.returncode == 2
    assert refused.stderr.rstrip().endswith("is not installed: pip install 'focused[watch]'")


def test_a_recorded_web_is_browsed_without_a_network(topic: Path, out: Path, tmp_path: Path) -> None:
    write_web(tmp_path / "web.warc.gz", UNIVERSITY)
    with recording(topic, out, "--start", f"{U}/", "--web", str(tmp_path / "web.warc.gz")) as server:
        assert ask(server, "open", {"url": f"{U}/cs"})["title"] == "CS"
        assert problem(server, f"{U}/gone") == "the server answered 404"
        assert problem(server, "http://127.0.0.1/") == "the server answered 404"
        server.end(interrupt=True)
    assert not out.exists()
    with pytest.raises(ValueError, match="cannot be read"):
        read_paths(out)
