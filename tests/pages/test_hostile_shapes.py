"""Generated shapes of pages: every link is found, or the drop is counted; and the work stays within bounds."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focused.pages import guard
from focused.pages.page import PageLimits, page_from_html, parse_page
from focused.pages.urls import LONGEST
from focused.safety.addresses import literal_address
from focused.safety.scope import Rules, Scope

# Elements whose content is text, or not on the page, are left out: what looks like a link in them is none.
ELEMENTS = [
    "a", "abbr", "address", "article", "b", "blockquote", "body", "br", "button", "caption",
    "center", "code", "col", "dd", "details", "div", "dl", "dt", "em", "fieldset",
    "font", "form", "frame", "frameset", "h1", "head", "header", "hr", "html", "i",
    "img", "input", "label", "legend", "li", "main", "map", "nav", "noscript", "object",
    "ol", "optgroup", "option", "p", "pre", "section", "select", "span", "strong", "sub",
    "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "tt", "u",
    "ul", "x-y", "svg", "math",
]  # fmt: skip
OTHERS = ("i", "div", "dd")
DEEPER_THAN_THE_PARSER = 2_100
EVERYTHING = PageLimits(links=10**6, leaves=10**6, words=10**6)
URL = "http://example.example/"


def shapes_of(element):
    yield f"<{element}>"
    yield f"</{element}>"
    for other in OTHERS:
        yield f"<{element}><{other}>"
        yield f"<{element}><{other}></{element}>"
        yield f"<{other}><{element}></{other}>"


@pytest.mark.parametrize("element", ELEMENTS)
def test_all_links_and_words_are_found_in_every_shape_or_counted(element):
    for shape in shapes_of(element):
        many = DEEPER_THAN_THE_PARSER
        links = "".join(f"{shape}<a href=/{i}>w{i}</a>" for i in range(0, many, 100))
        page = page_from_html(f"<body>{links}{shape * many}{links}<a href=/after>after</a>", URL, EVERYTHING)
        missing = {f"{URL}{i}" for i in [*range(0, many, 100), "after"]} - set(page.links.urls)
        assert not missing or page.left_out.get("after_html"), shape
        words = page.text.split()
        assert missing or words.count("w0") == words.count(f"w{many - 100}") == 2, shape


def test_what_follows_the_end_of_the_page_is_counted():
    assert page_from_html("<p>x</p></html><p><a href=/1>one</a></p>", URL).left_out == {"after_html": 3}
    assert page_from_html("<p>x</p></html>\n<!-- served by 3 -->", URL).left_out == {}


def nodes_of(root):
    top = [root, *root.itersiblings(), *root.itersiblings(preceding=True)]
    return sum(1 + len(node.attrib) for one in top for node in one.iter())


DENSE = {
    "elements": b"<p>x",
    "elements with ends": b"<p>x</p>",
    "comments": b"<!---->x",
    "bogus comments": b"</ >",
    "instructions": b"<?x>",
    "attributes": b"<p a b=1 c='>' d=\"<p>\" e=/ f/g='1'h>x",
    "attributes of titles": b"<title a b c d e>x<p></title>",
    "attributes of empty scripts": b"<script a b c d e />",
    "more attributes than are kept": b"<p " + b" ".join(b"a%d" % i for i in range(300)) + b">",
    "ends alone": b"</b>",
    "names with quotation marks": b"<p=' a b c d>x<p=' e f>",
    "attributes that begin with =": b"<p a><p =' b c d>",
}


@pytest.mark.parametrize("piece", DENSE.values(), ids=DENSE)
def test_a_page_is_cut_before_its_tree_outgrows_its_bound(monkeypatch, piece):
    monkeypatch.setattr(guard, "MOST_NODES", 3_000)
    monkeypatch.setattr(guard, "MOST_TAGS", 6_000)
    given_to_the_parser = []
    parse = guard._parse

    def watched(body, *rest):
        given_to_the_parser.append(body)
        return parse(body, *rest)

    monkeypatch.setattr(guard, "_parse", watched)
    root, left_out = guard.parse(b"<body>" + piece * 10_000)
    assert left_out["tags"] > 3_000
    # The parser adds <html> and <head>.
    assert nodes_of(root) <= 3_002
    assert max(body.count(b"<") for body in given_to_the_parser) <= 6_000
    assert nodes_of(root) > 1_000 or piece in (b"</b>", b"</ >")


PIECES = [b"<p", b"<br a=", b">", b"'", b'"', b"<!--", b"-->", b"<script", b"</script>", b"<title", b"</", b"<", b"<?"]
PIECES += [b"/", b" ", b"=", b"x", b" y", b"\n", b"<![CDATA["]


@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_whatever_the_page_is_no_node_is_overlooked(pieces):
    body = b"<body>" + b"".join(pieces)
    counted, at = 0, 0
    while (end := guard._end_of_tokens(body, at, len(body))) > at:
        counted += guard._nodes(body[at:end])
        at = end
    root, _ = guard.parse(body)
    assert nodes_of(root) <= counted + 3


def test_a_page_of_ordinary_density_is_not_touched():
    row = b"<tr class=odd><td><a href='/person?id=1'>A name of a person</a></td><td>and what they do</td></tr>\n"
    body = b"<table>" + row * 12_000 + b"</table><script>" + b"if (a<b) '<p x y z>';" * 30_000 + b"</script>"
    assert guard.tame(body) == (body, {})


@pytest.mark.parametrize("rest", [b"<script>" * 1_000, b"<p a" * 1_000, b"<!--" + b"-x" * 4_000])
def test_what_has_no_end_is_read_once(rest):
    """It is the rest of the page to the parser: nothing within it is taken for a tag, and looked at again."""
    flat, left_out = guard.flatten(b"<div>" * 1_000 + rest)
    assert left_out == 600
    assert flat.endswith(rest)


def test_a_comment_of_dashes_ends_where_it_ends():
    body = b"<div>" * 3_000 + b"<!--" + b"-x" * 4_000 + b"--!>" + b"<a href=/after>x</a><!-- -->"
    assert page_from_html(body, URL).links.urls == [f"{URL}after"]


def test_a_base_or_an_address_that_is_too_long_is_none():
    long = "x" * LONGEST
    page = page_from_html(
        f"<base href='/{long}/'><a href=1>x</a><a href=/{long}>y</a><a href='/é{long[3:]}'>z</a>", URL
    )
    assert page.links.urls == [f"{URL}1"]
    assert page.left_out == {"addresses": 3}


def test_a_base_that_grows_too_long_is_none():
    page = page_from_html(f"<base href='/{'é' * (LONGEST - 9)}/'><a href=1>x</a>", URL)
    assert page.links.urls == [f"{URL}1"]
    assert page.left_out == {"addresses": 1}


def test_a_title_without_end_is_cut():
    page = page_from_html(f"<title>{'moon ' * 100_000}.", URL)
    assert page.title == ("moon " * 2_000).strip()
    assert page.left_out["title"] == 490_001


def test_text_without_spaces_is_cut_before_it_is_read():
    page = page_from_html("<p>" + "月" * 100_000 + "</p><p>" + "a moon " * 9 + "</p>", URL, PageLimits(words=100))
    assert len(page.ids) == 100
    assert sum(map(len, page.leaves)) <= 200


def long_names(number):
    text = f"{number}{'n' * 20_000}"
    return f"<x{text} class='{text} c' id='{text}'><a href=/1>x</a></x{text}>"


SCOPE = Scope(Rules(length=0))
REMEMBERING = {
    "names of elements": lambda i: page_from_html(long_names(i), URL),
    "joined addresses": lambda i: page_from_html(f"<base href='/{i}{'b' * 7_000}/'>" + "<a href=1>x</a>" * 9, URL),
    "addresses in scope": lambda i: SCOPE.admit([f"http://a.example/{i}{'x' * 7_000}"], 0),
    "hosts in scope": lambda i: SCOPE.admit([f"http://{i}{'x' * 7_000}.example/"], 0),
    "hosts that may be inner": lambda i: literal_address(f"{i}{'x' * 7_000}.example"),
}


@pytest.mark.parametrize("remember", REMEMBERING.values(), ids=REMEMBERING)
def test_what_is_remembered_of_pages_is_bounded_in_bytes(remember):
    remember("first")
    tracemalloc.start()
    try:
        for i in range(200):
            remember(i)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # They are more than a million characters.
    assert kept < 500_000


def test_deep_trees_are_walked_without_recursion():
    root, _ = guard.parse(b"<div>" * 2_000 + b"<a href=/deep>x</a>")
    assert parse_page(root, URL).links.urls == [f"{URL}deep"]
    del root
