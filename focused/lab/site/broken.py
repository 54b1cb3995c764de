"""Answers that are no HTTP, or hardly, each as its bytes go over the wire: what servers get wrong beside the page.

`BROKEN` names them; a crawl must end each of these links in order, in a line of its log at most, and fetch what others
have to say.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from itertools import repeat

from focused.lab.site.reply import Reply

_OK = b"HTTP/1.1 200 OK\r\n"
_TYPE = b"Content-Type: text/html\r\n"
_PAGE = b"<html><title>A page</title><body><p>Some words of a page that came all the same.</p></body></html>"
_LENGTH = b"Content-Length: %d\r\n" % len(_PAGE)


def answer(*headers: bytes, status: bytes = b"HTTP/1.1 200 OK", body: bytes = _PAGE, hang: bool = False) -> Reply:
    """These headers and no others, and a body."""
    return Reply(raw=b"\r\n".join([status, *headers, b"", body]), hang=hang)


def chunked(body: bytes, *, hang: bool = False) -> Reply:
    """A body as it is, that calls itself chunked."""
    return answer(b"Content-Type: text/html", b"Transfer-Encoding: chunked", body=body, hang=hang)


def packed(how: bytes, body: bytes) -> Reply:
    """A body that calls itself packed."""
    length = b"Content-Length: %d" % len(body)
    return answer(b"Content-Type: text/html", b"Content-Encoding: " + how, length, body=body)


def endless(before: bytes, piece: bytes, *, megabytes: int = 8) -> Reply:
    """The same over and over."""

    def pieces() -> Iterator[bytes]:
        yield before
        yield from repeat(piece * (65_536 // len(piece)), megabytes * 16)

    return Reply(raw=pieces)


def dripping(before: bytes, pieces: Iterable[bytes]) -> Reply:
    """Some bytes, then others one at a time."""
    return Reply(raw=lambda: [before, *pieces], pause=0.5)


_NONE = b"0\r\n\r\n"
_CODES = "000 -1 0200 100 101 103 204 206 299 304 399 418 600 999 99999"
_REFRESH = b'<meta http-equiv=refresh content="0;url=%b">' + _PAGE
_GZIP = gzip.compress(_PAGE)
_DEFLATE = zlib.compress(_PAGE)
_HEAD = _OK + _TYPE + b"Connection: close\r\n\r\n"

BROKEN: dict[str, Reply] = {
    # Connections
    "closes at once": Reply(raw=b""),
    "closes in the status": Reply(raw=b"HTTP/1."),
    "closes after the status": Reply(raw=_OK),
    "closes in a header": Reply(raw=_OK + b"Content-Ty"),
    "closes after a header": Reply(raw=_OK + _TYPE),
    "never answers": Reply(hang=True),
    "hangs in the headers": Reply(raw=_OK + _TYPE, hang=True),
    "hangs in the body": Reply(raw=_OK + _TYPE + b"Content-Length: 9000\r\n\r\n" + _PAGE, hang=True),
    "drips its headers": dripping(_OK, [b"X-%d: x\r\n" % i for i in range(40)]),
    "drips its body": dripping(_HEAD, [b"x"] * 40),
    # Status lines
    "no HTTP": Reply(raw=b"SSH-2.0-OpenSSH_9.2\r\n"),
    "a mail server": Reply(raw=b"220 mail.example ESMTP\r\n500 what?\r\n"),
    "HTTP/0.9": Reply(raw=_PAGE),
    "HTTP/2": Reply(raw=b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64", hang=True),
    "HTTP/2 preface": Reply(raw=b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "TLS alert": Reply(raw=b"\x15\x03\x03\0\x02\x02\x28"),
    "random bytes": Reply(raw=bytes(range(255, -1, -1)) * 300),
    "zeros": Reply(raw=bytes(4_000)),
    "an empty line": Reply(raw=b"\r\n\r\n"),
    "no version": answer(_TYPE.strip(), status=b"HTTP 200 OK"),
    "no number of a version": answer(_TYPE.strip(), status=b"HTTP/x.y 200 OK"),
    "version 9.9": answer(_TYPE.strip(), status=b"HTTP/9.9 200 OK"),
    "a negative version": answer(_TYPE.strip(), status=b"HTTP/-1.-1 200 OK"),
    "another protocol": answer(_TYPE.strip(), status=b"ICY 200 OK"),
    "no status": answer(_TYPE.strip(), status=b"HTTP/1.1"),
    "a status in words": answer(_TYPE.strip(), status=b"HTTP/1.1 OK"),
    "a status without words": answer(_TYPE.strip(), status=b"HTTP/1.1 200"),
    "a status in Latin-1": answer(_TYPE.strip(), status=b"HTTP/1.1 200 tr\xe8s bien"),
    "a long status": answer(_TYPE.strip(), status=b"HTTP/1.1 200 " + b"ok" * 10_000),
    **{
        f"status {code}": answer(_TYPE.strip(), _LENGTH.strip(), status=b"HTTP/1.1 %s Well" % code.encode())
        for code in _CODES.split()
    },
    "interim answers without end": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    # Headers
    "headers without end": endless(_OK, b"X-And: so on and on\r\n"),
    "one header without end": endless(_OK + b"X-And: ", b"so on and on "),
    "a folded header without end": endless(_OK + b"X-And: so\r\n", b" on and on\r\n"),
    "a header without colon": answer(_TYPE.strip(), b"nonsense"),
    "a header without name": answer(_TYPE.strip(), b": nameless"),
    "a header of three words": answer(_TYPE.strip(), b"X Powered By: me"),
    "a header with zeros": answer(_TYPE.strip(), b"X-\0Zero: a\0b"),
    "a folded header": answer(b"Content-Type:", b"\ttext/html"),
    "a folded first line": answer(b" folded", _TYPE.strip()),
    "a header in Latin-1": answer(_TYPE.strip(), b"X-Gr\xf6\xdfe: \xe9\xe8\xff"),
    "line ends of Unix": Reply(raw=(_OK + _TYPE + b"\r\n" + _PAGE).replace(b"\r\n", b"\n")),
    "line ends of a Mac": Reply(raw=(_OK + _TYPE + b"\r\n" + _PAGE).replace(b"\r\n", b"\r")),
    "very many headers": answer(_TYPE.strip(), *(b"X-%d: x" % i for i in range(5_000))),
    "two types": answer(b"Content-Type: text/html", b"Content-Type: application/pdf"),
    "a type that is none": answer(b"Content-Type: \xff\xfe;;=;charset=\xff"),
    "a disposition that is none": answer(_TYPE.strip(), b"Content-Disposition: \xff;filename*=\xff''%zz"),
    "a date that is none": answer(_TYPE.strip(), b"Last-Modified: yesterday", b"Retry-After: soon"),
    "a cookie that is none": answer(_TYPE.strip(), b"Set-Cookie: =;=\xff;;expires=never"),
    # Lengths
    "a length too short": answer(_TYPE.strip(), b"Content-Length: 10"),
    "a length too long": answer(_TYPE.strip(), b"Content-Length: 100000"),
    "a length beyond all": answer(_TYPE.strip(), b"Content-Length: " + b"9" * 40),
    "a length of 5,000 digits": answer(_TYPE.strip(), b"Content-Length: " + b"9" * 5_000),
    "a negative length": answer(_TYPE.strip(), b"Content-Length: -5"),
    "a length in words": answer(_TYPE.strip(), b"Content-Length: much"),
    "a length in Arabic digits": answer(_TYPE.strip(), "Content-Length: ١٢".encode()),
    "an empty length": answer(_TYPE.strip(), b"Content-Length:"),
    "two lengths": answer(_TYPE.strip(), _LENGTH.strip(), b"Content-Length: 5"),
    "the same length twice": answer(_TYPE.strip(), _LENGTH.strip(), _LENGTH.strip()),
    "a length, and chunks": answer(_TYPE.strip(), b"Content-Length: 5", b"Transfer-Encoding: chunked", body=_NONE),
    # Chunks
    "chunks without size": chunked(b"\r\n" + _PAGE),
    "chunks of a size in words": chunked(b"many\r\n" + _PAGE),
    "chunks of a negative size": chunked(b"-5\r\n" + _PAGE),
    "chunks larger than they say": chunked(b"5\r\n" + _PAGE + b"\r\n0\r\n\r\n"),
    "chunks smaller than they say": chunked(b"ffff\r\n" + _PAGE + b"\r\n0\r\n\r\n"),
    "chunks beyond all": chunked(b"f" * 30 + b"\r\n" + _PAGE),
    "a chunk's size without end": endless(_OK + _TYPE + b"Transfer-Encoding: chunked\r\n\r\n", b"f"),
    "chunks without a last": chunked(b"%x\r\n%b\r\n" % (len(_PAGE), _PAGE)),
    "chunks without an end of line": chunked(b"%x\r\n%b" % (len(_PAGE), _PAGE) + b"0\r\n\r\n"),
    "no chunks at all": chunked(b""),
    "trailers without end": endless(_OK + _TYPE + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X-And: so on\r\n"),
    "a transfer encoding that is none": answer(_TYPE.strip(), b"Transfer-Encoding: klingon"),
    "a transfer that is gzip": answer(_TYPE.strip(), b"Transfer-Encoding: gzip, chunked", body=_NONE),
    # Packing
    "gzip that is none": packed(b"gzip", _PAGE),
    "gzip of nothing": packed(b"gzip", b""),
    "gzip cut short": packed(b"gzip", _GZIP[:20]),
    "gzip with a wrong sum": packed(b"gzip", _GZIP[:-8] + bytes(8)),
    "gzip twice said": packed(b"gzip, gzip", _GZIP),
    "deflate that is none": packed(b"deflate", _PAGE),
    "deflate cut short": packed(b"deflate", _DEFLATE[:20]),
    "deflate of nothing": packed(b"deflate", b""),
    "brotli that is none": packed(b"br", _PAGE),
    "brotli of nothing": packed(b"br", b""),
    "zstd that is none": packed(b"zstd", _PAGE),
    "zstd of nothing": packed(b"zstd", b""),
    "packed in a way that is none": packed(b"klingon", _PAGE),
    "packed in Latin-1": packed(b"\xff\xe9", _PAGE),
    "packed a hundred times": packed(b",".join([b"gzip"] * 100), _GZIP),
    "an error that is no gzip": answer(b"Content-Encoding: gzip", b"Connection: close", status=b"HTTP/1.1 404 Gone"),
    # Redirects
    **{
        f"redirect to {name}": answer(b"Location: " + to, b"Content-Length: 0", status=b"HTTP/1.1 302 Found", body=b"")
        for name, to in {
            "nothing": b"",
            "a socket": b"unix:/x",
            "port 99999": b"http://a.example:99999/",
            "half an address": b"http://[::1",
            "no host": b"http://",
            "a zero": b"http://a.example/\0",
            "a zero in a host": b"http://a\0b/",
            "a long address": b"http://a.example/" + b"x" * 15_000,
            "a script": b"javascript:alert(1)",
            "data": b"data:text/html,x",
            "a file": b"file:///etc/passwd",
            "bytes": bytes(range(128, 256)),
        }.items()
    },
    **{
        f"meta refresh to {name}": answer(_TYPE.strip(), body=_REFRESH % to)
        for name, to in {
            "a socket": b"unix:/x",
            "port 99999": b"http://a.example:99999/",
            "half an address": b"http://[::1",
            "no host": b"http://",
            "a zero": b"http://a\0b/",
            "a long address": b"http://a.example/" + b"x" * 1_000_000,
            "a script": b"javascript:alert(1)",
            "data": b"data:text/html,x",
        }.items()
    },
    "a base that is none": answer(_TYPE.strip(), body=b'<base href="http://[::1"><a href=/x>x</a>' + _PAGE),
    "a base with a wrong port": answer(_TYPE.strip(), body=b'<base href="http://a:99999/"><a href=/x>x</a>' + _PAGE),
}
"""Name → answer."""
