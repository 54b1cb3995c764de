"""A look at bodies before they are parsed: some are made, or happen, to hurt the parser.

Measured with lxml 6.1.3 (libxml2 2.14.6): one tag with 5,000 attributes holds it for 13 ms, with 50,000 for 2 s, and
four times as long for each doubling after that, because every attribute is appended to a list by walking it. What
is nested deeper than 2,048 levels ends the parse: every later word and link is silently lost. A million unmatched
end tags cost a second or two. Nothing else of 30 hostile bodies took longer than a hundred megabytes a second.

So tags keep their first 256 attributes, and of a page that is nested too deeply only the links keep their tags below
a depth of 400; both leave words and links where they are. Bodies too small to hurt are not looked at.
"""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

SMALL = 32 * 1024
"""Bodies up to this size cannot hold the parser for more than 50 ms."""
MOST_ATTRIBUTES = 256
_FEW_TAGS = 2_000
_DEEPEST = 400

_VOID = frozenset(
    b"area base basefont br col embed frame hr img input isindex keygen link meta param source track wbr".split()
)
# Elements that the parser closes by itself: they do not add up to a depth.
_CLOSED_BY_ITSELF = frozenset(b"p li dt dd option tr td th thead tbody tfoot a html head body".split())
_KEPT = frozenset(b"a area base frame iframe img script style title textarea".split()) | _VOID

# How HTML is tokenized, as far as is needed to see where tags begin and end. All repeats are possessive: linear time.
_ATTRIBUTE = rb"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+)?+)?+"""
_RAW = (b"script", b"style", b"xmp", b"iframe", b"noembed", b"noframes", b"textarea", b"title")
_SOME = rb"(?:%s){0,%d}+" % (_ATTRIBUTE, MOST_ATTRIBUTES)
_RAW_NAMES = b"|".join(_RAW)
_TEXT = rb"[^<]++|<(?![a-z/!?])"
_COMMENT = rb"<!--(?:-?>|[^-]*+(?:-(?!-!?>)[^-]*+)*+--!?>)|<(?:!(?!--)|\?|/(?![a-z]))[^>]*+>"
# Scripts, titles and the like hold no tags, up to their own end tag; <script/> ends at once.
_RAW_ELEMENTS = b"|".join(
    rb"<%s(?=[\s/>])%s(?:/*+\s++)*+>[^<]*+(?:<(?!/%s[\s/>])[^<]*+)*+(?=</)" % (name, _SOME, name) for name in _RAW
)
_TAG = rb"</?(?!(?:%s)[\s/>])[a-z][^\s/>]*+%s[\s/]*+>" % (_RAW_NAMES, _SOME)
_RAW_TAG = rb"</(?:%s)%s[\s/]*+>|<(?:%s)(?=[\s/>])%s(?:/*+\s++)*+/++>" % (_RAW_NAMES, _SOME, _RAW_NAMES, _SOME)
_HARMLESS = re.compile(rb"(?:%s)*+" % b"|".join((_TEXT, _TAG, _RAW_TAG, _RAW_ELEMENTS, _COMMENT)), re.IGNORECASE)
_BOMB = re.compile(
    rb"(<(/?[a-z][^\s/>]*+)(?:%s){%d})(?:%s)*+" % (_ATTRIBUTE, MOST_ATTRIBUTES, _ATTRIBUTE), re.IGNORECASE
)
_SELF_CLOSED = re.compile(rb"(?:/*+\s++)*+/++>")
_RAW_ENDS = {name: re.compile(rb"</%s[\s/>]" % name, re.IGNORECASE) for name in _RAW}
_TOKEN = re.compile(
    rb"(%s)|<(/?)([a-z][^\s/>]*+)(?:%s)*+[\s/]*+>" % (b"|".join((_RAW_ELEMENTS, _COMMENT)), _ATTRIBUTE), re.IGNORECASE
)

_MAGIC = (
    *(b"%PDF-", b"%!PS", b"{\\rtf", b"\xd0\xcf\x11\xe0", b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"Rar!", b"7z\xbc\xaf"),
    *(b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"\x00\x00\x01\x00", b"RIFF", b"OggS", b"ID3", b"MZ", b"\x7fELF"),
)
# What no text has, in any encoding but UTF-16: not tabs and line ends, not the shifts of ISO-2022.
_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n\v\f\r\x0e\x0f\x1b"))
_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\x00\x00\xfe\xff")
_MARKUP = re.compile(rb"<(?:!doctype\s+html|html|head|body|title|meta|table|div|h[1-6]|p|a|frameset)\b", re.IGNORECASE)


