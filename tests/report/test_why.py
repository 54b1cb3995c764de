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
from focused.lab.site.crawl import CrawlResult
from focused.report.job_reader import JobReader
from focused.report.waiting import list_next
from focused.report.why import UnknownLink, explain_link

A = "http://a.example"


def why(reader: JobReader, url: str) -> str:
    return "\n".join(explain_link(reader, url))


def urls_of(records: sqlite3.Connection, where: str = "1") -> list[str]:
    return [url for (url,) in records.execute(f"SELECT url FROM links WHERE {where}")]


def test_a_page_that_was_fetched(reader: JobReader, crawl: CrawlResult) -> None:
    item = next(item for item in crawl.items if item["url"] == f"{A}/bird3")
    story = why(reader, f"{A}/bird3")
    assert "“Bird 3”" in story
    assert f"Page {item['order']} of 16, depth 1" in story
    assert f"relevance {item['relevance']:.3f}" in story
    assert f"Score when it was chosen: {item['score']:.3f}" in story


def test_where_the_link_stood_and_what_stood_around_it(reader: JobReader) -> None:
    story = why(reader, f"{A}/bird3")
    assert f"on {A}/ “Birds”" in story
    assert "page 1, R(u) = " in story
    lines = [line.split() for line in story.splitlines()]
    assert ["0", "feather", "3"] in lines
    assert ["−1", "a", "bird", "is", "here"] in lines
    assert ["+1", "and", "its", "wing"] in lines


def test_what_spoke_for_and_against(reader: JobReader) -> None:
    story = why(reader, f"{A}/bird3").replace("−", "-")
    score = float(story.partition("   score: ")[2].partition("\n")[0])
    first = [float(n) for n in re.findall(r"[+-]\d+\.\d+", story.partition("first of all: ")[2].partition("\n")[0])]
    sums = [float(n) for n in re.findall(r"^   [a-z ]+ \(([+-]\d+\.\d+)\): ", story, re.MULTILINE)]
    # All that spoke for and against makes up the score, which is their sum's place between 0 and 1.
    assert 1 / (1 + math.exp(-sum([*first, *sums]))) == pytest.approx(score, abs=0.02)
    assert "those of the model saved after page 16" in story


def test_every_link_of_the_default_is_told_in_words(reader: JobReader, records: sqlite3.Connection) -> None:
    stories = [why(reader, url) for url in urls_of(records, "outcome = 1")]
    assert len(stories) > 10
    for story in stories:
        assert "without a name" not in story
    # Of pages that the critic foretells well there is little to be learned from words: not every story has some.
    assert any(re.search(r"^   words (for|against) it \(.* \w+ \([+−]?\d\) [+−]\d", story, re.M) for story in stories)
    story = why(reader, f"{A}/bird3")
    assert re.search(r"^   the critic says \(.*of the link's text [+−]\d", story, re.MULTILINE)
    assert re.search(r"^   its address \(.*bird3 [+−]\d", story, re.MULTILINE)
    assert re.search(r"^   its place \(.*other links of the (page|list) [+−]\d", story, re.MULTILINE)


def test_a_seed(reader: JobReader) -> None:
    story = why(reader, f"{A}/")
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
def test_an_address_without_a_page(reader: JobReader, path: str, told: str) -> None:
    assert told in why(reader, f"{A}{path}")


def test_an_address_that_led_elsewhere(reader: JobReader) -> None:
    story = why(reader, f"{A}/old")
    assert f"It redirects to {A}/bird1" in story
    assert "“Bird 1”" in story


def test_a_page_that_was_reached_through_another_address(reader: JobReader) -> None:
    assert f"it names {A}/old, which redirects here" in why(reader, f"{A}/bird1")


def test_a_link_that_was_found_when_its_page_had_been_fetched_is_marked(
    reader: JobReader, records: sqlite3.Connection, copied: JobReader, copy: sqlite3.Connection
) -> None:
    told = "found after this page was fetched"
    assert not any(told in why(reader, url) for url in urls_of(records))
    # As if the seed, where the link stands, had been fetched last.
    copy.execute("UPDATE pages SET seq = 17 WHERE seq = 1")
    assert why(copied, f"{A}/bird3").count(told) == 1
    assert why(copied, f"{A}/bird1").count(told) == 2, "the link to an address that led here was, too"
    assert told not in why(copied, f"{A}/more3"), "it has no page, or was found before it"
    assert told not in why(copied, f"{A}/old"), "it has no page of its own"


