"""Nobody is answered who has not the token, calls us by another name, or comes from another site."""

from __future__ import annotations

import pytest
from starlette.routing import Route

from focused.watch.app import make_app
from focused.watch.crawls import WatchedCrawls
from focused.watch.guard import MOST_BYTES, Guard
from tests.watch.asking import HOST, TOKEN, Asker

COOKIE = f"focused-watch-8899={TOKEN}"
HEADERS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


def addresses(crawls: WatchedCrawls) -> list[str]:
    """One of each kind that is answered."""
    paths = [route.path for route in make_app(crawls).routes if isinstance(route, Route)]
    return [path.replace("{key}", "stars").replace("{name}", "watch.css") for path in paths]


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (401, {"authorization": None}),
        (401, {"authorization": f"Bearer {TOKEN}x"}),
        (401, {"authorization": f"Bearer {TOKEN[:-1]}"}),
        (401, {"authorization": "Bearer "}),
        (401, {"authorization": TOKEN}),
        (401, {"authorization": None, "cookie": "focused-watch-8899="}),
        (401, {"authorization": None, "cookie": f"focused-watch-1={TOKEN}"}),
        (401, {"authorization": "Bearer \xe9\xff"}),
        (421, {"host": "evil.example:8899"}),
        (421, {"host": "localhost.evil.example"}),
        (421, {"host": None}),
        (421, {"host": "[::1"}),
        (403, {"origin": "http://evil.example"}),
        (403, {"origin": "null"}),
        (403, {"origin": "http://127.0.0.1:1"}),
        (403, {"origin": f"https://{HOST}"}),
        (403, {"sec_fetch_site": "cross-site"}),
        (403, {"sec_fetch_site": "same-site"}),
    ],
)
def test_without_the_right_to_nothing_is_answered_at_any_address(
    crawls: WatchedCrawls, asker: Asker, status: int, headers: dict[str, str | None]
) -> None:
    for address in [*addresses(crawls), "/nothing"]:
        for answer in (asker.get(address, **headers), asker.post(address, {"marks": []}, **headers)):
            assert (answer.status, list(answer.json)) == (status, ["error"])
            assert TOKEN not in str(answer)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": f"http://{HOST}", "sec_fetch_site": "same-origin"},
        {"sec_fetch_site": "none"},
        {"host": "localhost:9999", "origin": "http://localhost:9999"},
        {"host": "[::1]:8899"},
        {"host": "192.168.7.7:8899"},
        {"authorization": None, "cookie": f"other=1; {COOKIE}"},
    ],
)
def test_who_has_the_token_is_answered(asker: Asker, headers: dict[str, str | None]) -> None:
    assert asker.get("/api/crawls", **headers).status == 200


def test_names_other_than_loopback_are_answered_where_we_listen_by_them(crawls: WatchedCrawls) -> None:
    asker = Asker(Guard(make_app(crawls), TOKEN, 8899, ["Crawler.lan"]), authorization=f"Bearer {TOKEN}")
    assert asker.get("/api/crawls", host="crawler.lan:8899").status == 200
    assert asker.get("/api/crawls", host="other.lan:8899").status == 421
    asker.close()


def test_the_address_with_the_token_leaves_a_cookie_and_no_token_behind(asker: Asker) -> None:
    for headers in ({}, {"sec_fetch_site": "cross-site"}, {"cookie": "focused-watch-8899=old"}):
        answer = asker.get(f"/?token={TOKEN}", authorization=None, **headers)
        assert answer.status == 200
        assert answer.header("set-cookie") == f"{COOKIE}; Path=/; HttpOnly; SameSite=Strict"
        assert answer.header("refresh") == "0; url=/"
        assert TOKEN not in answer.body.decode()
    assert asker.get("/?token=wrong", authorization=None).status == 401
    assert asker.post(f"/api/crawls/stars/marks?token={TOKEN}", {"marks": []}, authorization=None).status == 401


def test_every_answer_tells_the_browser_to_run_and_keep_nothing_of_others(crawls: WatchedCrawls, asker: Asker) -> None:
    refused = asker.get("/", authorization=None)
    login = asker.get(f"/?token={TOKEN}", authorization=None)
    streams = "/events"
    for answer in [refused, login, *(asker.get(one) for one in addresses(crawls) if not one.endswith(streams))]:
        assert {name: answer.header(name) for name in HEADERS} == HEADERS
        policy = dict(part.strip().split(" ", 1) for part in answer.header("content-security-policy").split(";"))
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert answer.header("access-control-allow-origin") == ""


@pytest.mark.parametrize(
    ("status", "how"),
    [
        (415, {"content_type": "text/plain"}),
        (415, {"content_type": "application/x-www-form-urlencoded"}),
        (415, {"content_type": None}),
        (413, {"body": b" " * (MOST_BYTES + 1)}),
        (400, {"body": b"[" * 100_000}),
        (400, {"body": b'{"marks": [{"url": "\xff"}]}'}),
    ],
)
def test_bodies_are_json_and_bounded(asker: Asker, status: int, how: dict[str, object]) -> None:
    answer = asker.post("/api/crawls/stars/marks", **{"value": {"marks": []}, **how})
    assert answer.status == status
    assert answer.error


def test_other_methods_and_endless_addresses_are_refused(asker: Asker) -> None:
    assert asker.ask("DELETE", "/api/crawls/stars", b"", {}).status == 405
    assert asker.get("/api/crawls/stars/marks").status == 405
    assert asker.get(f"/?{'a' * 20_000}").status == 414
    assert asker.get(f"/?{'a=1&' * 2_000}").status == 400