def looks_binary(body: bytes) -> bool:
    """Is this something else that calls itself HTML: a PDF, an image, an archive?"""
    start = body[:1024]
    if start.startswith(_MAGIC):
        return not _MARKUP.search(start)
    controls = len(start) - len(start.translate(None, _CONTROLS))
    if controls <= 4 or controls * 30 <= len(start) or start.startswith(_BYTE_ORDER_MARKS):
        return False
    return not _looks_like_utf16(start)


def looks_like_html(body: bytes) -> bool:
    """Does a body without a declared type begin like a page? (UTF-16 is read without its zeros.)"""
    return _MARKUP.search(body[:4096].replace(b"\x00", b"")) is not None


def is_harmless(body: bytes) -> bool:
    """Is a body too small, and has too few tags, to hold the parser or to be nested too deeply?"""
    return len(body) <= SMALL and body.count(b"<") <= _FEW_TAGS


def tame(body: bytes) -> tuple[bytes, dict[str, int]]:
    """Cut tags down to their first attributes. The body must be UTF-8 or like ASCII; says how many tags were cut."""
    pieces: list[bytes] = []
    done, at, cut = 0, _end_of_harmless(body, 0), 0
    while at < len(body):
        bomb = _BOMB.match(body, at)
        if bomb is None:
            break  # A tag, comment or script without an end: for the parser, too, that is all.
        pieces.append(body[done : bomb.end(1)])
        done = bomb.end()
        cut += 1
        at = _end_of_harmless(body, _end_of_raw(body, done, bomb[2].lower()))
    if not cut:
        return body, {}
    return b"".join(pieces) + body[done:], {"attributes": cut}


def flatten(body: bytes) -> tuple[bytes, int]:
    """Take out the tags that are nested deeper than ``_DEEPEST``, but for links; says how many were taken out."""
    open_tags: list[bytes] = []
    left_out = 0

    def replace(match: re.Match[bytes]) -> bytes:
        nonlocal left_out
        token = match.group()
        name = (match[3] or b"").lower()
        if not name or name in _VOID or name in _CLOSED_BY_ITSELF:
            return token if not name or name in _KEPT or len(open_tags) < _DEEPEST else b" "
        if match[2]:
            return _close(name, open_tags, token)
        if len(open_tags) < _DEEPEST:
            open_tags.append(name)
            return token
        left_out += 1
        return token if name in _KEPT else b" "

    return _TOKEN.sub(replace, body), left_out


def parse(body: bytes, base_url: str = "") -> tuple[Any, dict[str, int]]:
    """The tree of a UTF-8 body, whatever it is, and what had to be left out for it (see `tame` and `flatten`)."""
    body = body.replace(b"\x00", b"").strip()
    left_out: dict[str, int] = {}
    if len(body) > SMALL:
        body, left_out = tame(body)
    root, is_too_deep = _parse(body, base_url)
    if is_too_deep:
        body, left_out["nesting"] = flatten(body)
        root, _ = _parse(body, base_url)
    return root, left_out


def _parse(body: bytes, base_url: str) -> tuple[Any, bool]:
    parser = etree.HTMLParser(recover=True, huge_tree=True, encoding="utf-8")
    root = etree.fromstring(body or b"<html/>", parser, base_url=base_url or None)
    is_too_deep = any("depth" in error.message for error in parser.error_log)
    return etree.fromstring(b"<html/>", parser) if root is None else root, is_too_deep


def _end_of_harmless(body: bytes, at: int) -> int:
    match = _HARMLESS.match(body, at)
    return at if match is None else match.end()


def _end_of_raw(body: bytes, at: int, name: bytes) -> int:
    """Where the text of a script (or the like) ends whose tag ends at ``at``; ``at`` itself for other elements."""
    if name not in _RAW_ENDS or _SELF_CLOSED.match(body, at):
        return at
    end = _RAW_ENDS[name].search(body, at)
    return len(body) if end is None else end.start()


def _close(name: bytes, open_tags: list[bytes], token: bytes) -> bytes:
    # Near the top only: a search through all of them for every end tag would be quadratic.
    for depth in range(1, min(len(open_tags), 20) + 1):
        if open_tags[-depth] == name:
            del open_tags[-depth:]
            return token
    return token if name in _KEPT else b" "


def _looks_like_utf16(start: bytes) -> bool:
    even, odd = start[::2].count(0), start[1::2].count(0)
    return max(even, odd) * 4 > len(start) and min(even, odd) * 20 < len(start)
