"""Bodies that would hurt the parser are tamed, and nothing that counts is lost by it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from focused.pages import guard
from focused.pages.page import parse_page

MANY = 20_000
AFTER = b"<a href='/after'>after</a>"


def attributes(many=MANY, form=b"a%d=1", between=b" "):
    return between.join(form % i for i in range(many))


def most_attributes(root):
    return max(len(element.attrib) for element in root.iter() if isinstance(element.tag, str))


def hrefs(root):
    return [a.get("href") for a in root.iter("a")]


BOMBS = {
    "plain": b"<p " + attributes() + b">x</p>",
    "no values": b"<p " + attributes(form=b"a%d") + b">x</p>",
    "> in values": b"<p " + attributes(form=b"a%d='>'") + b">x</p>",
    "tags in values": b"<p " + attributes(form=b'a%d="<p>x</p>"') + b">x</p>",
    "nothing between": b"<p " + attributes(form=b"a%d='1'", between=b"") + b">x</p>",
    "slashes between": b"<p " + attributes(form=b"a%d", between=b"/") + b">x</p>",
    "equals signs first": b"<p " + attributes(form=b"=a%d") + b">x</p>",
    "quotes in names": b"<p x' " + attributes(form=b"a%d") + b" y'>x</p>",
    "unquoted values with quotes": b"<p t=John's " + attributes() + b" u=Jim's>x</p>",
    "in capitals": b"<P " + attributes(form=b"A%d=1") + b">x</P>",
    "after an odd script": b"<script>if (a<b c='</script><p " + attributes() + b">'>x</p>",
    "after an odd comment": b"<!-- <b c='--><p " + attributes() + b">'>x</p>",
    "after an odd title": b"<title>if (a<b c='</title><p " + attributes() + b">'>x</p>",
    "after a script that is none": b"<svg><script/><p " + attributes() + b">x</p></svg>",
    "after a bombed script": b"<script " + attributes(300) + b">(a<b c='</script><p " + attributes() + b">'>x</p>",
    "after a doctype": b"<!DOCTYPE html '><p " + attributes() + b">'",
    "in an end tag": b"<p></p " + attributes() + b">x",
    "without an end": AFTER + b"<p " + attributes(),
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_no_tag_keeps_more_attributes_than_are_harmless(bomb):
    root, left_out = guard.parse(b"<html><body>" + bomb + AFTER)
    assert most_attributes(root) <= guard.MOST_ATTRIBUTES
    assert left_out.get("attributes") or most_attributes(root) == 0
    assert hrefs(root)[-1:] == ["/after"]


def test_the_first_attributes_are_kept():
    root, left_out = guard.parse(b"<a href=/here " + attributes() + b">x</a>")
    assert hrefs(root) == ["/here"]
    assert left_out == {"attributes": 1}


@pytest.mark.parametrize("end", [b">x", b"", b"/", b" <p"])
@pytest.mark.parametrize("many", [guard.MOST_ATTRIBUTES - 1, guard.MOST_ATTRIBUTES])
def test_a_tag_with_as_many_attributes_as_are_kept_is_not_counted_as_cut(many, end):
    body = b"<p " + attributes(many if end != b" <p" else many - 1) + end
    assert guard.tame(body) == (body, {})
    tamed, left_out = guard.tame(b"<p " + attributes(300) + end)
    assert left_out == {"attributes": 1}
    assert guard.tame(tamed) == (tamed, {})


def test_what_looks_like_a_bomb_in_text_is_left_alone():
    text = b"<p " + attributes() + b">"
    body = b"<title>" + text + b"</title><!--" + text + b"--><script>" + text + b"</script>" + AFTER
    tamed, left_out = guard.tame(body)
    assert tamed == body
    assert left_out == {}


PIECES = [b"<p", b"<a href=", b">", b"'", b'"', b"<!--", b"-->", b"<script>", b"</script>", b"<title", b"</", b"<"]
PIECES += [b"/", b" ", b"=", b"x", b"\n", b"\x00", b"\xff", b"<![CDATA["]


@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_what_has_few_attributes_is_never_changed(pieces):
    body = b"".join(pieces)
    assert guard.tame(body) == (body, {})


@pytest.mark.parametrize("shape", [
    (b"<div>", b"</div>"),
    (b"<font><p>", b""),
    (b"<table><tr><td>", b""),
    (b"<ul><li>", b"</li></ul>"),
    (b"<dl><dd><p>", b""),
    (b"<b><i>", b""),
    (b"<x-y>", b"</x-y>"),
])  # fmt: skip
def test_links_and_words_below_any_depth_are_found(shape):
    begin, end = shape
    body = b"<body>" + begin * 20_000 + b"deep <a href=/deep>link</a>" + end * 20_000 + AFTER
    root, left_out = guard.parse(body)
    assert hrefs(root) == ["/deep", "/after"]
    assert left_out["nesting"] > 15_000
    page = parse_page(root, "http://example.com/")
    assert [leaf.strip() for leaf in page.leaves if leaf.strip()] == ["deep", "link", "after"]


def test_lxml_alone_would_lose_them():
    """If this fails, the parser has learned it, and `flatten` is not needed any more."""
    parser = etree.HTMLParser(recover=True, huge_tree=True)
    root = etree.fromstring(b"<body>" + b"<div>" * 3_000 + b"</div>" * 3_000 + AFTER, parser)
    assert hrefs(root) == []


def test_deep_links_keep_their_images_and_attributes():
    body = b"<div>" * 5_000 + b"<a href=/x title=y><span><img alt=moon src=m.png></span></a>"
    page = parse_page(guard.parse(body)[0], "http://example.com/")
    assert page.links.urls == ["http://example.com/x"]
    assert page.anchor(0) == "moon"


def test_ordinary_nesting_is_not_touched():
    body = b"<div>" * 1_500 + b"<a href=/deep>x</a>" + b"</div>" * 1_500
    root, left_out = guard.parse(body)
    assert left_out == {}
    assert len(list(root.iter("div"))) == 1_500


@pytest.mark.parametrize(
    "body", [b"", b" ", b"\x00\x00", b"<", b"</", b"<!--", b"<a", b"\xff\xfe", bytes(range(256)) * 200]
)
def test_anything_has_a_tree(body):
    root, _ = guard.parse(body)
    assert root is not None
    parse_page(root, "http://example.com/")


def test_zeros_are_taken_out():
    root, _ = guard.parse(b"<a hr\x00ef=/x>mo\x00on</a>")
    assert hrefs(root) == ["/x"]
    assert root.findtext(".//a") == "moon"


def test_only_bodies_that_can_hurt_are_looked_at():
    assert guard.is_harmless(b"<p>word</p>" * 900)
    assert not guard.is_harmless(b"<b>" * 3_000)
    assert not guard.is_harmless(b"x" * (guard.SMALL + 1))


@pytest.mark.parametrize("body", [
    b"%PDF-1.4 ...", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff\xe0", b"PK\x03\x04", b"\x1f\x8b\x08",
    b"\x00\x01\x02" * 99, b"\xd0\xcf\x11\xe0\xa1\xb1", bytes(range(256)) * 5,
])  # fmt: skip
def test_what_is_binary(body):
    assert guard.looks_binary(body)


@pytest.mark.parametrize("body", [
    b"", b"<html>", b"words", "<html>größe</html>".encode("utf-16"), "<html>x</html>".encode("utf-16-le"),
    "<p>мир</p>".encode("cp1251"), "<p>日本語</p>".encode("iso2022_jp") * 50,
    "<p>日本語</p>".encode("shift_jis") * 50, b"<html>one \x00 zero" + b"x" * 100, b"MZ <html><p>initials</p>",
])  # fmt: skip
def test_what_is_not_binary(body):
    assert not guard.looks_binary(body)


@pytest.mark.parametrize(
    "body", [b"<!doctype HTML>", b"\n\n<HTML lang=en>", b"\xef\xbb\xbf<p>x", "<html>".encode("utf-16")]
)
def test_what_begins_like_a_page(body):
    assert guard.looks_like_html(body)


@pytest.mark.parametrize("body", [b"", b"plain words", b'{"a": 1}', b"<?xml version='1.0'?><rss/>", b"a < b"])
def test_what_does_not(body):
    assert not guard.looks_like_html(body)
