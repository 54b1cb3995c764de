"""What a robots.txt says to one crawler: the cases of RFC 9309, and the most that a file can cost."""

from __future__ import annotations

import re
import sys
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from focused import settings
from focused.safety.robots_txt import LONGEST, MOST_RULES, MOST_WILDCARDS, RobotsTxt, product_token

SIZE = 64 * 1024


def robots(text: str | bytes, agent: str = "Focused/0.1 (a crawler that obeys)") -> RobotsTxt:
    return RobotsTxt(text if isinstance(text, bytes) else text.encode(), agent)


def allows(text: str | bytes, path: str, agent: str = "Focused/0.1 (a crawler that obeys)") -> bool:
    return robots(text, agent).allowed(f"http://h.example{path}", agent)


def rules(*lines: str) -> str:
    return "\n".join(["User-agent: *", *lines])


# Whose rules


@pytest.mark.parametrize(
    ("agent", "token"),
    [
        (settings.USER_AGENT, "Focused"),
        ("MyCrawler (+https://example.org/about)", "MyCrawler"),
        ("research (+mailto:you@your.example)", "research"),
        ("my-crawler_2/1.0", "my-crawler_2"),
        ("archive.org_bot", "archive.org_bot"),
        (" Focused", "Focused"),
        (b"Focused/1", "Focused"),
        ("Mozilla/5.0 (compatible; Focused/1.0; +https://example.org/)", "Focused"),
        ("Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Focused/1.2)", "Focused"),
        ("Mozilla/5.0 (X11; Linux x86_64)", "Mozilla"),
        ("*", ""),
        ("", ""),
        ("(nobody)", ""),
    ],
)
def test_a_crawler_is_known_by_its_product_token(agent, token):
    assert product_token(agent) == token


@pytest.mark.parametrize(
    "name",
    [
        "Focused",
        "focused",
        "FOCUSED",
        "Focused/1.2",
        "focused bot",
        "Focused*",
        "\tFocused\t",
        "Focused # us",
        "Focused;",
    ],
)
def test_the_token_is_matched_in_any_case_whatever_follows_it(name):
    assert not allows(f"User-agent: {name}\nDisallow: /\nUser-agent: *\nAllow: /", "/x")


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "crawler",
        "obeys",
        "that",
        "foc",
        "Focus",
        "Focused-News",
        "Focused_2",
        "Focused2",
        "xFocused",
        "0.1",
        "/",
        "",
    ],
)
def test_no_other_word_of_the_user_agent_is_the_token(name):
    theirs = f"User-agent: {name}\nDisallow: /"
    assert allows(theirs, "/x")
    assert allows(f"{theirs}\n\nUser-agent: *\nDisallow: /y", "/x")
    permission = f"User-agent: {name}\nAllow: /\n\n"
    assert not allows(permission + "User-agent: Focused\nDisallow: /", "/x")
    assert not allows(permission + "User-agent: *\nDisallow: /", "/x")


def test_without_a_token_the_rules_for_everyone_hold():
    text = "User-agent: Focused\nAllow: /\nUser-agent:\nAllow: /\nUser-agent: *\nDisallow: /"
    assert not allows(text, "/x", agent="")


# Groups


def test_all_groups_that_match_are_one():
    ours, theirs = "User-agent: Focused\nDisallow: /a\n", "User-agent: b\nDisallow: /b\n"
    text = f"{ours}\n{theirs}\nuser-agent: focused\nDisallow: /c\nAllow: /a/x"
    assert [allows(text, path) for path in ("/a", "/a/x", "/b", "/c", "/d")] == [False, True, True, False, True]


def test_all_groups_for_everyone_are_one():
    text = "User-agent: *\nDisallow: /a\nUser-agent: b\nDisallow: /b\nUser-agent: *\nDisallow: /c"
    assert [allows(text, path) for path in ("/a", "/b", "/c")] == [False, True, False]


def test_where_a_group_is_ours_those_for_everyone_do_not_count():
    text = "User-agent: *\nDisallow: /a\nCrawl-delay: 9\nUser-agent: Focused\nDisallow: /b"
    assert [allows(text, path) for path in ("/a", "/b")] == [True, False]
    assert robots(text).crawl_delay("") is None


@pytest.mark.parametrize("empty", ["Disallow:", "Allow:", "Disallow: # nothing", ""])
def test_a_group_of_ours_without_rules_allows_everything(empty):
    assert allows(f"User-agent: *\nDisallow: /\n\nUser-agent: Focused\n{empty}", "/x")


def test_several_agents_share_a_group():
    text = "User-agent: a\nUser-agent: Focused\nUser-agent: b\nDisallow: /x\n\nUser-agent: c\nDisallow: /y"
    assert [allows(text, path) for path in ("/x", "/y")] == [False, True]


