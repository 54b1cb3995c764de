"""A domain with as many hosts as it likes gets no more than its ceiling, and those beside it are fetched at their pace.

The servers are at addresses of this machine; which hosts are at which says a resolver of the test's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from focused.lab.redis.server import RedisServer
from focused.lab.redis.workers import Workers
from focused.lab.site.crawl import CrawlResult, run_crawl
from focused.lab.site.reply import Handler, Reply, SiteRequest, linking
from focused.lab.site.server import SiteServer
from tests.crawl.endless import GOOD, HOSTILE

ON = "A star is seen through a telescope, and a galaxy is seen as many stars. " * 3
OFF = "Simmer the onions in butter until they are soft, then add flour and milk. " * 3
HOSTS, PAGES, DELAY = 4, 8, 0.2
LOOPBACK = {
    "DOWNLOAD_DELAY": DELAY,
    "DNS_RESOLVER": "tests.crawl.endless.Resolver",
    "SCHEDULER": "tests.crawl.endless.Scheduler",
    "FOCUSED_INNER_ALLOWED": "127.0.0.0/8",
}


class Hostile:
    """A server that has a page for any name, which links to ten new names."""

    def __init__(self, names: str, text: str) -> None:
        self._names, self._text, self._new = names, text, count(1)

    def __call__(self, visit: SiteRequest) -> Reply:
        if visit.path == "/robots.txt":
            return Reply(status=404)
        _, colon, port = visit.host.partition(":")
        new = (f"http://{self._names.format(next(self._new))}{colon}{port}/" for _ in range(10))
        return linking(*new, text=self._text)


def good_site(port: int) -> list[str]:
    return [f"http://www.good{host}.example:{port}/{page}" for page in range(PAGES) for host in range(HOSTS)]


def crawl_beside(
    hostile: Handler, folder: Path, settings: Mapping[str, Any], pages: int
) -> tuple[CrawlResult, list[SiteRequest], list[SiteRequest]]:
    """A crawl of good hosts, and of a hostile one: the requests for good pages, and all to the hostile one."""
    with SiteServer({}, missing=hostile, addresses=(HOSTILE, *GOOD)) as site:
        good, seed = good_site(site.port), f"http://hub.good.example:{site.port}/"
        hub = linking(*good, f"http://a.evil.example:{site.port}/", text=ON)
        site.pages = {url: linking(url, text=ON) for url in good} | {seed: hub}
        arguments = {"topic": "star galaxy telescope", "seeds": seed, "pages": pages}
        result = run_crawl(arguments, folder=folder, settings={**LOOPBACK, **settings})
    assert result.exit_code == 0, result.log[-3_000:]
    return (
        result,
        [one for one in site.visits if one.url in good],
        [one for one in site.visits if "good" not in one.host],
    )


def test_the_rate_of_a_domain_is_bounded_and_others_go_on(tmp_path: Path):
    rate, evil = 8, Hostile("h{}.evil.example", ON)
    result, good, hostile = crawl_beside(evil, tmp_path, {"FOCUSED_DOMAIN_RATE": rate}, pages=HOSTS * PAGES + 18)
    assert len({visit.url for visit in good}) == HOSTS * PAGES, "all of them were fetched"
    began = sorted(visit.began for visit in hostile)
    # What a busy machine delays comes later, not more often.
    assert len(began) <= rate * (began[-1] - began[0]) + rate
    assert len(began) >= 25, "it does go on"
    assert max(visit.began for visit in good) < began[-1], "they did not wait for the domain"
    assert result.stats["focused/domain/waited"] > 0
    assert result.stats["focused/domain/full"] == 1
    assert result.log.count("is at its ceiling") == 1
    assert "focused/address/waited" not in result.stats
    assert "focused/outcome/denied" not in result.stats, "whoever waits is not given up"


def test_of_hosts_at_an_address_that_show_nothing_few_are_met_in_a_minute(tmp_path: Path):
    """Each has a domain of its own; a name is all that is looked up of those that have to wait."""
    settings = {"FOCUSED_ADDRESS_NEW_HOSTS": 5}
    evil = Hostile("www.evil{}.example", OFF)
    result, good, hostile = crawl_beside(evil, tmp_path, settings, pages=1 + HOSTS * PAGES + 5)
    assert len({visit.url for visit in good}) == HOSTS * PAGES
    assert len({visit.host for visit in hostile}) == 5
    assert result.stats["focused/address/waited"] > 0
    assert "focused/domain/waited" not in result.stats


def test_the_rate_of_a_domain_is_bounded_over_all_workers(tmp_path: Path, redis: RedisServer):
    """Through a proxy, which alone knows addresses."""
    rate, seed = 8, "http://hub.good.example/"
    good = [f"http://www.good{host}.example/{page}" for page in range(PAGES) for host in range(HOSTS)]
    hub = linking(*good, "http://a.evil.example/", text=ON)
    pages = {url: linking(url, text=ON) for url in good} | {seed: hub}
    settings = {"DOWNLOAD_DELAY": DELAY, "FOCUSED_DOMAIN_RATE": rate, "FOCUSED_STOP_PAGES": len(pages) + 18}
    arguments = {"topic": "star galaxy telescope", "seeds": seed}
    with (
        SiteServer(pages, missing=Hostile("h{}.evil.example", ON)) as site,
        Workers(tmp_path, redis, site.url, arguments, settings) as workers,
    ):
        assert workers.start(2)
        assert workers.wait() == [0, 0], workers.started[0].log[-3_000:]
    assert {visit.url for visit in site.visits} >= {*good}
    began = sorted(visit.began for visit in site.visits if visit.host.endswith("evil.example"))
    assert len(began) <= rate * (began[-1] - began[0]) + rate
    assert len(began) >= 25
    assert sum(worker.stats.get("focused/domain/waited", 0) for worker in workers.started) > 0
