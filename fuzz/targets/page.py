"""A page: bytes → charset, guard, tree, leaves and links, evidence.

The first byte chooses what the server says of the charset, and whether little is taken of a page; the second how often
the rest is repeated, up to 16 KiB: what hurts a parser is mostly something small, many times.

Held: nothing is raised; the bounds hold; links are those that XPath finds in the same tree, joined one by one; evidence
outlasts the store; a body that was tamed is tame.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from scrapy.http import HtmlResponse

from focused.critics.keywords import KeywordsCritic
from focused.lab.demo.webs import make_web
from focused.lab.site.hostile import HOSTILE
from focused.pages import guard
from focused.pages.evidence import Evidence
from focused.pages.page import Page, PageLimits
from focused.pages.urls import LONGEST, join
from focused.prioritizers.focused import Focused
from focused.responses import response_to_page_now

URL = "http://h.example/a/b?c"
CHARSETS = (
    *("", "utf-8", "utf-16", "utf-16-be", "windows-1252", "shift_jis", "gb18030", "iso-2022-jp", "euc-kr", "big5"),
    *("rot13", "utf-7", "punycode", "klingon-8", "\xff"),
)
MOST = guard.SMALL // 2
SMALL = PageLimits(links=50, leaves=300, words=500)
PIECES = (
    *(b"<a href=/x>", b"<base href='//b.example/c/'><a href=d>", b"<iframe src=?q>", b"<area href='#'>", b"<template>"),
    *(
        b"<p a b=1 c='>' d=\"<p>\" e=/ f/g='1'h>x",
        b"<script>a<b</script>",
        b"<!--->-->",
        b"<title>t<p>",
        b"<svg><a href=1>",
    ),
    *(
        b"<table><a href=2><td>",
        b"\xe3\x81\x82 ",
        b"\x1b$B",
        b"&#xd800;&amp;&lt",
        b"<?x ?>",
        b"<![CDATA[<a>]]>",
        b"</html>",
    ),
    *(b"<meta charset=utf-16>", b"<meta http-equiv=content-type content='text/html; charset=rot13'>", b"<plaintext>"),
)
CRITIC = KeywordsCritic(keywords=["moon", "red planet"])
PRIORITIZER = Focused(critic=CRITIC)


def seeds() -> Iterator[bytes]:
    for i, piece in enumerate(PIECES):
        yield bytes([i % len(CHARSETS), 0]) + piece
        yield bytes([0, 19 + i % 13]) + piece
        yield bytes([128 + i % len(CHARSETS), 19 + i % 13]) + piece
    yield b"\0\0" + b"".join(PIECES)
    for make in (HOSTILE[name] for name in ("binary", "wrongly-encoded", "bad-addresses", "empty", "nonsense-headers")):
        yield b"\0\0" + _bytes_of(make().body)
    web = make_web("hard", pages=200)
    for answer in islice(web.pages.values(), 12):
        yield b"\1\0" + answer.body[:4_000]
        yield b"\2\0" + answer.body[:1_000].decode("utf-8", "replace").encode("utf-16")


def _bytes_of(body: object) -> bytes:
    assert isinstance(body, bytes)
    return body[:4_000]


def check(data: bytes) -> None:
    charset, times, piece = (data[:1] or b"\0")[0], (data[1:2] or b"\0")[0], data[2:]
    # Most are taken once, or there would be few a second.
    body = piece * max(min(1 << max(times % 32 - 18, 0), MOST // max(len(piece), 1)), 1)
    kind = f"text/html; charset={CHARSETS[charset % len(CHARSETS)]}".encode("latin-1").removesuffix(b"; charset=")
    limits = SMALL if charset >= 128 else PageLimits()
    response = HtmlResponse(URL, headers={"Content-Type": kind}, body=body)
    page = response_to_page_now(response, limits)
    check_bounds(page, limits)
    check_links(page, response.selector.root)
    check_evidence(page)
    check_guard(body)
    guard.looks_binary(body)
    guard.looks_like_html(body)


def check_bounds(page: Page, limits: PageLimits) -> None:
    assert len(page.links) <= limits.links
    assert len(page.leaves) <= limits.leaves
    assert len(page.ids) <= limits.words
    assert len(page.title) <= 10_000
    assert sum(map(len, page.leaves)) <= max(limits.words * 20, 0)
    assert len(page.starts) == len(page.leaves) + 1
    assert page.starts[0] == 0
    assert page.starts[-1] == len(page.ids)
    assert (np.diff(page.starts) >= 0).all()
    assert (page.links.first >= 0).all()
    assert (page.links.first <= page.links.last).all()
    assert (page.links.last <= max(len(page.leaves) - 1, 0)).all()
    assert all(count > 0 for count in page.left_out.values()), page.left_out
    assert page.digest == page.digest & (1 << 63) - 1
    for link in range(min(len(page.links), 20)):
        assert isinstance(page.anchor(link), str)


def check_links(page: Page, root: object) -> None:
    """The links of a tree by their definition, against those that the walk found."""
    bases = [base for base in _found(root, "base/@href") if base]
    base = bases[0] if bases and len(bases[0]) <= LONGEST else ""
    base = join(page.url, base)
    base = base if 0 < len(base) <= LONGEST else page.url
    wanted = _found(root, "a/@href", "area/@href", "frame/@src", "iframe/@src")
    targets = [join(base, href) for href in wanted if len(href) <= LONGEST]
    kept = [target for target in targets if 0 < len(target) <= LONGEST]
    found = page.links.urls
    assert found == kept[: len(found)] or "leaves" in page.left_out or "links" in page.left_out, (found, kept)
    assert len(found) == len(kept) or {"leaves", "links"} & page.left_out.keys(), (found, kept)
    assert set(found) <= set(kept)


def _found(root: object, *elements: str) -> list[str]:
    """Attributes of elements, such as ``a/@href``, wherever they are seen, in their order."""
    outside = "[not(ancestor::script or ancestor::style or ancestor::template)]"
    parts = (one.partition("/") for one in elements)
    where = " | ".join(f"descendant::{element}{outside}/{attribute}" for element, _, attribute in parts)
    return [str(value) for value in root.xpath(where)]  # type: ignore[attr-defined]  # lxml has no types


def check_evidence(page: Page) -> None:
    verdict = CRITIC.judge(page)
    assert 0 <= verdict.relevance <= 1
    evidence = PRIORITIZER.evidence(page, verdict, page.links)
    scores = PRIORITIZER.score(evidence)
    assert len(scores) == len(page.links)
    assert ((scores >= 0) & (scores <= 1)).all(), scores
    data = evidence.to_bytes()
    assert Evidence.from_bytes(data).to_bytes() == data


def check_guard(body: bytes) -> None:
    tamed, _ = guard.tame(body)
    assert len(tamed) <= len(body)
    again, left_out = guard.tame(tamed)
    assert "attributes" not in left_out, left_out
    assert again == tamed
