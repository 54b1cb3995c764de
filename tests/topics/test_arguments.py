"""The spider's arguments: strings in, typed values out, all mistakes at once."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.settings import Settings

from focused.defaults import read
from focused.problems import ProblemsError
from focused.schema import Dry
from focused.topics.arguments import KINDS, Arguments, parse_arguments

A, B = "https://a.example/", "https://b.example/x,y"


def problems_of(**kwargs: object) -> list[str]:
    with pytest.raises(ProblemsError) as caught:
        parse_arguments({"topic": "chess"} | kwargs)
    return list(caught.value.problems)


def setting(name: str, **kwargs: object) -> object:
    return parse_arguments({"topic": "chess"} | kwargs).settings[name]


def test_a_topic_alone_is_enough() -> None:
    assert parse_arguments({"topic": " chess "}) == Arguments(topic="chess", seeds=(), settings={})


def test_strings_become_what_they_mean(tmp_path: Path) -> None:
    saved = tmp_path / "learned.npz"
    saved.touch()
    assert parse_arguments(
        {
            "topic": "rock climbing",
            "seeds": A,
            "critic": "naive-bayes",
            "prioritizer": "apprentice",
            "learned": str(saved),
            "relevant": "0.5",
            "pages": "1e3",
            "found": " 50 ",
            "dry": "0.05/300",
            "per_host": "20",
            "depth": "4",
            "allow_hosts": "A.Example, b.example",
            "deny_hosts": "ads.example",
            "allow": r"/wiki/\w{1,40}$",
            "deny": r"\.pdf$ [?&]action=",
            "_job": "6487ec79947edab326d6db28a2d86511e8247444",
        }
    ) == Arguments(
        topic="rock climbing",
        seeds=(A,),
        settings={
            "FOCUSED_CRITIC": "naive-bayes",
            "FOCUSED_PRIORITIZER": "apprentice",
            "FOCUSED_LEARNED": str(saved),
            "FOCUSED_OUTPUT_RELEVANT": 0.5,
            "FOCUSED_STOP_PAGES": 1000,
            "FOCUSED_STOP_FOUND": 50,
            "FOCUSED_STOP_DRY": Dry(0.05, 300),
            "FOCUSED_STOP_PER_HOST": 20,
            "FOCUSED_SCOPE_DEPTH": 4,
            "FOCUSED_SCOPE_ALLOWED_HOSTS": ["a.example", "b.example"],
            "FOCUSED_SCOPE_DENIED_HOSTS": ["ads.example"],
            "FOCUSED_SCOPE_ALLOW": [r"/wiki/\w{1,40}$"],
            "FOCUSED_SCOPE_DENY": [r"\.pdf$", "[?&]action="],
        },
    )


def test_arguments_are_settings_above_all_others() -> None:
    settings = Settings({"FOCUSED_STOP_PAGES": 7, "FOCUSED_STOP_FOUND": 7, "FOCUSED_SCOPE_DENY": "b"}, "cmdline")
    parse_arguments({"topic": "chess", "pages": "10", "dry": ".05", "deny": "a c"}).apply(settings)
    assert read(settings, "FOCUSED_STOP_PAGES") == 10
    assert read(settings, "FOCUSED_STOP_FOUND") == 7
    assert read(settings, "FOCUSED_STOP_DRY") == Dry(0.05, 200)
    assert str(read(settings, "FOCUSED_STOP_DRY")) == "0.05/200", "as the job's record has it"
    assert read(settings, "FOCUSED_SCOPE_DENY") == ["b", "a", "c"], "patterns add up"


@pytest.mark.parametrize(
    "seeds",
    [
        f"{A},{B}",
        f"{A}, {B}",
        f"{A} {B}",
        f"{A}\n{B}\n",
        f"\t{A} ,\n{B},",
        f'["{A}", "{B}"]',
        [A, B],
        f"{A} {B} {A}",
    ],
)
def test_seeds_are_set_apart_as_one_likes_and_commas_in_addresses_stay(seeds: object) -> None:
    assert parse_arguments({"topic": "chess", "seeds": seeds}).seeds == (A, B)


def test_a_pattern_may_look_like_a_list() -> None:
    assert setting("FOCUSED_SCOPE_ALLOW", allow="[0-9]+") == ["[0-9]+"]
    assert setting("FOCUSED_SCOPE_ALLOW", allow='["[0-9]+, [a-z]"]') == ["[0-9]+, [a-z]"]


def test_values_may_come_typed_from_a_script() -> None:
    assert setting("FOCUSED_STOP_PAGES", pages=10) == 10
    assert setting("FOCUSED_OUTPUT_RELEVANT", relevant=0.25) == 0.25
    assert setting("FOCUSED_SCOPE_DENIED_HOSTS", deny_hosts=("a.example",)) == ["a.example"]


def test_dry_has_a_usual_window() -> None:
    assert setting("FOCUSED_STOP_DRY", dry="0.1") == Dry(0.1, 200)


def test_all_bad_values_are_told_at_once() -> None:
    problems = problems_of(
        seeds=f"{A} ftp://x.example/",
        critic="naive_bayes",
        prioritizer="aprentice",
        learned="absent.npz",
        relevant="50%",
        pages="0",
        found="-3",
        dry="5/200",
        per_host="ten",
        depth="",
        allow_hosts="https://a.example/",
        deny_hosts="b.example:80",
        allow="(",
        deny='["a", 5]',
        page="100",
    )
    told = dict(problem.split(": ", 1) for problem in problems)
    assert told.keys() == {
        "seeds[1]",
        "critic",
        "prioritizer",
        "learned",
        "relevant",
        "pages",
        "found",
        "dry",
        "per_host",
        "depth",
        "allow_hosts[0]",
        "deny_hosts[0]",
        "allow[0]",
        "deny",
        "page",
    }
    assert "did you mean 'naive-bayes'?" in told["critic"]
    assert "did you mean 'apprentice'?" in told["prioritizer"]
    assert told["relevant"] == "'50%' is not a number from 0 to 1"
    assert told["pages"] == "'0' is not a whole number above 0"
    assert "did you mean 'pages'?" in told["page"]
    assert "'a.example'" in told["allow_hosts[0]"]


@pytest.mark.parametrize("value", ["nan", "inf", "1.01", "-0.1", "", "half"])
def test_relevant_is_a_share(value: str) -> None:
    assert len(problems_of(relevant=value)) == 1


@pytest.mark.parametrize("value", ["0.05/0", "0.05/", "/200", "0.05/2.5", "0.05/200/3", "nan/200"])
def test_dry_is_a_share_and_a_count(value: str) -> None:
    (problem,) = problems_of(dry=value)
    assert problem.startswith(f"dry: {value!r} is not SHARE/PAGES")


def test_a_missing_topic_is_one_mistake_among_others() -> None:
    with pytest.raises(ProblemsError) as caught:
        parse_arguments({"pages": "x", "_job": "1"})
    assert len(caught.value.problems) == 2
    assert "topic: missing" in str(caught.value)


def test_an_unknown_argument_tells_which_there_are() -> None:
    (problem,) = problems_of(zzz="1")
    assert "per_host" in problem


def test_what_contradicts_itself_is_told() -> None:
    assert "allow_hosts" in problems_of(allow_hosts="a.example", deny_hosts="A.example")[0]


def test_an_argument_of_the_past_is_refused_with_its_new_name() -> None:
    assert problems_of(apprentice="a.npz") == ["apprentice: is now called 'learned': give -a learned=a.npz"]


@given(
    st.dictionaries(
        st.sampled_from([*KINDS, "apprentice", "private", "_job", "other"]), st.text(max_size=30), max_size=5
    )
)
def test_whatever_is_given_there_is_an_answer_or_one_error(kwargs: dict[str, str]) -> None:
    with suppress(ProblemsError):
        assert parse_arguments({"topic": "chess"} | kwargs).topic
