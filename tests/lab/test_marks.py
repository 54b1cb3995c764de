"""What bench/marks.py measures: a user with labels, by the real commands; pauses of an event loop."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import closing
from types import SimpleNamespace

from scrapy.utils.test import get_crawler

from bench import marks
from bench.marks_taking import Event, Watch, read_events
from focused.frontier.records import read_records
from focused.lab.measure import CrawlFigures
from focused.lab.plan import MeasuredCrawl, read_results
from tests.lab.test_given import titled  # noqa: F401  (a fixture)
from tests.small_web import address


def test_a_user_answers_by_the_labels_while_the_crawl_rests(small_web, titled, tmp_path, monkeypatch, capsys):  # noqa: F811
    monkeypatch.setattr(marks, "RESTS", (2,))
    files = f"--topics-file {titled} --examples {small_web.examples} --labels {small_web.labels}"
    options = f"bench.marks {small_web.warc} {files} --topics stars --pages 60 --answers 7 --out {tmp_path}"
    monkeypatch.setattr(sys, "argv", options.split())
    marks.main()
    crawls = tmp_path / "small" / "crawls" / "stars"
    with closing(read_records(crawls / "7_answers-0" / "job")) as records:
        said = dict(records.execute("SELECT url, said FROM answers JOIN pages USING (link)").fetchall())
        (pages,) = records.execute("SELECT count(*) FROM pages").fetchone()
    on_topic = {address(number) for number in small_web.on_topic}
    assert said == {url: "yes" if url.replace("https:", "http:") in on_topic else "no" for url in said}
    assert len(said) == 7
    assert pages > 60, "the examples do not count"
    runs = {run.row: run for run in read_results(tmp_path / "small").runs}
    assert set(runs) == {"7 answers", "bound"}
    assert runs["7 answers"].figures.pages == 60
    said_then, (yes, no) = (
        capsys.readouterr().out,
        (sum(one == what for one in said.values()) for what in ("yes", "no")),
    )
    assert f"7 answers: {yes:.1f} yes and {no:.1f} no a crawl" in said_then
    # What is in the results is not done again.
    marks.main()
    assert capsys.readouterr() == (said_then, f"{small_web_pages(small_web)} pages recorded\n")


def small_web_pages(small_web):
    return sum(isinstance(page, str) or page.status == 200 for page in small_web.pages.values())


def figures(share):
    run = CrawlFigures(
        pages=1, requests=1, robots=0, found={}, found_in_all=0, r_precision=None, harvest_at_n=None, loss_at_n=None,
        harvest=None, loss=None, curve=[],
    )  # fmt: skip
    return {"figures": run, "share": share}


def test_rows_are_compared_topic_by_topic():
    shares = {"0 answers": (0.1, 0.5, 0.6), "5 answers": (0.3, 0.5, 0.5)}
    runs = [
        MeasuredCrawl(topic=topic, row=row, start=0, **figures(share))
        for row, ones in shares.items()
        for topic, share in zip("abc", ones, strict=True)
    ]
    results = SimpleNamespace(runs=runs, plan=SimpleNamespace(prioritizers=list(shares)))
    *_, first, second = marks.table("small", results)
    assert first == "| 0 answers | 3 | 0.400 | | |"
    assert second == "| 5 answers | 3 | 0.433 | +0.033 ± 0.088 | 1 / 1 / 1 |"


def test_a_pause_of_the_loop_is_noted_with_the_cpu_that_it_cost(tmp_path):
    file = tmp_path / "events.tsv"
    watch = Watch(get_crawler(settings_dict={"BENCH_EVENTS": str(file)}))

    async def crawl() -> None:
        watch.spider_opened()
        await asyncio.sleep(0.01)
        time.sleep(0.2)  # the loop is held
        await asyncio.sleep(0.01)
        watch.verdicts_revised()
        watch.spider_closed()

    asyncio.run(crawl())
    held = max((event for event in read_events(file) if event.what == "held"), key=lambda event: event.seconds)
    assert held.seconds > 0.15
    assert held.of_loop < 0.15, "it slept"
    assert isinstance(held, Event)
    assert [event.what for event in read_events(file)][-1] == "revised"
