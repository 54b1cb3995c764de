"""Of a stranger's page only text and links that we number are left, whatever it is made of."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focused.pages import guard
from focused.pages.page import parse_page
from focused.watch.recording import plain
from focused.watch.recording.plain import plain_html

PAGE = "http://x.example/a/"
ELEMENTS = plain._KEPT | plain._EMPTY | {"a", "div"}
ATTRIBUTES = {"href": r"\d+", "colspan": r"\d{1,4}", "rowspan": r"\d{1,4}", "dir": "ltr|rtl"}
NAMES = """
    a area iframe frame script style svg math noscript template title textarea xmp plaintext noembed noframes form input
    button select option object embed applet base meta link img video audio table tr td p div b details dialog marquee
    foreignobject mi mtext annotation-xml image isindex portal body html head frameset svg:script
"""
VALUES = [
    *(
        "javascript:alert(1)",
        "JaVa\tScript:alert(1)",
        "data:text/html,<script>1</script>",
        "vbscript:x",
        "//evil.example/",
    ),
    *(
        "http://x.example/b",
        "b",
        "../c",
        "#d",
        "",
        "0",
        "99999",
        "ltr",
        "x' onload='alert(1)",
        '"><script>alert(1)</script>',
    ),
    *(
        "0; url=http://evil.example/",
        "_top",
        "a`b",
        "http://x.example/\u202e",
        "blob:http://x.example/1",
        "about:srcdoc",
    ),
]
KEYS = """
    href src onclick onload onerror style target action formaction http-equiv content ping download srcdoc data
    xlink:href colspan rowspan dir id name background poster srcset rel autofocus tabindex is
"""


class Strict(HTMLParser):
    """What a page is made of, as a parser other than ours sees it."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.hrefs: list[int] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ELEMENTS, tag
        for name, value in attrs:
            assert re.fullmatch(ATTRIBUTES[name], value), (name, value)
            if name == "href":
                self.hrefs.append(int(value))

    def handle_data(self, data: str) -> None:
        self.words += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)


def made_plain(html: str) -> tuple[Strict, list[str], list[str]]:
    """Our page, the links that it was given, and what the crawler sees there."""
    root, _ = guard.parse(html.encode("utf-8", "surrogatepass"))
    page = parse_page(root, PAGE)
    links = list(dict.fromkeys(page.links.urls))
    return Strict(plain_html(root, PAGE, links)), links, page.leaves


tags = st.builds(
    lambda name, attributes, is_end: f"</{name}>" if is_end else f"<{name}{''.join(attributes)}>",
    st.sampled_from(NAMES.split()),
    st.lists(
        st.builds(
            lambda key, value, quote: f" {key}={quote}{value}{quote}",
            st.sampled_from(KEYS.split()),
            st.sampled_from(VALUES),
            st.sampled_from(["", "'", '"']),
        ),
        max_size=3,
    ),
    st.booleans(),
)
texts = st.sampled_from(
    ["word", "<", "&lt;script&gt;", "<!--", "-->", "<![CDATA[", "]]>", "<?x", "\x00", "é\u202e", "&#0;"]
)


@given(st.lists(st.one_of(tags, texts), max_size=25))
def test_a_page_made_of_anything_becomes_text_and_numbered_links(parts: list[str]) -> None:
    ours, links, _ = made_plain("".join(parts))
    assert all(number < len(links) for number in ours.hrefs)
    assert set(ours.hrefs) == set(range(len(links))), "each link that the crawler sees can be followed"


def test_words_stay_and_links_are_those_of_the_crawler() -> None:
    ours, links, leaves = made_plain(
        "<base href=/d/ target=_top><title>T</title><p>one <b>two</b> three<!-- x --> four <a href=a>five<script>"
        "1</script></a> six <a href='javascript:x'>seven</a><area href=b alt=eight><iframe src=/c>nine</iframe> ten "
        "<img alt='<eleven>'><a href=a><img src=x></a><pre>\n twelve</pre> <textarea>thirteen</textarea>"
    )
    assert links == ["http://x.example/d/a", "http://x.example/d/b", "http://x.example/c"]
    assert ours.hrefs == [0, 1, 2, 0]
    words = "one two three four five six seven[eight][frame] ten [<eleven>][image] twelve thirteen"
    assert " ".join(ours.words.split()) == words
    assert "two" in leaves


def test_a_page_that_is_too_long_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "MOST_CHARACTERS", 1_000)
    ours, links, _ = made_plain("<p>&amp; <a href=b>word</a></p>" * 1_000)
    assert links == ["http://x.example/a/b"]
    assert 10 < ours.words.count("word") < 40
    assert ours.words.endswith("the rest is left out here.")
