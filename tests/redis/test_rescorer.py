"""Scoring everything again in a process of its own: the same order, and no harm from whatever ends it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from scrapy.settings import BaseSettings

from focused.frontier.store import NewLink, StoreBroken
from focused.lab.redis.server import RedisServer
from focused.redis.workers import rescorer
from focused.redis.workers.rescorer import Rescorer
from tests.frontier.frontiers import Frontier, Plain, add, addresses

LINKS = [("http://h/a", 0.3), ("http://h/b", 0.6), ("http://i/c", 0.1)]
# 0.3 · 2.5 = 0.75; 0.6 · 2.5 mod 1 = 0.5; 0.1 · 2.5 = 0.25
AGAIN = ["http://h/a", "http://h/b", "http://i/c"]
MANY = 1_000_000


class Rooted(Plain):
    """It holds something that cannot leave its process."""

    def __init__(self, factor=1.0):
        super().__init__(factor)
        self.root = (number for number in range(3))


class Failing(Plain):
    """Cannot score."""

    def score(self, evidence):
        if len(evidence) > 1:
            raise ArithmeticError("no number")
        return super().score(evidence)


class Talking(Plain):
    """Says what it does."""

    def score(self, evidence):
        print("scoring", len(evidence), flush=True)
        return super().score(evidence)


@pytest.fixture
def frontier(redis):
    frontier = Frontier(redis)
    add(frontier.store, NewLink("http://seed/", "seed"))
    frontier.page("http://seed/", 0.5, LINKS)
    frontier.store.commit()
    yield frontier
    frontier.store.abandon()


@pytest.fixture
def open_rescorer(frontier, redis):
    opened = []

    def make(server: RedisServer = redis) -> Rescorer:
        store, settings = frontier.store, BaseSettings({"REDIS_URL": server.url})
        made = Rescorer(settings, store.server, store.pool_over(server.client()))
        opened.append(made)
        return made

    yield make
    for each in opened:
        each.close()


def processes() -> list[int]:
    """Those of this process that score again, by their ids."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid() and rescorer.__name__ in (folder / "cmdline").read_text():
                found.append(int(folder.name))
    return found


@pytest.mark.parametrize(("rows", "number"), [(2, 0), (MANY, 1)])
def test_much_is_scored_in_a_process_that_stays_and_little_is_not(frontier, open_rescorer, rows, number):
    made = open_rescorer()
    made.run(Plain(0.5), rows)
    first = processes()
    assert len(first) == number
    made.run(Plain(2.5), rows)
    assert processes() == first
    assert addresses(frontier.store) == AGAIN
    made.close()
    assert not processes()


def test_a_prioritizer_that_cannot_leave_its_process_scores_there(frontier, open_rescorer):
    open_rescorer().run(Rooted(2.5), MANY)
    assert not processes()
    assert addresses(frontier.store) == AGAIN


def test_what_fails_in_the_process_is_told_and_it_goes_on(frontier, open_rescorer):
    made = open_rescorer()
    with pytest.raises(RuntimeError, match="ArithmeticError: no number"):
        made.run(Failing(), MANY)
    made.run(Plain(2.5), MANY)
    assert addresses(frontier.store) == AGAIN


def test_a_process_that_was_killed_is_told_and_another_one_started(frontier, open_rescorer):
    made = open_rescorer()
    made.run(Plain(), MANY)
    (process,) = processes()
    os.kill(process, signal.SIGSTOP)
    with ThreadPoolExecutor() as pool:
        work = pool.submit(made.run, Plain(), MANY)
        with pytest.raises(TimeoutError):
            work.result(0.2)
        os.kill(process, signal.SIGKILL)
        with pytest.raises(RuntimeError, match=r"failed \(code -9\)"):
            work.result()
    made.run(Plain(2.5), MANY)
    assert addresses(frontier.store) == AGAIN


def test_redis_is_away(frontier, open_rescorer, tmp_path: Path):
    with RedisServer(tmp_path) as server:
        made = open_rescorer(server)
        made.run(Plain(), MANY)
        server.kill()
        with pytest.raises(StoreBroken):
            made.run(Plain(), MANY)
        server.start()
        made.run(Plain(), MANY)
    with pytest.raises(StoreBroken, match="Redis does not answer"):
        open_rescorer(server).run(Plain(), MANY)


def ignores_interrupts(process: int) -> bool:
    (mask,) = re.findall(r"^SigIgn:\s*(\w+)", Path(f"/proc/{process}/status").read_text(), flags=re.M)
    return bool(int(mask, 16) >> (signal.SIGINT - 1) & 1)


def test_what_a_prioritizer_prints_does_not_get_between_the_answers(frontier, open_rescorer):
    made = open_rescorer()
    made.run(Talking(0.5), MANY)
    made.run(Talking(2.5), MANY)
    assert addresses(frontier.store) == AGAIN


def test_the_process_ends_with_its_worker_however_that_ends():
    reader, writer = os.pipe()
    process = subprocess.Popen([sys.executable, "-m", rescorer.__name__], stdin=reader, stdout=subprocess.DEVNULL)
    os.close(reader)
    while not ignores_interrupts(process.pid):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    os.close(writer)
    assert process.wait() == 0
