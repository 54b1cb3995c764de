"""Workers whose crawl is deleted or spoiled in Redis while they run: they go on, or end with a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from focused.frontier.store import SEED_RANK, NewLink
from focused.lab.demo.bulk import bulk_web
from focused.lab.redis.server import RedisServer
from focused.lab.redis.workers import CRAWL, Workers
from focused.lab.site.reply import Reply
from focused.lab.site.server import SiteServer
from focused.prioritizers.best_first import BestFirst
from focused.redis.store import RedisStore
from tests.attacks import some
from tests.redis.damages import bloat, delete, retype, scramble

PREFIX = f"{{focused:{CRAWL}}}:"


@pytest.fixture
def workers(redis: RedisServer, tmp_path: Path) -> Iterator[Workers]:
    """One worker, in the middle of a crawl with a critic that has learned."""
    web = bulk_web(160, size=3_000, links=12, hosts=8)
    seed = next(iter(web.pages))
    settings = {"ROBOTSTXT_OBEY": False, "CONCURRENT_REQUESTS": 4, "FOCUSED_LEASE_SECONDS": 3}
    with (
        SiteServer({url: Reply(body=page.body, wait=0.03) for url, page in web.pages.items()}) as site,
        Workers(tmp_path, redis, site.url, {"topic": "star galaxy telescope", "seeds": seed}, settings) as workers,
    ):
        (worker,) = workers.start()
        workers.until(lambda: workers.count("pages") >= 55 or not worker.is_running)
        yield workers


@pytest.mark.parametrize(
    ("key", "damage"),
    some(
        [
            *[("links", delete), ("crowds", retype), ("paces", bloat), ("pages", scramble), ("lessons", retype)],
            *[("gists", scramble), ("model:prioritizer", scramble), ("notes", retype), ("answers", scramble)],
        ],
        3,
    ),
)
def test_a_worker_goes_on_or_ends_with_a_sentence(workers: Workers, redis: RedisServer, key: str, damage: Any):
    with redis.client() as client:
        damage(client, PREFIX + key)
    (worker,) = workers.started
    code = worker.wait()
    assert code in {0, 1}
    assert "Traceback" not in worker.log
    assert len(worker.log) < 20_000
    said = re.findall(r"ERROR: .*'test'.*", worker.log)
    assert (code == 1) == bool(said), worker.log
    assert code == 0 or worker.stats["finish_reason"] == "store_broken"


def test_a_request_that_cannot_be_read_costs_its_link_alone(workers: Workers, redis: RedisServer):
    with redis.client() as client:
        store = RedisStore(client, CRAWL, "stranger", BestFirst(), identity={"id bits": "24"})
        for n, request in enumerate((b"junk", b"\x81\xa3url\xa1x")):
            store.admit(None, [NewLink(f"http://broken{n}.example/", "broken", base=SEED_RANK, request=request)])
        store.admit(None, [NewLink("no address at all", "none", base=SEED_RANK)])
        store.close()
    (worker,) = workers.started
    assert worker.wait() == 0
    assert worker.stats["focused/outcome/failed"] == 3
    assert worker.stats["focused/job/pages"] == 160
    assert "Traceback" not in worker.log