def test_the_same_content_twice(reader: JobReader) -> None:
    stories = [why(reader, f"{A}/bird2"), why(reader, "http://b.example/")]
    assert sum("It has the same content as" in story for story in stories) == 1


def test_a_link_that_waits_has_a_place(reader: JobReader, records: sqlite3.Connection) -> None:
    urls = urls_of(records, "state = 1")
    places = []
    for url in urls:
        story = why(reader, url)
        assert "It is waiting" in story
        place, of = story.partition("Place ")[2].split(" waiting links")[0].split(" of ")
        assert int(of) == len(urls)
        places.append(int(place))
    assert sorted(places) == list(range(1, len(urls) + 1))


def test_what_comes_next_are_the_links_of_the_first_places(
    reader: JobReader, records: sqlite3.Connection, copied: JobReader, copy: sqlite3.Connection
) -> None:
    heading, *lines = list_next(reader, most=3)
    (waiting,) = records.execute("SELECT count(*) FROM links WHERE state = 1").fetchone()
    assert heading == f"{waiting} links waiting; the next ones, with their scores:"
    assert len(lines) == 3
    for place, (score, url) in enumerate(map(str.split, lines), 1):
        assert f"Place {place} of {waiting} waiting links" in why(reader, url)
        assert f"its score now: {score}." in why(reader, url)
    copy.execute("UPDATE links SET state = 3 WHERE state = 1")
    assert list(list_next(copied)) == ["No link is waiting."]


def test_seeds_that_wait_come_first(empty_job: Path) -> None:
    with closing(read_records(empty_job)) as records:
        records.execute("CREATE TEMP TABLE links AS SELECT * FROM main.links")
        records.execute("UPDATE temp.links SET state = 1")
        heading, line = list_next(JobReader(records, empty_job))
    assert heading.startswith("1 link waiting")
    assert line.split()[0] == "seed"


def test_an_unknown_address_gets_a_hint(reader: JobReader) -> None:
    with pytest.raises(UnknownLink, match="is not known to this crawl"):
        why(reader, f"{A}/nowhere")
    with pytest.raises(UnknownLink, match=r"Did you mean http://a\.example/bird3\?"):
        why(reader, "https://www.a.example/bird3/")


def test_an_address_is_found_however_it_is_written(reader: JobReader) -> None:
    assert "“Bird 3”" in why(reader, "HTTP://A.example:80/x/../bird3#top")


def test_a_job_whose_prioritizer_is_gone_still_tells_what_it_can(copied: JobReader, copy: sqlite3.Connection) -> None:
    copy.execute('UPDATE meta SET value = replace(value, \'"name": "focused"\', \'"name": "gone.Away"\')')
    story = why(copied, f"{A}/bird3")
    assert "“Bird 3”" in story
    assert "cannot be made again" in story


def test_a_prioritizer_that_does_not_learn_says_so(copied: JobReader, copy: sqlite3.Connection) -> None:
    copy.execute('UPDATE meta SET value = replace(value, \'"name": "focused"\', \'"name": "random"\')')
    copy.execute("DELETE FROM models")
    story = why(copied, f"{A}/bird3")
    assert "random, does not learn" in story
    assert "for it" not in story
    assert "first of all" not in story


def test_a_hostile_title_does_nothing_to_a_terminal(reader: JobReader) -> None:
    story = why(reader, f"{A}/hostile")
    assert "<script>alert(1)</script>" in story
    assert not set(story) & {"\x07", "\x1b", "\u202e"}


def test_the_command(job: Path, scrapy: Callable[..., Any]) -> None:
    run = scrapy("why", "--job", job, f"{A}/bird3", f"{A}/nowhere")
    assert "“Bird 3”" in run.stdout
    assert "is not known to this crawl" in run.stderr
    assert run.returncode == 1
    assert scrapy("why", "--job", job, "--links", 2).stdout.count("\n") == 3
    assert "argument --links: '0': give a whole number, 1 or more" in scrapy("why", "--job", job, "--links", 0).stderr
    assert scrapy("why", f"{A}/bird3").returncode == 2
    assert scrapy("why", "--job", "/nowhere", f"{A}/bird3").returncode == 2
    redis = scrapy("why", "--job", "redis://127.0.0.1:6391/0", f"{A}/bird3")
    assert redis.returncode == 2
    assert "Redis does not answer at redis://127.0.0.1:6391/0" in redis.stderr
