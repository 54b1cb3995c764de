"""What a robots.txt says to one crawler (RFC 9309), in work and memory that the file cannot choose.

A file is read once, line by line; only the groups for our product token and for ``*`` are kept, so agents × rules cost
what their bytes cost. The matcher is our own, since a filter before Protego would leave the cost of wildcards, and what
a match is, to whichever version of Protego is installed.

- A group is ours if its ``User-agent`` begins with our product token, a whole one, in any case: ``Focused/1.2`` and
  ``focused bot`` are ``Focused``, ``Focus`` and ``Focused-News`` are not. All such groups are one; without any, those
  of ``*`` are.
- The longest rule that matches decides; of two that are as long, Allow.
- Lines that are neither User-agent nor Allow nor Disallow do not end a list of User-agent lines.
- Both sides of a comparison are spelled alike: an escaped character is the character itself, except for ``/`` and ``?``
  in a path. ``*`` and ``$`` in an address are matched by ``%2A`` and ``%24``.

Rules without wildcards cost one look-up for each length of a rule, however many they are. Those with wildcards are
tried one by one: the pieces between the wildcards are found from left to right, and never sought again.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import NamedTuple, Self
from urllib.parse import quote

from scrapy.crawler import Crawler
from scrapy.robotstxt import RobotParser
from scrapy.utils.python import to_bytes

MOST_RULES = 20_000
LONGEST = 2_000
"""Characters of a rule; also how far into an address the pieces of a rule with wildcards are sought."""
MOST_WILDCARDS = 64 * 1024
"""Characters of all rules with wildcards together."""

_BOM = b"\xef\xbb\xbf"
_AGENT, _ALLOW, _DISALLOW, _DELAY = range(4)
_KINDS = {
    **dict.fromkeys((b"user-agent", b"useragent", b"user agent"), _AGENT),
    b"allow": _ALLOW,
    # As people write it.
    **dict.fromkeys((b"disallow", b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw"), _DISALLOW),
    **dict.fromkeys((b"crawl-delay", b"crawl delay"), _DELAY),
}
_LINE = re.compile(rb"[^\r\n]+")
_TOKEN = re.compile(rb"\s*([A-Za-z0-9_.-]+)")
_COMPATIBLE = re.compile(rb"\bcompatible; *([A-Za-z0-9_.-]+)", re.IGNORECASE)
_EVERYONE = re.compile(rb"\*(?:\s|$)")
_STARS = re.compile(rb"\*+")
_PARTS = re.compile(rb"(?:[^:/?#]+://[^/?#]*)?([^?#]*)(\??)([^#]*)")
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})?")


def product_token(user_agent: str | bytes) -> str:
    """What a robots.txt calls a crawler: its name without version and comment; '' if there is none.

    In ``Mozilla/5.0 (compatible; Name/1.0)`` it is the name behind "compatible".
    """
    agent = to_bytes(user_agent)
    found = _COMPATIBLE.search(agent) or _TOKEN.match(agent)
    return found[1].decode() if found else ""


class RobotsTxt(RobotParser):
    """The rules of a file for one crawler. ``left_out`` counts the rules beyond the limits, by the limit's name."""

    def __init__(self, body: bytes, user_agent: str | bytes) -> None:
        group = _group_for(product_token(user_agent).lower().encode(), body)
        self.left_out: Counter[str] = Counter()
        self.delay = group.delay
        self._prefixes: dict[str, bool] = {}
        self._wholes: dict[str, bool] = {}
        self._wildcards: list[_Wildcard] = []
        self._room = MOST_WILDCARDS
        for is_allowed, pattern in group.rules:
            self._add(is_allowed, pattern)
        if group.too_many:
            self.left_out["rules"] = group.too_many
        self._lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)
        self._wildcards.sort(key=lambda rule: rule[:2], reverse=True)

    @classmethod
    def from_crawler(cls, crawler: Crawler, robotstxt_body: bytes) -> Self:
        return cls(robotstxt_body, crawler.settings["ROBOTSTXT_USER_AGENT"] or crawler.settings["USER_AGENT"] or "")

    @property
    def size(self) -> int:
        """About how many bytes the rules take in memory."""
        texts = chain(self._prefixes, self._wholes, *(rule.pieces for rule in self._wildcards))
        return sum(150 + len(text) for text in texts)

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """May an address be fetched? ``user_agent`` was given when the file was read."""
        path, mark, query = _PARTS.match(to_bytes(url)).groups()  # type: ignore[union-attr]  # it matches anything
        address = (_path(path) or "/") + mark.decode() + _query(query)
        return address == "/robots.txt" or self._verdict(address)

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        """The group's Crawl-delay, the longest if there are several."""
        return self.delay

    def _verdict(self, address: str) -> bool:
        best = (0, True)
        for length in self._lengths:
            prefix = address[:length]
            if prefix in self._prefixes:
                best = (len(prefix), self._prefixes[prefix])
                break
        if address in self._wholes:
            best = max(best, (len(address) + 1, self._wholes[address]))
        for rule in self._wildcards:
            if rule[:2] <= best:
                break
            if rule.matches(address):
                return rule.is_allowed
        return best[1]

    def _add(self, is_allowed: bool, pattern: bytes) -> None:
        if len(pattern) > LONGEST:
            self.left_out["length"] += 1
            return
        if b"*" in pattern:
            self._room -= len(pattern)
            if self._room < 0:
                self.left_out["wildcards"] += 1
                return
        at_end = pattern.endswith(b"$")
        first, *others = pieces = _pieces(pattern.removesuffix(b"$"))
        if others:
            length = sum(map(len, pieces)) + len(others) + at_end
            self._wildcards.append(_Wildcard(length, is_allowed, pieces, at_end))
        else:
            rules = self._wholes if at_end else self._prefixes
            rules[first] = is_allowed or rules.get(first, False)


