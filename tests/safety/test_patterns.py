"""Hosts and addresses that are named together fit what they should, and nothing else, at a bounded cost."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focused.pages.urls import url_to_host
from focused.safety.patterns import Patterns, to_pattern


@pytest.mark.parametrize(
    ("given_as", "kept_as"),
    [
        ("Example.ORG", "example.org"),
        ("*.example.org", "example.org"),
        ("é.example", "xn--9ca.example"),
        ("[::1]", "[::1]"),
        ("https://EXAMPLE.org", "https://example.org/"),
        ("HTTPS://EXAMPLE.org:443/Forum/**", "https://example.org/Forum/*"),
        ("https://*.EXAMPLE.org/*", "https://*.example.org/*"),
        ("https://example.org?*", "https://example.org/?*"),
        ("https://example.org/a b*ü", "https://example.org/a%20b*%C3%BC"),
        (" */forum/* ", "*/forum/*"),
    ],
)
def test_patterns_are_kept_as_addresses_are(given_as: str, kept_as: str) -> None:
    assert to_pattern(given_as) == to_pattern(kept_as) == kept_as


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "an empty pattern fits nothing"),
        ("*", "fits every host"),
        ("http*://*", "begins with neither http:// nor https:// nor *"),
        ("https://*", "fits every host"),
        ("*://*/*", "fits every host"),
        ("*/", "fits every host"),
        ("example.org/forum/*", "begins with neither http:// nor https:// nor *"),
        ("example.org/forum", "is not an http(s) address; did you mean 'https://example.org/forum'?"),
        ("*forum*", "is not a host name such as 'example.org'"),
        ("two words", "is not a host name"),
        ("https://example.org/" + "x" * 2_000 + "*", "a pattern has at most 2,000 characters"),
    ],
)
def test_what_is_no_pattern_or_fits_everything_is_told(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        to_pattern(text)


@pytest.mark.parametrize(
    ("pattern", "fits", "does_not_fit"),
    [
        (
            "example.org",
            "https://example.org/x https://a.b.example.org/",
            "https://anexample.org/ https://example.org.x/",
        ),
        ("https://example.org/a", "https://example.org/a", "https://example.org/a/ https://example.org/aa"),
        ("https://example.org/a/*", "https://example.org/a/ https://example.org/a/b?c", "https://example.org/a"),
        ("*/forum/*", "http://x.example/forum/ http://y.example/z/forum/1", "http://x.example/forums/"),
        ("http://a.example/*-1/*.html", "http://a.example/b-1/c.html", "http://a.example/b-1.html"),
        ("http://a.example/aba*ba", "http://a.example/ababa", "http://a.example/aba"),
    ],
)
def test_a_pattern_fits_its_own(pattern: str, fits: str, does_not_fit: str) -> None:
    patterns = Patterns(["other.example", to_pattern(pattern)])
    assert [patterns.match(url, url_to_host(url)) for url in fits.split()] == [pattern] * len(fits.split())
    assert not any(patterns.match(url, url_to_host(url)) for url in does_not_fit.split())


@given(st.text("ab*", max_size=12), st.text("ab", max_size=12))
def test_a_star_is_anything(pattern: str, rest: str) -> None:
    """As regular expressions have it, which may take longer than anybody waits."""
    pattern, url = f"http://h/{pattern}", f"http://h/{rest}"
    wanted = re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), url) is not None
    assert bool(Patterns([pattern]).match(url, "h")) == wanted
