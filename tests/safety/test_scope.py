"""Which links may enter the frontier, and under which address."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.settings import Settings

from focused.defaults import read_all
from focused.safety.patterns import Patterns
from focused.safety.scope import Rules, Scope
from focused.safety.sessions import clean
from focused.topics.arguments import parse_arguments


def admit(scope, *urls, depth=1):
    return scope.admit(urls, depth)


def refusals(rules, *urls):
    """The reason for each address, '' where it is let in."""
    reasons = []
    for url in urls:
        scope = Scope(rules)
        admit(scope, url)
        reasons.append("".join(scope.refused))
    return reasons


@pytest.mark.parametrize("url", [
    "http://a.com", "http://a.com/", "https://a.com/x.html", "http://a.com/x.php?a=1", "http://a.com/a/b/c/d",
    "http://a.com/wiki/File:Moon.jpg", "http://a.com/v1.2/notes", "http://a.com/2008/01/01/", "http://a.com/a/b/a/b/",
    "http://a.com/?q=x.pdf", "http://a.com/p;x=1",
])  # fmt: skip
def test_ordinary_addresses_are_let_in_as_they_are(url):
    assert admit(Scope(Rules()), url) == [url]


@pytest.mark.parametrize(("url", "why"), [
    ("ftp://a.com/", "scheme"),
    ("javascript:void(0)", "scheme"),
    ("http://a.com/" + "x" * 1_000, "length"),
    ("http://a.com/film.MP4", "file"),
    ("http://a.com/paper.pdf?page=2", "file"),
    ("http://a.com/a/a/a/", "repeats"),
    ("http://a.com/x/a/b/a/b/a/b", "repeats"),
    ("http://a.com/a/b/c/a/b/c/a/b/c/d", "repeats"),
    ("http://a.com/a/x/a/y/a/z/a/", "repeats"),
    ("http://a.com/" + "/".join("abcdefghijklmnopqrstuvw"), "segments"),
    ("http://a.com/?a=1&b=2&c=3&d=4&e=5&f=6&g=7&h=8&i=9", "parameters"),
])  # fmt: skip
def test_what_an_address_says_of_itself(url, why):
    assert refusals(Rules(), url) == [why]


def test_hosts_stand_for_their_subdomains():
    rules = Rules(allowed_hosts=("a.com", "B.org"), denied_hosts=("forum.a.com",))
    let_in = ["http://a.com/", "http://www.a.com/", "http://b.org/"]
    kept_out = ["http://xa.com/", "http://a.com.evil.net/", "http://forum.a.com/", "http://x.forum.a.com/"]
    assert refusals(rules, *let_in) == [""] * 3
    assert refusals(rules, *kept_out) == ["host"] * 4


def test_patterns_are_searched_in_the_whole_address():
    rules = Rules(allow=("/science/", "biology"), deny=(r"\.php\b",))
    assert refusals(rules, "http://a.com/science/x", "http://biology.org/") == ["", ""]
    assert refusals(rules, "http://a.com/art/", "http://a.com/science/x.php") == ["pattern", "pattern"]


def test_a_pattern_that_is_none_is_named():
    with pytest.raises(ValueError, match=r"^FOCUSED_SCOPE_DENY\[0\]: '\(' is not a regular expression"):
        read_all(Rules, Settings({"FOCUSED_SCOPE_DENY": "("}), "SCOPE", "TRAP")


def test_depth():
    scope = Scope(Rules(depth=2))
    assert admit(scope, "http://a.com/", depth=2) == ["http://a.com/"]
    assert admit(scope, "http://a.com/", depth=3) == [None]
    assert scope.refused == {"depth": 1}


def test_a_calendar_ends():
    scope = Scope(Rules(dates=50))
    days = [f"http://a.com/calendar/{1970 + i // 12}/{i % 12 + 1:02d}" for i in range(400)]
    assert sum(url is not None for url in admit(scope, *days)) == 50
    assert scope.refused == {"dates": 350}
    months = [f"http://a.com/events?month={i % 12}&year={i}" for i in range(400)]
    assert sum(url is not None for url in admit(scope, *months)) == 50
    assert admit(scope, "http://a.com/about", "http://b.com/calendar/1999/01") == [
        "http://a.com/about",
        "http://b.com/calendar/1999/01",
    ]


def test_articles_with_dates_in_their_addresses_are_no_calendar():
    scope = Scope(Rules(dates=50))
    articles = [f"http://a.com/2008/{i % 12 + 1:02d}/title-{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(400)]
    assert None not in admit(scope, *articles)


def test_combinations_of_parameters_end():
    scope = Scope(Rules(queries=100))
    facets = [f"http://a.com/shop?color={i}&size={i % 7}&sort={i % 3}" for i in range(500)]
    assert sum(url is not None for url in admit(scope, *facets)) == 10
    pages = [f"http://a.com/list?page={i}" for i in range(500)]
    assert sum(url is not None for url in admit(scope, *pages)) == 100
    assert scope.refused == {"queries": 890}


def test_a_host_has_an_end():
    scope = Scope(Rules(host_links=30))
    assert sum(url is not None for url in admit(scope, *[f"http://a.com/{i}" for i in range(100)])) == 30
    assert admit(scope, "http://b.com/1") == ["http://b.com/1"]


def test_an_address_that_was_let_in_stays_so_and_counts_once():
    scope = Scope(Rules(dates=2, queries=2, host_links=5))
    urls = ["http://a.com/2001/01", "http://a.com/2001/02", "http://a.com/x?a=1", "http://a.com/x?a=2"]
    for _ in range(5):
        assert admit(scope, *urls) == urls
    assert admit(scope, "http://a.com/2001/03", "http://a.com/x?a=3") == [None, None]


def test_addresses_of_one_page_with_session_ids_count_as_one():
    scope = Scope(Rules(queries=3))
    urls = [f"http://a.com/x?a=1&PHPSESSID={i:032x}" for i in range(50)]
    assert admit(scope, *urls) == ["http://a.com/x?a=1"] * 50
    assert admit(scope, "http://a.com/x?a=2") == ["http://a.com/x?a=2"]


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr("focused.safety.scope._REMEMBERED", 100)
    scope = Scope(Rules())
    for i in range(2_000):
        assert admit(scope, f"http://a.com/{i}", "http://a.com/home") == [f"http://a.com/{i}", "http://a.com/home"]
    assert scope._verdict.cache_info().currsize == 100


def test_settings_and_arguments_add_up():
    settings = Settings(
        {"FOCUSED_SCOPE_DENIED_HOSTS": "x.com,y.com", "FOCUSED_SCOPE_DEPTH": 3, "FOCUSED_TRAP_LENGTH": 0}
    )
    parse_arguments({"topic": "chess", "deny_hosts": "Z.com", "allow": "."}).apply(settings)
    scope = Scope(read_all(Rules, settings, "SCOPE", "TRAP"))
    assert scope.rules.denied_hosts == ["x.com", "y.com", "z.com"]
    assert (scope.rules.depth, scope.rules.length, scope.rules.repeats) == (3, 0, 3)
    assert admit(scope, "http://a.com/" + "x" * 3_000) != [None]


@pytest.mark.parametrize(("url", "cleaned"), [
    ("http://a.com/x?PHPSESSID=abc", "http://a.com/x"),
    ("http://a.com/x?a=1&phpsessid=abc&b=2", "http://a.com/x?a=1&b=2"),
    ("http://a.com/x;jsessionid=1A2B.node1", "http://a.com/x"),
    ("http://a.com/x;jsessionid=1A2B/y?a=1", "http://a.com/x/y?a=1"),
    ("http://a.com/?utm_source=x&utm_medium=y&id=7", "http://a.com/?id=7"),
    ("http://a.com/?fbclid=1", "http://a.com/"),
    ("http://a.com/?sid=0123456789abcdef0123456789abcdef&t=5", "http://a.com/?t=5"),
    ("http://a.com/?s=0a1b2c3d4e5f6a7b", "http://a.com/"),
    ("http://a.com/(S(lit3py55t21z5v55vlm25s55))/page.aspx", "http://a.com/page.aspx"),
    # What is left is an address as every other.
    ("http://a.com/(lit3py55t21z5v55vlm25s55)", "http://a.com/"),
    ("http://a.com/x/..;sid=1/y", "http://a.com/y"),
    ("http://a.com/x/.;jsessionid=1?a=1", "http://a.com/x/?a=1"),
    ("http://;jsessionid=id/x;sid=1", "http://;jsessionid=id/x"),
])  # fmt: skip
def test_session_ids_and_marks_are_taken_out(url, cleaned):
    assert clean(url) == cleaned


@pytest.mark.parametrize("url", [
    "http://a.com/?sid=12", "http://a.com/?s=astronomy", "http://a.com/?session=morning-of-the-second-day", "http://a.com/?",
    "http://a.com/?a=&a=1", "http://a.com/x;y=1", "http://a.com/(x)/y", "http://a.com/?utm=1", "http://a.com/wiki/Moon_(band)",
])  # fmt: skip
def test_other_parameters_are_kept(url):
    assert clean(url) == url


@given(
    st.lists(
        st.sampled_from(
            ["?", "&", "=", ";", "/", "sid", "PHPSESSID", "utm_x", "jsessionid", "0123456789abcdef", "a", "(S(", "))"]
        )
    )
)
def test_cleaning_twice_is_cleaning_once(pieces):
    once = clean("http://a.com/" + "".join(pieces))
    assert clean(once) == once


def test_what_users_order_to_be_left_out_is_not_let_in_until_they_take_it_back():
    scope = Scope(Rules())
    urls = ["http://a.example/1", "http://b.example/forum/2?sid=1", "http://c.example/3"]
    assert None not in scope.admit(urls, 1)
    scope.left_out = Patterns(["a.example", "http://b.example/forum/*"])
    assert scope.admit(urls, 1) == [None, None, urls[2]]
    assert scope.refused == {"left_out": 2}
    scope.left_out = Patterns()
    assert None not in scope.admit(urls, 1)
