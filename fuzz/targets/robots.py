"""A robots.txt: a path in the first line, then the file → may it be fetched, by the rules of RFC 9309.

Held: nothing is raised; what is kept is proportional to the file; /robots.txt itself is always allowed; the answer is
that of a slow definition, in which every rule is a regular expression and the longest that matches decides.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from urllib.parse import quote

from focused.safety.robots_txt import _AGENT, _ALLOW, _DISALLOW, _KINDS, LONGEST, RobotsTxt, product_token

AGENTS = ("Focused/0.1 (a crawler)", "Mozilla/5.0 (compatible; Focused/1.0)", "*", "")
LINES = (
    *(
        "User-agent: *",
        "user-agent:focused",
        "USERAGENT: Focused/9 x",
        "User-agent: b",
        "User agent: *",
        "Disallow:",
        "Allow: /",
    ),
    *(
        "Disallow: /",
        "Disallow: /a*b*c$",
        "Allow: /a%2Fb",
        "Disallow: /a/b?c=d",
        "Disallow: *",
        "Allow: /%e3%83%84$",
        "dissalow /x",
    ),
    *(
        "Crawl-delay: 2.5",
        "Crawl-delay: inf",
        "Sitemap: http://h.example/s.xml",
        "# words",
        "\ufeffUser-agent: *",
        "Disallow: /?*=%3f",
        "Allow: /%2a",
    ),
)
PATHS = ("/", "/a/b?c=d", "/axbxc", "/a%2fb", "/ツ", "/robots.txt", "?x", "/x#y", "")
_HEX = re.compile(rb"%([0-9A-Fa-f]{2})")
_IN_PATH, _IN_QUERY = b"/?%", b"%"


def seeds() -> Iterator[bytes]:
    for i, line in enumerate(LINES):
        yield f"{PATHS[i % len(PATHS)]}\nUser-agent: *\n{line}".encode()
        yield f"{PATHS[i * 5 % len(PATHS)]}\n{line}\r\nDisallow: /a".encode()
    for path in PATHS:
        yield "\n".join([path, *LINES]).encode()


def check(data: bytes) -> None:
    path, _, body = data.partition(b"\n")
    for agent in AGENTS:
        robots = RobotsTxt(body, agent)
        # What is escaped takes three times as much room.
        assert robots.size <= 1_000 * (body.count(b"\n") + body.count(b"\r") + body.count(b"*") + 1) + 3 * len(body)
        delay = robots.crawl_delay(agent)
        assert delay is None or (math.isfinite(delay) and delay >= 0)
        assert all(count > 0 for count in robots.left_out.values())
        assert robots.allowed("http://h.example/robots.txt", agent)
        for address in (b"http://h.example" + _anchored(path), b"http://h.example/"):
            answer = robots.allowed(address, agent)
            # Of a longer address not everything is looked at, and some rules of a long file are left out.
            if len(address) < LONGEST // 3 and not robots.left_out:
                assert answer == allowed(body, agent, address), (address, agent)


def _anchored(path: bytes) -> bytes:
    return path if path[:1] in b"/?#" else b"/" + path


# --- the definition ----------------------------------------------------------------------------------------------


def allowed(body: bytes, agent: str, url: bytes) -> bool:
    """What the rules of a file say of an address, found the slow way; its scheme and host are those of `check`."""
    path, mark, query = url.removeprefix(b"http://h.example").partition(b"#")[0].partition(b"?")
    address = (spelled(path, _IN_PATH) or "/") + mark.decode() + spelled(query, _IN_QUERY)
    verdicts = [(length, allow) for allow, length, rule in _rules(body, agent) if rule.match(address)]
    return address == "/robots.txt" or max(verdicts, default=(0, True))[1]


def _rules(body: bytes, agent: str) -> list[tuple[bool, int, re.Pattern[str]]]:
    token = product_token(agent).lower()
    groups: dict[str, list[tuple[bool, bytes]]] = {}
    named: list[str] = []
    had_rule = False
    for line in re.split(rb"[\r\n]", body.removeprefix(b"\xef\xbb\xbf")):
        kind, value = _kind_and_value(line.partition(b"#")[0])
        if kind == _AGENT:
            named = [] if had_rule else named
            had_rule = False
            name = re.match(rb"[A-Za-z0-9_.-]*", value)
            assert name
            named.append("*" if re.match(rb"\*(\s|$)", value) else name[0].decode().lower() or "/")
            groups.setdefault(named[-1], [])
        elif kind in (_ALLOW, _DISALLOW):
            had_rule = True
            for group in {*named} if value else ():
                groups[group].append((kind == _ALLOW, value))
    chosen = groups.get(token) if token else None
    return [_to_rule(*rule) for rule in (groups.get("*", []) if chosen is None else chosen)]


def _kind_and_value(line: bytes) -> tuple[int | None, bytes]:
    name, _, value = line.partition(b":")
    if name.strip().lower() not in _KINDS:
        name, value = (*line.split(None, 1), b"", b"")[:2]
    return _KINDS.get(name.strip().lower()), value.strip()


def _to_rule(allow: bool, pattern: bytes) -> tuple[bool, int, re.Pattern[str]]:
    plain = pattern.removesuffix(b"$")
    # What is escaped is no wildcard, also once it is spelled as one.
    expression, length, kept = "", 0, _IN_PATH
    for part in re.split(rb"(\*+|\?)", plain):
        is_wildcard = part.startswith(b"*")
        text = part.decode() if part == b"?" else spelled(part, kept)
        expression += ".*" if is_wildcard else re.escape(text)
        length += 1 if is_wildcard else len(text)
        kept = _IN_QUERY if part == b"?" else kept
    anchored = plain != pattern
    return allow, length + anchored, re.compile(expression + r"\Z" * anchored, re.DOTALL)


def spelled(text: bytes, kept: bytes) -> str:
    """One spelling for all that mean the same: what is escaped for no reason is not, what must be is."""
    out, at = "", 0
    while at < len(text):
        byte, step = text[at], 1
        escaped = _HEX.match(text, at)
        if escaped:
            byte, step = int(escaped[1], 16), 3
        is_kept = byte == ord("%") or (escaped is not None and byte in kept)
        out += f"%{byte:02X}" if is_kept else quote(bytes([byte]), safe="!$&'()*+,/:;=?@[]")
        at += step
    return out
