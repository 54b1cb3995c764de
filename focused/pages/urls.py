"""Addresses: joined as browsers do, and identified."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

import ada_url

LONGEST = 8_000
"""No server that one meets takes a longer address."""
# With their folder; longer ones are seldom met twice, and would fill the memory.
_LONGEST_REMEMBERED = 500
_IN_FOLDER = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~%")

# An address that is whole is the same from everywhere.
_ANY = "http://x/"


def join(base: str, href: str) -> str:
    """The absolute address of an href, normalised as browsers do, without fragment; '' if it is not for http."""
    try:
        target = ada_url.join_url(base, href)
    except ValueError:
        return ""
    if not target.startswith(("http://", "https://")):
        return ""
    return target.partition("#")[0]


_join = lru_cache(8_192)(join)


class Joiner:
    """Joins the hrefs of one page. What pages of a site or folder have in common (menus) is joined once for all."""

    def __init__(self, base: str) -> None:
        self._base = base
        scheme, _, rest = base.partition("?")[0].partition("#")[0].partition("://")
        host, slash, path = rest.partition("/")
        # Of a base that is not normalised, nothing is left out.
        is_plain = slash and join(base, "") == base
        self._root = f"{scheme}://{host}/" if is_plain else base
        self._folder = f"{self._root}{path[: path.rfind('/') + 1]}" if is_plain else base
        self._remembered = _LONGEST_REMEMBERED - len(self._folder)

    def join(self, href: str) -> str:
        """As `join` says."""
        if len(href) > self._remembered or not href:
            return join(self._base, href)
        if href[0] == "/":
            return _join(self._root, href)
        if href.startswith(("http://", "https://")):
            return _join(_ANY, href)
        # ``http:`` alone means the base itself, as do ``?`` and ``#``.
        in_folder = href[0] in _IN_FOLDER and ":" not in href
        return _join(self._folder, href) if in_folder else join(self._base, href)


def joiner_of(url: str, base: str) -> Joiner:
    """Joins the hrefs of the page at ``url`` whose ``<base>`` is this; one that is no address, or too long, is none."""
    joined = join(url, base) if len(base) <= LONGEST else ""
    return Joiner(joined if 0 < len(joined) <= LONGEST else url)


def url_to_key(url: str) -> int:
    """A 63-bit number for an address: its identity in the frontier."""
    return int.from_bytes(blake2b(url.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") >> 1


def url_to_host(url: str) -> str:
    """The host of a normalised address, without port and user."""
    authority = url.split("/", 3)[2] if "//" in url else ""
    host = authority.rpartition("@")[2]
    return host.rpartition(":")[0] if ":" in host and not host.endswith("]") else host
