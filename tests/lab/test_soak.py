"""The long crawl of bench/soak.py, at its smallest; and what it would not let pass."""

from __future__ import annotations

import subprocess
import sys
from argparse import Namespace
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from bench.soak import Life, Sample, Soak, Usage, Verdict, trouble
from bench.soak_web import HOSTILE_EVERY, WAYS, SoakWeb, Text
from focused.frontier.store import State
from tests.egg import ROOT

MB = 1 << 20
LINES = (
    *("open files", "open sockets", "temporary files", "files in the job", "good pages", "fetched again"),
    *("forbidden", "tracebacks", "ended by itself"),
)


def test_a_kill_loses_nothing_among_hosts_of_every_hostile_kind():
    """It ends with a stop."""
    hosts = HOSTILE_EVERY * len(WAYS)
    options = f"--minutes 20 --pages 120 --hosts {hosts} --stops 0 --kills 1".split()
    run = [sys.executable, "-m", "bench.soak", *options]
    done = subprocess.run(run, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    judged = {line[:22].strip(): line for line in done.stdout.splitlines() if line.endswith(": ok")}
    assert set(LINES) <= set(judged)
    assert "120 of 120 given" in judged["good pages"]
    ends = next(line for line in done.stdout.splitlines() if line.startswith("ends"))
    assert (ends.count("SIGINT"), ends.count("SIGKILL")) == (1, 1)


def test_every_page_is_reached_and_found_by_its_address():
    web = SoakWeb(2_000, 100, 8_000)
    seen, led = {0}, [0]
    while led:
        new = set(web.links(led.pop())) - seen
        seen |= new
        led += new
    assert seen == set(range(2_000))
    assert [web.number(web.url(page)) for page in (0, 7, 1_999)] == [0, 7, 1_999]
    assert web.number(web.url(7).replace("host", "host1")) is web.number(web.url(7) + "x") is None
    text = Text()
    assert text.page(web, 7) == text.page(web, 7) != text.page(web, 8)
    assert all(web.url(other) in text.page(web, 7) for other in web.links(7))


def sample(at, pss=100.0, *, cpu=None, links=0, others=0, sockets=0):
    usage = Usage(pss=int(pss * MB), sockets=sockets, cpu=at if cpu is None else cpu)
    return Sample(at, int(at * 10), others, links, 0, 0, {"start 1": usage})


def verdict(samples, **more):
    life = Life("start 1", SimpleNamespace(log="", **more), 0.0, samples, end="SIGINT")
    soak = Soak(Namespace(pages=100), None, None, None, samples=samples, lives=[life], left=[set()])
    return Verdict(soak)


@pytest.mark.parametrize(
    ("grows_by", "links", "kept"),
    [(0, 0, True), (8, 0, False), (8, 100_000, True), (40, 100_000, False)],
)
def test_memory_may_grow_with_the_links_known_and_no_more(grows_by, links, kept):
    """In the 300 s from the second sixth on; the first is left out."""
    samples = [
        sample(at, 20 if at < 100 else 100 + grows_by * (at - 150) / 400, links=int(links * at / 400))
        for at in range(0, 601, 10)
    ]
    judged = verdict(samples)
    judged._memory()
    assert judged.kept is kept


@pytest.mark.parametrize(("slower", "kept"), [(1.0, True), (1.3, False)])
def test_the_pace_is_cpu_a_page_and_traps_are_no_part_of_it(slower, kept):
    cpu = others = 0.0
    samples = []
    for at in range(0, 601, 10):
        trapped = at % 100 == 50
        cpu += (20.0 if trapped else 2.0) * (slower if at > 300 else 1)
        others += 500 * trapped
        samples.append(sample(at, cpu=cpu, others=int(others)))
    judged = verdict(samples)
    judged._pace()
    assert judged.kept is kept


@pytest.mark.parametrize(("sockets", "kept"), [(300, True), (3_000, False)])
def test_open_connections_are_bounded(sockets, kept):
    judged = verdict([sample(at, sockets=sockets) for at in range(0, 100, 10)])
    judged._left_open()
    assert judged.kept is kept


def test_tracebacks_and_crawls_that_end_by_themselves_are_shown(capsys):
    log = "fine\nTraceback (most recent call last):\n  a line\nValueError: x\n"
    assert list(trouble(log)) == ["Traceback (most recent call last): |   a line | ValueError: x"]
    judged = verdict([sample(0.0)])
    judged.soak.lives[0].process.log = log
    judged._ends()
    assert not judged.kept
    assert "ValueError: x" in capsys.readouterr().out
    ended = verdict([sample(0.0)])
    ended.soak.wrong = ["start 1 ended by itself, with code 1"]
    ended._ends()
    assert not ended.kept


class Reader:
    """A job: pages recorded, and links with their states."""

    def __init__(self, web, recorded, waiting):
        self.recorded = [{"url": web.url(page)} for page in recorded]
        self.waiting = {web.url(page) for page in waiting}

    def items(self):
        return self.recorded

    def link_at(self, url):
        return SimpleNamespace(state=State.WAITING) if url in self.waiting else None

    def close(self):
        pass


@pytest.mark.parametrize("left_out", [None, "waiting", "recorded"])
def test_a_page_is_lost_if_it_was_found_and_neither_is_recorded_nor_waits(left_out):
    """Page 1 was given, and its crawl was killed: it waits, and what it links to is not known yet."""
    web = SoakWeb(500, 20, 8_000)
    given = np.zeros(500, np.uint32)
    given[[0, 1, 2]] = 1
    recorded, waiting = {0, 2}, {1, *web.links(0), *web.links(2)}
    waiting -= {max(waiting)} if left_out == "waiting" else set()
    recorded -= {2} if left_out == "recorded" else set()
    waiting -= {2}
    judged = verdict([sample(0.0)])
    judged.soak.options.pages = 500
    judged.soak.served = SimpleNamespace(web=web, given=given, requests=Counter(forbidden=0))
    judged.soak.place = SimpleNamespace(reader=lambda: Reader(web, recorded, waiting))
    judged._pages()
    assert judged.kept is (left_out is None)
