"""Promises of the hostile pages: each is as bad as its name says, or tests with it would prove nothing."""

from __future__ import annotations

import zlib

import pytest

from focused.lab.site import hostile
from focused.lab.site.reply import Reply


def body_of(reply: Reply) -> bytes:
    return reply.body if isinstance(reply.body, bytes) else b"".join(reply.body())


def unpack(body: bytes) -> bytes:
    return zlib.decompressobj(31).decompress(body)


def test_deep_nests_and_keeps_its_link_inside():
    body = body_of(hostile.deep(1_000, link="/in"))
    assert body.count(b"<div>") == body.count(b"</div>") == 1_000
    assert body.rindex(b"<div>") < body.index(b"/in") < body.index(b"</div>")


def test_many_links_are_all_different():
    assert len(set(body_of(hostile.many_links(1_000)).split(b"\n"))) == 1_001


def test_an_attribute_bomb_is_one_tag():
    body = body_of(hostile.attribute_bomb(50_000))
    assert body.count(b"=1") == 50_000
    assert body.count(b"<p") == 1


@pytest.mark.parametrize("make", [hostile.huge, hostile.huge_and_told])
def test_huge_is_made_piece_by_piece(make):
    reply = make(5)
    assert callable(reply.body)
    assert 4 << 20 < len(body_of(reply)) <= 5 << 20
    assert reply.length in {None, len(body_of(reply))}


def test_a_gzip_bomb_is_small_on_the_wire_and_large_behind_it():
    once, twice = hostile.gzip_bomb(20), hostile.gzip_bomb(20, layers=2)
    assert len(body_of(twice)) < len(body_of(once)) < 50_000
    assert len(unpack(body_of(once))) == len(unpack(unpack(body_of(twice)))) == 20 << 20
    assert twice.headers["Content-Encoding"] == "gzip, gzip"


def test_wrongly_encoded_is_not_what_it_says():
    with pytest.raises(UnicodeDecodeError):
        body_of(hostile.wrongly_encoded()).decode("utf-8")


def test_cut_short_promises_more_than_it_gives():
    reply = hostile.cut_short()
    assert reply.reset is not None
    assert reply.length is not None
    assert reply.reset < reply.length


@pytest.mark.parametrize("name", hostile.HOSTILE)
def test_every_hostile_page_can_be_put_on_a_site(name: str):
    reply = hostile.HOSTILE[name]()
    assert reply.head().endswith(b"\r\n\r\n")
