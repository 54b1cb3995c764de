"""A teacher is asked about pages while a crawl runs, whatever it answers."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from focused.frontier.records import read_records
from focused.report.job_reader import JobReader
from focused.report.why import explain_link

HUB = "http://hub.example/"
PAGES = 33
ONE_BY_ONE = {"CONCURRENT_REQUESTS": 1, "ROBOTSTXT_OBEY": False}
DOCS = Path(__file__).parents[2] / "docs" / "teacher.md"
# The words find stars and soups alike.
KEYWORDS = {"topic": "star, galaxy, onion, butter"}
STARS = "<title>Star {0}</title><p>A star of the galaxy, seen through a telescope. Number {0} w{0} v{1}.</p>"
SOUPS = "<title>Soup {0}</title><p>Fry the onion in butter and stir the soup. Number {0} w{0} v{1}.</p>"
TEACHERS = """
import asyncio, os, signal, time
from pathlib import Path

def wants_stars(pages, topic):
    assert "galaxy" in topic.keywords
    with Path("asked").open("a") as file:
        file.writelines(f"{page.url}\\n" for page in pages)
    return [None if " 7 " in page.text else page.title.startswith("Star") for page in pages]

async def politely(pages, topic):
    await asyncio.sleep(0.01)
    return wants_stars(pages, topic)

class Made:
    @classmethod
    def from_crawler(cls, crawler):
        made = cls()
        made.word = crawler.settings["MY_WORD"]
        return made

    def __call__(self, pages, topic):
        return [self.word in page.text for page in pages]

class CannotBeMade:
    def __init__(self):
        raise RuntimeError("no model")

def fails(pages, topic):
    raise OSError("no service")

def fails_at_first(pages, topic):
    if not Path("failed").exists():
        Path("failed").touch()
        raise OSError("no service")
    return wants_stars(pages, topic)

def sleeps(pages, topic):
    time.sleep(3600)

async def waits(pages, topic):
    await asyncio.sleep(3600)

def gives_up(pages, topic):
    raise SystemExit(1)

async def is_cancelled(pages, topic):
    raise asyncio.CancelledError

def too_few(pages, topic):
    return [True]

def in_words(pages, topic):
    return ["yes" for _ in pages]

def nothing(pages, topic):
    return None

