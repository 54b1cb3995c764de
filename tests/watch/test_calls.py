"""What the page and programs are told of a crawl, and what they may tell it."""

from __future__ import annotations

import csv
import json
import re
from hashlib import sha256
from io import StringIO
from pathlib import Path

import pytest
from starlette.routing import Route

from focused.frontier.inbox import FileInbox, Mark
from focused.report.job_reader import JobReader
from focused.report.why import explain_link
from focused.watch.app import make_app
from focused.watch.crawls import WatchedCrawls
from focused.watch.orders import MOST_MARKS
from tests.watch.asking import Asker
from tests.watch.small_site import FORMULA, HUB, PAGES

ROOT = Path(__file__).parents[2]
CRAWL = "/api/crawls/stars"


def test_the_figures_are_those_of_the_status(asker: Asker, job: Path) -> None:
    with JobReader.open(job) as reader:
        status = reader.status()
    told = asker.get(CRAWL).json
    names = {"pages": "pages", "found": "relevant", "wanted": "wanted", "harvest": "harvest", "waiting": "waiting"}
    assert {name: told[name] for name in names} == {name: getattr(status, what) for name, what in names.items()}
    assert (told["state_in_words"], told["next_step"]) == (status.state_in_words(), status.next_step())
    assert (told["limits"], told["problem"]) == ({"pages": PAGES}, "")
    assert [page["order"] for page in told["latest"]] == list(range(PAGES, PAGES - 12, -1))
    (host,) = told["hosts"]
    assert (host["host"], host["pages"], host["found"]) == ("hub.example", status.pages, status.relevant)
    assert asker.get("/api/crawls").json["crawls"][0]["found"] == status.relevant


def marks_in(job: Path) -> list[Mark]:
    return [letter for letter in FileInbox(job).read_from(0, 20_000).letters if isinstance(letter, Mark)]


def urls(asker: Asker, wish: str) -> list[str]:
    return [page["url"] for page in asker.get(f"{CRAWL}/pages?limit=500&{wish}").json["pages"]]


def test_pages_are_searched_filtered_sorted_and_come_in_parts(asker: Asker) -> None:
    every = asker.get(f"{CRAWL}/pages?limit=500&sort=order").json
    assert every["total"] == every["of"] == PAGES
    pages = every["pages"]
    assert [page["order"] for page in pages] == list(range(1, PAGES + 1))
    by_relevance = sorted((page["relevance"] for page in pages), reverse=True)
    assert [page["relevance"] for page in asker.get(f"{CRAWL}/pages?limit=500").json["pages"]] == by_relevance
    assert urls(asker, "sort=-url") == sorted((page["url"] for page in pages), reverse=True)
    soups = [page["url"] for page in pages if "soup" in page["title"].lower()]
    assert sorted(urls(asker, "q=SOUP+hub.example")) == sorted(soups)
    assert urls(asker, "q=soup+galaxy") == []
    assert set(urls(asker, "least=0.5")) == {page["url"] for page in pages if page["relevance"] >= 0.5}
    assert urls(asker, "host=far.example") == []
    part = asker.get(f"{CRAWL}/pages?sort=order&offset=5&limit=3").json
    assert ([page["order"] for page in part["pages"]], part["total"]) == ([6, 7, 8], PAGES)


def test_downloads_have_the_pages_that_are_shown(asker: Asker) -> None:
    shown = asker.get(f"{CRAWL}/pages?q=e&least=0.3&sort=title&limit=500").json["pages"]
    assert len(shown) > 3
    files = {kind: asker.get(f"{CRAWL}/pages.{kind}?q=e&least=0.3&sort=title") for kind in ("csv", "jsonl", "txt")}
    lines = {kind: answer.body.decode() for kind, answer in files.items()}
    assert [json.loads(line) for line in lines["jsonl"].splitlines()] == shown
    assert lines["txt"].splitlines() == [page["url"] for page in shown]
    rows = list(csv.DictReader(StringIO(lines["csv"])))
    assert [row["url"] for row in rows] == [page["url"] for page in shown]
    for kind, answer in files.items():
        assert answer.header("content-disposition") == f'attachment; filename="pages.{kind}"'


