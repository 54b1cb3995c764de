"""Seeds pushed to Redis: read as scrapy-redis reads them, and never lost between reading and admitting."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from scrapy.settings import Settings
from scrapy.statscollectors import DummyStatsCollector

from focused.redis.server import Server
from focused.redis.workers.seeds import PushedSeeds

KEY = "focused:start_urls"


class Stats(DummyStatsCollector):
    """Counts without a crawler."""

    def __init__(self):
        self.counts = {}

    def inc_value(self, key, count=1, start=0, spider=None):
        self.counts[key] = self.counts.get(key, start) + count

    def get_value(self, key, default=None, spider=None):
        return self.counts.get(key, default)


@pytest.fixture
def client(redis):
    with redis.client() as client:
        yield client


@pytest.fixture
def open_seeds(client):
    def make(**settings):
        admitted = []
        crawler = SimpleNamespace(
            settings=Settings(settings), stats=Stats(), engine=SimpleNamespace(crawl=admitted.append)
        )
        server = Server(client, "test", "one", {})
        return PushedSeeds(crawler, server, KEY), admitted, crawler.stats.counts

    return make


def yes():
    return True


def deep(begin, end, inside=b""):
    """A form with a field that is nested deeper than Python can follow."""
    return b'{"url": "http://a.example/", "q": ' + begin * 5_000 + inside + end * 5_000 + b"}"


def test_plain_addresses_and_json_are_read(client, open_seeds):
    seeds, admitted, counts = open_seeds(FOCUSED_SEED_META="job, user")
    client.rpush(KEY, "http://a.example/", json.dumps({"url": "http://b.example/", "meta": {"job": 7}}))
    client.rpush(KEY, json.dumps({"url": "http://c.example/find", "method": "post", "q": "stars", "n": 3}))
    client.rpush(KEY, json.dumps({"url": "http://d.example/find", "q": ["a", "b"]}))
    assert seeds.take(yes) == 4
    plain, with_meta, post, get = admitted
    assert (plain.url, plain.method, plain.meta) == ("http://a.example/", "GET", {"is_start_request": True})
    assert with_meta.meta == {"job": 7, "is_start_request": True}
    assert (post.method, post.url, post.body) == ("POST", "http://c.example/find", b"q=stars&n=3")
    assert (get.method, get.url) == ("GET", "http://d.example/find?q=a&q=b")
    assert not any(request.dont_filter for request in admitted), "a seed is fetched once, whoever reads it"
    assert not client.exists(KEY)
    assert counts == {"focused/seed/pushed": 4}


@pytest.mark.parametrize(
    "junk",
    [
        *(b"no address", b"{broken", b"\xff\xfe", b'{"title": "no url"}', b'{"url": 3}', b"file:///etc/passwd"),
        *(b'{"url": "http://a/", "meta": 1}', b'{"url": "http://a/", "meta": {"depth": "x"}}', b"ftp://a.example/"),
        *(b'{"url": "http://a/", "meta": {"depth": %s}}' % depth for depth in (b"true", b"1e3", b"-1", b"65536")),
        *(b'{"url": "http://a/", "method": "%s"}' % method for method in (b"PUT", b"get /x", b"\r\n")),
        *(b'{"url": "http://a/", "headers": {"Host": "b"}}', b'{"url": "http://a/", "q": null}'),
        *(b'{"url": "http://a/", "q": [["a"]]}', b'{"url": "http://a/", "q": ' + b"9" * 5_000 + b"}"),
        *(deep(b"[", b"]"), deep(b'{"a":', b"}", b"1"), b'{"url":' * 5_000, b"http://a.example/" + b"a" * 65_536),
    ],
    ids=lambda junk: repr(junk[:60]),
)
def test_what_is_no_seed_is_counted_and_does_not_stop_the_others(client, open_seeds, junk):
    seeds, admitted, counts = open_seeds()
    client.rpush(KEY, junk, "http://a.example/")
    assert seeds.take(yes) == 2
    assert [request.url for request in admitted] == ["http://a.example/"]
    assert counts == {"focused/seed/refused": 1, "focused/seed/pushed": 1}
    assert not client.exists(KEY)


@pytest.mark.parametrize(
    "key",
    [
        "proxy",
        "dont_obey_robotstxt",
        "handle_httpstatus_list",
        "download_slot",
        "bindaddress",
        "focused",
        "playwright",
        "dont_redirect",
        "cookiejar",
        "is_start_request",
        "job",
    ],
)
def test_what_says_how_a_page_is_fetched_is_not_for_others_to_say(client, open_seeds, caplog, key):
    seeds, admitted, counts = open_seeds(FOCUSED_SEED_META="focused")
    client.rpush(KEY, json.dumps({"url": "http://a.example/", "meta": {"depth": 2, key: "http://evil.example/"}}))
    client.rpush(KEY, json.dumps({"url": "http://b.example/", "meta": {"depth": 2}}))
    assert seeds.take(yes) == 2
    assert [request.meta for request in admitted] == [{"depth": 2, "is_start_request": True}]
    assert counts == {"focused/seed/refused": 1, "focused/seed/pushed": 1}
    assert f"not {key!r}: FOCUSED_SEED_META" in caplog.text


@pytest.mark.parametrize("kind", ["LIST", "SET", "ZSET"])
def test_an_entry_that_is_too_long_is_neither_brought_here_nor_parsed(redis, client, open_seeds, caplog, kind):
    seeds, admitted, counts = open_seeds(**{f"REDIS_START_URLS_AS_{kind}": True})
    entries = ["http://a.example/" + "a" * 30_000_000, "http://b.example/"]
    push = {"LIST": client.rpush, "SET": client.sadd, "ZSET": lambda key, *all: client.zadd(key, dict.fromkeys(all, 1))}
    push[kind](KEY, *entries)
    before = client.info("stats")["total_net_output_bytes"]
    while client.exists(KEY):
        assert seeds.take(yes)
    assert client.info("stats")["total_net_output_bytes"] - before < 100_000
    assert [request.url for request in admitted] == ["http://b.example/"]
    assert counts == {"focused/seed/refused": 1, "focused/seed/pushed": 1}
    assert "it has 30,000,017 bytes, more than 65,536" in caplog.text
    assert len(caplog.text) < 1_000


def test_a_list_of_nothing_but_nonsense_fills_neither_the_log_nor_the_memory(client, open_seeds, caplog):
    seeds, _, counts = open_seeds()
    client.rpush(KEY, *("nonsense " + "\x1b[31m" * 5_000 for _ in range(300)), "http://a.example/")
    while client.exists(KEY):
        before = len(caplog.text)
        assert seeds.take(yes) <= 100, "a megabyte at a time"
        assert len(caplog.text) - before < 60_000
    assert counts == {"focused/seed/refused": 300, "focused/seed/pushed": 1}
    assert len(caplog.text) < 150_000
    assert "\x1b" not in caplog.text
    assert caplog.text.count("only counted") == 1


def test_so_many_seeds_are_taken_that_the_crawl_goes_on_meanwhile(client, open_seeds):
    seeds, admitted, _ = open_seeds()
    client.rpush(KEY, *(f"http://a.example/{n}" for n in range(2_500)))
    assert [seeds.take(yes) for _ in range(4)] == [1_000, 1_000, 500, 0]
    assert len(admitted) == 2_500


def test_a_seed_that_the_crawl_stumbles_over_does_not_stop_the_others(client, open_seeds):
    seeds, admitted, counts = open_seeds()

    def crawl(request):
        if request.url.endswith("/odd"):
            raise AttributeError("odd")
        admitted.append(request)

    seeds.crawler.engine.crawl = crawl
    client.rpush(KEY, "http://a.example/odd", "http://b.example/")
    assert seeds.take(yes) == 2
    assert [request.url for request in admitted] == ["http://b.example/"]
    assert counts == {"focused/seed/refused": 1, "focused/seed/pushed": 1}
    assert not client.exists(KEY)


def test_nothing_is_taken_away_that_may_not_have_been_admitted(client, open_seeds):
    seeds, admitted, _ = open_seeds()
    client.rpush(KEY, "http://a.example/", "http://b.example/")
    assert seeds.take(lambda: False) == 0
    assert len(admitted) == 2
    assert client.lrange(KEY, 0, -1) == [b"http://a.example/", b"http://b.example/"]


def test_a_worker_that_dies_after_reading_leaves_the_seeds_to_another(client, open_seeds):
    seeds, _, _ = open_seeds()
    client.rpush(KEY, "http://a.example/", "http://b.example/")

    def dies():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        seeds.take(dies)
    other, admitted, _ = open_seeds()
    assert other.take(yes) == 2
    assert len(admitted) == 2


def test_what_is_pushed_meanwhile_stays_for_the_next_time(client, open_seeds):
    seeds, admitted, _ = open_seeds()
    client.rpush(KEY, "http://a.example/")

    def pushed_meanwhile():
        client.lpush(KEY, "http://first.example/")
        client.rpush(KEY, "http://last.example/")
        return True

    seeds.take(pushed_meanwhile)
    assert client.lrange(KEY, 0, -1) == [b"http://first.example/", b"http://last.example/"]
    assert seeds.take(yes) == 2
    assert len(admitted) == 3


def test_hundreds_of_seeds_are_taken_at_once(client, open_seeds):
    seeds, admitted, _ = open_seeds()
    client.rpush(KEY, *(f"http://a.example/{n}" for n in range(450)))
    assert seeds.take(yes) == 450
    assert len({request.url for request in admitted}) == 450


@pytest.mark.parametrize("kind", ["SET", "ZSET"])
def test_sets_and_sorted_sets_are_read_where_that_is_set(client, open_seeds, kind):
    seeds, admitted, _ = open_seeds(**{f"REDIS_START_URLS_AS_{kind}": True})
    if kind == "SET":
        client.sadd(KEY, "http://a.example/", "http://b.example/")
    else:
        client.zadd(KEY, {"http://b.example/": 1, "http://a.example/": 2})
    assert seeds.take(yes) == 2
    urls = [request.url for request in admitted]
    assert (urls if kind == "ZSET" else sorted(urls)) == ["http://a.example/", "http://b.example/"]
    assert not client.exists(KEY)


def test_a_list_of_another_kind_is_told_once_and_the_crawl_goes_on(client, open_seeds, caplog):
    seeds, admitted, _ = open_seeds()
    client.sadd(KEY, "http://a.example/")
    assert seeds.take(yes) == seeds.take(yes) == 0
    assert caplog.text.count("REDIS_START_URLS_AS_SET") == 1
    assert not admitted
