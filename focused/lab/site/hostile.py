"""Pages that no decent server sends, each of which has stopped a crawler somewhere.

`HOSTILE` names them; a crawl must survive every one, go on to the other pages, and stay within its time and memory.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator

from focused.lab.site.reply import BEFORE_HEADERS, Reply, html

_MB = 1 << 20
_FILLER = b"<p>" + b"so it goes on and on " * 3_000 + b"</p>\n"


def deep(levels: int = 100_000, *, link: str = "") -> Reply:
    """Elements nested in one another; the innermost contains a link."""
    inner = f'<a href="{link}">the innermost</a>' if link else "the innermost"
    return html("<html><body>" + "<div>" * levels + inner + "</div>" * levels)


def many_links(count: int = 100_000) -> Reply:
    """One page with so many links, all different."""
    return html("<html><body>" + "".join(f'<a href="/many/{i}">{i}</a>\n' for i in range(count)))


def attribute_bomb(count: int = 50_000) -> Reply:
    """One tag with so many attributes: libxml2 compares each with all before it."""
    return html("<html><body><p " + " ".join(f"a{i}=1" for i in range(count)) + ">a bomb</p>")


def huge(megabytes: int = 50) -> Reply:
    """A body generated while it is sent, without a Content-Length."""

    def pieces() -> Iterator[bytes]:
        yield b"<html><body>"
        for _ in range(megabytes * _MB // len(_FILLER)):
            yield _FILLER

    return Reply(body=pieces)


def huge_and_told(megabytes: int = 50) -> Reply:
    """The same, with a Content-Length that would have warned."""
    count = megabytes * _MB // len(_FILLER)
    return Reply(body=lambda: (_FILLER for _ in range(count)), length=count * len(_FILLER))


def gzip_bomb(megabytes: int = 200, *, layers: int = 1) -> Reply:
    """A few kilobytes that unpack to much more; with two layers, to much more still."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 31)
    body = b"".join(squeeze.compress(bytes(_MB)) for _ in range(megabytes)) + squeeze.flush()
    for _ in range(layers - 1):
        body = gzip.compress(body)
    return Reply(body=body, headers={"Content-Encoding": ", ".join(["gzip"] * layers)})


def binary() -> Reply:
    """Bytes of every kind, declared as HTML."""
    return Reply(body=bytes(range(256)) * 400)


def wrongly_encoded() -> Reply:
    """Bytes that are not UTF-8, declared as UTF-8, with zero bytes in between."""
    text = "<html><title>Größe</title><body>naïve café ÿþ\x00\x00 <a href='/'>zurück</a>".encode("latin-1")
    return Reply(body=text + b"\xff\xfe\xc0\x80\xed\xa0\x80")


def unknown_charset() -> Reply:
    """A charset that does not exist."""
    return Reply(body=b"<html><body>text", headers={"Content-Type": "text/html; charset=klingon-8"})


def empty() -> Reply:
    """Nothing at all."""
    return Reply()


def bad_addresses() -> Reply:
    """Links that lead nowhere a crawler should go, or cannot be read."""
    addresses = (
        "http://", "http://[::1", "http:///x", "//", "http://exa mple/", "javascript:void(0)", "mailto:a@b.example",
        "data:text/html,x", "file:///etc/passwd", "ftp://f.example/", "http://a.example:99999/", "\ud7ff\x01\x02",
        "http://" + "a" * 70 + ".example/", "http://xn--a.example/", "?" + "q" * 5_000, "%", "%zz", "tel:+1", "#", "",
    )  # fmt: skip
    return html("<html><body>" + "".join(f'<a href="{address}">x</a>' for address in addresses))


def cut_short() -> Reply:
    """A Content-Length that promises more than comes."""
    return Reply(body=b"<html><body>" + b"text " * 200, length=90_000, reset=1_000)


def reset() -> Reply:
    """A connection that breaks before anything is said."""
    return Reply(reset=BEFORE_HEADERS)


def hang() -> Reply:
    """A server that accepts the request and never answers."""
    return Reply(hang=True)


def drip(seconds: float = 600.0) -> Reply:
    """A body that comes one byte a second."""
    return Reply(body=b"<html><body>" + b"." * int(seconds), piece=1, pause=1.0)


def nonsense_headers() -> Reply:
    """Headers that contradict one another."""
    headers = {"Content-Type": "\xff/\xfe; charset=\xff", "Content-Encoding": "gzip", "Last-Modified": "yesterday"}
    return Reply(body=b"<html><body>not gzip at all", headers=headers)


def redirect_to_nowhere() -> Reply:
    """A redirect whose target is no address."""
    return Reply(status=302, headers={"Location": "http://[nowhere"})


def redirect_without_target() -> Reply:
    """A redirect that does not say where to."""
    return Reply(status=302)


HOSTILE: dict[str, Callable[[], Reply]] = {
    "deep": deep,
    "many-links": many_links,
    "attribute-bomb": attribute_bomb,
    "attribute-bomb-200000": lambda: attribute_bomb(200_000),
    "huge": huge,
    "huge-and-told": huge_and_told,
    "gzip-bomb": gzip_bomb,
    "gzip-bomb-twice": lambda: gzip_bomb(200, layers=2),
    "binary": binary,
    "wrongly-encoded": wrongly_encoded,
    "unknown-charset": unknown_charset,
    "empty": empty,
    "bad-addresses": bad_addresses,
    "cut-short": cut_short,
    "reset": reset,
    "hang": hang,
    "drip": drip,
    "nonsense-headers": nonsense_headers,
    "redirect-to-nowhere": redirect_to_nowhere,
    "redirect-without-target": redirect_without_target,
}
"""Name → page. Each call makes the page anew."""
