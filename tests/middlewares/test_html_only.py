"""What is not HTML is left before its body comes."""

import gzip

import pytest

from focused.middlewares.html_only import why_not_html

BIG = 20_000_000
HTML = {"Content-Type": "text/html"}


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ((b"text/html", None, 10), ""),
        ((b"TEXT/HTML; charset=x", None, 10), ""),
        ((b"application/xhtml+xml", None, 10), ""),
        ((None, None, 10), ""),
        ((b"", None, 10), ""),
        ((b"text/plain", None, 10), "type"),
        ((b"application/pdf", None, 10), "type"),
        ((b"text/html", b'attachment; filename="a.html"', 10), "attachment"),
        ((b"text/html", b"inline", 10), ""),
        ((b"text/html", None, 101), "size"),
        ((b"\xff\xfe", b"\xff", 10), "type"),
    ],
)
def test_what_headers_say(headers, why):
    assert why_not_html(headers[0], headers[1], headers[2], limit=100) == why


def test_an_unknown_length_is_no_length():
    assert why_not_html(b"text/html", None, "unknown", limit=100) == ""


@pytest.mark.parametrize("kind", ["application/pdf", "image/png", "video/mp4", "text/plain", "application/json"])
def test_bodies_of_other_types_are_not_downloaded(server, crawl, kind):
    server.answers["/film"] = (200, {"Content-Type": kind}, bytes(BIG))
    done = crawl(f"{server.root}/film")
    assert (done.only["error"], done.only["outcome"], done.only["message"]) == ("NotHtml", "not_html", "type")
    assert done.stats["focused/not_html/type"] == 1
    assert server.sent < BIG
    assert "Traceback" not in done.log


def test_bodies_that_are_announced_as_too_large_are_not_downloaded(server, crawl):
    server.answers["/big"] = (200, HTML, b"x" * BIG)
    assert crawl(f"{server.root}/big").only["message"] == "size"
    assert server.sent < BIG


def test_bodies_that_turn_out_too_large_are_stopped(server, crawl):
    server.answers["/big"] = (200, {**HTML, "Transfer-Encoding": "chunked"}, b"x" * BIG)
    done = crawl(f"{server.root}/big")
    assert (done.only["error"], done.only["message"]) == ("NotHtml", "size")
    assert server.sent < BIG


def test_packed_bombs_are_stopped(server, crawl):
    server.answers["/bomb"] = (200, {**HTML, "Content-Encoding": "gzip"}, gzip.compress(b"x" * BIG))
    assert crawl(f"{server.root}/bomb").only["error"] == "IgnoreRequest"


def test_errors_of_other_types_keep_their_status(server, crawl):
    server.answers["/gone"] = (404, {"Content-Type": "application/json"}, b"{}")
    server.answers["/busy"] = (503, {"Content-Type": "text/plain", "Retry-After": "77"}, b"busy")
    done = crawl(f"{server.root}/gone", f"{server.root}/busy", one_by_one=True)
    assert done.errors == ["HttpError", "Postponed"]
    assert done.ends[0]["status"] == 404


def test_redirects_of_any_type_are_followed(server, crawl):
    server.answers["/old"] = (301, {"Location": "/", "Content-Type": "text/plain"}, b"moved")
    assert crawl(f"{server.root}/old").only["status"] == 200


def test_a_page_without_a_type_is_known_by_its_body(server, crawl):
    server.answers["/page.json"] = (200, {}, b"\n<!DOCTYPE HTML>\n<title>x</title>")
    server.answers["/words"] = (200, {}, b"no markup here")
    server.answers["/nothing"] = (200, {}, b"")
    done = crawl(f"{server.root}/page.json", f"{server.root}/words", f"{server.root}/nothing", one_by_one=True)
    assert done.ends[0]["kind"] == "HtmlResponse"
    assert [end.get("message") for end in done.ends[1:]] == ["unknown", "unknown"]


def test_an_empty_page_is_a_page(server, crawl):
    server.answers["/empty"] = (200, HTML, b"")
    assert crawl(f"{server.root}/empty").only["status"] == 200


def test_a_packed_page_is_a_page(server, crawl):
    server.answers["/packed"] = (200, {**HTML, "Content-Encoding": "gzip"}, gzip.compress(b"<p>unpacked</p>"))
    assert crawl(f"{server.root}/packed").only["text"] == "<p>unpacked</p>"


@pytest.mark.parametrize("body", [b"%PDF-1.7\n\x00", b"\x89PNG\r\n\x1a\n", b"PK\x03\x04....", bytes(range(256)) * 8])
def test_other_things_that_call_themselves_html(server, crawl, body):
    server.answers["/lie"] = (200, HTML, body)
    done = crawl(f"{server.root}/lie")
    assert done.only["message"] == "binary"


def test_requests_that_take_any_type_get_it(server, crawl):
    server.answers["/words"] = (200, {"Content-Type": "text/plain"}, b"words")
    assert crawl(f"{server.root}/words", meta={"focused": {"any_type": True}}).only["text"] == "words"
