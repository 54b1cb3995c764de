"""The replay server, spoken to as crawlers speak."""

from __future__ import annotations

import http.client
import socket
import threading
import urllib.request

import pytest

from focused.lab.replay.log import read_log
from focused.lab.replay.server import serve
from focused.warc.reader import Recorded
from focused.warc.web import Web

PAGES = {
    "http://one.example/": "<html>one</html>",
    "http://one.example/old": Recorded(301, (("Location", "http://two.example/"), ("Content-Length", "0"))),
    "http://two.example:8080/": "<html>two</html>",
}


@pytest.fixture
def server(tmp_path):
    with serve(Web.from_pages(PAGES), log=tmp_path / "log.tsv") as server:
        yield server


def ask(server, path, *, method="GET", headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request(method, path, headers=headers or {})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def test_it_is_a_proxy_for_all_hosts(server):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": server.url}))
    assert opener.open("http://one.example/").read() == b"<html>one</html>"
    assert opener.open("http://two.example:8080/").read() == b"<html>two</html>"


def test_it_answers_by_host_header_too(server):
    response, body = ask(server, "/", headers={"Host": "one.example"})
    assert (response.status, body) == (200, b"<html>one</html>")


def test_redirects_are_served_as_stored(server):
    response, body = ask(server, "http://one.example/old")
    assert (response.status, response.headers["Location"], body) == (301, "http://two.example/", b"")


@pytest.mark.parametrize("url", ["http://one.example/none", "http://one.example/robots.txt", "http://no.example/"])
def test_what_is_not_recorded_is_not_found(server, url):
    assert ask(server, url)[0].status == 404


def test_head_has_the_length_and_no_body(server):
    response, body = ask(server, "http://one.example/", method="HEAD")
    assert (response.status, response.headers["Content-Length"], body) == (200, "16", b"")


def test_a_connection_serves_many_requests(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    sockets = set()
    for _ in range(3):
        connection.request("GET", "http://one.example/")
        assert connection.getresponse().read() == b"<html>one</html>"
        sockets.add(connection.sock.getsockname())
    connection.close()
    assert len(sockets) == 1


def test_a_tunnel_is_refused_with_the_way_out(server):
    response, body = ask(server, "one.example:443", method="CONNECT")
    assert response.status == 501
    assert b"focused.lab.replay.fold.FoldedHttps" in body


def test_other_methods_are_refused(server):
    assert ask(server, "http://one.example/", method="POST")[0].status == 405


def test_rubbish_does_not_stop_the_server(server):
    for rubbish in (b"\r\n\r\n", b"\x00\xff\xfe\r\n\r\n", b"GET\r\n\r\n", b"GET " + b"x" * 200_000):
        with socket.create_connection(("127.0.0.1", server.port)) as rude:
            rude.sendall(rubbish)
    assert ask(server, "http://one.example/")[0].status == 200


def test_every_answer_is_logged_in_order(server, tmp_path):
    for url in ("http://one.example/old", "http://one.example/", "http://one.example/none"):
        ask(server, url)
    wanted = [(301, "http://one.example/old"), (200, "http://one.example/"), (404, "http://one.example/none")]
    fetches = read_log(tmp_path / "log.tsv")
    assert [(fetch.status, fetch.url) for fetch in fetches] == wanted
    assert sorted(fetch.time for fetch in fetches) == [fetch.time for fetch in fetches]


def test_it_ends_with_its_block_also_while_a_connection_is_open():
    before = set(threading.enumerate())
    with serve(Web.from_pages(PAGES)) as server:
        idle = socket.create_connection(("127.0.0.1", server.port), timeout=280)
        idle.sendall(b"HEAD http://one.example/ HTTP/1.1\r\n\r\n")
        assert idle.recv(1000).startswith(b"HTTP/1.1 200 OK")
    assert idle.recv(1) == b""
    idle.close()
    assert not [thread for thread in set(threading.enumerate()) - before if thread.name == "site-server"]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port))
