"""robots.txt as RFC 9309 wants it."""

import gzip
import logging
from itertools import pairwise

import pytest
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from focused import settings as ours
from focused.lab.site.reply import Reply, redirect
from focused.lab.site.server import SiteServer
from focused.middlewares.robots import MOST_REMEMBERED, RememberedSites, RobotsMiddleware, head_of
from focused.safety.robots_txt import MOST_RULES

KIB = 1024
LIMIT = 500 * KIB
LINE = b"Disallow: /%06d\n"
TEXT = {"Content-Type": "text/plain"}
OBEY = {"ROBOTSTXT_OBEY": True}


def rules(text):
    return (200, TEXT, text.encode())


def test_rules_are_kept_and_denied_pages_not_fetched(server, crawl):
    server.answers["/robots.txt"] = rules("User-agent: *\nDisallow: /private\n")
    done = crawl(f"{server.root}/", f"{server.root}/private/x", settings=OBEY, one_by_one=True)
    assert done.ends[0]["status"] == 200
    assert done.ends[1]["error"] == "DeniedByRobots"
    assert done.ends[1]["message"] == "Forbidden by robots.txt"
    assert done.stats["robotstxt/forbidden"] == 1
    assert server.seen == ["/robots.txt", "/"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_4xx_allows_everything(server, crawl, status):
    server.answers["/robots.txt"] = (status, TEXT, b"User-agent: *\nDisallow: /")
    assert crawl(f"{server.root}/", settings=OBEY).only["status"] == 200


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429])
def test_5xx_and_429_forbid_everything_for_now(server, crawl, status):
    server.answers["/robots.txt"] = (status, TEXT, b"")
    done = crawl(f"{server.root}/", f"{server.root}/2", settings=OBEY)
    assert done.errors == ["Postponed", "Postponed"]
    assert all(0 < end["seconds"] <= 60 for end in done.ends)
    assert server.seen == ["/robots.txt"]


def test_a_network_error_forbids_everything_for_now(crawl):
    done = crawl("http://127.0.0.1:9/", settings=OBEY)
    assert done.errors == ["Postponed"]
    assert "Traceback" not in done.log


def test_it_is_asked_for_again_and_then_allows(server, crawl):
    server.answers["/robots.txt"] = [(500, TEXT, b""), rules("")]
    settings = {**OBEY, "FOCUSED_ROBOTS_RETRY": 0.001}
    done = crawl(f"{server.root}/", settings=settings, one_by_one=True, times=2, pause=0.05)
    assert done.errors == ["Postponed", None]
    assert server.seen == ["/robots.txt", "/robots.txt", "/"]


def test_after_some_times_the_host_is_refused(server, crawl):
    server.answers["/robots.txt"] = (500, TEXT, b"")
    settings = {**OBEY, "FOCUSED_ROBOTS_RETRY": 0.001, "FOCUSED_ROBOTS_TRIES": 3}
    done = crawl(f"{server.root}/", settings=settings, one_by_one=True, times=4, pause=0.05)
    assert done.errors == ["Postponed", "Postponed", "DeniedByRobots", "DeniedByRobots"]
    assert done.ends[-1]["outcome"] == "denied"


def test_rules_grow_old(server, crawl):
    server.answers["/robots.txt"] = [rules(""), rules("User-agent: *\nDisallow: /")]
    done = crawl(
        f"{server.root}/", settings={**OBEY, "FOCUSED_ROBOTS_AGE": 0.001}, one_by_one=True, times=2, pause=0.05
    )
    assert done.errors == [None, "DeniedByRobots"]


def test_redirects_are_followed_to_other_hosts(server, crawl):
    server.answers["/robots.txt"] = (301, {"Location": f"http://other.example.com:{server.port}/rules"}, b"")
    server.answers["/rules"] = rules("User-agent: *\nDisallow: /private")
    done = crawl(
        f"{server.root}/private",
        f"{server.root}/",
        settings=OBEY,
        names={"other.example.com": "127.0.0.1"},
        one_by_one=True,
    )
    assert done.errors == ["DeniedByRobots", None]


@pytest.mark.parametrize(("redirects", "error"), [(5, "DeniedByRobots"), (6, None)])
def test_five_redirects_are_followed_a_sixth_means_no_rules(server, crawl, redirects, error):
    for i in range(redirects):
        server.answers["/robots.txt" if i == 0 else f"/r{i}"] = (302, {"Location": f"/r{i + 1}"}, b"")
    server.answers[f"/r{redirects}"] = rules("User-agent: *\nDisallow: /")
    assert crawl(f"{server.root}/", settings=OBEY).errors == [error]


