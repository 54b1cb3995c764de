"""Promises of the test site: it answers as told, misbehaves as told, and remembers every request."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from focused.lab.site.reply import BEFORE_HEADERS, Reply, gzipped, html, in_turn, redirect
from focused.lab.site.server import SiteServer
from focused.warc.reader import Recorded


def fetch(site: SiteServer, url: str) -> tuple[int, bytes]:
    """Fetch through the site as a proxy."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": site.url}))
    try:
        with opener.open(url, timeout=280) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def test_is_a_proxy_for_every_host():
    with SiteServer({"http://a.example/": "<p>a</p>", "http://b.example/": "<p>b</p>"}) as site:
        assert fetch(site, "http://a.example/") == (200, b"<p>a</p>")
        assert fetch(site, "http://b.example/") == (200, b"<p>b</p>")
        assert fetch(site, "http://c.example/")[0] == 404


def test_is_the_origin_of_its_own_pages():
    with SiteServer({"/x?q=1": "<p>here</p>"}) as site, urllib.request.urlopen(f"{site.url}/x?q=1") as response:
        assert response.read() == b"<p>here</p>"


def test_serves_what_a_generated_web_holds():
    with SiteServer(
        {"http://a.example/": Recorded(200, (("Content-Type", "application/pdf"), ("Content-Length", "4")), b"%PDF")}
    ) as site:
        assert fetch(site, "http://a.example/") == (200, b"%PDF")


def test_a_function_sees_the_request():
    with SiteServer({"/echo": lambda visit: html(f"{visit.host} {visit.headers['user-agent'][:6]}")}) as site:
        assert fetch(site, "http://a.example/echo") == (200, b"a.example Python")


def test_answers_in_turn():
    with SiteServer({"/busy": in_turn(html("wait", status=429), html("now"))}) as site:
        assert [fetch(site, "http://a.example/busy")[0] for _ in range(3)] == [429, 200, 200]


def test_it_answers_as_many_requests_as_it_is_told_to_and_the_others_wait():
    with SiteServer({"/": "<p>here</p>"}) as site, ThreadPoolExecutor() as pool:
        site.answer(1)
        assert fetch(site, "http://a.example/") == (200, b"<p>here</p>")
        second = pool.submit(fetch, site, "http://a.example/")
        assert site.wait_for(2, timeout=280)
        third = pool.submit(fetch, site, "http://a.example/")
        assert site.wait_for(3, timeout=280)
        site.answer(2)
        assert second.result() == (200, b"<p>here</p>")
        with pytest.raises(TimeoutError):
            third.result(0.2)
        site.answer()
        assert third.result() == (200, b"<p>here</p>")


def test_redirects_are_followed_and_remembered():
    with SiteServer({"/old": redirect("http://b.example/new"), "/new": "<p>new</p>"}) as site:
        assert fetch(site, "http://a.example/old") == (200, b"<p>new</p>")
        assert site.fetched(status=None) == ["http://a.example/old", "http://b.example/new"]
        assert site.fetched() == ["http://b.example/new"]


def test_a_body_made_on_the_fly_arrives_whole():
    with SiteServer({"/big": Reply(body=lambda: (b"x" * 1_000 for _ in range(500)))}) as site:
        assert fetch(site, "http://a.example/big") == (200, b"x" * 500_000)


def test_one_connection_takes_many_requests():
    with SiteServer({"/a": "a", "/b": gzipped(html("b"))}) as site:
        connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=280)
        for path in ("/a", "/b", "/a"):
            connection.request("GET", path)
            connection.getresponse().read()
        assert [visit.path for visit in site.visits] == ["/a", "/b", "/a"]


def test_a_connection_can_break_before_the_headers():
    with SiteServer({"/x": Reply(reset=BEFORE_HEADERS)}) as site, pytest.raises(ConnectionResetError):
        fetch(site, "http://a.example/x")


def test_a_connection_can_break_in_the_middle_of_a_body():
    page = Reply(body=b"x" * 1_000, reset=300)
    with SiteServer({"/x": page}) as site, pytest.raises((ConnectionResetError, http.client.IncompleteRead)):
        fetch(site, "http://a.example/x")


def test_a_hanging_page_does_not_hold_up_others():
    with SiteServer({"/hang": Reply(hang=True), "/x": "x"}) as site:
        connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=0.2)
        connection.request("GET", "/hang")
        with pytest.raises(TimeoutError):
            connection.getresponse()
        assert fetch(site, "http://a.example/x")[0] == 200


def test_counts_what_is_under_way_on_each_host():
    with SiteServer({"/hang": Reply(hang=True), "/slow": Reply(wait=0.2)}) as site:
        hanging = http.client.HTTPConnection("127.0.0.1", site.port, timeout=280)
        hanging.request("GET", "http://a.example/hang")
        site.wait_for(1, timeout=280)
        for url in ("http://a.example/slow", "http://a.example/slow", "http://b.example/slow"):
            fetch(site, url)
        assert site.most_at_once("a.example") == 2
        assert site.most_at_once("b.example") == 1
        assert site.gaps("a.example")[1] >= 0.2
        assert len(site.gaps("a.example")) == 2
        hanging.close()
    assert all(visit.ended >= visit.began + 0.2 for visit in site.visits_to("/slow"))


def test_waits_for_requests_to_come_in():
    with SiteServer({"/x": "x"}) as site:
        assert not site.wait_for(1, timeout=0.01)
        fetch(site, "http://a.example/x")
        assert site.wait_for(1, timeout=0.01)
        assert site.visits_to("/x")[0].status == 200


def test_knows_no_tunnels():
    with SiteServer({}) as site:
        connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=280)
        connection.request("CONNECT", "a.example:443")
        assert connection.getresponse().status == 501
