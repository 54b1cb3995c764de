"""What is left of a crawl when Redis restarts, by how Redis keeps things: the table in docs/deploy.md."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from focused.frontier.store import NewLink, Outcome, PageRecord, StoreBroken
from focused.lab.redis.server import RedisServer
from focused.redis.store import RedisStore
from tests.frontier.frontiers import lease, open_redis

AOF = ("--appendonly", "yes", "--appendfsync")
DEPLOY_PAGE = (Path(__file__).parents[2] / "docs" / "deploy.md").read_text(encoding="utf-8")
LOST, SNAPSHOT, ALL = "nothing is kept", "state of the last snapshot", "everything is kept"
KEEPS = [
    ('save ""', (), LOST, LOST),
    ("save 60 1000", ("--save", "3600 1000000"), ALL, SNAPSHOT),
    ("appendonly yes, appendfsync everysec", (*AOF, "everysec"), ALL, ALL),
    ("appendonly yes, appendfsync always", (*AOF, "always"), ALL, ALL),
]


def fetch(store: RedisStore, pages: int) -> None:
    for _ in range(pages):
        leased = lease(store)
        assert leased is not None
        store.record(leased, PageRecord(0, leased.url, 0.5, leased.link, item={"url": leased.url}))
        store.acknowledge(leased, Outcome.PAGE)
    store.commit()


def fetched_after(server: RedisServer, end: Callable[[RedisServer], None]) -> int | None:
    """Fetch some pages, have the snapshot written that is due, fetch more, restart the server: pages that it knows."""
    store = open_redis(server)
    for n in range(50):
        store.admit(None, [NewLink(f"http://h/{n}", "h", base=n / 50)])
    fetch(store, 10)
    with server.client() as client:
        if client.config_get("save")["save"]:
            client.save()
    fetch(store, 10)
    end(server)
    server.start()
    with server.client() as client:
        is_there = bool(client.keys("*"))
    if not is_there:
        with pytest.raises(StoreBroken, match="no longer in Redis"):
            store.beat()
        return None
    store.beat()
    before = store.standing().pages
    fetch(store, 1)
    assert store.standing().pages == before + 1, "it goes on"
    store.close()
    return before


@pytest.mark.parametrize(("name", "options", "stopped", "killed"), KEEPS, ids=[row[0] for row in KEEPS])
def test_what_is_kept_is_what_the_page_says(
    tmp_path: Path, name: str, options: tuple[str, ...], stopped: str, killed: str
) -> None:
    pages = {LOST: None, SNAPSHOT: 10, ALL: 20}
    for folder, how, kept in ((tmp_path / "a", RedisServer.stop, stopped), (tmp_path / "b", RedisServer.kill, killed)):
        folder.mkdir()
        with RedisServer(folder, *options) as server:
            assert fetched_after(server, how) == pages[kept]
    (row,) = re.findall(rf"^\| `?{re.escape(name)}`? \|(.*)\|$", DEPLOY_PAGE.replace("`, `", ", "), flags=re.M)
    assert [cell.strip() for cell in row.split(" | ")][:2] == [stopped, killed]
