"""A look at bodies before they are parsed: some are made, or happen, to hurt the parser.

Measured with lxml 6.1.3 (libxml2 2.14.6): one tag with 5,000 attributes holds it for 13 ms, with 50,000 for 2 s, and
four times as long for each doubling after that, because every attribute is appended to a list by walking it. What
is nested deeper than 2,048 levels ends the parse: every later word and link is silently lost. An element with its text
takes 290 bytes, an attribute 270, or 510 if it is an id: ten megabytes of ``<p>x`` are a tree of 700 MB.

So tags keep their first 256 attributes; a page is cut before its tree would outgrow some 64 MB; and of a page that is
nested too deeply only the links keep their tags below a depth of 400, which leaves words and links where they are.
Bodies too small to hurt are not looked at. A look takes linear time, and holds the interpreter's lock for some
milliseconds at most: regular expressions are matched a stretch at a time.
"""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

SMALL = 32 * 1024
"""Bodies up to this size cannot hold the parser for more than 50 ms."""
MOST_ATTRIBUTES = 256
MOST_NODES = 150_000
"""The most elements, comments and attributes of one page: 400 bytes each, at worst."""
MOST_TAGS = 2 * MOST_NODES
"""The most tags, comments and the like; end tags cost no memory, only time."""
_FEW_TAGS = 2_000
_DEEPEST = 400
_PARSER_STOPS = 2_048

_VOID = frozenset(
    b"area base basefont br col embed frame hr img input isindex keygen link meta param source track wbr".split()
)
# Elements that end where the next of their kind begins.
_ENDED_BY_THE_NEXT = frozenset(b"a li option p tbody td th tr".split())
_RAW = b"script style xmp iframe noembed noframes textarea title".split()
_KEPT = frozenset((b"a", *_RAW)) | _VOID

# How HTML is tokenized, as far as is needed to see where tags begin and end. All repeats are possessive: linear time.
_NAME = rb"""[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+)?+)?+"""
_ATTRIBUTE = rb"[\s/]*+" + _NAME
_SOME = rb"(?:%s){0,%d}+" % (_ATTRIBUTE, MOST_ATTRIBUTES)
_TEXT = rb"[^<]++|<(?![a-z/!?])"
# Comments with more dashes are left to `_end_of_comment`.
_COMMENT = rb"<!--(?:-?>|[^-]*+(?:-(?!-!?>)[^-]*+){0,1000}+--!?>)|<(?:!(?!--)|\?|/(?![a-z]))[^>]*+>"
# Scripts, titles and the like hold no tags, up to their own end tag or the end of the page; <script/> ends at once.
_RAW_START = rb"(?=[\s/>])%s(?:[\s/]++(?<!/))?+>" % _SOME
_RAW_TEXT = rb"[^<]*+(?:<(?!/%s[\s/>])[^<]*+)*+"
_RAW_ELEMENT = b"|".join(rb"<%s%s%s" % (name, _RAW_START, _RAW_TEXT % name) for name in _RAW)
_TAG = rb"</?[a-z][^\s/>]*+%s[\s/]*+>" % _SOME
# Without groups: Python 3.11 loses its way where there are some within a possessive repeat.
_TOKENS = re.compile(rb"(?:%s){0,256}+" % b"|".join((_TEXT, _RAW_ELEMENT, _TAG, _COMMENT)), re.IGNORECASE)
_TOKEN = re.compile(
    rb"(?:%s)++|%s|<(?P<slash>/?)(?P<name>[a-z][^\s/>]*+)%s[\s/]*+>|%s" % (_TEXT, _RAW_ELEMENT, _SOME, _COMMENT),
    re.IGNORECASE,
)
_NODE = re.compile(
    rb"<(%s)(%s)%s|<(/?)[a-z][^\s/>]*+(%s)[\s/]*+>|%s"
    % (b"|".join(_RAW), _RAW_START, _RAW_TEXT % rb"\1", _SOME, _COMMENT),
    re.IGNORECASE,
)
_NAMES = re.compile(_NAME)
_BOMB = re.compile(rb"<(/?[a-z][^\s/>]*+)(?:%s){%d}" % (_ATTRIBUTE, MOST_ATTRIBUTES), re.IGNORECASE)
_ATTRIBUTES = re.compile(rb"(?:%s){0,1000}+" % _ATTRIBUTE)
_SEPARATORS = b" \t\n\r\f\v/\"'"
_COMMENT_END = re.compile(rb"--!?>")
_STRETCH = 1024 * 1024
_SELF_CLOSED = re.compile(rb"[\s/]++(?<=/)>")
_RAW_ENDS = {name: re.compile(rb"</%s[\s/>]" % name, re.IGNORECASE) for name in _RAW}

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
    """Cut tags down to their first attributes, and the page where there is too much of it.

    The body must be UTF-8 or like ASCII. Says how many tags were cut, and about how many tags were cut off.
    """
    end = _position_of_tag(body, MOST_TAGS)
    is_dense = _is_dense(body, end)
    pieces: list[bytes] = []
    done, at, cut, room = 0, 0, 0, MOST_NODES
    while at < end:
        after = _end_of_tokens(body, at, end)
        bomb = _BOMB.match(body, at, end) if after == at else None
        if bomb is not None:
            room -= MOST_ATTRIBUTES + 1
        elif is_dense:
            room -= _nodes(body[at:after])
        if room < 0:
            end = at
            break
        if bomb is not None:
            pieces.append(body[done : bomb.end()])
            done = _end_of_attributes(body, bomb.end(), end)
            # One with just so many, and without an end, loses nothing.
            cut += done > bomb.end()
            after = _end_of_raw(body, done, end, bomb[1].lower())
        at = after if after > at else _end_of_comment(body, at, end)
    left_out = {"attributes": cut} if cut else {}
    if end < len(body):
        left_out["tags"] = body.count(b"<", end)
    return (b"".join((*pieces, body[done:end])) if left_out else body), left_out