def test_many_requests_wait_for_one_fetch_and_all_get_its_rules(server, crawl):
    server.answers["/robots.txt"] = rules("User-agent: *\nDisallow: /")
    done = crawl(*(f"{server.root}/{i}" for i in range(8)), settings=OBEY)
    assert done.errors == ["DeniedByRobots"] * 8
    assert server.seen == ["/robots.txt"]


def test_robots_txt_of_any_type_is_read(server, crawl):
    server.answers["/robots.txt"] = (200, {"Content-Type": "application/octet-stream"}, b"User-agent: *\nDisallow: /")
    assert crawl(f"{server.root}/", settings=OBEY).errors == ["DeniedByRobots"]


def test_a_crawl_delay_is_kept(server, crawl):
    server.answers["/robots.txt"] = rules("User-agent: *\nCrawl-delay: 0.4\n")
    settings = {**OBEY, "DOWNLOAD_DELAY_JITTER": 0}
    done = crawl(*[f"{server.root}/"] * 3, settings=settings)
    times = sorted(end["at"] for end in done.ends)
    assert all(later - earlier >= 0.35 for earlier, later in pairwise(times))


def test_a_crawl_delay_ends_with_its_robots_txt(server, crawl):
    server.answers["/robots.txt"] = [rules("User-agent: *\nCrawl-delay: 50\n"), (404, {}, b"")]
    settings = {**OBEY, "FOCUSED_ROBOTS_AGE": 0.001, "FOCUSED_CRAWL_DELAY_MAX": 1.0, "DOWNLOAD_DELAY_JITTER": 0}
    done = crawl(f"{server.root}/", settings=settings, one_by_one=True, times=20, pause=0.01)
    first, second, *_, last = sorted(end["at"] for end in done.ends)
    assert second - first > 0.9
    assert last - second < 18 * 0.9


def test_a_crawl_delay_is_bounded(server, crawl):
    server.answers["/robots.txt"] = rules("User-agent: *\nCrawl-delay: 86400\n")
    done = crawl(f"{server.root}/", settings={**OBEY, "FOCUSED_CRAWL_DELAY_MAX": 0.2}, times=2)
    assert [end["status"] for end in done.ends] == [200, 200]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_of_a_long_file_whole_lines_of_the_first_500_kib_count(end):
    line = LINE.strip() + end
    body = b"".join(line % i for i in range(40_000))
    head = head_of(body)
    assert len(head) <= LIMIT < len(head) + len(line % 0)
    assert head.endswith(end)
    assert head_of(b"short") == b"short"
    assert head_of(body[:LIMIT]) == body[:LIMIT]
    assert head_of(b"x" * (LIMIT + 1)) == b""


