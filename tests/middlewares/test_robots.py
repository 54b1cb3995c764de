"""robots.txt as RFC 9309 wants it."""

from itertools import pairwise

import pytest

from focused.middlewares.robots import head_of

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


def test_of_a_long_file_whole_lines_of_the_first_500_kib_count():
    line = b"Disallow: /%06d\n"
    body = b"".join(line % i for i in range(40_000))
    head = head_of(body)
    assert len(head) <= 500 * 1024 < len(head) + len(line % 0)
    assert head.endswith(b"\n")
    assert head_of(b"short") == b"short"


def test_the_stock_middleware_is_off_where_robots_are_not_obeyed(server, crawl):
    assert crawl(f"{server.root}/", settings={"ROBOTSTXT_OBEY": False}).only["status"] == 200
    assert server.seen == ["/"]
