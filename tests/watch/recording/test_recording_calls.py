"""What is answered, and to whom: framed pages to frames of our page, by a key; all else as on the page to watch."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.routing import Route

from focused.watch.guard import Guard
from focused.watch.recording.app import make_app
from focused.watch.recording.clicks import ShownClicks
from focused.watch.recording.session import Session
from tests.watch.asking import TOKEN, Asker
from tests.watch.recording.pages import FewPages, U

KEY = "a-key-of-the-frame-that-only-we-know-01"
FRAMED = f"/framed/{KEY}"


class Recorder:
    """The application with its guard, and what it was asked to end."""

    def __init__(self, out: Path) -> None:
        self.clicks, self.ended = ShownClicks(out), False
        self.session = Session(self.clicks, FewPages({"": "cs gone", "cs": ""}))
        self.app = make_app(self.session, KEY, self.end, lambda: self.ended)
        self.asker = Asker(Guard(self.app, TOKEN, 8899, frame_key=KEY), authorization=f"Bearer {TOKEN}")
        # What frames ask: without a cookie, from an origin that is none.
        self.frame = Asker(self.asker.app, **{"sec-fetch-dest": "iframe", "sec-fetch-site": "cross-site"})

    def end(self) -> None:
        self.ended = True


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    made = Recorder(tmp_path / "paths.jsonl")
    with closing(made.clicks), closing(made.asker), closing(made.frame):
        made.asker.post("/api/open", {"url": f"{U}/"})
        yield made


def test_frames_are_answered_by_the_key_alone_and_are_shut_in(recorder: Recorder) -> None:
    shown = recorder.frame.get(f"{FRAMED}/0/")
    assert shown.status == 200
    assert b"<p></p>" in shown.body
    policy = shown.header("content-security-policy")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert policy.endswith("base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox")
    assert (shown.header("referrer-policy"), shown.header("x-frame-options")) == ("no-referrer", "SAMEORIGIN")
    around = recorder.asker.get("/")
    assert KEY.encode() in around.body
    assert around.header("content-security-policy").endswith("frame-ancestors 'none'; frame-src 'self'")
    assert around.header("x-frame-options") == "DENY"


@pytest.mark.parametrize("path", ["/at", "/0/", "/0/0"])
@pytest.mark.parametrize(
    ("status", "asked", "headers"),
    [
        (401, "GET ", {}),
        (401, f"GET {KEY[:-1]}", {}),
        (401, f"GET {KEY}x", {"authorization": f"Bearer {TOKEN}"}),
        (401, "GET %FF\u20ac", {}),
        (403, f"GET {KEY}", {"sec_fetch_dest": "document"}),
        (403, f"GET {KEY}", {"sec_fetch_dest": "image"}),
        (403, f"POST {KEY}", {}),
        (403, f"HEAD {KEY}", {}),
        (421, f"GET {KEY}", {"host": "evil.example"}),
    ],
)
def test_nobody_else_gets_what_is_framed(
    recorder: Recorder, path: str, status: int, asked: str, headers: dict[str, str | None]
) -> None:
    before = recorder.session.number
    method, key = asked.split(" ")
    answer = recorder.frame.ask(method, f"/framed/{key}{path}", b"", headers)
    assert (answer.status, list(answer.json), recorder.session.number) == (status, ["error"], before)


def test_a_frame_gets_nothing_else(recorder: Recorder) -> None:
    """It could be led there: with the key, without the token, from another site."""
    routes = [route for route in recorder.app.routes if isinstance(route, Route) and "{key}" not in route.path]
    assert len(routes) == 9
    for route in routes:
        path = route.path.replace("{name}", "record.js")
        for method in ("GET", "POST"):
            assert recorder.frame.ask(method, path, b"{}", {"content_type": "application/json"}).status == 403
    assert not recorder.ended


def test_a_watched_crawls_page_has_no_frames() -> None:
    async def app(scope, receive, send) -> None:
        raise AssertionError(scope["path"])

    asker = Asker(Guard(app, TOKEN, 8899))
    with closing(asker):
        for path in ("/framed//at", "/framed/", f"{FRAMED}/at"):
            assert asker.get(path).status == 401


def test_clicks_in_the_frame_lead_to_what_the_server_then_shows(recorder: Recorder) -> None:
    answer = recorder.frame.get(f"{FRAMED}/0/0")
    assert (answer.status, answer.header("location")) == (303, f"{FRAMED}/at")
    answer = recorder.frame.get(f"{FRAMED}/at")
    assert (answer.status, answer.header("location")) == (303, f"{FRAMED}/1/")
    assert b"<p>cs</p>" in recorder.frame.get(f"{FRAMED}/1/").body
    recorder.frame.get(f"{FRAMED}/0/1")
    assert b"u.example/gone cannot be shown: the server answered 404" in recorder.frame.get(f"{FRAMED}/at").body
    assert recorder.asker.get("/api/state").json["problem"] == f"{U}/gone cannot be shown: the server answered 404"
    for path in ("/9/", "/9/0"):
        assert b"this page was not visited" in recorder.frame.get(f"{FRAMED}{path}").body


def test_buttons_answer_with_what_is_to_be_seen_or_with_what_is_wrong(recorder: Recorder) -> None:
    recorder.frame.get(f"{FRAMED}/0/0")
    view = recorder.asker.post("/api/label", {"page": 1, "label": "goal"}).json
    assert (view["label"], view["goals"], recorder.clicks.out.exists()) == ("goal", 1, True)
    for path, value, wrong in [
        ("label", {"page": 0, "label": "goal"}, "another page is shown"),
        ("label", {"page": 1, "label": "fail"}, "may only stand at the end"),
        ("label", {"page": "1"}, "cannot be read"),
        ("open", {"url": "x"}, "is not an http(s) address"),
        ("open", [], "cannot be read"),
    ]:
        answer = recorder.asker.post(f"/api/{path}", value)
        assert (answer.status, wrong in answer.error) == (409, True), answer.error
    assert recorder.asker.post("/api/undo", {}).json["goals"] == 0
    assert recorder.asker.post("/api/undo", {}).error == "there is nothing to undo"
    assert recorder.asker.post("/api/back", {}).json["at"] == 0
    recorder.asker.post("/api/finish", {})
    assert recorder.ended
    assert recorder.asker.get("/api/events").body.endswith(b"event: end\ndata: {}\n\n")


def test_events_say_when_something_has_changed(recorder: Recorder) -> None:
    async def listen() -> bytes:
        listening = asyncio.create_task(recorder.asker.answer_to("GET", "/api/events", b"", {}))
        await recorder.asker.answer_to("GET", f"{FRAMED}/0/0", b"", {})
        await asyncio.sleep(0.25)
        recorder.end()
        return (await listening).body

    told = recorder.asker.loop.run_until_complete(listen())
    assert b'"at": 1' in told.split(b"\n\n")[-3]
