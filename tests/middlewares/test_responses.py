"""Trees of responses, small and large, harmless and not."""

import asyncio
import encodings
from pkgutil import iter_modules

import pytest
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.response import get_meta_refresh
from twisted.internet.defer import succeed

from focused import responses
from focused.pages import guard
from focused.pages.page import PageLimits
from focused.pages.tokens import LEXICON
from focused.responses import IN_THREAD, response_to_page, response_to_page_now, settle, settle_now

HTML = {"Content-Type": "text/html"}
BOMB = b"<p " + b" ".join(b"a%d=1" % i for i in range(20_000)) + b">x</p><a href=/1>one</a>"
DEEP = b"<div>" * 3_000 + b"<a href=/1>one</a>" + b"</div>" * 3_000 + b"<a href=/2>two</a>"


PYTHONS = sorted({name for _, name, _ in iter_modules(encodings.__path__)} | set(encodings.aliases.aliases.values()))


def response(body, encoding="utf-8"):
    return HtmlResponse("http://example.com/x", body=body, encoding=encoding)


def came(body, charset=""):
    headers = {"Content-Type": f"text/html; charset={charset}"} if charset else HTML
    return HtmlResponse("http://example.com/x", body=body, headers=headers)


def test_the_tree_of_a_small_page_is_that_of_its_selector():
    page = response(b"<a href=/1>one</a>")
    root = page.selector.root
    assert response_to_page_now(page, PageLimits()).left_out == {}
    assert page.selector.root is root


@pytest.mark.parametrize(("body", "what", "links"), [(BOMB, "attributes", 1), (DEEP, "nesting", 2)])
def test_a_guarded_page_is_the_same_for_callbacks(body, what, links):
    page = response(body)
    assert response_to_page_now(page, PageLimits()).left_out[what] > 0
    assert len(page.css("a::attr(href)").getall()) == links


def test_of_a_page_that_is_cut_nobody_parses_the_rest(monkeypatch):
    monkeypatch.setattr(guard, "MOST_NODES", 1_000)
    page = response(b"<p><a href=/x>x</a>" * 5_000)
    left_out = response_to_page_now(page, PageLimits()).left_out
    assert left_out["tags"] > 14_000
    assert len(page.css("a")) == len(LinkExtractor(unique=False).extract_links(page)) < 1_000
    assert get_meta_refresh(page) == (None, None)
    assert page.selector is page.selector


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "utf-8"])
def test_large_pages_are_read_in_their_encoding(encoding):
    body = ("<p>größe</p>" * 9_000).encode(encoding)
    page = response(body, encoding)
    assert response_to_page_now(page, PageLimits()).leaves[0] == "größe"
    assert page.css("p::text").get() == "größe"


def test_small_bodies_need_no_thread():
    page = asyncio.run(response_to_page(response(DEEP), PageLimits(), LEXICON))
    assert len(page.links) == 2


def test_large_bodies_are_parsed_in_a_thread(server, crawl):
    server.answers["/bomb"] = (200, HTML, BOMB)
    server.answers["/deep"] = (200, HTML, DEEP + b"<p>words</p>" * 9_000)
    server.answers["/long"] = (200, HTML, b"<a href=/1>one</a>" * 9_000)
    done = crawl(f"{server.root}/bomb", f"{server.root}/deep", f"{server.root}/long", one_by_one=True)
    assert [(end["links"], end["css_links"]) for end in done.ends] == [(1, 1), (2, 2), (2_000, 9_000)]
    assert [list(end["left_out"]) for end in done.ends] == [["attributes"], ["nesting"], ["links"]]


@pytest.mark.parametrize("where", ["header", "meta"])
@pytest.mark.parametrize("charset", [*PYTHONS, "unicode-escape", "utf-7", "klingon-8"])
def test_whatever_codec_of_pythons_a_page_names_its_text_and_links_are_read(charset, where):
    body = f"<meta charset={charset}><title>A-title-</title><a href=/1>one</a>".encode()
    page = came(body, charset) if where == "header" else came(body)
    settle_now(page)
    assert page.text == body.decode()
    assert page.css("a::attr(href)").getall() == ["/1"]
    assert page.encoding in responses._CODECS


@pytest.mark.parametrize(
    ("charset", "codec"),
    [
        *[("latin1", "cp1252"), ("ASCII", "cp1252"), ("gb2312", "gb18030"), ("gbk", "gb18030"), ("big5", "big5hkscs")],
        *[("Shift_JIS", "cp932"), ("euc-kr", "cp949"), ("euc-jp", "euc_jp"), ("ISO-2022-JP", "iso2022_jp")],
        *[("koi8-r", "koi8-r"), ("windows-1251", "cp1251"), ("iso-8859-2", "iso8859-2"), ("macintosh", "mac-roman")],
        *[("utf-16le", "utf-16-le"), ("utf-16be", "utf-16-be"), ("utf-16", "utf-16-le"), ("utf-16", "utf-16-be")],
    ],
)
def test_an_encoding_that_browsers_know_is_used(charset, codec):
    text = {"cp932": "日本語", "euc_jp": "日本語", "iso2022_jp": "日本語", "cp949": "한국어"}.get(codec, "")
    text = f"<p>{text or {'koi8-r': 'русский', 'cp1251': 'русский', 'big5hkscs': '中文'}.get(codec, '')}</p>"
    page = came(text.encode(codec), charset)
    settle_now(page)
    assert (page.encoding, page.text) == (codec, text)


def test_a_mark_at_the_beginning_goes_before_what_the_header_says():
    page = came(b"\xef\xbb\xbf<p>gr\xc3\xb6\xc3\x9fe</p>", "koi8-r")
    settle_now(page)
    assert (page.encoding, page.text) == ("utf-8", "<p>größe</p>")


@pytest.mark.parametrize(("text", "encoding"), [("größe", "utf-8"), ("größe", "cp1252"), ("plain", "cp1252")])
def test_without_a_known_charset_the_encoding_is_found_as_without_any(text, encoding):
    body = f"<p>{text} und noch mehr über die Bäume der Wälder</p>".encode(encoding) * 20
    body = body.replace("ü".encode(encoding), b"u").replace("ä".encode(encoding), b"a") if text == "plain" else body
    page, plain = came(body, "punycode"), came(body)
    settle_now(page)
    assert (page.encoding, page.text) == (plain.encoding, plain.text)


@pytest.mark.parametrize("base", ["http://[::1", "http://a:99999/", "http://[x]/"])
def test_a_base_that_is_no_address_counts_as_none(base):
    page = came(f'<base href="{base}"><a href="/1">one</a>'.encode())
    response_to_page_now(page, PageLimits())
    root = page.selector.root
    assert page.urljoin("/1") == "http://example.com/1"
    assert len(root.findall(".//a")) == len(page.css("a")) == 1


@pytest.mark.parametrize(("size", "in_thread"), [(IN_THREAD, False), (IN_THREAD + 1, True)])
def test_large_bodies_are_decoded_in_a_thread(monkeypatch, size, in_thread):
    sent = []

    def defer(work, *given):
        sent.append(work)
        return succeed(work(*given))

    monkeypatch.setattr(responses, "deferToThread", defer)
    page = came(b"x" * size)
    asyncio.run(settle(page))
    assert bool(sent) is in_thread
    assert len(page.text) == size