class _Wildcard(NamedTuple):
    """A rule with wildcards between its pieces."""

    length: int
    is_allowed: bool
    pieces: list[str]
    at_end: bool

    def matches(self, address: str) -> bool:
        first, *others = self.pieces
        if not address.startswith(first):
            return False
        at = len(first)
        last = others.pop() if self.at_end else ""
        for piece in others:
            found = address.find(piece, at, LONGEST)
            if found < 0:
                return False
            at = found + len(piece)
        return not self.at_end or (address.endswith(last) and len(address) - len(last) >= at)


@dataclass(slots=True, eq=False)
class _Group:
    """The groups of one agent, merged."""

    is_there: bool = False
    rules: list[tuple[bool, bytes]] = field(default_factory=list)
    too_many: int = 0
    delay: float | None = None

    def add(self, rule: tuple[bool, bytes]) -> None:
        if len(self.rules) < MOST_RULES:
            self.rules.append(rule)
        else:
            self.too_many += 1

    def slow_down(self, value: bytes) -> None:
        try:
            seconds = float(value)
        except ValueError:
            return
        if math.isfinite(seconds) and seconds >= 0:
            self.delay = max(seconds, self.delay or 0.0)


def _group_for(token: bytes, body: bytes) -> _Group:
    """The rules for a token, in lower case; where there are none, those for everyone."""
    ours, everyones = _Group(), _Group()
    named: list[_Group] = []
    is_complete = False
    for kind, value in _records(body):
        if kind == _AGENT:
            if is_complete:
                named, is_complete = [], False
            name = _TOKEN.match(value)
            group = everyones if _EVERYONE.match(value) else ours if name and name[1].lower() == token else None
            if group is not None and group not in named:
                group.is_there = True
                named.append(group)
        elif kind == _DELAY:
            for group in named:
                group.slow_down(value)
        else:
            is_complete = True
            for group in named if value else ():
                group.add((kind == _ALLOW, value))
    return ours if ours.is_there else everyones


def _records(body: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that mean something to us. As Google's parser, it takes a space where the colon is missing."""
    for line in _LINE.finditer(body.removeprefix(_BOM)):
        text = line[0].partition(b"#")[0]
        name, _, value = text.partition(b":")
        kind = _KINDS.get(name.strip().lower())
        if kind is None:
            name, value = (*text.split(None, 1), b"", b"")[:2]
            kind = _KINDS.get(name.lower())
        if kind is not None:
            yield kind, value.strip()


def _pieces(pattern: bytes) -> list[str]:
    """What stands between the wildcards."""
    pieces, in_query = [], False
    for piece in _STARS.split(pattern):
        path, mark, query = (b"", b"", piece) if in_query else piece.partition(b"?")
        in_query = in_query or bool(mark)
        pieces.append(_path(path) + mark.decode() + _query(query))
    return pieces


def _spelled(kept: bytes, text: bytes) -> str:
    """One spelling for all that mean the same; the bytes in ``kept`` are left escaped where they are."""

    if not text:
        return ""

    def plain(escape: re.Match[bytes]) -> bytes:
        if escape[1] is None:
            return b"%25"
        byte = bytes.fromhex(escape[1].decode())
        return escape[0].upper() if byte in kept else byte

    return quote(_ESCAPE.sub(plain, text), safe="!$%&'()*+,/:;=?@[]")


_path, _query = partial(_spelled, b"/?%"), partial(_spelled, b"%")
