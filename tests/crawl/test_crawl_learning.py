"""When a crawl learns, from how much, and that a kill costs nothing of it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from focused.arrays import load_arrays
from focused.frontier.records import read_records
from focused.registry import find

HUB = "http://hub.example/"
PAGES = 13
ONE_BY_ONE = {"CONCURRENT_REQUESTS": 1, "ROBOTSTXT_OBEY": False}
STARS = "<p>A star of the galaxy, seen through a telescope. Number {0} w{0}.</p>"
SOUPS = "<p>Fry the onions in butter and stir. Number {0} w{0}.</p>"


def all_linked(number: int = PAGES, dead: int = 0) -> dict[str, str]:
    """Pages that all link to one another, and to some that are not there."""
    links = "".join(f"<li><a href=http://hub.example/{n}>number {n}</a>" for n in range(number - 1))
    links += "".join(f"<li><a href=http://hub.example/gone/{n}>number {n}</a>" for n in range(dead))
    pages = {f"{HUB}{n}": f"<h1>{n}</h1>{(STARS if n % 2 else SOUPS).format(n)}{links}" for n in range(number - 1)}
    return {HUB: f"<p>Stars and soups.</p>{links}", **pages}


def learned(job: Path) -> dict[str, Any]:
    """What a job has saved of its prioritizer."""
    with closing(read_records(job)) as records:
        (data,) = records.execute("SELECT data FROM models WHERE name = 'prioritizer'").fetchone()
    return load_arrays(bytes(data))


def order(job: Path) -> list[str]:
    with closing(read_records(job)) as records:
        return [row["url"] for row in records.execute("SELECT url FROM pages ORDER BY seq")]


@pytest.fixture
def crawled(crawl, tmp_path: Path):
    """Crawl with one setting; its statistics, and how many lessons were learned."""

    def run(name: str, setting: dict[str, int]) -> tuple[int, int]:
        result = crawl(all_linked(), arguments={"prioritizer": name}, settings={**ONE_BY_ONE, **setting})
        assert result.exit_code == 0, result.log
        assert result.stats["focused/job/pages"] == PAGES, result.log
        lessons = int(learned(tmp_path / "job")["seen"])
        (tmp_path / "job").rename(tmp_path / f"job {len(list(tmp_path.iterdir()))}")
        return result.stats["focused/training/batches"], lessons

    return run


@pytest.mark.parametrize("name", ["focused", "apprentice"])
def test_a_prioritizer_learns_as_often_as_it_wants_unless_a_number_says_otherwise(crawled, name: str):
    own = find("prioritizer", name).learns_every
    batches = [crawled(name, {"FOCUSED_TRAIN_EVERY": every})[0] for every in (0, own, 6)]
    assert batches[0] == batches[1] == (PAGES - 1 if own == 1 else PAGES // own), "the seed alone teaches nothing"
    assert batches[2] == PAGES // 6


@pytest.mark.parametrize("name", ["focused", "apprentice"])
def test_links_to_pages_fetched_before_teach_as_often_as_it_wants_unless_a_number_says_otherwise(crawled, name: str):
    own = find("prioritizer", name).late_lessons
    settings = [{"FOCUSED_TRAIN_EVERY": 1, "FOCUSED_LATE_LESSONS": late} for late in (-1, own, 0, 9)]
    as_it_wants, asked, none, many = (crawled(name, setting)[1] for setting in settings)
    assert as_it_wants == asked
    assert none < many
    assert (asked == none) == (own == 0)


def two_lists() -> dict[str, str]:
    """A page with two lists whose links say nothing; one leads to soups, the other, farther down, to stars."""

    def items(kind: str) -> str:
        return "".join(f"<li><a href=http://hub.example/{kind}{n}>read on</a>" for n in range(10))

    hub = f"<p>Stars and soups.</p><ul id=first>{items('x')}</ul><ul id=second>{items('y')}</ul>"
    soups = {f"{HUB}x{n}": SOUPS.format(n) for n in range(10)}
    return {HUB: hub, **soups, **{f"{HUB}y{n}": STARS.format(n) for n in range(10)}}


@pytest.mark.parametrize(("price", "least", "most"), [(0.01, 1, 8), (0, 30, 30)], ids=["as it is", "without aliveness"])
def test_few_links_like_those_that_were_dead_are_requested(crawl, tmp_path: Path, price: float, least: int, most: int):
    """A page lists thirty links to a directory that is gone, and then ten to one that is there."""
    links = "".join(
        f"<li><a href={HUB}{folder}/{n}>read on</a>"
        for folder, count in (("gone", 30), ("there", 10))
        for n in range(count)
    )
    pages = {HUB: f"<p>Stars and soups.</p>{links}", **{f"{HUB}there/{n}": STARS.format(n) for n in range(10)}}
    topic = tmp_path / "stars.toml"
    text = f'name = "stars"\nkeywords = ["star", "galaxy"]\nseeds = ["{HUB}"]\n[prioritizer]\nprice = {price}\n'
    topic.write_text(text + "novelty = 0.0\naddress = false\n")
    result = crawl(pages, arguments={"topic": str(topic), "pages": 11}, settings=ONE_BY_ONE)
    assert result.exit_code == 0, result.log
    assert result.stats["focused/job/pages"] == 11
    assert least <= result.stats["focused/outcome/dead"] <= most


DIES_ONCE = '''
import os, signal
from pathlib import Path
from focused.critics.keywords import KeywordsCritic

class DiesOnce(KeywordsCritic):
    """Is killed with its crawl at the eighth page, once."""

    pages = 0

    def judge(self, page):
        self.pages += 1
        if self.pages == 8 and not Path("died").exists():
            Path("died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().judge(page)
'''
SAVED = pytest.mark.parametrize("save_every", [1, 1_000], ids=["from the model", "from the records"])


@pytest.fixture
def mortal(tmp_path: Path) -> dict[str, Any]:
    """Settings of a crawl that is killed once."""
    (tmp_path / "dies.py").write_text(DIES_ONCE)
    return {**ONE_BY_ONE, "FOCUSED_CRITIC": "dies.DiesOnce"}


@SAVED
def test_what_was_learned_survives_a_kill(crawl, mortal: dict[str, Any], save_every: int):
    settings = {**mortal, "FOCUSED_SAVE_EVERY": save_every}
    before = crawl(two_lists(), settings=settings)
    assert before.exit_code == -9
    after = crawl(two_lists(), settings=settings)
    assert after.exit_code == 0, after.log
    rest = [url.removeprefix(HUB)[0] for url in after.fetched if url not in before.fetched]
    assert rest.count("x") + rest.count("y") == len(rest) == 13
    assert rest == sorted(rest, reverse=True), "the list that was good first, though it stands second"


@SAVED
def test_a_crawl_that_was_killed_fetches_and_learns_what_it_would_have(
    crawl, mortal: dict[str, Any], tmp_path: Path, save_every: int
):
    """To the last bit, where all evidence is kept and each link teaches once."""
    exact = {"FOCUSED_SAVE_EVERY": save_every, "FOCUSED_LATE_LESSONS": 0, "FOCUSED_EVIDENCE_PIECES": 100}
    web = all_linked(dead=4)
    assert crawl(web, settings=mortal | exact).exit_code == -9
    assert crawl(web, settings=mortal | exact).exit_code == 0
    (tmp_path / "job").rename(tmp_path / "killed")
    assert crawl(web, settings=mortal | exact).exit_code == 0
    assert order(tmp_path / "killed") == order(tmp_path / "job")
    killed, whole = learned(tmp_path / "killed"), learned(tmp_path / "job")
    assert killed.keys() == whole.keys()
    assert all(np.array_equal(killed[name], whole[name]) for name in whole)


def test_the_critic_learns_on_the_job_and_goes_on_with_what_it_learned(crawl, tmp_path: Path):
    """The pages of the first start are judged anew; those of the next are judged by what was learned."""
    few = {**ONE_BY_ONE, "FOCUSED_LESSONS_ANEW": 20}
    first = crawl(all_linked(32), arguments={"pages": 27}, settings=few)
    assert first.exit_code == 0, first.log
    assert first.stats["focused/critic/version"] == 1
    # There only if verdicts have changed so much that the prioritizer was taught anew.
    assert first.stats.get("focused/lesson/not_anew", 5) == 5

    def pages() -> list[Any]:
        with closing(read_records(tmp_path / "job")) as records:
            query = (
                "SELECT url, relevance, version, length(data) AS kept FROM pages JOIN gists USING (link) ORDER BY seq"
            )
            return records.execute(query).fetchall()

    assert [(row["version"], 0 < row["kept"] <= 4_096) for row in pages()] == [(1, True)] * 27
    second = crawl(all_linked(32), settings=ONE_BY_ONE)
    assert second.exit_code == 0, second.log
    judged = pages()
    assert [row["version"] for row in judged] == [1] * 32
    numbered = [(int(row["url"].rpartition("/")[2]), row["relevance"]) for row in judged if row["url"] != HUB]
    stars, soups = ([relevance for number, relevance in numbered if number % 2 == odd] for odd in (1, 0))
    assert min(stars) > 2 * max(soups)


def test_a_critic_that_may_not_learn_keeps_nothing(crawl, tmp_path: Path):
    topic, critic = tmp_path / "stars.toml", '[critic]\nname = "combined"\non_the_job = false\n'
    topic.write_text(f'name = "stars"\nkeywords = ["star", "galaxy"]\nseeds = ["{HUB}"]\n{critic}')
    result = crawl(all_linked(32), arguments={"topic": str(topic)}, settings=ONE_BY_ONE)
    assert result.exit_code == 0, result.log
    assert "focused/critic/version" not in result.stats
    with closing(read_records(tmp_path / "job")) as records:
        assert records.execute("SELECT count(*) FROM gists").fetchone()[0] == 0
        assert {row["version"] for row in records.execute("SELECT version FROM pages")} == {0}
