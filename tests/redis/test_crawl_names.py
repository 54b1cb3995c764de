"""A crawl's name becomes keys, paths and lines on a terminal: it is checked wherever it comes from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from focused.frontier.store import JobRefused
from focused.lab.redis.server import RedisServer
from focused.prioritizers.best_first import BestFirst
from focused.redis.reading.reader import open_readers
from focused.redis.server import crawls_on
from focused.redis.store import FORMAT, RedisStore
from focused.scheduling.starts import ABOUT

STRANGE = [b"../../evil", b"a/b", b"\x1b[31mred", b"\xff\xfe", b"a\nb", b"a" * 101, b"", b"a}:meta", b"a b"]
NAMES = [name.decode("utf-8", "replace") for name in STRANGE]
HIDDEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


@pytest.fixture
def strange(redis: RedisServer) -> RedisServer:
    """A server with one crawl, and keys that look like those of others."""
    with redis.client() as client:
        for name in STRANGE:
            client.hset(b"{focused:" + name + b"}:meta", mapping={"of:format": FORMAT, "pages": 3})
        store = RedisStore(client, "birds-2.0_x", "one", BestFirst())
        store.beat()
        store.abandon()
    return redis


def test_only_what_can_be_a_crawl_is_taken_for_one(strange: RedisServer):
    with strange.client() as client:
        assert list(crawls_on(client)) == ["birds-2.0_x"]
    assert [reader.name for reader in open_readers(strange.url, None, Settings())] == ["birds-2.0_x"]


@pytest.mark.parametrize("command", ["status", "report", "export"])
def test_a_strange_name_leads_to_no_file_and_is_not_shown(
    strange: RedisServer, scrapy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    options = ("-o", "all.jsonl") if command == "export" else ()
    run = scrapy(command, strange.url, *options)
    assert run.returncode == 0
    assert not HIDDEN.search(run.stdout + run.stderr)
    assert {path.name for path in tmp_path.rglob("*")} <= {"here", "birds-2.0_x.html", "all.jsonl"}


@pytest.mark.parametrize("name", NAMES)
def test_a_strange_name_is_refused_in_a_sentence(strange: RedisServer, scrapy: Any, name: str):
    run = scrapy("status", strange.url, "--crawl", name)
    assert run.returncode == 2
    assert "is not the name of a crawl: it consists of letters, digits" in run.stderr
    assert not HIDDEN.search(run.stderr)
    assert len(run.stderr) < 400
    with strange.client() as client, pytest.raises(JobRefused, match="is not the name of a crawl"):
        RedisStore(client, name, "one", BestFirst())


EVIL = "\x1b[31m\x07" + "evil " * 10_000


@pytest.mark.parametrize("at", ["meta of:format", "meta clock", f"notes {ABOUT}", "meta of:prioritizer"])
@pytest.mark.parametrize("command", [("status",), ("why", "--job"), ("report",)])
def test_what_is_read_from_redis_reaches_no_terminal_as_it_is(
    strange: RedisServer, scrapy: Any, tmp_path: Path, at: str, command: tuple[str, ...]
):
    key, field = at.split()
    with strange.client() as client:
        client.hset(f"{{focused:birds-2.0_x}}:{key}", field, EVIL)
    out = ("--out", tmp_path / "r.html") if command == ("report",) else ()
    run = scrapy(*command, strange.url, *out)
    assert run.returncode in {0, 2}
    assert not HIDDEN.search(run.stdout + run.stderr)
    assert len(run.stdout + run.stderr) < 2_000
    assert "Traceback" not in run.stderr


def test_no_module_is_imported_because_redis_names_it(
    strange: RedisServer, scrapy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "strange_module.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w').close()\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    about = '{"topic": {"name": "birds"}, "critic": "", "prioritizer": {"name": "strange_module.Evil", "options": {}}}'
    with strange.client() as client:
        client.hset("{focused:birds-2.0_x}:notes", ABOUT, about)
    run = scrapy("why", "--job", strange.url)
    assert run.returncode == 2
    assert "if it is yours, name it by -s FOCUSED_PRIORITIZER=strange_module.Evil" in run.stderr
    assert not (tmp_path / "imported").exists()
    own = scrapy("why", "--job", strange.url, "-s", "FOCUSED_PRIORITIZER=strange_module.Evil")
    assert own.returncode == 2
    assert (tmp_path / "imported").exists(), "the user has named it"