def flatten(body: bytes) -> tuple[bytes, int]:
    """Take out the tags that are nested deeper than ``_DEEPEST``, but for links; says how many were taken out.

    The parser closes more elements than are taken for closed here: those that the innermost end tag does not name are
    held to be open, so that what is left is never too deep for it.
    """
    pieces: list[bytes] = []
    open_tags: list[bytes] = []
    at, left_out = 0, 0
    while at < len(body):
        token = _TOKEN.match(body, at)
        after = token.end() if token is not None else _end_of_comment(body, at, len(body))
        piece = body[at:after]
        at = after
        name = (token["name"] or b"").lower() if token is not None else b""
        if name and name not in _VOID:
            assert token is not None
            is_end, is_innermost = bool(token["slash"]), bool(open_tags) and open_tags[-1] == name
            if not is_end and not (is_innermost and name in _ENDED_BY_THE_NEXT):
                open_tags.append(name)
            if len(open_tags) > _DEEPEST and name not in _KEPT:
                piece = b" "
                left_out += not is_end
            if is_end and is_innermost:
                open_tags.pop()
        pieces.append(piece)
    return b"".join(pieces), left_out


def parse(body: bytes, base_url: str = "", encoding: str | None = "utf-8") -> tuple[Any, dict[str, int]]:
    """The tree of a body, whatever it is, and what had to be left out for it (see `tame` and `flatten`).

    It is UTF-8, or with an ``encoding`` of None in whatever the page says of itself.
    """
    body = body.replace(b"\x00", b"").strip()
    left_out: dict[str, int] = {}
    if len(body) > SMALL:
        body, left_out = tame(body)
    root = _parse(body, base_url, encoding)
    if _is_cut_short(root):
        body, left_out["nesting"] = flatten(body)
        root = _parse(body, base_url, encoding)
    return root, left_out


def _parse(body: bytes, base_url: str, encoding: str | None) -> Any:
    parser = etree.HTMLParser(recover=True, huge_tree=True, encoding=encoding)
    root = etree.fromstring(body or b"<html/>", parser, base_url=base_url or None)
    return etree.fromstring(b"<html/>", parser) if root is None else root


def _is_cut_short(root: Any) -> bool:
    """Did the parser stop at what is nested too deeply? This is the last in the tree, then."""
    for last in root.itersiblings():
        root = last
    depth = 0
    while root is not None:
        depth += 1
        root = next(root.iterchildren(reversed=True), None)
    return depth >= _PARSER_STOPS


def _position_of_tag(body: bytes, number: int) -> int:
    """Where the tag (or what looks like one) of this number begins, from 0 on; the end of the body if there is none."""
    if body.count(b"<") <= number:
        return len(body)
    low, high = 0, len(body)
    while high - low > 1:
        middle = (low + high) // 2
        before = body.count(b"<", low, middle)
        if before > number:
            high = middle
        else:
            low, number = middle, number - before
    return low


def _is_dense(body: bytes, end: int) -> bool:
    """Might it make more than `MOST_NODES` nodes? Before each attribute is white space, a slash or a quotation mark."""
    if end <= 2 * MOST_NODES:
        return False
    body = body[:end]
    return body.count(b"<") + len(body) - len(body.translate(None, _SEPARATORS)) > MOST_NODES


def _nodes(tokens: bytes) -> int:
    """How many nodes the tree has for some whole tokens, without their text."""
    attributes = [of_raw or of_tag for _, of_raw, slash, of_tag in _NODE.findall(tokens) if not slash]
    return len(attributes) + len(_NAMES.findall(b">".join(attributes)))


def _end_of_tokens(body: bytes, at: int, end: int) -> int:
    match = _TOKENS.match(body, at, end)
    return at if match is None else match.end()


def _end_of_attributes(body: bytes, at: int, end: int) -> int:
    while (match := _ATTRIBUTES.match(body, at, end)) is not None and match.end() > at:
        at = match.end()
    return at


def _end_of_raw(body: bytes, at: int, end: int, name: bytes) -> int:
    """Where the text of a script (or the like) ends whose tag ends at ``at``; ``at`` itself for other elements."""
    if name not in _RAW_ENDS or _SELF_CLOSED.match(body, at, end):
        return at
    found = _RAW_ENDS[name].search(body, at, end)
    return end if found is None else found.start()


def _end_of_comment(body: bytes, at: int, end: int) -> int:
    """Where a comment with very many dashes ends; for a tag or comment without an end the parser takes all the rest."""
    if body.startswith(b"<!--", at):
        for begin in range(at + 4, end, _STRETCH):
            found = _COMMENT_END.search(body, begin, min(begin + _STRETCH + 3, end))
            if found is not None:
                return found.end()
    return end


def _looks_like_utf16(start: bytes) -> bool:
    even, odd = start[::2].count(0), start[1::2].count(0)
    return max(even, odd) * 4 > len(start) and min(even, odd) * 20 < len(start)
