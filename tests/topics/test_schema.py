"""Kinds of values: what they take, and the words for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta

from focused.addresses import to_host
from focused.options import make
from focused.problems import Problems
from focused.schema import HOSTS, PATTERNS, SWITCH, TEXT, Dry, Share, in_words, typed


class Part:
    """A class of somebody else's, with options of many types."""

    def __init__(self, *, size: Annotated[int, Meta(ge=1, le=9)] = 1, share: Share | None = None, way: Any = 0) -> None:
        self.given = (size, share, way)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Annotated[int, Meta(ge=0, le=9)], "a whole number from 0 to 9"),
        (Annotated[float, Meta(ge=0)], "a number, 0 or more"),
        (Annotated[int, Meta(gt=0)], "a whole number above 0"),
        (Share | None, "a number from 0 to 1"),
        (bool | str, "true or false or text in quotes"),
        (Literal["first", "max"], "one of first, max"),
        (Sequence[str], 'a list such as ["one", "two"]'),
        (dict[str, Any], "a table"),
        (Dry, "a value of the type Dry"),
    ],
)
def test_a_type_says_what_it_takes(kind: Any, words: str) -> None:
    assert in_words(kind) == words


@pytest.mark.parametrize(("text", "value"), [("5", 5.0), (" .5 ", 0.5), ("1e3", 1000.0), (7, 7.0)])
def test_numbers_may_be_text(text: object, value: float) -> None:
    assert typed(float).to_value(text) == value


@pytest.mark.parametrize("text", ["", "nan", "half", True, None, []])
def test_what_is_not_a_number_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match=r"is not a number from 0 to 1$"):
        typed(Share).to_value(text)


def test_switches_and_texts() -> None:
    assert [SWITCH.to_value(value) for value in ("1", "true", "False", 0, True)] == [True, True, False, False, True]
    assert TEXT.to_value(5) == "5"
    with pytest.raises(ValueError, match="is not text"):
        TEXT.to_value(["a"])


def test_every_bad_entry_of_a_list_is_a_problem() -> None:
    problems = Problems()
    assert HOSTS.convert("A.example,a.example  b.example", "hosts", problems) == ["a.example", "b.example"]
    assert HOSTS.convert(["a.example", 5, "a b"], "hosts", problems) == ["a.example"]
    assert PATTERNS.convert('["("]', "deny", problems) == []
    assert [problem.partition(": ")[0] for problem in problems.found] == ["hosts[1]", "hosts[2]", "deny[0]"]


def test_every_bad_option_is_told_at_once() -> None:
    assert make(Part, {"size": 9, "share": 0.5, "way": object}, table="critic").given == (9, 0.5, object)
    with pytest.raises(ValueError, match="2 mistakes") as caught:
        make(Part, {"size": 0, "share": "half"}, table="critic", file="tea.toml")
    assert str(caught.value).splitlines()[1:] == [
        "  tea.toml: [critic] size=0: give a whole number from 1 to 9",
        "  tea.toml: [critic] share='half': give a number from 0 to 1",
    ]


@pytest.mark.parametrize("text", ["..a.example", "%2ea.example", "a..example", "a.*.example", "**.a.example", "*", "."])
def test_a_host_that_nothing_can_be_called_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a host name such as 'example\.org'"):
        to_host(text)


@pytest.mark.parametrize("text", ["*.A.example", ".a.example", "a.EXAMPLE", "ａ.example"])
def test_a_host_is_read_as_browsers_spell_it(text: str) -> None:
    assert to_host(text) == to_host(to_host(text)) == "a.example"
