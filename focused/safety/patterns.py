"""Hosts and addresses that a user names together: a host with its subdomains, or an address in which ``*`` is anything.

What an address costs does not depend on the number of hosts, and grows with the number of patterns only.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from urllib.parse import quote

from focused.addresses import to_host, to_url

_LONGEST = 2_000
# Scheme and host, and what follows.
_SITE = re.compile(r"(https?://[^/?#]*).*", re.IGNORECASE | re.DOTALL)
# A pattern that fits one of these leaves no host out.
_NOBODYS = ("http://q7zj.invalid/", "https://q7zj.invalid/")


def to_pattern(text: str) -> str:
    """A host or a pattern of addresses as `Patterns` takes it; a ValueError says what is wrong with it."""
    text = text.strip()
    if not text:
        raise ValueError("an empty pattern fits nothing: give a host, or an address in which * is anything")
    if "/" not in text and text.strip("*"):
        return to_host(text)
    pattern = re.sub(r"\*+", "*", _normal(text))
    if len(pattern) > _LONGEST:
        raise ValueError(f"a pattern has at most {_LONGEST:,} characters, this one {len(pattern):,}")
    if any(Patterns([pattern]).match(url, "") for url in _NOBODYS):
        raise ValueError(f"{text!r} fits every host: name the host, or a part of the address that is not *")
    return pattern


def _normal(text: str) -> str:
    """A pattern with scheme and host as browsers write them, and without characters that no address has."""
    if "*" not in text:
        return to_url(text)
    if found := _SITE.fullmatch(text):
        site, rest = found[1], text[found.end(1) :]
        return site.lower() + _quoted(rest) if "*" in site else to_url(site) + _quoted(rest.removeprefix("/"))
    if not text.startswith("*"):
        raise ValueError(f"{text!r} begins with neither http:// nor https:// nor *")
    return _quoted(text)


def _quoted(text: str) -> str:
    return quote(text, safe=string.punctuation)


class Patterns:
    """Some hosts and patterns of addresses, as `to_pattern` gives them."""

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        self.texts = tuple(patterns)
        self._hosts = {text for text in patterns if "/" not in text and "*" not in text}
        self._addresses = [(text, text.split("*")) for text in patterns if text not in self._hosts]

    def __bool__(self) -> bool:
        return bool(self.texts)

    def match(self, url: str, host: str) -> str:
        """The pattern that an address, or its host, fits; '' if there is none."""
        name = host if self._hosts else ""
        while name:
            if name in self._hosts:
                return name
            name = name.partition(".")[2]
        return next((text for text, pieces in self._addresses if _fits(url, pieces)), "")


def _fits(url: str, pieces: Sequence[str]) -> bool:
    """Do the pieces between the stars occur in an address, in their order? Each is looked for once."""
    first, *others = pieces
    if not others:
        return url == first
    *between, last = others
    at, end = len(first), len(url) - len(last)
    if at > end or not (url.startswith(first) and url.endswith(last)):
        return False
    for piece in between:
        found = url.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