def dies_once(pages, topic):
    if Path("asked").exists() and not Path("died").exists():
        Path("died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return wants_stars(pages, topic)

not_a_function = 7
"""


@pytest.fixture
def taught(crawl, tmp_path: Path):
    """Crawl stars and soups with one of these teachers."""
    (tmp_path / "teachers.py").write_text(TEACHERS)

    def run(name: str, **settings: Any) -> Any:
        links = "".join(f"<li><a href={HUB}{n}>number {n}</a>" for n in range(PAGES - 1))
        pages = {f"{HUB}{n}": (STARS if n % 2 else SOUPS).format(n, n % 5) for n in range(PAGES - 1)}
        return crawl(
            {HUB: f"<p>Stars and soups.</p>{links}", **pages},
            arguments=KEYWORDS,
            settings={**ONE_BY_ONE, "FOCUSED_TEACHER": f"teachers.{name}", **settings},
        )

    return run


def answers(job: Path) -> list[Any]:
    with closing(read_records(job)) as records:
        query = (
            "SELECT url, title, said, who, pages.relevance AS now, answers.relevance AS before, number "
            "FROM answers JOIN pages USING (link) ORDER BY number"
        )
        return records.execute(query).fetchall()


def is_as_said(row: Any) -> bool:
    """Is the page's relevance, as it is now, what was said?"""
    return bool({"yes": row["now"] > 0.949, "no": row["now"] < 0.051}.get(row["said"], True))


@pytest.mark.parametrize("name", ["wants_stars", "politely"])
def test_answers_are_kept_and_the_critic_learns_from_them(taught, tmp_path: Path, name: str) -> None:
    result = taught(name)
    assert result.exit_code == 0, result.log
    rows = answers(tmp_path / "job")
    assert len(rows) == len({row["url"] for row in rows}) == 15, "5 after 12, 18 and 27 pages"
    assert {row["who"] for row in rows} == {f"teachers.{name}"}
    for row in rows:
        assert row["said"] == ("yes" if row["title"].startswith("Star") else "no") or row["url"] == f"{HUB}7"
        assert 0 < row["before"] < 1
        assert is_as_said(row)
    said = [row["said"] for row in rows]
    counted = {word: result.stats.get(f"focused/teacher/{word}", 0) for word in ("yes", "no", "unknown")}
    assert counted == {word: said.count(word) for word in counted}
    with JobReader.open(tmp_path / "job") as reader:
        found = reader.status().answers
        assert found is not None
        assert {"yes": found.yes, "no": found.no, "unknown": found.unknown} == counted
        row = next(row for row in rows if row["said"] == "yes")
        assert f"teachers.{name} said that it is wanted." in list(explain_link(reader, row["url"]))
    with closing(read_records(tmp_path / "job")) as records:
        unasked = records.execute(
            "SELECT title, relevance FROM pages WHERE title <> '' AND link NOT IN (SELECT link FROM answers)"
        ).fetchall()
    stars, soups = ([row["relevance"] for row in unasked if row["title"].startswith(word)] for word in ("Star", "Soup"))
    assert min(stars) > max(soups), "what was answered teaches what was not"


def test_a_class_is_made_as_scrapy_makes_components(taught, tmp_path: Path) -> None:
    assert taught("Made", MY_WORD="telescope", FOCUSED_TEACHER_ANSWERS=7).exit_code == 0
    rows = answers(tmp_path / "job")
    assert [row["said"] for row in rows] == ["yes" if row["title"].startswith("Star") else "no" for row in rows]
    assert len(rows) == 7


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fails", r"failed: OSError\('no service'\); the crawl goes on"),
        ("sleeps", r"gave no answer within 0.2 seconds"),
        ("waits", r"gave no answer within 0.2 seconds"),
        ("gives_up", r"failed: SystemExit"),
        ("is_cancelled", r"failed: CancelledError"),
        ("too_few", r"gave 1 answers for 5 pages: it must return a list with one for each"),
        ("nothing", r"gave None for 5 pages"),
        ("in_words", r"answered 'yes': an answer is True, False or None"),
    ],
)
def test_a_teacher_that_fails_is_given_up_and_the_crawl_goes_on(taught, tmp_path: Path, name: str, words: str) -> None:
    result = taught(name, FOCUSED_TEACHER_TIMEOUT=0.2)
    assert result.exit_code == 0, result.log
    assert (result.stats["focused/job/pages"], result.stats["focused/teacher/failed"]) == (PAGES, 3)
    warnings = [line for line in result.log.splitlines() if "WARNING" in line and "teacher" in line]
    assert len(warnings) == 2
    assert re.search(words, warnings[0])
    assert "failed 3 times in a row: it is not asked any more" in warnings[1]
    assert answers(tmp_path / "job") == []


def test_one_failure_is_forgiven(taught, tmp_path: Path) -> None:
    result = taught("fails_at_first")
    assert result.stats["focused/teacher/failed"] == 1
    assert len(answers(tmp_path / "job")) == 10


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing", r"teacher 'teachers.missing' cannot be imported"),
        ("not_a_function", r"teacher 'teachers.not_a_function' is not a function"),
    ],
)
def test_a_teacher_that_cannot_be_used_is_told_before_the_crawl(taught, name: str, words: str) -> None:
    result = taught(name)
    assert result.fetched == []
    assert re.search(words, result.log)
    assert "Traceback" not in result.log


