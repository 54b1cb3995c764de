"""docs/scale.md shows what bench/scale.py prints; what it simulates keeps within the bounds of what it is made of."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest

from bench.scale import Costs, Crawl, Plan, read_costs
from focused.redis import rescoring as redis_rescoring
from focused.redis import store as store_redis
from focused.redis.workers import learning
from tests.egg import ROOT

PRINTED = """Redis            0.446 ms a page in 3.17 calls
redis            0.64 ms of the worker's CPU a page
empty call       0.020 ms of Redis
fetched          1300 bytes a page
100,000 links wait, 158,288 pieces; filled in 3 s
memory           654 bytes a waiting link (links 556, ids 58)
scoring again    0.44 s (0.47 s the first time), 0.09 s of Redis's CPU
"""
COSTS = Costs()


def words(text: str) -> list[str]:
    return text.split()


def test_the_page_shows_what_is_printed() -> None:
    run = [sys.executable, "-m", "bench.scale"]
    printed = subprocess.run(run, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    shown = "\n".join(re.findall(r"^```\n(.*?)^```$", page, flags=re.M | re.S)[1:])
    assert words(shown) == words(printed)


def test_costs_are_read_from_what_was_printed(tmp_path: Path) -> None:
    (tmp_path / "costs.txt").write_text(PRINTED)
    found = read_costs(tmp_path / "costs.txt")
    assert set(found) < {field.name for field in fields(Costs)}
    assert found == pytest.approx({name: getattr(COSTS, name) for name in found}, rel=0.01)
    (tmp_path / "costs.txt").write_text("nothing of the kind")
    with pytest.raises(SystemExit, match="not what bench/redis_store"):
        read_costs(tmp_path / "costs.txt")


def test_the_benchmark_prints_what_is_read() -> None:
    source = (ROOT / "bench" / "redis_store.py").read_text(encoding="utf-8")
    for line in PRINTED.splitlines():
        fixed = [part for part in re.split(r"[\d.,]+", line.partition("(links")[0]) if len(part.strip()) > 3]
        for part in fixed[1:] if line.startswith("redis") else fixed:
            assert part.strip() in source, part


def test_it_is_made_of_what_the_crawl_does() -> None:
    from bench import scale

    assert (scale.SLICE, scale.REST, scale.APART) == (redis_rescoring._AT_ONCE, learning._REST, store_redis._APART)


def test_one_worker_is_bound_by_its_downloads_or_by_its_processor() -> None:
    bound = COSTS.concurrent / (COSTS.download / 1_000)
    assert 0.9 * bound < Crawl(COSTS, Plan(1)).run().pages <= bound
    heavy = Crawl(replace(COSTS, page=100.0), Plan(1)).run()
    assert heavy.pages == pytest.approx(10, rel=0.1)
    assert heavy.worker == pytest.approx(1.0, abs=0.03)


def test_many_workers_are_bound_by_redis_and_by_hosts() -> None:
    crowd = Crawl(COSTS, Plan(100)).run()
    assert crowd.pages == pytest.approx(1_000 / COSTS.redis_page, rel=0.01)
    assert crowd.redis == pytest.approx(1.0, abs=0.01)
    assert Crawl(COSTS, Plan(100, hosts=50)).run().pages == pytest.approx(50 / COSTS.delay, rel=0.03)


def test_more_servers_share_the_work_and_batches_save_calls() -> None:
    busy = replace(COSTS, concurrent=100)
    one, each, together = (
        Crawl(busy, Plan(100, shards=n, batch=batch)).run() for n, batch in ((1, 1), (4, 1), (4, 50))
    )
    assert 2 * one.pages < each.pages < together.pages <= 4 * one.pages * 1.01


def test_a_rescoring_takes_time_from_redis_and_rests() -> None:
    alone, beside = (Crawl(COSTS, Plan(8, rescoring=on)).run() for on in (False, True))
    pass_of_one = 2 * COSTS.rescore_link - COSTS.rescore_redis
    assert beside.links == pytest.approx(1_000 / pass_of_one, rel=0.2)
    assert beside.redis - alone.redis == pytest.approx(beside.links * COSTS.rescore_redis / 1_000, rel=0.1)