@pytest.mark.parametrize(
    "between", ["", "Sitemap: http://h.example/s.xml", "Noindex: /", "# words", "words", "Crawl-delay: 1", ":"]
)
def test_only_a_rule_ends_the_list_of_agents(between):
    assert not allows(f"User-agent: Focused\n{between}\nUser-agent: b\nDisallow: /", "/x")


@pytest.mark.parametrize("ending", ["Disallow: /a", "Disallow:", "Allow:"])
def test_a_rule_ends_the_list_of_agents(ending):
    assert allows(f"User-agent: Focused\n{ending}\nUser-agent: b\nDisallow: /", "/x")


@pytest.mark.parametrize("between", ["", "\n\n", "Sitemap: http://h.example/s.xml", "Noindex: /", "words without end"])
def test_what_is_no_rule_does_not_end_a_group(between):
    assert not allows(rules("Disallow: /a", between, "Disallow: /b"), "/b")


def test_rules_before_any_agent_are_nobodys():
    assert allows("Disallow: /\nAllow: /a\nUser-agent: *\nDisallow: /b", "/x")
    assert allows("", "/x")


# Lines


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\n\r", "\n\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\ufeff\n", "# a comment\n"])
def test_lines_end_in_every_way_and_a_byte_order_mark_is_skipped(start, end):
    text = start + end.join(["User-agent: *", "Disallow: /x", "Allow: /x/y", "User-agent: a", "Disallow: /"])
    assert [allows(text, path) for path in ("/", "/x", "/x/y")] == [True, False, True]


@pytest.mark.parametrize("character", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_nothing_else_ends_a_line(character):
    assert allows(rules(f"Disallow: /a{character}Disallow: /x"), "/x")


@pytest.mark.parametrize(
    "line",
    [
        "Disallow:/x", "disallow : /x", "\t DISALLOW:\t/x  ", "Disallow: /x # words", "Disallow: /x# words",
        "Disallow /x",         "Dissallow: /x", "Disallow\t/x",
    ],
)  # fmt: skip
def test_lines_as_people_write_them(line):
    assert not allows(rules(line), "/x")


@pytest.mark.parametrize(
    "line", ["User-agent: *", "user-agent:*", "USERAGENT: *", "User agent: * ", "User-agent *", "User-agent: * all"]
)
def test_agents_as_people_write_them(line):
    assert not allows(f"{line}\nDisallow: /", "/x")


@pytest.mark.parametrize(
    "line", ["#Disallow: /x", "Disallow: #/x", "Disallow: x", "Disallow", "/x", "Disallow-: /x", ": /x"]
)
def test_lines_that_are_no_rules(line):
    assert allows(rules(line), "/x")


def test_bytes_that_are_not_utf_8_do_no_harm():
    body = b"User-agent: *\nDisallow: /\xff\xfe\nDisallow: /x\nUser-agent: \xff\nAllow: /\n\xff\x00"
    assert [allows(body, path) for path in ("/%FF%FEz", "/x", "/y")] == [False, False, True]


# Which rule


@pytest.mark.parametrize(
    ("lines", "path", "allowed"),
    [
        (["Disallow: /example/page/", "Allow: /example/page/disallowed.gif"], "/example/page/disallowed.gif", True),
        (["Allow: /example/page/", "Disallow: /example/page/disallowed.gif"], "/example/page/disallowed.gif", False),
        (["Allow: /p", "Disallow: /"], "/page", True),
        (["Disallow: /folder", "Allow: /folder"], "/folder/page", True),
        (["Allow: /folder", "Disallow: /folder"], "/folder/page", True),
        (["Allow: /page", "Disallow: /*.htm"], "/page.htm", False),
        (["Allow: /page", "Disallow: /*.ph"], "/page.php5", True),
        (["Allow: /*.ph", "Disallow: /page"], "/page.php5", True),
        (["Allow: /$", "Disallow: /"], "/", True),
        (["Allow: /$", "Disallow: /"], "/page.htm", False),
        (["Allow: /page$", "Disallow: /page"], "/page", True),
        (["Disallow: /page$", "Allow: /pag*"], "/page", False),
        (["Disallow: /*", "Allow: /a"], "/a", True),
        (["Disallow: /*/b", "Allow: /a/b"], "/a/b", True),
        (["Disallow: /**b", "Allow: /a/"], "/a/b", True),
    ],
)
def test_the_longest_rule_decides_and_allow_where_two_are_as_long(lines, path, allowed):
    assert allows(rules(*lines), path) is allowed
    assert allows(rules(*reversed(lines)), path) is allowed


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("/", ["/", "/a", "/?x"], []),
        ("/fish", ["/fish", "/fish.html", "/fish/a", "/fishheads?x=1"], ["/Fish", "/catfish", "/?id=fish", "/fis"]),
        ("/fish/", ["/fish/", "/fish/?id=1", "/fish/a"], ["/fish", "/fish.html"]),
        ("/*.php", ["/x.php", "/a/b.php?c", "/.php5", "/?x.php"], ["/", "/x.PHP"]),
        ("/*.php$", ["/x.php", "/a/b.php", "/.php.php"], ["/x.php?c", "/x.php/", "/x.php5"]),
        ("/fish*.php", ["/fish.php", "/fishheads/a.php?b"], ["/Fish.PHP", "/fish"]),
        ("/a*b*a$", ["/aba", "/axbya", "/abba"], ["/ab", "/abab"]),
        ("/a*a$", ["/aa", "/axa"], ["/a"]),
        ("/a$", ["/a"], ["/a/", "/ab", "/a?", "/a$"]),
        ("/a$b", ["/a$b", "/a%24b"], ["/a", "/ab"]),
        ("/a%24", ["/a$", "/a%24b"], ["/a"]),
        ("/a%2A", ["/a*", "/a%2ab"], ["/a", "/ab"]),
        ("*", ["/", "/x"], []),
        ("*/b", ["/b", "/a/b"], ["/a"]),
        ("/a?", ["/a?", "/a?b"], ["/a", "/a%3F"]),
        ("/$", ["/", ""], ["/a", "/?"]),
        ("/a", ["/a#b"], ["/#/a"]),
        ("/a;b", ["/a;b=1"], ["/a"]),
    ],
)
def test_patterns(pattern, matching, others):
    text = rules(f"Disallow: {pattern}")
    assert [path for path in matching if allows(text, path)] == []
    assert [path for path in others if not allows(text, path)] == []


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        # The table of section 2.2.2.
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz", True),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", True),
        ("/foo/bar/\u30c4", "/foo/bar/%E3%83%84", True),
        ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", True),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz", True),
        ("/foo/bar/baz", "/foo/bar/%62%61%7a", True),
        ("/\u30c4", "/%e3%83%84", True),
        ("/\u30c4", "/\u30c4", True),
        ("/%e3%83%84*x", "/\u30c4/x", True),
        ("/a/b", "/a%2Fb", False),
        ("/a%2fb", "/a%2Fb", True),
        ("/a%2Fb", "/a/b", False),
        ("/a b", "/a%20b", True),
        ("/100%", "/100%25", True),
        ("/100%25", "/100%2525", True),
        ("/~a", "/%7Ea", True),
        ("/a(b)", "/a%28b%29", True),
        ("/*?q=a/b", "/x?q=a%2Fb", True),
    ],
)
def test_both_sides_are_spelled_alike(pattern, path, matches):
    assert allows(rules(f"Disallow: {pattern}"), path) is not matches


