"""`scrapy why` has an answer for every way in which an address can have ended, and it is the right one."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from focused.frontier.records import read_records
from focused.report.why import UnknownLink, tell_next, tell_why
from focused.testing.crawl import CrawlResult

A = "http://a.example"


def why(records: sqlite3.Connection, url: str) -> str:
    return "\n".join(tell_why(records, url))


def test_a_page_that_was_fetched(records: sqlite3.Connection, crawl: CrawlResult) -> None:
    item = next(item for item in crawl.items if item["url"] == f"{A}/bird3")
    story = why(records, f"{A}/bird3")
    assert "“Bird 3”" in story
    assert f"Page {item['order']} of 16, depth 1" in story
    assert f"relevance {item['relevance']:.3f}" in story
    assert f"Score when it was chosen: {item['score']:.3f}" in story


def test_where_the_link_stood_and_what_stood_around_it(records: sqlite3.Connection) -> None:
    story = why(records, f"{A}/bird3")
    assert f"on {A}/ “Birds”" in story
    assert "page 1, R(u) = " in story
    lines = [line.split() for line in story.splitlines()]
    assert ["0", "feather", "3"] in lines
    assert ["−1", "a", "bird", "is", "here"] in lines
    assert ["+1", "and", "its", "wing"] in lines


def test_what_spoke_for_and_against(records: sqlite3.Connection) -> None:
    story = why(records, f"{A}/bird3").replace("−", "-")
    score = float(story.partition("   score: ")[2].partition("\n")[0])
    first = [float(n) for n in re.findall(r"[+-]\d+\.\d+", story.partition("first of all: ")[2].partition("\n")[0])]
    sums = [float(n) for n in re.findall(r"^   [a-z ]+ \(([+-]\d+\.\d+)\): ", story, re.MULTILINE)]
    # All that spoke for and against makes up the score, which is their sum's place between 0 and 1.
    assert 1 / (1 + math.exp(-sum([*first, *sums]))) == pytest.approx(score, abs=0.02)
    assert "model saved last (after page 16)" in story


def test_every_link_of_the_default_is_told_in_words(records: sqlite3.Connection) -> None:
    stories = [why(records, url) for (url,) in records.execute("SELECT url FROM links WHERE outcome = 1")]
    assert len(stories) > 10
    for story in stories:
        assert "without a name" not in story
    # Of pages that the critic foretells well there is little to be learned from words: not every story has some.
    assert any(re.search(r"^   words (for|against) it \(.* \w+ \([+−]?\d\) [+−]\d", story, re.M) for story in stories)
    story = why(records, f"{A}/bird3")
    assert re.search(r"^   the critic says \(.*of the link's text [+−]\d", story, re.MULTILINE)
    assert re.search(r"^   its address \(.*bird3 [+−]\d", story, re.MULTILINE)
    assert re.search(r"^   its place \(.*other links of the (page|list) [+−]\d", story, re.MULTILINE)


def test_a_seed(records: sqlite3.Connection) -> None:
    story = why(records, f"{A}/")
    assert "It is a seed" in story
    assert "Page 1 of 16" in story


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/gone", "It was tried and is dead: 404."),
        ("/private/x", "It was not fetched: denied"),
        ("/file", "It is not HTML"),
    ],
)
def test_an_address_without_a_page(records: sqlite3.Connection, path: str, told: str) -> None:
    assert told in why(records, f"{A}{path}")


def test_an_address_that_led_elsewhere(records: sqlite3.Connection) -> None:
    story = why(records, f"{A}/old")
    assert f"It led to {A}/bird1" in story
    assert "“Bird 1”" in story


def test_a_page_that_was_reached_through_another_address(records: sqlite3.Connection) -> None:
    assert f"it named {A}/old, which led here" in why(records, f"{A}/bird1")


def test_a_link_that_was_found_when_its_page_had_been_fetched_is_marked(records: sqlite3.Connection) -> None:
    told = "found after this page was fetched"
    assert not any(told in why(records, url) for (url,) in records.execute("SELECT url FROM links"))
    copy = sqlite3.connect(":memory:")
    records.backup(copy)
    copy.row_factory = sqlite3.Row
    # As if the seed, where the link stands, had been fetched last.
    copy.execute("UPDATE pages SET seq = 17 WHERE seq = 1")
    assert why(copy, f"{A}/bird3").count(told) == 1
    assert why(copy, f"{A}/bird1").count(told) == 2, "the link to an address that led here was, too"
    assert told not in why(copy, f"{A}/more3"), "it has no page, or was found before it"
    assert told not in why(copy, f"{A}/old"), "it has no page of its own"


def test_the_same_content_twice(records: sqlite3.Connection) -> None:
    stories = [why(records, f"{A}/bird2"), why(records, "http://b.example/")]
    assert sum("It has the same content as" in story for story in stories) == 1


def test_a_link_that_waits_has_a_place(records: sqlite3.Connection) -> None:
    rows = records.execute("SELECT url FROM links WHERE state = 1").fetchall()
    places = []
    for row in rows:
        story = why(records, row["url"])
        assert "It waits" in story
        place, of = story.partition("Place ")[2].split(" that wait")[0].split(" of ")
        assert int(of) == len(rows)
        places.append(int(place))
    assert sorted(places) == list(range(1, len(rows) + 1))


def test_what_comes_next_are_the_links_of_the_first_places(records: sqlite3.Connection) -> None:
    heading, *lines = tell_next(records, most=3)
    (waiting,) = records.execute("SELECT count(*) FROM links WHERE state = 1").fetchone()
    assert heading == f"{waiting} links wait; what comes first, with the scores:"
    assert len(lines) == 3
    for place, (score, url) in enumerate(map(str.split, lines), 1):
        assert f"Place {place} of {waiting} that wait" in why(records, url)
        assert f"its score now: {score}." in why(records, url)
    records.execute("CREATE TEMP TABLE links AS SELECT * FROM links WHERE state != 1")
    assert list(tell_next(records)) == ["No link waits."]


def test_seeds_that_wait_come_first(empty_job: Path) -> None:
    with closing(read_records(empty_job)) as records:
        records.execute("CREATE TEMP TABLE links AS SELECT * FROM main.links")
        records.execute("UPDATE temp.links SET state = 1")
        heading, line = tell_next(records)
    assert heading.startswith("1 link waits")
    assert line.split()[0] == "seed"


def test_an_unknown_address_gets_a_hint(records: sqlite3.Connection) -> None:
    with pytest.raises(UnknownLink, match="is not known to this job"):
        why(records, f"{A}/nowhere")
    with pytest.raises(UnknownLink, match=r"Did you mean http://a\.example/bird3\?"):
        why(records, "https://www.a.example/bird3/")


def test_an_address_is_found_however_it_is_written(records: sqlite3.Connection) -> None:
    assert "“Bird 3”" in why(records, "HTTP://A.example:80/x/../bird3#top")


def test_a_job_whose_prioritizer_is_gone_still_tells_what_it_can(records: sqlite3.Connection) -> None:
    copy = sqlite3.connect(":memory:")
    records.backup(copy)
    copy.row_factory = sqlite3.Row
    copy.execute('UPDATE meta SET value = replace(value, \'"name": "focused"\', \'"name": "gone.Away"\')')
    story = why(copy, f"{A}/bird3")
    assert "“Bird 3”" in story
    assert "cannot be made again" in story


def test_a_prioritizer_that_does_not_learn_says_so(records: sqlite3.Connection) -> None:
    copy = sqlite3.connect(":memory:")
    records.backup(copy)
    copy.row_factory = sqlite3.Row
    copy.execute('UPDATE meta SET value = replace(value, \'"name": "focused"\', \'"name": "random"\')')
    copy.execute("DELETE FROM models")
    story = why(copy, f"{A}/bird3")
    assert "random, does not learn" in story
    assert "for it" not in story
    assert "first of all" not in story


def test_a_hostile_title_does_nothing_to_a_terminal(records: sqlite3.Connection) -> None:
    story = why(records, f"{A}/hostile")
    assert "<script>alert(1)</script>" in story
    assert not set(story) & {"\x07", "\x1b", "\u202e"}


def test_the_command(job: Path, scrapy: Callable[..., Any]) -> None:
    run = scrapy("why", "--job", job, f"{A}/bird3", f"{A}/nowhere")
    assert "“Bird 3”" in run.stdout
    assert "is not known to this job" in run.stderr
    assert run.returncode == 1
    assert scrapy("why", "--job", job, "--links", 2).stdout.count("\n") == 3
    assert "--links 0: give a number" in scrapy("why", "--job", job, "--links", 0).stderr
    assert scrapy("why", f"{A}/bird3").returncode == 2
    assert scrapy("why", "--job", "/nowhere", f"{A}/bird3").returncode == 2
    redis = scrapy("why", "--job", "redis://127.0.0.1:6391/0", f"{A}/bird3")
    assert redis.returncode == 2
    assert "--job redis://127.0.0.1:6391/0: `scrapy why` reads a job folder (JOBDIR) only" in redis.stderr
