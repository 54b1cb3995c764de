"""Which pages a HAR file shows somebody visiting."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from focused.pages.page import PageLimits
from focused.papers.paths import har as har_module
from focused.papers.paths.har import Har
from focused.papers.paths.visited import keys_of
from focused.safety.addresses import AddressPolicy
from tests.papers.paths.har_cases import U, entry, links, tour_of_a_university, write_har


@pytest.fixture
def har(tmp_path: Path):
    """What a file with some entries shows."""

    def read(*entries: Any, allowed: Sequence[str] = (), **log: Any) -> Har:
        return Har(write_har(tmp_path / "x.har", entries, **log), AddressPolicy(allowed), PageLimits())

    return read


def urls(har: Har) -> list[list[str]]:
    return [page.urls for page in har.pages]


def test_pages_are_top_level_documents_and_redirects_are_joined(har) -> None:
    found = har(*tour_of_a_university())
    assert urls(found) == [[f"{U}/"], [f"{U}/news"], [f"{U}/cs", f"{U}/cs/index.html"], [f"{U}/ann"], [f"{U}/cs1"]]
    assert [page.referer for page in found.pages] == ["", f"{U}/", f"{U}/", f"{U}/cs/index.html", f"{U}/ann"]
    assert [page.title for page in found.pages] == ["Home", "News", "CS", "Ann", "Course 1"]
    assert set(found.pages[2].links.tolist()) == set(keys_of([f"{U}/ann"]).tolist())
    assert not found.left_out


CHROMIUM = {"_resourceType": "document", "_initiator": {"type": "other"}}
IN_A_FRAME = {"_resourceType": "document", "_initiator": {"type": "parser", "url": U, "stack": {"x": [[]]}}}


@pytest.mark.parametrize(
    "entries",
    [
        # https: browsers say it themselves.
        [entry(f"{U}/a"), entry(f"{U}/f", dest="iframe"), entry(f"{U}/b"), entry(f"{U}/x", dest="empty")],
        # Chromium over http: a page of the HAR for each navigation, frames begun by the parser or by a script.
        [
            entry(f"{U}/a", dest=None, pageref="1", **CHROMIUM),
            entry(f"{U}/f", dest=None, pageref="1", **IN_A_FRAME),
            entry(f"{U}/g", dest=None, pageref="1", **CHROMIUM),
            entry(f"{U}/x", dest=None, pageref="1", accept="*/*", _resourceType="fetch"),
            entry(f"{U}/b", dest=None, pageref="2", **CHROMIUM),
        ],
        # Playwright: a page of the HAR for each tab; frames have names. Going back, there are no headers.
        [
            entry(f"{U}/a", dest=None, pageref="1", _frameref="main", _resourceType="document"),
            entry(f"{U}/f", dest=None, pageref="1", _frameref="inner", _resourceType="document"),
            entry(f"{U}/b", dest=None, pageref="1", _frameref="main", _resourceType="document", accept=""),
            entry(f"{U}/x", dest=None, pageref="1", _frameref="main", _resourceType="xhr"),
        ],
        # Firefox over http says nothing of either.
        [
            entry(f"{U}/a", dest=None, pageref="1"),
            entry(f"{U}/f", dest=None, pageref="1"),
            entry(f"{U}/b", dest=None, pageref="2", status=301, to=f"{U}/b", mime=""),
            entry(f"{U}/b", dest=None, pageref="2"),
            entry(f"{U}/x", dest=None, pageref="3", accept="image/png", status=302, to="/b", mime=""),
        ],
        # A proxy's log has no pages.
        [
            entry(f"{U}/a", dest=None, _initiator="script"),
            entry(f"{U}/x", dest=None, accept="*/*"),
            entry(f"{U}/f", dest=None, **IN_A_FRAME),
            entry(f"{U}/b", dest=None),
        ],
    ],
)
def test_frames_and_requests_of_scripts_are_no_pages(har, entries: list[Any]) -> None:
    found = har(*entries)
    assert list(dict.fromkeys(url for page in found.pages for url in page.urls)) == [f"{U}/a", f"{U}/b"]
    assert not found.left_out


def test_entries_are_put_in_the_order_of_time(har) -> None:
    later, first, unknown = "2026-11-20T13:00:01+01:00", "2026-11-20T12:00:00.5Z", "yesterday"
    found = har(
        entry(f"{U}/b", startedDateTime=later),
        entry(f"{U}/c", startedDateTime=unknown),
        entry(f"{U}/a", startedDateTime=first),
        entry(f"{U}/d", startedDateTime=None),
    )
    assert urls(found) == [[f"{U}/a"], [f"{U}/d"], [f"{U}/b"], [f"{U}/c"]]


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (entry("data:text/html,<a href='/'>x</a>"), "not http addresses"),
        (entry("javascript:void(0)"), "not http addresses"),
        (entry("file:///etc/passwd"), "not http addresses"),
        (entry(f"{U}/{'x' * 9_000}"), "addresses of more than 8,000 characters"),
        (entry("http://169.254.169.254/"), "inner addresses (FOCUSED_INNER_ALLOWED lets them in)"),
        (entry("https://wiki.lan/", html=links("/a")), "inner addresses (FOCUSED_INNER_ALLOWED lets them in)"),
        (entry(f"{U}/form", method="POST"), "reached by a form"),
        (entry(f"{U}/gone", status=404), "HTTP 404"),
        (entry(f"{U}/pdf", status=302, to="/a.pdf"), "redirected to what is not a page"),
        ({"request": {"url": f"{U}/"}}, "entries that cannot be read"),
        ({"request": {"url": None}, "response": {"status": 200}}, "entries that cannot be read"),
        (entry(f"{U}/", html="\ud800"), "entries that cannot be read"),
    ],
)
def test_what_the_crawler_would_not_find_is_left_out_and_counted(har, one: Any, reason: str) -> None:
    found = har(entry(f"{U}/a"), one, entry(f"{U}/b"))
    assert urls(found) == [[f"{U}/a"], [f"{U}/b"]]
    assert found.left_out == {reason: 1}


def test_entries_nested_without_end_are_left_out(tmp_path: Path) -> None:
    file = Path(write_har(tmp_path / "x.har", [entry(f"{U}/a", x="deep"), entry(f"{U}/b")]))
    file.write_text(file.read_text().replace('"deep"', "[" * 100_000 + "]" * 100_000))
    found = Har(str(file), AddressPolicy(), PageLimits())
    assert urls(found) == [[f"{U}/b"]]
    assert found.left_out == {"entries that cannot be read": 1}


def test_inner_addresses_may_be_allowed(har) -> None:
    assert urls(har(entry("https://wiki.lan/"), allowed=["wiki.lan"])) == [["https://wiki.lan/"]]


def test_where_a_form_or_an_inner_address_leads_no_link_does(har) -> None:
    found = har(
        entry(f"{U}/search", method="POST", status=303, to="/found", referer=f"{U}/"),
        entry(f"{U}/found", referer=f"{U}/"),
        entry("http://10.0.0.1/", status=302, to=f"{U}/in", referer=f"{U}/"),
        entry(f"{U}/in", referer=f"{U}/"),
    )
    assert [(page.urls, page.referer) for page in found.pages] == [([f"{U}/found"], ""), ([f"{U}/in"], "")]


def test_passwords_in_addresses_are_not_kept(har) -> None:
    found = har(entry("https://ann:secret@u.example.org/a@b#c"))
    assert urls(found) == [[f"{U}/a@b"]]


def test_bodies_may_be_packed_as_base64(har) -> None:
    def packed(body: str) -> dict[str, Any]:
        one = entry(f"{U}/", html=body, mime="text/html; charset=iso-8859-1")
        one["response"]["content"]["encoding"] = "base64"
        return one

    found = har(packed(b64encode(links("/a", title="Übung").encode("latin-1")).decode()), packed("?"), packed("ab"))
    assert found.pages[0].title == "Übung"
    assert [len(page.links) for page in found.pages] == [1, 0, 0]
    assert found.left_out == {"bodies that cannot be decoded": 1}
    binary = har(packed(b64encode(b"%PDF-1.4 \x00\x01").decode()))
    assert (binary.pages[0].title, len(binary.pages[0].links)) == ("", 0)


def test_documents_are_bounded_and_those_beyond_are_counted(har, monkeypatch) -> None:
    monkeypatch.setattr(har_module, "MOST_DOCUMENTS", 3)
    found = har(*(entry(f"{U}/{n}") for n in range(5)))
    assert len(found.pages) == 3
    assert found.left_out == {"documents beyond the first 3": 2}


def test_a_page_that_the_browser_had_already_is_one(har) -> None:
    assert urls(har(entry(f"{U}/a", status=304, mime=""), entry(f"{U}/b", status=304, mime="x-unknown"))) == [
        [f"{U}/a"],
        [f"{U}/b"],
    ]