def test_a_title_that_a_spreadsheet_would_run_is_text_in_its_file(asker: Asker) -> None:
    (page,) = (page for page in asker.get(f"{CRAWL}/pages?limit=500").json["pages"] if page["title"] == FORMULA)
    rows = csv.DictReader(StringIO(asker.get(f"{CRAWL}/pages.csv").body.decode()))
    (row,) = (row for row in rows if row["url"] == page["url"])
    assert row["title"] == f"'{FORMULA}"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("pages?sort=price", "sort=price: use one of relevance, order, title, url, class"),
        ("pages?limit=0", "limit=0: give a whole number from 1 to 500"),
        ("pages?offset=-1", "offset=-1: give a whole number from 0"),
        ("pages?offset=²", "offset"),
        ("pages?least=much", "least and most are numbers from 0 to 1"),
        ("pages?said=maybe", "said=maybe: use one of yes, no, unknown, nothing"),
        (f"pages.csv?q={'a' * 300}", "search for at most 200 characters"),
        ("harvest.svg?width=99999", "width=99999: give a whole number from 240 to 2,000"),
        ("waiting?most=1000", "most=1000: give a whole number from 1 to 200"),
        ("why", "give an address"),
        ("why?url=http://nowhere.example/", "is not known to this crawl"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(asker: Asker, call: str, said: str) -> None:
    answer = asker.get(f"{CRAWL}/{call}")
    assert answer.status in {400, 409}
    assert said in answer.error


def test_what_is_not_there_is_not_found(asker: Asker) -> None:
    assert asker.get("/static/../app.py").status == asker.get("/nothing").status == 404
    assert asker.get("/api/crawls/other").error == "there is no crawl of this name here"


def test_marks_are_letters_to_the_crawl_and_are_shown_at_once(asker: Asker, job: Path) -> None:
    one, two = urls(asker, "sort=order")[:2]
    asked = {"marks": [{"url": one, "said": "yes"}, {"url": f"{two}#part", "said": "no"}]}
    assert asker.post(f"{CRAWL}/marks", asked).json == {"noted": 2}
    letters = marks_in(job)
    assert [(mark.url, str(mark.said), mark.who) for mark in letters] == [(one, "yes", "you"), (two, "no", "you")]
    assert urls(asker, "said=yes") == [one]
    assert urls(asker, "said=no") == [two]
    asker.post(f"{CRAWL}/marks", {"marks": [{"url": one, "said": "forget"}]})
    assert urls(asker, "said=yes") == []
    assert len(urls(asker, "said=nothing")) == PAGES - 1


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"marks": [{"url": HUB, "said": "yes"}, {"url": "star", "said": "no"}]}, "mark 2: 'star' is not an http(s)"),
        ({"marks": [{"url": HUB, "said": "maybe"}]}, "mark 1: 'maybe' is none of yes, no, unknown and forget"),
        ({"marks": [{"url": "javascript:alert(1)", "said": "yes"}]}, "is not an http(s) address"),
        ({"marks": [{"url": HUB + "x" * 9_000, "said": "yes"}]}, "more than 8,000 characters"),
        ({"marks": [{"url": HUB, "said": "yes", "seed": 1}]}, "unknown field `seed`"),
        ({"marks": {}}, "Expected `array`, got `object`"),
        ([], "this is not the JSON that is wanted"),
        ({"marks": [{"url": HUB, "said": "yes"}] * (MOST_MARKS + 1)}, "20,001 marks are too many at once"),
    ],
)
def test_one_wrong_mark_and_none_is_noted(asker: Asker, job: Path, asked: object, said: str) -> None:
    answer = asker.post(f"{CRAWL}/marks", asked)
    assert answer.status == 400
    assert said in answer.error
    assert FileInbox(job).end() == 0


def test_ten_thousand_marks_at_once_are_noted(asker: Asker, job: Path) -> None:
    marks = [{"url": f"{HUB}{n}", "said": "no"} for n in range(10_000)]
    assert asker.post(f"{CRAWL}/marks", {"marks": marks}).json == {"noted": 10_000}
    assert [mark.url for mark in marks_in(job)] == [mark["url"] for mark in marks]
    assert len(urls(asker, "said=no")) > 20


