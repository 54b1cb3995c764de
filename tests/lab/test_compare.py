"""Whole comparisons of a small web: real crawls and fast ones, counted at the server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from focused.lab.calibration_table import calibration_table
from focused.lab.compare import Comparison
from focused.lab.jobs import FETCHES, JobFailed
from focused.lab.page import write_page
from focused.lab.plan import Plan
from focused.lab.present import likeness_table, request_table, tables
from focused.lab.process import STATS
from focused.lab.replay.log import read_log

ROOT = Path(__file__).parents[2]
PAGES = 60
ALL_ROWS = ["best-first", "apprentice", "foresight", "oracle", "near-bound", "two-clicks", "bound"]


def plan(small_web, out, **changes):
    values = {
        "topics": ["stars"],
        "web": [str(small_web.warc)],
        "prioritizers": ["best-first", "apprentice"],
        "pages": PAGES,
        "out": str(out),
        "topics_file": str(small_web.topics),
        "examples": str(small_web.examples),
        "labels": str(small_web.labels),
        "start": "root",
        "budgets": (20, 50),
        "workers": 2,
    }
    return Plan(**(values | changes))


def compare(small_web, out, *, resume=False, **changes):
    return Comparison(plan(small_web, out, **changes), lambda words: None, resume=resume).run()


@pytest.fixture(scope="module")
def real(small_web, tmp_path_factory):
    out = tmp_path_factory.mktemp("real")
    return compare(small_web, out), out


@pytest.fixture(scope="module")
def fast(small_web, tmp_path_factory):
    out = tmp_path_factory.mktemp("fast")
    return compare(small_web, out, fast=True), out


def fetched(out, crawl):
    return [(fetch.status, fetch.url) for fetch in read_log(out / "crawls" / "stars" / crawl / FETCHES)]


@pytest.mark.parametrize("crawl", ["best-first-0", "apprentice-0"])
def test_a_fast_crawl_fetches_the_same_pages_in_the_same_order_as_a_real_one(real, fast, crawl):
    assert fetched(real[1], crawl) == fetched(fast[1], crawl)
    assert len(fetched(real[1], crawl)) > PAGES


def test_real_and_fast_give_the_same_figures(real, fast):
    in_order = [sorted(results.runs, key=lambda run: run.row) for results in (real[0], fast[0])]
    for one, other in zip(*in_order, strict=True):
        assert (one.topic, one.row, one.figures, one.share) == (other.topic, other.row, other.figures, other.share)


def test_figures_agree_with_the_log(fast, small_web):
    results, out = fast
    log = fetched(out, "best-first-0")
    run = next(run for run in results.runs if run.row == "best-first")
    counted = [url.replace("https:", "http:") for status, url in log if status == 200 and "robots" not in url]
    ignored = {url for url in small_web.pages if url in (out / "topics/stars/ignored.txt").read_text().split()}
    counted = [url for url in counted if url not in ignored][:PAGES]
    assert run.figures.pages == len(counted) == PAGES
    assert run.figures.found[50] == len(set(counted[:50]) & set(small_web.targets))
    assert run.stopped_by
    assert run.cpu_ms > 0


def test_shares_are_of_the_bound(fast):
    runs = {run.row: run for run in fast[0].runs}
    assert set(runs) == set(ALL_ROWS)
    assert runs["bound"].share == runs["two-clicks"].of_two_clicks == 1.0
    found = {name: sum(run.figures.found.values()) for name, run in runs.items()}
    for name, run in runs.items():
        assert 0 < run.share == min(1, found[name] / found["bound"])
        assert 0 < run.of_two_clicks == min(1, found[name] / found["two-clicks"])
    assert runs["best-first"].loss_ratio == 1.0


def test_everything_is_written_down(fast):
    results, out = fast
    written = json.loads((out / "results.json").read_text())
    assert written["plan"]["pages"] == PAGES
    assert written["versions"]["scrapy"]
    assert len(written["runs"]) == len(results.runs)
    page = write_page(results, out).read_text()
    assert 3 <= page.count("<svg") <= 2 + len(results.plan.gammas)
    assert "apprentice" in page
    assert "<svg" in (out / "stars.svg").read_text()
    stats = [json.loads(file.read_text()) for file in out.glob(f"crawls/stars/*/{STATS}")]
    assert {each["focused/lab/pages"] for each in stats} == {PAGES}
    assert all(each["focused/lab/cpu"] > 0 for each in stats)


def test_each_run_is_measured_by_its_likeness_to_the_examples(fast):
    results, _ = fast
    for run in results.runs:
        assert 0 < run.likeness.sigma < 1
        in_order = list(run.likeness.precision.values())
        assert in_order == sorted(in_order, reverse=True)
        assert len(run.likeness.sigma_curve) == PAGES // 10
    runs = {run.row: run.likeness for run in results.runs}
    assert runs["bound"].precision_curve[0.5][0] > 0
    _, headings, rows = likeness_table(results)
    assert headings == ["", "σ", *(f"cos ≥ {gamma}" for gamma in (0.2, 0.3, 0.5, 0.6, 0.7, 0.8))]
    assert [cells[0] for cells in rows] == ALL_ROWS


def test_requests_are_the_price_of_pages(fast):
    results, _ = fast
    title, headings, rows = request_table(results)
    assert title == "targets found by requests, stars"
    assert headings == ["", "20 req", "50 req", "pages", "requests", "requests/page"]
    assert [cells[0] for cells in rows] == ALL_ROWS
    for run in results.runs:
        assert run.figures.found_by_requests.keys() == run.figures.found.keys()
        assert all(run.figures.found_by_requests[budget] <= found for budget, found in run.figures.found.items())
    run = next(run for run in results.runs if run.row == "best-first")
    assert rows[0][-1] == f"{run.figures.requests / PAGES:.2f}"
    [(_, headings, _)] = tables(results)
    assert headings[-2:] == ["share", "of two-clicks"]


def test_verdicts_of_real_crawls_are_held_against_the_labels(fast):
    results, out = fast
    for run in results.runs:
        assert bool(run.calibration) == (run.row in {"best-first", "apprentice"})
    run = next(run for run in results.runs if run.row == "best-first")
    # Some pages were fetched under two addresses.
    assert PAGES - 10 < run.calibration.pages < PAGES
    assert run.calibration.wanted == run.figures.found_in_all
    written = json.loads((out / "results.json").read_text())["runs"]
    assert [one["calibration"]["ece"] for one in written if one["row"] == "best-first"] == [run.calibration.ece]
    assert calibration_table(results)[0] == "calibration of R, stars"
    page = write_page(results, out).read_text()
    assert page.count("<h2>calibration of R, stars</h2>") == 2
    assert "<h2>targets found by requests, stars</h2>" in page


def test_without_its_row_there_is_no_share_of_two_clicks(small_web, tmp_path):
    results = compare(small_web, tmp_path, prioritizers=[], limits=("bound",))
    [(_, headings, _)] = tables(results)
    assert headings[-1] == "share"
    assert calibration_table(results) is None


def written_topic(tmp_path, seeds):
    topic = tmp_path / "mine.toml"
    topic.write_text(f'name = "stars"\nkeywords = ["telescope"]\nseeds = {json.dumps(seeds)}\n')
    return str(topic)


def test_without_examples_there_are_no_targets_to_be_like(small_web, tmp_path):
    topic = written_topic(tmp_path, ["http://one.example/"])
    results = compare(
        small_web, tmp_path, topics=[topic], topics_file="", start="on", prioritizers=["random"], limits=(), fast=True
    )
    assert [run.likeness for run in results.runs] == [None]
    assert likeness_table(results) is None
    assert write_page(results, tmp_path).read_text().count("<svg") == 1


def test_what_is_done_is_kept_when_the_rest_fails(small_web, tmp_path):
    with pytest.raises(JobFailed, match="no_such_option"):
        compare(
            small_web,
            tmp_path,
            prioritizers=["best-first", "apprentice:no_such_option=1"],
            fast=True,
            limits=("bound",),
            workers=1,
        )
    kept = json.loads((tmp_path / "results.json").read_text())
    assert [run["row"] for run in kept["runs"]] == ["bound", "best-first"]


def test_several_starts_give_mean_and_spread(small_web, tmp_path):
    results = compare(
        small_web, tmp_path, prioritizers=["best-first"], start="on", starts=2, fast=True, limits=("bound",)
    )
    assert [len(start) for start in results.starts["stars"]] == [2, 2]
    [(_, _, rows)] = tables(results)
    assert [row[0] for row in rows] == ["best-first", "bound"]
    assert all("±" in row[1] for row in rows)


def test_the_apprentice_can_be_trained_offline(small_web, tmp_path):
    results = compare(small_web, tmp_path, prioritizers=["offline:d_max=3"], fast=True, limits=())
    [run] = results.runs
    assert run.row == "offline:d_max=3"
    assert run.figures.pages == PAGES


def test_the_offline_apprentice_learns_from_the_very_pages_of_best_first(small_web, tmp_path):
    compare(small_web, tmp_path, prioritizers=["best-first", "offline:combine=max"], fast=True, limits=())
    assert fetched(tmp_path, "offline_combine_max-observed-0") == fetched(tmp_path, "best-first-0")


def test_held_out_examples_teach_nothing(small_web, tmp_path):
    results = compare(
        small_web, tmp_path, topics=["stars@east"], hold_out="side", prioritizers=["best-first"], fast=True, limits=()
    )
    assert results.examples["stars@east"] == sum(number % 2 == 0 for number in small_web.taught)


def test_hosts_are_stayed_inside(small_web, tmp_path):
    topics = json.loads(small_web.topics.read_text())
    topics["stars"]["hosts"] = ["one.example"]
    path = tmp_path / "inside.topics.json"
    path.write_text(json.dumps(topics))
    compare(small_web, tmp_path, topics_file=str(path), prioritizers=["best-first"], fast=True, limits=("bound",))
    hosts = {url.split("/")[2] for _, url in fetched(tmp_path, "best-first-0")}
    assert hosts == {"one.example"}


def test_a_topic_as_users_write_it_takes_its_targets_from_the_labels(small_web, tmp_path):
    topic = tmp_path / "mine.toml"
    words = 'keywords = ["telescope", "galaxy", "nebula"]'
    topic.write_text(f'name = "stars"\n{words}\nseeds = ["http://one.example/"]\n')
    results = compare(
        small_web,
        tmp_path,
        topics=[str(topic)],
        topics_file="",
        start="on",
        prioritizers=["best-first"],
        fast=True,
        limits=("bound",),
    )
    assert results.targets == {"stars": len(small_web.on_topic)}
    assert all(run.figures.found[50] > 0 for run in results.runs)


def test_a_topic_with_no_starting_page_in_the_web_is_refused_before_any_crawl(small_web, tmp_path):
    topic = written_topic(tmp_path, ["http://nowhere.example/", "http://one.example/gone/1"])
    words = (
        r"topic 'stars': none of its starting pages is in this web: http://nowhere\.example/, http://one\.example/gone"
    )
    with pytest.raises(ValueError, match=words):
        compare(small_web, tmp_path, topics=[topic], topics_file="", start="on", fast=True)
    assert not (tmp_path / "crawls").exists()


def test_starting_pages_of_a_topics_file_must_be_in_the_web(small_web, tmp_path):
    topics = json.loads(small_web.topics.read_text())
    topics["stars"]["seeds_root"] = ["http://nowhere.example/"]
    path = tmp_path / "lost.topics.json"
    path.write_text(json.dumps(topics))
    with pytest.raises(ValueError, match="topic 'stars': none of its starting pages"):
        compare(small_web, tmp_path, topics_file=str(path))


def test_some_starting_pages_may_be_missing(small_web, tmp_path):
    topic = written_topic(tmp_path, ["http://nowhere.example/", "http://one.example/"])
    results = compare(
        small_web, tmp_path, topics=[topic], topics_file="", start="on", prioritizers=["random"], limits=(), fast=True
    )
    assert [run.figures.pages for run in results.runs] == [PAGES]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (None, r"topic 'stars' names classes \(stars\): give example pages of them with --examples FILE$"),
        ("", r"give example pages of them with --examples FILE \(there is none in "),
        ("url\tclass\nhttp://one.example/\tsoups\n", r"'stars' matches no class of .*examples\.tsv"),
    ],
)
def test_classes_without_examples_are_told_before_the_web_is_read(small_web, tmp_path, table, words):
    examples = tmp_path / "examples.tsv"
    examples.write_text(table or "")
    with pytest.raises(ValueError, match=words):
        compare(small_web, tmp_path, web=["none.warc.gz"], examples="" if table is None else str(examples))


def test_what_could_be_had_is_told_without_examples(small_web, tmp_path):
    results = compare(small_web, tmp_path, prioritizers=[], limits=("bound",), examples="")
    assert [run.row for run in results.runs] == ["bound"]


def test_a_topic_named_twice_is_refused(small_web, tmp_path):
    with pytest.raises(ValueError, match="topic 'stars' is given twice; name it once"):
        compare(small_web, tmp_path, topics=["stars", "stars"])


def scrapy(*arguments):
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "focused.settings", "PYTHONPATH": path}
    command = [sys.executable, "-m", "scrapy", "compare", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_the_command_prints_a_table(small_web, tmp_path):
    run = scrapy(
        *("all", "--web", small_web.warc, "--topics-file", small_web.topics, "--examples", small_web.examples),
        *("--prioritizers", "best-first", "--pages", 20, "--out", tmp_path, "--start", "root"),
        *("--fast", "--limits", "bound"),
    )
    assert run.returncode == 0, run.stderr
    assert "mean of 2 topics" in run.stdout
    assert "at 20" in run.stdout, "a crawl shorter than all budgets is counted at its end"
    assert "compare.html" in run.stdout
    assert "targets found by requests, mean of 2 topics" in run.stdout
    assert "calibration of R, 2 topics pooled" in run.stdout
    assert "calibration of R, stars@east" not in run.stdout
    again = scrapy(
        *("all", "--web", small_web.warc, "--topics-file", small_web.topics, "--examples", small_web.examples),
        *("--prioritizers", "best-first", "--pages", 20, "--out", tmp_path, "--start", "root"),
        *("--fast", "--limits", "bound", "--resume", "--calibration"),
    )
    assert again.returncode == 0, again.stderr
    assert "calibration of R, stars@east" in again.stdout


TABLES = ("--topics-file", "TOPICS", "--examples", "EXAMPLES")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give one or more topics, and a recorded web"),
        (["nothing", "--topics-file", "TOPICS"], "no topic 'nothing'; there are stars"),
        (["stars", "--topics-file", "TOPICS", "--limits", "guess"], "'guess' is not known"),
        (["stars", *TABLES, "--start", "far"], "no seeds of kind 'far'"),
        (["stars", *TABLES, "--pages", "0"], "--pages: '0': give a whole number, 1 or more"),
        (["stars", *TABLES, "--concurrency", "-3"], "--concurrency: '-3': give a whole number, 1 or more"),
        (["stars", *TABLES, "--starts", "0"], "--starts: '0': give a whole number, 1 or more"),
        (["stars", *TABLES, "--workers", "-1"], "--workers: '-1': give a whole number, 0 or more"),
        (["stars", *TABLES, "--budgets", "0,-5"], "--budgets '0,-5': give whole numbers above 0"),
        (["stars", *TABLES, "--budgets", "10,x"], "--budgets '10,x': give whole numbers above 0"),
        (["stars", *TABLES, "--prioritizers", "random,random"], "--prioritizers: 'random' is given twice"),
        (["stars", *TABLES, "--prioritizers", "offline", "--offline"], "--prioritizers: 'offline' is given twice"),
        (["birds", "--start", "on"], "--start is for topics of a topics file: give --topics-file, or leave it out"),
        (["birds", "--hold-out", "side=east"], "--hold-out is for topics of a topics file"),
        (["birds", "--given", "words"], "--given is for topics of a topics file"),
        (["stars", *TABLES, "--given", "name"], "--given name: 'name' is not understood: the parts are title, words,"),
        (["stars", *TABLES, "--given", "title"], "--given title: topic 'stars' has no 'title' in"),
        (["stars", *TABLES, "--draws", "2"], "--draws 2: no pages are drawn: give some with --given pages:K"),
        (["stars", *TABLES, "--given", "words", "--draws", "1"], "--draws 1: no pages are drawn"),
        (["stars", *TABLES, "--given", "pages:2", "--draws", "0"], "--draws: '0': give a whole number, 1 or more"),
        (["stars", *TABLES, "--given", "pages:2", "--critic", "keywords"], "'keywords' judges by keywords, and none"),
        (["stars", *TABLES, "-s", "FOCUSED_PATIENC=0"], "unknown setting; did you mean 'FOCUSED_PATIENCE'?"),
        (["stars", *TABLES, "-s", "FOCUSED_PATIENCE=high"], "FOCUSED_PATIENCE: 'high' is not a number from 0 to 1"),
        (["stars", "--topics-file", "TOPICS", "--prioritizers", "best-frist"], "did you mean 'best-first'?"),
        (["stars", *TABLES, "--hold-out", "side"], "give a value, side="),
        (["stars", *TABLES, "--web", "nope.warc.gz"], "--web: there is no file 'nope.warc.gz': give a recorded web"),
        (["stars", "--topics-file", "nope.json"], "--topics-file: there is no file 'nope.json'"),
        (["stars", *TABLES, "--labels", "nope.tsv"], "--labels: there is no file 'nope.tsv'"),
        (
            ["stars", *TABLES, "--prioritizers", "random,focused:d_max=99"],
            "--prioritizers: 'focused:d_max=99': d_max=99: give a whole number from 0 to 31",
        ),
    ],
)
def test_bad_input_is_told(small_web, tmp_path, arguments, words):
    files = {"TOPICS": small_web.topics, "EXAMPLES": small_web.examples}
    web = ["--web", small_web.warc, "--out", tmp_path] if arguments else []
    run = scrapy(*(files.get(argument, argument) for argument in arguments), *web)
    assert run.returncode == 2
    assert words in " ".join(run.stderr.split()) + " ".join(run.stdout.split())
    assert "Traceback" not in run.stderr
    assert not (tmp_path / "crawls").exists()
