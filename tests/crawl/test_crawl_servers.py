"""Servers that misbehave: what is asked of them again, and what is not."""

from __future__ import annotations

from collections import Counter

from focused.lab.site.crawl import CrawlResult
from focused.lab.site.reply import Reply, html, in_turn, linking, redirect
from focused.report.job_reader import JobReader

HUB = "http://hub.example/"
TEXT = "A star is seen through a telescope, and a galaxy is seen as many stars. " * 3


def page(*links: str) -> Reply:
    return linking(*links, text=TEXT)


def visits_to(result: CrawlResult, url: str) -> int:
    return Counter(visit.url for visit in result.visits)[url]


def urls(result: CrawlResult) -> set[str]:
    return {item["url"] for item in result.items}


def test_a_circle_of_redirects_is_left(crawl, tmp_path):
    result = crawl(
        {
            HUB: page("http://a.example/round", "http://b.example/"),
            "http://a.example/round": redirect("/and-round", 302),
            "http://a.example/and-round": redirect("/round", 302),
            "http://b.example/": page("b"),
        }
    )
    assert result.exit_code == 0
    assert result.reason() == "finished"
    assert urls(result) == {HUB, "http://b.example/"}
    assert visits_to(result, "http://a.example/round") <= 15
    met = result.stats["focused/outcome/redirect"]
    with JobReader.open(tmp_path / "job") as reader:
        assert met > reader.status().outcomes["redirect"] == 1, "requests here, links there"
    assert f"{met} of them redirected" in result.log


def test_a_redirect_that_goes_on_for_ever_is_left(crawl):
    def further(visit):
        return redirect(f"/{int(visit.path.strip('/')) + 1}")

    pages = {HUB: page("http://a.example/0")} | {f"/{n}": further for n in range(200)}
    result = crawl(pages)
    assert result.reason() == "finished"
    assert len(result.visits) < 60


def test_a_redirect_to_a_page_that_is_known_is_not_a_second_item(crawl):
    result = crawl(
        {
            HUB: page("http://a.example/", "http://a.example/old", "http://a.example/older"),
            "http://a.example/": page("a"),
            "http://a.example/old": redirect("/"),
            "http://a.example/older": redirect("/old"),
        }
    )
    assert [item["url"] for item in result.items].count("http://a.example/") == 1
    assert visits_to(result, "http://a.example/") == 1


def test_a_busy_server_is_asked_again_later(crawl):
    busy = Reply(status=429, headers={"Retry-After": "1"})
    result = crawl({HUB: page("http://a.example/"), "http://a.example/": in_turn(busy, page("a"))})
    first, second = (visit for visit in result.visits if visit.url == "http://a.example/")
    assert second.began - first.began >= 1.0
    assert "http://a.example/" in urls(result)


def test_a_server_that_fails_once_is_asked_again(crawl):
    result = crawl({HUB: page("http://a.example/"), "http://a.example/": in_turn(html("", status=503), page("a"))})
    assert "http://a.example/" in urls(result)


def test_the_same_content_under_two_addresses_counts_once(crawl):
    links = ["http://a.example/1", "http://a.example/2"]
    result = crawl({HUB: page(*links), **dict.fromkeys(links, page("the same"))})
    assert len(result.items) == 2
    assert result.stats["focused/outcome/duplicate"] == 1


def test_robots_txt_that_cannot_be_had_is_no_permission(crawl):
    links = ["http://a.example/", "http://b.example/"]
    result = crawl(
        {
            HUB: page(*links),
            **{link: page(link) for link in links},
            "http://a.example/robots.txt": Reply(status=503),
            "http://b.example/robots.txt": Reply(status=404),
        },
    )
    assert visits_to(result, "http://a.example/") == 0
    assert "http://b.example/" in urls(result)


def test_dead_links_are_asked_for_once(crawl):
    result = crawl({HUB: page("http://a.example/gone")})
    assert visits_to(result, "http://a.example/gone") == 1
    assert result.stats["focused/outcome/dead"] == 1


def test_a_crawl_whose_seeds_are_all_dead_fails_and_says_so(crawl):
    result = crawl({})
    assert result.exit_code != 0
    assert f"nothing was fetched; the seed {HUB} was not crawled: the answer was HTTP 404" in result.last_line


def test_other_kinds_of_content_are_not_read_to_the_end(crawl):
    film = Reply(
        body=lambda: (b"x" * 65_536 for _ in range(3_000)), headers={"Content-Type": "video/mp4"}, length=196_608_000
    )
    result = crawl(
        {
            HUB: page("http://a.example/film.html", "http://b.example/"),
            "/film.html": film,
            "http://b.example/": page("b"),
        }
    )
    assert urls(result) == {HUB, "http://b.example/"}
    assert result.stats["downloader/response_bytes"] < 20_000_000
    assert result.stats["focused/outcome/not_html"] == 1