def test_a_kill_loses_no_answer_and_nothing_is_asked_twice(taught, tmp_path: Path) -> None:
    """It is killed while it asks for the second time."""
    assert taught("dies_once").exit_code == -9
    before = answers(tmp_path / "job")
    assert len(before) == 5
    after = taught("dies_once", FOCUSED_TEACHER_ANSWERS=9)
    assert after.exit_code == 0, after.log
    rows = answers(tmp_path / "job")
    assert [row["url"] for row in rows[:5]] == [row["url"] for row in before]
    assert len(rows) == 9, "the budget is that of the job"
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked == [row["url"] for row in rows]
    assert all(map(is_as_said, rows))


def test_answers_that_come_while_a_crawl_rests_count_when_it_goes_on_and_can_be_taken_back(crawl, tmp_path) -> None:
    links = "".join(f"<li><a href={HUB}{n}>number {n}</a>" for n in range(PAGES - 1))
    pages = {f"{HUB}{n}": (STARS if n % 2 else SOUPS).format(n, n % 5) for n in range(PAGES - 1)}

    def relevance_after(most: int, said: str = "") -> float:
        if said:
            with closing(sqlite3.connect(tmp_path / "job" / "job.db")) as records, records:
                records.execute(
                    "INSERT INTO answers(link, said, who, time, relevance) "
                    "SELECT link, ?, 'me', '2026-01-01T00:00:00+00:00', relevance FROM pages WHERE title LIKE 'Star%'",
                    (said,),
                )
        site = {HUB: f"<p>Stars and soups.</p>{links}", **pages}
        result = crawl(site, arguments={**KEYWORDS, "pages": most}, settings=ONE_BY_ONE)
        assert result.exit_code == 0, result.log
        with closing(read_records(tmp_path / "job")) as records:
            query = "SELECT max(relevance) FROM pages WHERE title LIKE 'Star%' AND seq <= 12"
            return float(records.execute(query).fetchone()[0])

    before = relevance_after(12)
    assert 0.1 < before < 0.9
    assert relevance_after(14, "no") == pytest.approx(0.05)
    assert relevance_after(16, "yes") == pytest.approx(0.95)
    assert 0.1 < relevance_after(18, "nothing") < 0.9


def test_it_is_not_asked_where_the_critic_does_not_learn(taught, tmp_path: Path) -> None:
    result = taught("wants_stars", FOCUSED_CRITIC="keywords")
    assert "The teacher teachers.wants_stars is not asked: the critic keywords does not learn here" in result.log
    assert not (tmp_path / "asked").exists()


def test_a_teacher_that_cannot_be_made_is_not_asked(taught) -> None:
    result = taught("CannotBeMade")
    assert result.stats["focused/job/pages"] == PAGES
    assert "The teacher teachers.CannotBeMade is not asked: it cannot be made: RuntimeError('no model')" in result.log


@contextmanager
def language_model(answer: Callable[[str], str]) -> Iterator[tuple[str, list[str]]]:
    """A service that answers as language models do; its address, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body["messages"][0]["content"])
            said = {"choices": [{"message": {"content": answer(asked[-1])}}]}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(said).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/chat/completions", asked
    finally:
        server.shutdown()
        server.server_close()


def test_the_teacher_of_the_docs_asks_a_service(taught, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [code] = re.findall(r"```python\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    (tmp_path / "teachers.py").write_text(code)
    with language_model(lambda asked: "Yes." if "galaxy, seen" in asked else "unsure") as (address, asked):
        monkeypatch.setitem(os.environ, "TEACHER_SERVICE", address)
        result = taught("ask", FOCUSED_TEACHER_ANSWERS=8)
    assert result.exit_code == 0, result.log
    rows = answers(tmp_path / "job")
    assert [row["said"] for row in rows] == ["yes" if row["title"].startswith("Star") else "unknown" for row in rows]
    assert len(asked) == len(rows) == 8
    assert all(question.startswith("Topic: star, galaxy, onion, butter.") for question in asked)
