"""What `scrapy export` writes is what the crawl wrote, and an apprentice that another crawl can begin with."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import etree

from focused.lab.site.crawl import CrawlResult, run_crawl
from focused.lab.site.server import SiteServer
from focused.papers.prioritizers.apprentice import Apprentice
from focused.papers.prioritizers.observed import BestFirstObserved, for_apprentice
from focused.prioritizers.base import Prioritizer
from focused.prioritizers.focused import Focused
from focused.registry import find, names
from focused.report.job_reader import JobReader
from focused.report.lessons import NothingLearned, read_lessons, study_lessons

FIELDS = ["url", "title", "relevance", "class", "depth", "parent", "order", "score", "time", "label"]


def order(line: bytes) -> int:
    return int(json.loads(line)["order"])


def test_the_export_is_the_output_of_the_crawl_to_the_byte(
    crawl: CrawlResult, job: Path, tmp_path: Path, scrapy: Callable[..., Any]
) -> None:
    run = scrapy("export", job, "-o", tmp_path / "again.jsonl")
    assert run.returncode == 0, run.stderr
    # Where a page waits for training, the next one may be written before it; the export is in order.
    written = (job.parent / "items.jsonl").read_bytes().splitlines()
    assert (tmp_path / "again.jsonl").read_bytes().splitlines() == sorted(written, key=order)
    assert "15 items" in run.stdout


def test_every_format_has_the_same_items(crawl: CrawlResult, job: Path, scrapy: Callable[..., Any]) -> None:
    urls = [item["url"] for item in sorted(crawl.items, key=itemgetter("order"))]
    as_json = json.loads(scrapy("export", job, "-o", "-:json").stdout)
    as_csv = list(csv.DictReader(io.StringIO(scrapy("export", job, "-o", "-:csv").stdout)))
    as_xml = etree.fromstring(scrapy("export", job, "-o", "-:xml").stdout.encode())
    assert [item["url"] for item in as_json] == urls
    assert [item["url"] for item in as_csv] == urls
    assert list(as_csv[0]) == FIELDS
    assert [url.text for url in as_xml.iter("url")] == urls


def test_only_the_relevant(crawl: CrawlResult, job: Path, scrapy: Callable[..., Any]) -> None:
    lines = scrapy("export", job, "-o", "-", "--relevant", "0.5").stdout.splitlines()
    expected = {item["url"] for item in crawl.items if item["relevance"] >= 0.5}
    assert {json.loads(line)["url"] for line in lines} == expected
    assert 0 < len(expected) < len(crawl.items)


def test_settings_of_exports_count(job: Path, scrapy: Callable[..., Any]) -> None:
    lines = scrapy("export", job, "-o", "-", "-s", "FEED_EXPORT_FIELDS=order,title").stdout.splitlines()
    assert list(json.loads(lines[0])) == ["order", "title"]


def test_after_a_kill_the_export_is_whole(site: SiteServer, tmp_path: Path, scrapy: Callable[..., Any]) -> None:
    topic = tmp_path / "birds.toml"
    topic.write_text('name = "b"\nkeywords = ["bird"]\nseeds = ["http://a.example/"]\n')
    slow = {"DOWNLOAD_DELAY": 0.03}
    run_crawl({"topic": topic, "pages": 15}, folder=tmp_path, site=site, settings=slow, kill_after=8)
    # The job may be read before the crawl goes on, and while it is cut short.
    before = scrapy("export", tmp_path / "job", "-o", "-").stdout.splitlines()
    run_crawl({"topic": topic, "pages": 15}, folder=tmp_path, site=site)
    after = scrapy("export", tmp_path / "job", "-o", "-").stdout.splitlines()
    urls = [json.loads(line)["url"] for line in after]
    assert len(urls) == len(set(urls)) >= 14
    assert after[: len(before)] == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "x.bar"], "has no known format"),
        ([], "give one crawl, and what to write"),
        (["-o", "-", "--train"], "--train needs --learned"),
        (["--apprentice", "a.npz"], "--apprentice a.npz is now called --learned a.npz"),
    ],
)
def test_mistakes_are_told(job: Path, arguments: list[str], said: str, scrapy: Callable[..., Any]) -> None:
    run = scrapy("export", job, *arguments)
    assert run.returncode == 2
    assert said in run.stdout + run.stderr


def test_nothing_is_written_where_there_is_no_job(tmp_path: Path, scrapy: Callable[..., Any]) -> None:
    run = scrapy("export", tmp_path, "-o", tmp_path / "x.jsonl")
    assert run.returncode == 2
    assert "there is no job in" in run.stdout + run.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_job_without_pages_gives_an_empty_file(empty_job: Path, tmp_path: Path, scrapy: Callable[..., Any]) -> None:
    assert scrapy("export", empty_job, "-o", tmp_path / "none.jsonl").returncode == 0
    assert (tmp_path / "none.jsonl").read_bytes() == b""


def restored(path: Path, prioritizer: Prioritizer) -> Prioritizer:
    with np.load(path, allow_pickle=False) as arrays:
        prioritizer.restore({name: arrays[name] for name in arrays.files})
    return prioritizer


def test_what_was_learned_goes_from_job_to_job(
    job: Path, site: SiteServer, tmp_path: Path, scrapy: Callable[..., Any], reader: JobReader
) -> None:
    run = scrapy("export", job, "--learned", tmp_path / "birds.npz")
    assert run.returncode == 0, run.stderr
    # It knows at once what the first crawl had to find out.
    evidence = next(iter(read_lessons(reader))).evidence
    assert restored(tmp_path / "birds.npz", Focused()).score(evidence) != pytest.approx(Focused().score(evidence))
    topic = tmp_path / "birds.toml"
    topic.write_text('name = "b"\nkeywords = ["bird", "wing", "feather"]\nseeds = ["http://a.example/"]\n')
    arguments = {"topic": topic, "pages": 6, "learned": tmp_path / "birds.npz"}
    second = run_crawl(arguments, folder=tmp_path, site=site, settings={"CONCURRENT_REQUESTS": 1})
    assert second.exit_code == 0, second.log
    assert not [item["url"] for item in second.items if "stone" in item["url"]]


def test_what_best_first_saw_trains_an_apprentice(site: SiteServer, tmp_path: Path, scrapy: Callable[..., Any]) -> None:
    """§3.5 of the paper: a best-first crawl, and an apprentice trained on its lessons afterwards."""
    orders = {}
    for name in ("best-first", "best-first-observed"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "b.toml").write_text('name = "b"\nkeywords = ["bird", "wing"]\nseeds = ["http://a.example/"]\n')
        arguments = {"topic": folder / "b.toml", "prioritizer": name}
        result = run_crawl(arguments, folder=folder, site=site, settings={"CONCURRENT_REQUESTS": 1})
        orders[name] = [(item["url"], item["score"]) for item in result.items]
    assert orders["best-first"] == orders["best-first-observed"]

    file = tmp_path / "trained.npz"
    run = scrapy("export", tmp_path / "best-first-observed" / "job", "--learned", file, "--train")
    assert run.returncode == 0, run.stderr
    assert "learned from" in run.stdout
    with JobReader.open(tmp_path / "best-first-observed" / "job") as reader:
        lessons = [for_apprentice(lesson) for lesson in read_lessons(reader)]
    trained = restored(file, Apprentice())
    scores = np.array([trained.score(lesson.evidence).mean() for lesson in lessons])
    good = np.array([lesson.relevance[0] > 0.5 for lesson in lessons])
    assert scores[good].mean() > scores[~good].mean() + 0.3

    refused = scrapy("export", tmp_path / "best-first" / "job", "--learned", file, "--train")
    assert refused.returncode == 2
    assert "best-first-observed" in refused.stdout + refused.stderr
    assert scrapy("export", tmp_path / "best-first" / "job", "--learned", file).returncode == 2


def test_who_asks_for_an_apprentice_of_a_job_without_its_evidence_is_told_which_crawls_keep_it(
    reader: JobReader,
) -> None:
    kinds = {name: find("prioritizer", name) for name in names("prioritizer")}
    keep_it = [name for name, kind in kinds.items() if issubclass(kind, Apprentice | BestFirstObserved)]
    with pytest.raises(NothingLearned, match="the prioritizer 'focused' keeps no evidence") as refused:
        study_lessons(reader)
    assert len(keep_it) > 1
    assert all(repr(name) in str(refused.value) for name in keep_it)


def test_lessons_of_one_page_weigh_one_together(reader: JobReader) -> None:
    lessons = list(read_lessons(reader))
    assert lessons
    for lesson in lessons:
        assert lesson.weight.sum() == pytest.approx(1.0)
        assert lesson.alive.all()