def test_robots_txt_itself_may_always_be_fetched():
    assert allows(rules("Disallow: /"), "/robots.txt")
    assert not allows(rules("Disallow: /"), "/robots.txt.bak")
    assert not allows(rules("Disallow: /"), "/a/robots.txt")


def as_expression(pattern: str) -> re.Pattern[str]:
    body = pattern.removesuffix("$")
    expression = ".*".join(map(re.escape, body.split("*")))
    return re.compile(expression + ("$" if pattern.endswith("$") else ""))


@given(
    st.lists(st.tuples(st.booleans(), st.from_regex(r"/[ab*]{0,6}\$?", fullmatch=True)), max_size=6),
    st.from_regex(r"/[ab]{0,8}", fullmatch=True),
)
@example([(False, "/*a*b$"), (True, "/ab*")], "/abab")
def test_verdicts_are_those_of_the_definition(drawn, path):
    # Stars in a row are one.
    shortened = [(allow, re.sub(r"\*+", "*", pattern)) for allow, pattern in drawn]
    matching = [(len(pattern), allow) for allow, pattern in shortened if as_expression(pattern).match(path)]
    expected = max(matching, default=(0, True))[1]
    assert (
        allows(rules(*(f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in drawn)), path) is expected
    )


# Crawl-delay


@pytest.mark.parametrize(
    ("lines", "delay"),
    [
        (["Crawl-delay: 5"], 5.0),
        (["crawl-delay:0.5 # s"], 0.5),
        (["Crawl-delay: 2", "Crawl-delay: 7", "Crawl-delay: 3"], 7.0),
        (["Disallow: /", "Crawl-delay: 2"], 2.0),
        (["Crawl-delay: soon"], None),
        (["Crawl-delay: -1"], None),
        (["Crawl-delay: inf"], None),
        (["Crawl-delay: nan"], None),
        (["Crawl-delay:"], None),
        ([], None),
    ],
)
def test_crawl_delay(lines, delay):
    assert robots(rules(*lines)).crawl_delay("") == delay
    assert robots("\n".join(["User-agent: other", *lines])).crawl_delay("") is None