class Endless:
    """A robots.txt of megabytes: ``Disallow: /first`` begins it, the next rule comes after 500 KiB."""

    head = b"User-agent: *\nDisallow: /first\n" + b"# and so on, and on\n" * (LIMIT // 20)
    end = b"Disallow: /\n"

    def __init__(self, megabytes=30):
        self.count = megabytes * 1024 * KIB // (len(self.end) * 1_000)
        self.sent = 0

    @property
    def length(self):
        return len(self.head) + self.count * len(self.end) * 1_000

    def __call__(self):
        for piece in (self.head, *[self.end * 1_000] * self.count):
            self.sent += len(piece)
            yield piece


@pytest.mark.parametrize("most", [0, 1024, 1024 * KIB])
@pytest.mark.parametrize("is_announced", [True, False])
@pytest.mark.parametrize("is_moved", [True, False])
def test_of_a_file_of_any_length_the_first_500_kib_are_fetched_and_count(crawl, most, is_announced, is_moved):
    body = Endless()
    robots = Reply(body=body, headers=TEXT, length=body.length if is_announced else None)
    pages = {"/rules": robots, "/robots.txt": redirect("/rules") if is_moved else robots}
    with SiteServer(pages, missing=Reply(body=b"<p>A page")) as site:
        sizes = {"DOWNLOAD_MAXSIZE": most, "DOWNLOAD_WARNSIZE": 1024}
        done = crawl(f"{site.url}/first", f"{site.url}/", settings={**OBEY, **sizes}, one_by_one=True)
    assert done.errors == ["DeniedByRobots", None]
    assert done.stats["focused/robots/left_out/ends"] == 1
    assert "/robots.txt exceeds a limit (left out: ends: 1)" in done.log
    assert body.sent < body.length / 3, "the rest was not even sent"
    assert "warn size" not in done.log


def test_a_file_of_500_kib_is_whole(server, crawl):
    body = b"User-agent: *\n" + b"#" * (LIMIT - 40)
    body += b"\n" + b"Disallow: /last\n".rjust(LIMIT - len(body) - 1)
    assert len(body) == LIMIT
    server.answers["/robots.txt"] = (200, TEXT, body)
    done = crawl(f"{server.root}/last", f"{server.root}/", settings=OBEY, one_by_one=True)
    assert done.errors == ["DeniedByRobots", None]
    assert not any("left_out" in name for name in done.stats)


def test_robots_txt_is_asked_for_as_it_is(crawl):
    with SiteServer({}) as site:
        crawl(f"{site.url}/", settings=OBEY)
        [visit] = site.visits_to("/robots.txt")
    assert visit.headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("most", [1024, 1024 * KIB])
def test_robots_txt_that_is_packed_all_the_same_is_unpacked(server, crawl, most):
    body = b"User-agent: *\nDisallow: /private\n" + b"".join(b"Disallow: /%d\n" % i for i in range(100_000))
    server.answers["/robots.txt"] = (200, {**TEXT, "Content-Encoding": "gzip"}, gzip.compress(body))
    urls = f"{server.root}/private", f"{server.root}/"
    done = crawl(*urls, settings={**OBEY, "DOWNLOAD_MAXSIZE": most}, one_by_one=True)
    assert done.errors[0] == "DeniedByRobots"
    assert done.stats["focused/robots/left_out/ends"] == 1


@pytest.mark.parametrize("most", [0, 1024 * KIB])
def test_a_packed_bomb_is_no_robots_txt_that_can_be_read(server, crawl, most):
    bomb = gzip.compress(bytes(50_000_000))
    server.answers["/robots.txt"] = (200, {**TEXT, "Content-Encoding": "gzip"}, bomb)
    done = crawl(f"{server.root}/", settings={**OBEY, "DOWNLOAD_MAXSIZE": most})
    assert done.errors == ["Postponed"]
    assert "exceeded" in done.log


def test_what_is_left_out_is_counted_for_each_file_and_told_once(server, crawl):
    text = "User-agent: *\n" + "".join(f"Disallow: /{n:x}\n" for n in range(MOST_RULES + 5))
    server.answers["/robots.txt"] = rules(text)
    server.answers["/"] = (200, {"Content-Type": "text/html"}, b"<p>A page")
    urls = f"{server.root}/", f"http://other.example.com:{server.port}/"
    done = crawl(*urls, settings=OBEY, names={"other.example.com": "127.0.0.1"}, one_by_one=True)
    assert done.stats["focused/robots/left_out/rules"] == 10
    assert done.log.count("(left out: rules: 5)") == 1


# Who we are


FOR_TWO = (
    "User-agent: mine\nDisallow: /mine\n\nUser-agent: focused\nDisallow: /focused\n\nUser-agent: *\nDisallow: /any"
)


@pytest.mark.parametrize(
    ("settings", "denied"),
    [
        ({"USER_AGENT": ours.USER_AGENT}, "focused"),
        ({"USER_AGENT": "Mine/1.0 (like focused)"}, "mine"),
        ({"USER_AGENT": "Another focused mine"}, "any"),
        ({"USER_AGENT": "Mozilla/5.0 (compatible; Mine/2; +http://mine.example)"}, "mine"),
        ({"USER_AGENT": "Mine", "ROBOTSTXT_USER_AGENT": "focused"}, "focused"),
        ({"USER_AGENT": "Focused", "ROBOTSTXT_USER_AGENT": "*"}, "any"),
    ],
)
def test_the_rules_are_those_for_our_product_token(server, crawl, settings, denied):
    server.answers |= {f"/{name}": server.answers["/"] for name in ("mine", "focused", "any")}
    server.answers["/robots.txt"] = rules(FOR_TWO)
    urls = [f"{server.root}/{name}" for name in ("mine", "focused", "any")]
    done = crawl(*urls, settings={**OBEY, **settings}, one_by_one=True)
    assert [end["url"] for end in done.ends if end.get("error")] == [f"{server.root}/{denied}"]


def test_a_request_may_name_its_own_agent(server, crawl):
    server.answers["/robots.txt"] = rules(FOR_TWO)
    for url, error in ((f"{server.root}/mine", "DeniedByRobots"), (f"{server.root}/focused", "HttpError")):
        settings = {**OBEY, "USER_AGENT": ours.USER_AGENT}
        assert crawl(url, settings=settings, headers={"User-Agent": "mine/1"}).only["error"] == error


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "robots.txt is obeyed as 'Focused', the product token of USER_AGENT"),
        ({"USER_AGENT": "Mine/2.0 (x)"}, "robots.txt is obeyed as 'Mine', the product token of USER_AGENT"),
        (
            {"ROBOTSTXT_USER_AGENT": "My-Bot"},
            "robots.txt is obeyed as 'My-Bot', the product token of ROBOTSTXT_USER_AGENT",
        ),
        (
            {"USER_AGENT": "(me)"},
            "USER_AGENT '(me)' has no product token: only the rules of robots.txt for all crawlers apply",
        ),
    ],
)
def test_who_we_are_is_told_at_the_start(caplog, settings, words):
    caplog.set_level(logging.INFO)
    known = Settings()
    known.setmodule(ours)
    names = ("USER_AGENT", "ROBOTSTXT_PARSER", "ROBOTSTXT_OBEY")
    RobotsMiddleware(get_crawler(settings_dict={**{name: known[name] for name in names}, **settings}))
    assert words in caplog.messages


