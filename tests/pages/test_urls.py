"""Addresses are put together alike, whether it was done before or not."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from focused.pages.urls import Joiner, join

BASES = [
    "http://h/",
    "http://h/a/b/c.html?x=/y/z#f/g",
    "https://user:word@h:8080/a/b/",
    "http://h/a;p/b?q",
    "http://h",
    "http://h?x=/y",
    "http://h\\a/b",
    "http:////h/a/b",
    "http:h//a/b",
    "http://h/a/../b/./c",
]
HREF = st.text(st.sampled_from("/\\.:?#ahtps%2e~;@ \t\n\x01é"), max_size=12)


@given(st.sampled_from(BASES), st.one_of(HREF, HREF.map("http:".__add__), HREF.map("https://".__add__)))
@example("http:////h/a/b", "/x")
@example("http://h/a/b", "http:c")
@example("http://h/a/b", "//other/c")
@example("http://h/a/b", "/\n/other/c")
@example("http://h/a/b?q", "?r")
@example("http://h/a/b?q", "")
@example("http://h/a/b", "../../../c")
@example("http://h/a/b", "%2e%2e/c")
@example("http://h/a/b", "javascript:void(0)")
def test_what_was_joined_before_comes_out_the_same(base, href):
    assert Joiner(base).join(href) == join(base, href)


@pytest.mark.parametrize("scheme", ["ftp", "httpx", "httphttp", "http+unix", "https2", "javascript", "data"])
def test_only_addresses_of_http_are_joined(scheme):
    assert join("http://h/", f"{scheme}://h/x") == ""
    assert join(f"{scheme}://h/", "x") == ""
    assert join("http://h/", "HTTPS://h/x") == "https://h/x"


@pytest.mark.parametrize("href", ["x" * 10_000, "/" + "x" * 10_000])
def test_a_long_address_is_joined_too(href):
    assert Joiner("http://h/a").join(href) == f"http://h/{href.lstrip('/')}"