# What a file can cost


def calls(work: Callable[[], object]) -> int:
    """The number of functions called."""
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def lines_of(line: str, size: int) -> bytes:
    """Lines, numbered, up to a size."""
    text = b"".join(line.encode() % n for n in range(size // len(line) + 1))
    return text[: text.rfind(b"\n", 0, size) + 1]


def agents_by_rules(size: int, agents: str = "user-agent:a%x\n") -> bytes:
    return lines_of(agents, size // 2) + b"user-agent:*\nuser-agent:focused\n" + lines_of("allow:/%x\n", size // 2)


BOMBS = {
    "agents": agents_by_rules,
    "ourselves": lambda size: agents_by_rules(size, "user-agent:focused/%x\n"),
    "everyone": lambda size: agents_by_rules(size, "user-agent:* %x\n"),
    "groups": lambda size: lines_of("user-agent:*\nuser-agent:focused\ndisallow:/%x\n", size),
    "wildcards": lambda size: b"user-agent:*\n" + lines_of("disallow:/*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b%x\n", size),
    "stars": lambda size: b"user-agent:*\ndisallow:/" + b"*" * size,
    "a line": lambda size: b"user-agent:*\ndisallow:" + b" " * size + b"/",
    "escapes": lambda size: b"user-agent:*\n" + lines_of("disallow:/%%41%%2a%%ff%%%x\n", size),
    "empty lines": lambda size: b"\n" * size,
    "spaces": lambda size: b" " * size,
    "words": lambda size: b"disallow " * (size // 9),
    "delays": lambda size: b"user-agent:*\n" + b"crawl-delay:1e9\n" * (size // 16),
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_reading_takes_work_and_memory_in_proportion_to_the_file(bomb):
    small, large = bomb(SIZE), bomb(4 * SIZE)
    assert calls(lambda: robots(large)) <= 4.5 * calls(lambda: robots(small)) + 200
    tracemalloc.start()
    try:
        robots(large)
        assert tracemalloc.get_traced_memory()[1] < 20 * len(large)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
@pytest.mark.parametrize("path", ["/x", "/" + "a" * 1_000, "/" + "a" * 100_000])
def test_a_verdict_takes_no_more_work_for_more_rules(bomb, path):
    parser = robots(bomb(8 * SIZE))
    assert calls(lambda: parser.allowed(f"http://h.example{path}", "")) < MOST_WILDCARDS


@pytest.mark.parametrize("count", [10, 10_000])
def test_rules_without_wildcards_are_looked_up(count):
    parser = robots(rules(*(f"Disallow: /a/{n}" for n in range(count))))
    assert calls(lambda: parser.allowed("http://h.example/a/b", "")) < 60


def test_beyond_the_most_rules_the_others_are_left_out_and_counted():
    parser = robots(rules(*(f"Disallow: /{n}/" for n in range(MOST_RULES + 7))))
    assert parser.left_out == {"rules": 7}
    assert [parser.allowed(f"http://h.example/{n}/", "") for n in (MOST_RULES - 1, MOST_RULES)] == [False, True]


def test_rules_that_are_too_long_are_left_out_and_counted():
    parser = robots(rules("Disallow: /" + "a" * LONGEST, "Disallow: /" + "b" * (LONGEST - 1)))
    assert parser.left_out == {"length": 1}
    assert [parser.allowed("http://h.example/" + letter * LONGEST, "") for letter in "ab"] == [True, False]


def test_beyond_the_most_wildcards_the_others_are_left_out_and_counted():
    rule = "Disallow: /*" + "a" * 62
    whole = MOST_WILDCARDS // 64
    parser = robots(rules(*[rule] * whole, "Disallow: /*b", "Disallow: /*c", "Disallow: /d"))
    assert parser.left_out == {"wildcards": 2}
    assert [parser.allowed(f"http://h.example/x{end}", "") for end in ("b", "a" * 62)] == [True, False]
    assert not parser.allowed("http://h.example/d", "")


def test_pieces_between_wildcards_are_sought_where_an_address_begins():
    parser = robots(rules("Disallow: /*b", "Disallow: /*c*d$"))
    assert [parser.allowed(f"http://h.example/{'a' * n}b", "") for n in (LONGEST - 2, LONGEST)] == [False, True]
    assert not parser.allowed(f"http://h.example/c{'a' * LONGEST}d", "")


def test_what_others_are_told_is_not_kept():
    theirs = "\n".join(f"User-agent: bot{n}\nDisallow: /{n}" for n in range(2_000))
    parser = robots(f"{theirs}\nUser-agent: *\nDisallow: /a")
    assert parser.size < 1_000
    assert parser.left_out == {}
