"""One way for the data: a page is judged and recorded once, before its links are followed, whoever asks first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import focused
from focused.frontier.records import read_records
from focused.lab.site.server import SiteServer

HUB = "http://hub.example/"
ON = "A star is seen through a telescope, and a galaxy is seen as many stars. Galaxy, star, telescope. "
ONE_BY_ONE = {"CONCURRENT_REQUESTS": 1, "ROBOTSTXT_OBEY": False}


def page(*links: str, text: str = ON) -> str:
    """A page with links; their addresses are not among its words."""
    anchors = "".join(f'<p><a href="{link}">next</a></p>' for link in links)
    return f"<html><head><title>A page</title></head><body><p>{text}</p>{anchors}</body></html>"


def star_site(count: int = 6) -> dict[str, str]:
    pages = [f"http://h{n}.example/{n}" for n in range(count)]
    return {HUB: page(*pages), **{url: page(text=f"{ON} Number w{n}.") for n, url in enumerate(pages)}}


def rows(job: Path, sql: str) -> list[Any]:
    with closing(read_records(job)) as records:
        return [tuple(row) for row in records.execute(sql)]


# --- duplicates ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [ON * 3, "A galaxy.", ""], ids=["many words", "few words", "no words"])
def test_a_chain_of_identical_pages_ends_at_its_first_repetition(crawl, tmp_path: Path, text: str) -> None:
    chain = {f"http://h.example/{n}": page(f"http://h.example/{n + 1}", text=text) for n in range(30)}
    result = crawl({HUB: page("http://h.example/0"), **chain}, settings=ONE_BY_ONE)
    assert result.fetched == [HUB, "http://h.example/0", "http://h.example/1"]
    assert result.stats["focused/page/duplicates"] == 1
    assert result.stats["focused/link/unfollowed"] == 1
    assert [item["url"] for item in result.items] == result.fetched[:2]
    relevance = [item["relevance"] for item in result.items]
    assert result.stats["focused/job/harvest"] == pytest.approx(sum(relevance) / 2, abs=1e-3), "it counts in no harvest"


def test_a_setting_follows_the_links_of_duplicates(crawl) -> None:
    chain = {f"http://h.example/{n}": page(f"http://h.example/{n + 1}", text=ON * 3) for n in range(4)}
    result = crawl(
        {HUB: page("http://h.example/0"), **chain}, settings={**ONE_BY_ONE, "FOCUSED_FOLLOW_DUPLICATES": True}
    )
    assert len(result.fetched) == 5
    assert "focused/link/unfollowed" not in result.stats


def test_a_setting_leaves_the_links_of_poor_pages(crawl) -> None:
    web = {
        HUB: page("http://on.example/", "http://off.example/"),
        "http://on.example/": page("http://last.example/", text=f"{ON} On."),
        "http://off.example/": page("http://never.example/", text="Tax law and the rates of taxes."),
        "http://last.example/": page(text=f"{ON} Last."),
        "http://never.example/": page(text=f"{ON} Never."),
    }
    result = crawl(web, settings={**ONE_BY_ONE, "FOCUSED_FOLLOW_FROM": 0.1})
    assert set(result.fetched) == web.keys() - {"http://never.example/"}
    assert result.stats["focused/link/of_poor_pages"] == 1


def test_pages_that_only_say_where_they_have_moved_are_followed(crawl) -> None:
    moved = {f"http://old.example/{n}": page(f"http://new.example/{n}", text="It has moved.") for n in range(3)}
    new = {f"http://new.example/{n}": page(text=f"{ON} Number w{n}.") for n in range(3)}
    result = crawl({HUB: page(*moved), **moved, **new}, settings=ONE_BY_ONE)
    assert set(result.fetched) == {HUB, *moved, *new}


# --- what a user's own components do ----------------------------------------------------------------------------------

OWN = '''
from scrapy.exceptions import DropItem

class DropsOdd:
    """A spider middleware that lets no link with an odd number through."""

    async def process_spider_output(self, response, result):
        async for output in result:
            if not (hasattr(output, "callback") and output.url[-1] in "13579"):
                yield output


class FailsAtThree:
    """A callback that gives its output and fails."""

    async def process_spider_output(self, response, result):
        async for output in result:
            yield output
        if response.url.endswith("3"):
            raise ValueError("a callback that fails")


class MakesDict:
    def process_item(self, item):
        assert "<html" in item.response.text
        return {**item, "seen": {"telescope"}}


class MakesAnother:
    def process_item(self, item):
        return {"title": "another", "seen": {"telescope"}}


class GivesOthers:
    """A spider middleware that gives an item of its own before each of ours, and one behind it."""

    async def process_spider_output(self, response, result):
        async for output in result:
            if not hasattr(output, "callback"):
                yield {"order": 99, "seen": True, "other": True}
                yield output
                yield {"seen": True, "other": True}
            else:
                yield output


class AddsField:
    def process_item(self, item):
        if hasattr(item, "response"):
            item["length"] = len(item.response.body)
        return item


class DropsAll:
    def process_item(self, item):
        raise DropItem("not wanted")


class Fails:
    def process_item(self, item):
        raise ValueError("a pipeline of the user's own")
'''


@pytest.fixture
def own(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)


@pytest.mark.usefixtures("own")
def test_what_a_users_middleware_drops_is_not_admitted(crawl, tmp_path: Path) -> None:
    middlewares = {"focused.middlewares.prioritizer.PrioritizerMiddleware": 10, "own.DropsOdd": 500}
    result = crawl(star_site(), settings={"SPIDER_MIDDLEWARES": json.dumps(middlewares)})
    assert sorted(result.fetched) == sorted([HUB, *(f"http://h{n}.example/{n}" for n in (0, 2, 4))])
    known = {url for (url,) in rows(tmp_path / "job", "SELECT url FROM links")}
    assert known == set(result.fetched)


def pipelines(name: str, number: int) -> dict[str, str]:
    ours = {
        f"focused.pipelines.{kind.lower()}.{kind}Pipeline": at
        for kind, at in (("Critic", 100), ("Lessons", 200), ("Training", 300), ("Output", 900))
    }
    return {"ITEM_PIPELINES": json.dumps({f"own.{name}": number, **ours})}


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("number", [50, 500], ids=["before ours", "behind ours"])
@pytest.mark.parametrize(("name", "field"), [("MakesDict", "seen"), ("AddsField", "length")])
def test_a_pipeline_may_change_an_item_as_it_likes(crawl, tmp_path: Path, name: str, field: str, number: int) -> None:
    result = crawl(star_site(), settings={**ONE_BY_ONE, **pipelines(name, number)})
    assert len(result.items) == 7 == result.stats["focused/page/judged"]
    assert all(item[field] for item in result.items), "the field is in -o"
    assert result.stats["focused/lesson/count"] == 6
    assert result.stats["focused/training/batches"] == 6
    assert kept_items(tmp_path / "job") == sorted(result.items, key=lambda item: item["order"]), (
        "and in what the job keeps"
    )


def kept_items(job: Path) -> list[dict[str, Any]]:
    return [json.loads(item) for (item,) in rows(job, "SELECT item FROM pages ORDER BY seq")]


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("number", [50, 500], ids=["before ours", "behind ours"])
def test_what_an_item_in_place_of_ours_adds_is_kept_with_our_fields(crawl, tmp_path: Path, number: int) -> None:
    result = crawl(star_site(), settings={**ONE_BY_ONE, **pipelines("MakesAnother", number)})
    assert result.items == [{"title": "another", "seen": ["telescope"]}] * 7
    kept = kept_items(tmp_path / "job")
    assert [item["order"] for item in kept] == [*range(1, 8)]
    assert {item["url"] for item in kept} == set(result.fetched)
    assert all(item["title"] == "another" and item["seen"] == ["telescope"] for item in kept)


@pytest.mark.usefixtures("own")
def test_other_items_are_not_taken_for_that_of_the_page(crawl, tmp_path: Path) -> None:
    middlewares = {"focused.middlewares.prioritizer.PrioritizerMiddleware": 10, "own.GivesOthers": 500}
    own = {"SPIDER_MIDDLEWARES": json.dumps(middlewares), **pipelines("AddsField", 500)}
    result = crawl(star_site(), settings={**ONE_BY_ONE, **own})
    assert sum("other" in item for item in result.items) == 14
    assert not any("other" in item or "seen" in item for item in kept_items(tmp_path / "job"))


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("name", ["DropsAll", "Fails"])
def test_pages_count_and_teach_whatever_becomes_of_their_items(crawl, name: str) -> None:
    result = crawl(star_site(), settings={**ONE_BY_ONE, **pipelines(name, 50)})
    assert not result.items
    assert result.stats["focused/page/judged"] == 7 == result.stats["focused/outcome/page"]
    assert result.stats["focused/lesson/count"] == 6


@pytest.mark.usefixtures("own")
def test_a_page_whose_callback_fails_teaches_nothing_and_counts_nothing(crawl, tmp_path: Path) -> None:
    site = star_site()
    site["http://h3.example/3"] = page("http://behind.example/", text=f"{ON} Number w3.")
    site["http://behind.example/"] = page(text=f"{ON} Behind.")
    middlewares = {"focused.middlewares.prioritizer.PrioritizerMiddleware": 10, "own.FailsAtThree": 990}
    result = crawl(site, settings={**ONE_BY_ONE, "SPIDER_MIDDLEWARES": json.dumps(middlewares)})
    assert result.stats["focused/outcome/failed"] == 1
    assert result.stats["focused/page/judged"] == 7
    assert "http://h3.example/3" not in {item["url"] for item in result.items}
    pages = {url for (url,) in rows(tmp_path / "job", "SELECT url FROM pages")}
    assert pages == {*site} - {"http://h3.example/3"}, "what it gave before it failed went on"
    assert result.stats["focused/job/pages"] == 7


# --- without some of it -----------------------------------------------------------------------------------------------


def test_without_the_prioritizer_middleware_the_crawl_goes_on(crawl) -> None:
    middlewares = {"focused.middlewares.prioritizer.PrioritizerMiddleware": None}
    result = crawl(star_site(), settings={**ONE_BY_ONE, "SPIDER_MIDDLEWARES": json.dumps(middlewares)})
    assert set(result.fetched) == set(star_site())
    assert len(result.items) == 7 == result.stats["focused/page/judged"]


def test_without_the_judging_middleware_the_spider_asks_first(crawl) -> None:
    middlewares = {"focused.middlewares.judge.JudgeMiddleware": None}
    result = crawl(star_site(), settings={**ONE_BY_ONE, "DOWNLOADER_MIDDLEWARES": json.dumps(middlewares)})
    assert len(result.items) == 7 == result.stats["focused/page/judged"]
    assert result.stats["focused/lesson/count"] == 6


def test_scrapy_parse_shows_the_item_and_the_requests(tmp_path: Path) -> None:
    with SiteServer(star_site()) as site:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "scrapy", "parse", HUB, "--spider", "focused", "--nocolour"),
                *("-a", "topic=star galaxy telescope", "-a", f"seeds={HUB}", "-c", "parse"),
                *("-s", f"FOCUSED_MODELS={tmp_path}", "-s", "ROBOTSTXT_OBEY=False", "-s", "DOWNLOAD_DELAY=0"),
            ],
            cwd=Path(focused.__file__).parents[1],
            env={**os.environ, "http_proxy": site.url},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-3000:]
    assert f"'url': '{HUB}'" in done.stdout, done.stdout + done.stderr[-3000:]
    assert all(f"<GET http://h{n}.example/{n}>" in done.stdout for n in range(6)), done.stdout