# Parsers of others


OWN = {**OBEY, "ROBOTSTXT_PARSER": "tests.middlewares.own_parser.OwnParser", "USER_AGENT": "Mine/1 (of mine)"}


def test_a_parser_of_somebodys_own_gets_the_file_as_it_is_and_the_whole_user_agent(server, crawl):
    body = b"User-agent: somebody\nDisallow: /\n"
    server.answers["/robots.txt"] = (200, TEXT, body)
    done = crawl(f"{server.root}/", settings=OWN)
    assert done.errors == ["DeniedByRobots"]
    assert f"reads {len(body)} bytes" in done.log
    assert "asked for b'Mine/1 (of mine)'" in done.log


@pytest.mark.parametrize(("size", "where"), [(1_000, "the main"), (64 * KIB + 1, "another"), (LIMIT, "another")])
def test_a_large_file_is_read_in_a_thread(server, crawl, size, where):
    server.answers["/robots.txt"] = (200, TEXT, b"\n" * size)
    assert f"reads {size} bytes on {where} thread" in crawl(f"{server.root}/", settings=OWN).log


@pytest.mark.parametrize("name", ["ProtegoRobotParser", "PythonRobotParser"])
def test_scrapys_parsers_serve_as_ever(server, crawl, name):
    server.answers["/robots.txt"] = rules("User-agent: *\nDisallow: /private\nCrawl-delay: 0.01")
    settings = {**OBEY, "ROBOTSTXT_PARSER": f"scrapy.robotstxt.{name}"}
    done = crawl(f"{server.root}/", f"{server.root}/private", settings=settings, one_by_one=True)
    assert done.errors == [None, "DeniedByRobots"]


# What is remembered


def test_the_rules_used_longest_ago_are_forgotten_first():
    sites = RememberedSites(2)
    first = sites.rules_of("http://a", "")
    sites.rules_of("http://b", "")
    assert sites.rules_of("http://a", "") is first
    sites.rules_of("http://c", "")
    assert [site for site, _ in sites] == ["http://a", "http://c"]
    assert sites.rules_of("http://a", "other") is not first


def test_rules_are_forgotten_when_all_of_them_take_too_much():
    sites = RememberedSites(1_000)
    for n in range(100):
        sites.rules_of(f"http://{n}", "").size = MOST_REMEMBERED // 10
        sites.forget()
    assert [site for site, _ in sites] == [f"http://{n}" for n in range(90, 100)]


def test_the_stock_middleware_is_off_where_robots_are_not_obeyed(server, crawl):
    assert crawl(f"{server.root}/", settings={"ROBOTSTXT_OBEY": False}).only["status"] == 200
    assert server.seen == ["/"]