@pytest.mark.parametrize(
    ("verb", "value"), [("pause", ""), ("limit", "pages=50"), ("leave-out", "far.example"), ("seed", HUB)]
)
def test_orders_are_letters_to_the_crawl(asker: Asker, job: Path, verb: str, value: str) -> None:
    assert asker.post(f"{CRAWL}/orders", {"verb": verb, "value": value}).json == {"noted": 1}
    (line,) = (job / "inbox.jsonl").read_text().splitlines()
    letter = json.loads(line)
    assert {"kind": "order", "who": "you", "verb": verb, "value": value}.items() <= letter.items()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"verb": "explode"}, "Invalid enum value 'explode'"),
        ({"verb": "pause", "value": "1"}, "'pause' takes no value"),
        ({"verb": "limit", "value": " "}, "'' is not NAME=VALUE, such as pages=5000"),
        ({"verb": "leave-out", "value": ""}, "give a host"),
        ({"verb": "drop", "value": "far.example"}, "'far.example' does not count: no pattern counts"),
        ({"verb": "end"}, "is not running, so there is nothing to end"),
        ({"value": "x"}, "missing required field `verb`"),
    ],
)
def test_orders_that_say_nothing_are_refused(asker: Asker, job: Path, asked: object, said: str) -> None:
    answer = asker.post(f"{CRAWL}/orders", asked)
    assert answer.status == 400
    assert said in answer.error
    assert not (job / "inbox.jsonl").exists()


def test_stories_are_those_of_why(asker: Asker, job: Path) -> None:
    with JobReader.open(job) as reader:
        lines = list(explain_link(reader, f"{HUB}55"))
    assert asker.get(f"{CRAWL}/why?url={HUB}55").json["lines"] == lines


def test_what_waits_was_learned_and_is_asked_is_told_with_its_words(asker: Asker, job: Path) -> None:
    told = asker.get(f"{CRAWL}/waiting?most=3").json
    assert len(told["next"]) == 3
    assert all(one["url"].startswith(HUB) and one["reasons"] for one in told["next"])
    learned = asker.get(f"{CRAWL}/learned").json
    assert learned["prioritizer"] == "focused"
    assert {"star", "soup"} & {one["word"] for group in learned["groups"] for one in group["for"] + group["against"]}
    asked = asker.get(f"{CRAWL}/questions?most=2").json["questions"]
    assert len(asked) == 2
    assert all(page["words"] for page in asked)
    page = asker.get(f"{CRAWL}/pages?q=Star&sort=-order").json["pages"][0]
    words = asker.get(f"{CRAWL}/near?orders={page['order']},x,-1").json[str(page["order"])]
    assert [word for word, kind in words if "link" in kind] == ["number", page["url"].removeprefix(HUB)]
    assert ["star", "spoke"] in words


def test_the_crawl_is_only_read(asker: Asker, job: Path) -> None:
    before = sha256((job / "job.db").read_bytes()).hexdigest()
    for call in ("", "/pages", "/learned", "/waiting", "/questions", "/harvest", "/near?orders=5"):
        assert asker.get(f"{CRAWL}{call}").status == 200
    asker.post(f"{CRAWL}/marks", {"marks": [{"url": HUB, "said": "yes"}]})
    assert sha256((job / "job.db").read_bytes()).hexdigest() == before
    assert not (job / "job.db-wal").exists() or not (job / "job.db-wal").stat().st_size


def test_metrics_are_as_prometheus_reads_them(asker: Asker) -> None:
    text = asker.get("/metrics").body.decode()
    samples = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, labels, value = re.fullmatch(r'(focused_\w+)\{((?:\w+="[^"]*",?)+)\} ([\d.e+-]+)', line).groups()
            samples[name, labels] = float(value)
            assert f"# TYPE {name} " in text
    assert samples["focused_pages_total", 'crawl="stars"'] == PAGES
    assert samples["focused_up", 'crawl="stars"'] == 1
    assert samples["focused_links_ended_total", 'crawl="stars",outcome="page"'] == PAGES


def test_drawings_are_of_our_numbers_alone(asker: Asker) -> None:
    svg = asker.get(f"{CRAWL}/harvest.svg?width=400")
    assert svg.header("content-type") == "image/svg+xml"
    assert svg.body.decode().count("<polyline") == 2
    points = asker.get(f"{CRAWL}/harvest").json
    assert [len(line) > 5 for line in points.values()] == [True, True]


def test_the_reference_has_every_call(crawls: WatchedCrawls) -> None:
    page = (ROOT / "docs" / "watch.md").read_text("utf-8")
    told = set(re.findall(r"`(?:GET|POST) (/[^`?]*)", page))
    there = {one.path.replace("{key}", "ID") for one in make_app(crawls).routes if isinstance(one, Route)}
    assert {path for path in there if path.startswith(("/api", "/metrics"))} == told


def test_letters_are_marks_as_the_command_writes_them(asker: Asker, job: Path) -> None:
    asker.post(f"{CRAWL}/marks", {"marks": [{"url": HUB, "said": "yes", "class": "stars"}]})
    (mark,) = FileInbox(job).read_from(0, 9).letters
    assert isinstance(mark, Mark)
    assert mark.class_name == "stars"
