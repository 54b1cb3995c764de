"""Hosts that ask for time get it; hosts that cannot be reached are given up."""

import pytest


def busy(status=503, retry_after=None):
    asked = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return (status, {"Content-Type": "text/html", **asked}, b"")


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_obeyed(server, crawl, status):
    server.answers["/busy"] = busy(status, retry_after=120)
    done = crawl(f"{server.root}/busy", f"{server.root}/", one_by_one=True)
    assert done.errors == ["Postponed", "Postponed"]
    assert 60 < done.ends[0]["seconds"] <= 120
    assert 60 < done.ends[1]["seconds"] <= 120
    assert server.seen == ["/busy"]


def test_without_retry_after_the_first_wait_is_taken(server, crawl):
    server.answers["/busy"] = busy(429)
    assert crawl(f"{server.root}/busy", settings={"FOCUSED_BACKOFF_FIRST": 7}).only["seconds"] == 7


def test_an_answer_that_comes_after_the_wait_is_taken(server, crawl):
    server.answers["/busy"] = [busy(503), server.answers["/"]]
    done = crawl(f"{server.root}/busy", settings={"FOCUSED_BACKOFF_FIRST": 1}, one_by_one=True, times=2, pause=1.1)
    assert done.errors == ["Postponed", None]


def test_a_host_that_asks_for_too_much_is_given_up(server, crawl):
    server.answers["/busy"] = busy(503, retry_after=10**6)
    done = crawl(f"{server.root}/busy", f"{server.root}/", one_by_one=True)
    assert done.errors == ["HostClosed", "HostClosed"]
    assert [end["outcome"] for end in done.ends] == ["denied", "denied"]
    assert server.seen == ["/busy"]


def test_plain_errors_are_left_to_scrapy(server, crawl):
    server.answers["/ill"] = [(500, {}, b""), (502, {}, b""), server.answers["/"]]
    done = crawl(f"{server.root}/ill", settings={"RETRY_TIMES": 3})
    assert done.only["status"] == 200
    assert done.stats["retry/count"] == 2


def test_a_host_that_never_answers_is_dead_after_some_failures(crawl):
    done = crawl(*(f"http://127.0.0.1:9/{i}" for i in range(6)), one_by_one=True)
    assert done.errors == ["DownloadConnectionRefusedError"] * 3 + ["HostDead"] * 3
    assert done.ends[-1]["outcome"] == "dead"


def test_names_without_addresses_count_as_failures(crawl):
    done = crawl(*(f"http://nobody.example.com/{i}" for i in range(5)), names={}, one_by_one=True)
    assert done.errors == ["CannotResolveHostError"] * 3 + ["HostDead"] * 2


def test_retries_count_as_failures_and_stop_when_the_host_is_dead(crawl):
    done = crawl("http://127.0.0.1:9/", settings={"RETRY_TIMES": 20})
    assert done.only["error"] == "HostDead"
    assert done.stats["retry/count"] == 3


def test_one_dead_host_does_no_harm_to_others(server, crawl):
    done = crawl(*[f"http://127.0.0.2:{server.port}/"] * 5, f"{server.root}/", one_by_one=True,
                 settings={"FOCUSED_INNER_ALLOWED": ["127.0.0.0/8"]})  # fmt: skip
    assert done.errors[-2:] == ["HostDead", None]
