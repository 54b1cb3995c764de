"""An address: a base in the first line, an href in the second → joined, identified, safe to fetch or not.

Held: a joined address is one of http, and joining it again changes nothing, from wherever; a page's `Joiner` says the
same as `join`; the host is the one that the library of browsers reads; whatever spells an inner address is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address

import ada_url

from focused.addresses import to_host, to_url
from focused.lab.demo.webs import make_web
from focused.lab.site.hostile import bad_addresses
from focused.pages.page import page_from_html
from focused.pages.tokens import LEXICON
from focused.pages.url_words import url_features
from focused.pages.urls import Joiner, join, url_to_host, url_to_key
from focused.safety.addresses import AddressPolicy, is_inner_name, is_public, literal_address, plain_name
from focused.safety.scope import Rules, Scope
from focused.safety.sessions import clean
from focused.warc.web import normal_form

BASES = ("http://h.example/a/b?c", "https://u:p@h.example:8080/", "http://[::1]/", "HTTP://H.example", "x", "")
HREFS = (
    *("../x", "//b.example/", "?q=1#f", "http:x", "http:/x", "\\\\c.example\\d", "%2e%2e/", "\t/x\n", "javascript:x"),
    *("http://127.1/", "http://0x7f.1/", "http://0177.0.0.01:80/", "http://2130706433/", "http://１２７．０．０．１/"),
    *("http://[::ffff:10.0.0.1]/", "http://[64:ff9b::a00:1]/", "http://[fe80::1%25eth0]/", "http://8.8.8.8/"),
    *("http://[2001:4860:4860::8888]/", "http://localhost/", "http://x.internal./", "http://a..b/", "/é\ud800"),
    *(
        "http://münchen.example/ß?ü",
        "http://xn--mnchen-3ya.example/",
        "http://a.example:443/",
        "https://a.example:443/",
    ),
    *(
        "/;jsessionid=1",
        "/p?PHPSESSID=0123456789abcdef0123456789abcdef&sid=1",
        "/2024/01/02/?utm_source=x",
        "/a/a/a/a/a",
    ),
)
POLICY = AddressPolicy()


def seeds() -> Iterator[bytes]:
    for i, href in enumerate(HREFS):
        yield _to_bytes(f"{BASES[i % len(BASES)]}\n{href}")
        yield _to_bytes(f"{BASES[0]}\n{href}")
    for base in BASES:
        yield _to_bytes(f"{base}\nd/e?f#g")
    body = bad_addresses().body
    assert isinstance(body, bytes)
    for part in body.decode().split('href="')[1:]:
        yield _to_bytes(f"{BASES[0]}\n{part.partition(chr(34))[0][:300]}")
    web = make_web("hard", pages=60)
    for base, answer in list(web.pages.items())[:10]:
        for url in page_from_html(answer.body, base).links.urls[:5]:
            yield _to_bytes(f"{base}\n{url}")


def _to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def check(data: bytes) -> None:
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    base, _, href = text.partition("\n")
    url = join(base, href)
    if url:
        check_joined(url)
    page_url = join(base, base)
    for written in (base, page_url) if page_url else ():
        assert Joiner(written).join(href) == join(written, href), (written, href)
    check_as_users_write(href)


def check_joined(url: str) -> None:
    assert url.startswith(("http://", "https://")), url
    assert "#" not in url
    for base in (url, "http://x/", "https://other.example/a/b?c"):
        assert join(base, url) == url, (base, url)
    assert join(url, "") == url
    assert 0 <= url_to_key(url) < 1 << 63
    host = ada_url.URL(url).hostname
    assert url_to_host(url) == host, url
    check_safety(url, host)
    check_scope(url)
    normal = normal_form(url)
    assert normal_form(normal) == normal, url
    url_features([url], LEXICON)


def check_safety(url: str, host: str) -> None:
    refusal = POLICY.refusal(url)
    address: IPv4Address | IPv6Address | None = None
    with suppress(ValueError):
        address = ip_address(host.strip("[]"))
    if address is None:
        assert bool(refusal) == (literal_address(host) is not None or is_inner_name(host)), (url, refusal)
        assert plain_name(plain_name(host)) == plain_name(host)
        return
    assert literal_address(host) == address
    assert bool(refusal) != is_public(address), (url, refusal)
    assert is_public(address) or not POLICY.may_connect("a.example", 80, str(address))
    if isinstance(address, IPv4Address):
        mapped = IPv6Address(f"::ffff:{address}")
        assert is_public(mapped) == is_public(address), address
        assert bool(POLICY.refusal(f"http://[{mapped}]/")) == bool(refusal)


def check_scope(url: str) -> None:
    cleaned = clean(url)
    assert clean(cleaned) == cleaned, url
    assert join(cleaned, "") == cleaned, (url, cleaned)
    Scope(Rules()).admit([url], 0)


def check_as_users_write(text: str) -> None:
    with suppress(ValueError):
        url = to_url(text)
        assert to_url(url) == url, text
    with suppress(ValueError):
        host = to_host(text)
        assert to_host(host) == host, text
    POLICY.refusal(text)
    literal_address(text)
    try:
        AddressPolicy([text])
    except ValueError as error:
        assert str(error), text
