"""What follows from the orders of users: the last one about a thing counts, and a note says it all."""

from __future__ import annotations

import re

import pytest

from focused.arrays import Damaged
from focused.frontier.inbox import Order, letter_to_bytes, to_letters
from focused.frontier.steering import MOST_PATTERNS, VERBS, OrderRefused, Steering, Verb, to_order_value
from focused.schema import Dry
from focused.stops import LIMITS, CrawlLimits

GIVEN = {"limit": "pages=5", "seed": "http://h.example/"} | dict.fromkeys(("leave-out", "prefer", "drop"), "h.example")


def after(*orders: str, steering: Steering | None = None) -> Steering:
    steering = steering or Steering()
    for order in orders:
        verb, _, value = order.partition(" ")
        steering = steering.after(verb, value)
    return steering


def test_the_last_order_about_a_thing_counts() -> None:
    told = after("pause", "limit pages=5", "limit pages=7", "limit dry=", "leave-out a.example", "leave-out b.example")
    assert list(told.in_words()) == [
        *("pause", "limit pages=7", "limit dry=", "leave-out a.example", "leave-out b.example"),
    ]
    told = after(
        "go-on", "prefer a.example", "drop b.example", "prefer a.example", "seed http://h.example/", steering=told
    )
    assert list(told.in_words()) == ["limit pages=7", "limit dry=", "prefer a.example"]
    assert after("pause", "end") == Steering(ends=1), "whoever starts it again wants it to go on"


def test_what_cannot_be_done_is_remembered_until_it_is_taken_back() -> None:
    told = Steering().without("prefer", "a.example").without("limit", "per_host=3").without("prefer", "a.example")
    assert told.not_done == ("limit per_host=3", "prefer a.example")
    assert after("drop a.example", steering=told).not_done == ("limit per_host=3",)
    for number in range(200):
        told = told.without("prefer", f"h{number}.example")
    assert len(told.not_done) == 100


def test_patterns_are_bounded_in_number() -> None:
    full = after(*(f"{('leave-out', 'prefer')[n % 2]} h{n}.example" for n in range(MOST_PATTERNS)))
    with pytest.raises(OrderRefused, match="200 patterns count already: drop some"):
        after("prefer new.example", steering=full)
    assert len(after("drop h1.example", "prefer new.example", steering=full).preferred) == MOST_PATTERNS / 2


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_has_its_value_and_an_order_comes_back_as_it_was_written(verb: Verb) -> None:
    value = GIVEN.get(verb, "")
    order = Order(verb=verb, value=to_order_value(verb, value))
    assert to_letters([letter_to_bytes(order)], 9).letters == [order]
    assert to_letters([letter_to_bytes(Order(verb=verb, value=f"{value} x *"))], 9).skipped == 1
    Steering().after(order.verb, order.value)


@pytest.mark.parametrize(
    ("verb", "text", "said"),
    [
        ("limit", "pags=5", "'pags' is not a limit; did you mean 'pages'? (there are pages, found, dry, per_host)"),
        ("limit", "pages=many", "pages: 'many' is not a whole number, 0 or more"),
        ("limit", "dry=2", "'2' is not SHARE/PAGES, such as '0.05/200'"),
        ("limit", "5000", "'5000' is not NAME=VALUE, such as pages=5000 (names: pages, found, dry, per_host)"),
        ("seed", "example.org", "'example.org' is not an http(s) address; did you mean 'https://example.org'?"),
        ("seed", "http://h.example/" + "x" * 9_000, "the address has more than 8,000 characters"),
        ("pause", "now", "'pause' takes no value, so 'now' is too much"),
        ("prefer", "*", "fits every host"),
    ],
)
def test_what_is_no_value_is_told_in_a_sentence(verb: Verb, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        to_order_value(verb, text)


def test_a_note_says_it_all_and_a_damaged_one_is_found_out() -> None:
    told = after("pause", "limit dry=0.05/200", "leave-out a.example", "prefer http://b.example/*").without("drop", "x")
    assert Steering.of(told.to_text()) == told
    assert Steering.of(None) == Steering.of("") == Steering()
    for text in (
        "{",
        "[" * 100_000,
        '{"is_paused": 1}',
        '{"limits": {"pages": "x"}}',
        '{"limits": {"speed": "1"}}',
        '{"left_out": ["*"]}',
        '{"preferred": ["Example.org"]}',
        Steering(left_out=tuple(f"h{n}.example" for n in range(MOST_PATTERNS + 9))).to_text(),
    ):
        with pytest.raises(Damaged, match="the note 'steering' cannot be read"):
            Steering.of(text)


def test_a_limit_takes_the_place_of_the_crawl_s_own() -> None:
    own = CrawlLimits(pages=20, found=3)
    assert own.but({"pages": "0", "dry": "0.5/9"}) == CrawlLimits(pages=0, found=3, dry=Dry(0.5, 9))
    assert set(LIMITS) == {"pages", "found", "dry", "per_host"}
