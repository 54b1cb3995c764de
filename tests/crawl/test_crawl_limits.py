"""Where a crawl stops, what it may fetch, how fast, and what it writes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from focused.lab.site.reply import Reply, linking, redirect
from focused.pages.urls import url_to_host
from focused.report.job_reader import JobReader

HUB = "http://hub.example/"
ON = "A star is seen through a telescope, and a galaxy is seen as many stars. Galaxy, star, telescope. " * 4
OFF = "Simmer the onions in butter until they are soft, then add flour and milk to make a smooth sauce. "


def page(*links: str, text: str = ON) -> Reply:
    # Every page has words of its own, or it would count as a duplicate.
    return linking(*links, text=f"{text * 3} {' '.join(links)}")


def star_site(pages: int, text: str = ON) -> dict[str, Reply]:
    links = [f"http://h{n % 3}.example/{n}" for n in range(pages)]
    leaves = {link: page(text=f"{text} number {n}x{n}") for n, link in enumerate(links)}
    return {HUB: page(*links), **leaves}


def test_stops_after_relevant_pages(crawl):
    result = crawl(star_site(12), arguments={"found": 4}, settings={"CONCURRENT_REQUESTS": 1})
    assert result.reason() == "found"
    assert sum(item["relevance"] >= 0.5 for item in result.items) == 4
    assert "4 relevant pages found" in result.last_line


def test_stops_when_it_has_dried_up(crawl):
    result = crawl(star_site(12, OFF), arguments={"dry": "0.2/5"}, settings={"CONCURRENT_REQUESTS": 1})
    assert result.reason() == "dry"
    assert "dried up" in result.last_line
    assert 5 <= len(result.items) <= 7


def test_pages_per_host_are_limited(crawl):
    result = crawl(star_site(15), arguments={"per_host": 2})
    assert Counter(url_to_host(url) for url in result.fetched) == {
        "hub.example": 1,
        "h0.example": 2,
        "h1.example": 2,
        "h2.example": 2,
    }
    assert result.reason() == "finished"


def test_pages_under_way_count_among_those_of_a_host(crawl):
    pages = {f"http://hub.example/{n}": Reply(body=page(text=f"{ON} number {n}x{n}").body, wait=0.1) for n in range(20)}
    settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": 8}
    result = crawl({HUB: page(*pages), **pages}, arguments={"per_host": 6}, settings=settings)
    assert len(result.fetched) == 6
    assert result.reason() == "finished"
    assert result.stats["focused/outcome/denied"] == 15


def test_of_a_host_that_is_full_any_number_of_links_are_closed(crawl):
    links = [f"http://hub.example/{n}" for n in range(700)]
    result = crawl(
        {HUB: page(*links, "http://other.example/"), "http://other.example/": page()}, arguments={"per_host": 1}
    )
    assert result.fetched == [HUB, "http://other.example/"]
    assert result.reason() == "finished"
    assert result.stats["focused/outcome/denied"] == 700


def test_a_job_with_nothing_left_to_fetch_ends_well_when_started_again(crawl):
    crawl(star_site(3))
    again = crawl(star_site(3))
    assert again.exit_code == 0
    assert not again.fetched
    assert again.last_line == "The crawl ended: no link is left to follow"


def test_what_waits_is_not_fetched_when_the_limits_of_a_later_start_forbid_it(crawl):
    links = [f"http://{host}.example/{n}" for n in range(4) for host in ("good", "bad", "www.bad")]
    deep = {"http://good.example/0": page("http://good.example/deep")}
    site = {HUB: page(*links, "http://good.example/login")} | {link: page() for link in links} | deep
    crawl(site, arguments={"pages": 1}, settings={"CONCURRENT_REQUESTS": 1})
    limits = {"deny_hosts": "bad.example", "deny": "login", "depth": 1}
    again = crawl(site, arguments=limits)
    assert sorted(again.fetched) == [f"http://good.example/{n}" for n in range(4)]
    assert again.stats["focused/outcome/denied"] == 9
    assert again.reason() == "finished"


def test_seeds_are_of_hosts_that_may_be_crawled(crawl):
    site = {HUB: page("http://good.example/"), "http://good.example/": page()}
    denied = crawl(site, arguments={"deny_hosts": "hub.example"})
    assert not denied.fetched
    assert denied.exit_code == 1
    assert (
        "The seed http://hub.example/ was not crawled: its host is excluded by allow_hosts or deny_hosts" in denied.log
    )
    assert denied.last_line.endswith("its host is excluded by allow_hosts or deny_hosts")


def test_patterns_are_for_links_that_are_found(crawl):
    site = {HUB: page("http://good.example/a", "http://good.example/b"), "http://good.example/a": page()}
    assert crawl(site, arguments={"allow": "/a$"}).fetched == [HUB, "http://good.example/a"]


def test_redirects_are_counted_alike_everywhere(crawl, tmp_path):
    moved = {f"http://old.example/{n}": redirect(f"http://new.example/{n}") for n in range(5)}
    site = {HUB: page(*moved), **moved, **{f"http://new.example/{n}": page(text=f"{ON} {n}x{n}") for n in range(5)}}
    result = crawl(site)
    assert result.stats["focused/outcome/redirect"] == 5
    assert ", 5 of them redirected; links: 6 pages" in result.log
    with JobReader.open(tmp_path / "job") as reader:
        assert reader.status().outcomes["redirect"] == 5


def test_depth_is_limited(crawl):
    chain = {f"http://h.example/{n}": page(f"http://h.example/{n + 1}") for n in range(5)}
    result = crawl({HUB: page("http://h.example/0"), **chain}, arguments={"depth": 2})
    assert result.fetched == [HUB, "http://h.example/0", "http://h.example/1"]
    assert [item["depth"] for item in result.items] == [0, 1, 2]


def test_hosts_and_patterns_are_denied(crawl):
    links = ["http://good.example/a", "http://bad.example/b", "http://www.bad.example/c", "http://good.example/login"]
    result = crawl(
        {HUB: page(*links)} | {link: page() for link in links}, arguments={"deny_hosts": "bad.example", "deny": "login"}
    )
    assert result.fetched == [HUB, "http://good.example/a"]
    assert result.stats["focused/scope/refused/host"] == 2


def test_a_redirect_out_of_scope_is_not_followed(crawl):
    away = Reply(status=302, headers={"Location": "http://bad.example/x"})
    sites = {HUB: page("http://good.example/a"), "http://good.example/a": away, "http://bad.example/x": page()}
    result = crawl(sites, arguments={"deny_hosts": "bad.example"})
    assert result.fetched == [HUB]
    assert result.stats["focused/outcome/denied"] == 1


def test_only_relevant_items_are_written_but_all_are_kept(crawl, tmp_path: Path):
    site = {HUB: page("http://h.example/on", "http://h.example/off")}
    site |= {"http://h.example/on": page(text=ON + "moon"), "http://h.example/off": page(text=OFF)}
    result = crawl(site, arguments={"relevant": "0.5"})
    assert len(result.fetched) == 3
    assert "http://h.example/off" not in {item["url"] for item in result.items}
    from focused.frontier.records import read_items, read_records

    with read_records(tmp_path / "job") as records:
        assert len(list(read_items(records))) == 3


def test_hosts_are_given_the_delay_that_was_set(crawl):
    site = {HUB: page(*(f"http://slow.example/{n}" for n in range(5)))}
    site |= {f"http://slow.example/{n}": page(text=f"{ON} {n}") for n in range(5)}
    result = crawl(site, settings={"DOWNLOAD_DELAY": 0.3, "CONCURRENT_REQUESTS_PER_DOMAIN": 4})
    times = sorted(visit.began for visit in result.visits if "slow" in visit.url)
    assert len(times) >= 5
    # Single gaps are as even as the machine is idle; only a first request that came late shortens them together.
    assert times[-1] - times[0] >= (len(times) - 2) * 0.3


def test_the_topics_own_settings_are_applied_below_the_command_line(crawl, tmp_path: Path):
    topic = tmp_path / "stars.toml"
    topic.write_text(
        'name = "stars"\nkeywords = ["star", "galaxy", "telescope"]\nseeds = ["http://hub.example/"]\n'
        "[prioritizer]\nname = 'best-first'\n"
        "[settings]\nDEPTH_LIMIT = 1\nUSER_AGENT = 'topic'\nFOCUSED_STOP_PAGES = 3\n"
    )
    site = {**star_site(6), "http://h0.example/0": page("http://deep.example/")}
    arguments = {"topic": topic, "seeds": HUB}
    result = crawl(site, arguments=arguments, settings={"FOCUSED_STOP_PAGES": 0})
    assert len(result.fetched) == 7, "the command line said how many pages, the topic how deep"
    assert all(visit.headers.get("user-agent") == "topic" for visit in result.visits)


@pytest.mark.parametrize("stop", [3, 5])
def test_a_stopped_crawl_goes_on_where_it_was_and_fetches_nothing_twice(crawl, stop):
    site = star_site(12)
    first = crawl(site, arguments={"pages": stop})
    assert len(first.fetched) == stop
    second = crawl(site)
    assert second.exit_code == 0
    assert not set(first.fetched) & set(second.fetched)
    assert set(first.fetched) | set(second.fetched) == set(site)
    assert sorted(item["order"] for item in second.items) == list(range(1, len(site) + 1))


def test_a_job_that_has_its_pages_fetches_nothing_more(crawl):
    site = star_site(6)
    crawl(site, arguments={"pages": 4})
    again = crawl(site, arguments={"pages": 4})
    assert again.fetched == []
    assert again.exit_code == 0
    assert "has 4 pages already" in again.last_line


def test_statistics_add_up(crawl):
    result = crawl(star_site(6))
    stats = result.stats
    assert stats["focused/page/judged"] == 7 == stats["focused/outcome/page"]
    assert stats["focused/relevance/sum"] == pytest.approx(sum(item["relevance"] for item in result.items), abs=1e-4)
    assert json.dumps(stats)
