"""What somebody says of visited pages, in options or a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from focused.papers.paths.labels import Rule, label_pages, rules_of, rules_of_file
from focused.papers.paths.path import GOAL, PathsError
from focused.papers.paths.visited import NOT, Tour, Visited
from tests.papers.paths.har_cases import U


@pytest.fixture
def tours() -> list[Tour]:
    """Two of them."""
    return [Tour([Visited([f"{U}/"]), Visited([f"{U}/cs", f"{U}/cs/index.html"])]), Tour([Visited([f"{U}/a?b[0]=*"])])]


@pytest.mark.parametrize(
    ("target", "labelled"),
    [
        (f"{U}/", [{0}, set()]),
        (U, [{0}, set()]),
        ("HTTP://u.example.org:80/cs", [{1}, set()]),
        (f"{U}/cs/index.html", [{1}, set()]),
        ("*/cs*", [{1}, set()]),
        ("*example.org*", [{0, 1}, {0}]),
        (f"{U}/*", [{0, 1}, {0}]),
        ("*?b[0]=*", [set(), {0}]),
    ],
)
def test_pages_are_named_by_their_addresses_or_patterns(tours, target: str, labelled: list[set[int]]) -> None:
    found = label_pages(tours, rules_of([target], [], []), all_fit=True)
    assert [set(ones) for ones in found] == labelled
    assert {label for ones in found for label in ones.values()} == {GOAL}


def test_each_option_gives_its_label(tours) -> None:
    rules = rules_of([f"{U}/"], ["department=*/cs"], ["*/a?*"])
    assert label_pages(tours, rules, all_fit=True) == [{0: GOAL, 1: "department"}, {0: NOT}]


def test_all_mistakes_are_reported(tours) -> None:
    with pytest.raises(PathsError) as error:
        rules_of([], ["cs", "goal=*", "to x=*", "=*", "not=*"], [])
    assert [problem.partition(": ")[2].partition(":")[0] for problem in error.value.problems] == [
        "write NAME=URL, such as department=https",
        "'goal' may only stand at the end of a path",
        "'to x' begins as the states of pages without a label do",
        "'' is not a name",
        "'not' is said of pages that are not sought",
    ]
    with pytest.raises(PathsError) as error:
        label_pages(tours, rules_of(["u.example.org", "*cs", "*nowhere"], ["x=*/cs"], [f"{U}/nowhere"]), all_fit=True)
    assert list(error.value.problems) == [
        "--goal u.example.org: 'u.example.org' is not an http(s) address; did you mean 'https://u.example.org'?",
        "--goal *nowhere: no page that was visited has this address",
        f"--not {U}/nowhere: no page that was visited has this address",
        f"--milestone x=*/cs: {U}/cs is 'goal' already (--goal *cs): give it one label",
    ]


def test_a_table_may_label_pages_that_were_not_visited(tours, tmp_path: Path) -> None:
    file = tmp_path / "labels.tsv"
    file.write_text(f"url\tlabels\n{U}/\tgoal\n{U}/cs\tdepartment\n{U}/other\tnot\n")
    assert label_pages(tours, rules_of_file(str(file)), all_fit=False) == [{0: GOAL, 1: "department"}, {}]
    file.write_text(f"url\tclass\n{U}/\tto x\n{U}/cs\tfail\n")
    with pytest.raises(PathsError, match=r"2 mistakes:[^$]*'to x' begins[^$]*'fail' may only stand at the end"):
        rules_of_file(str(file))


def test_one_label_may_be_given_twice(tours) -> None:
    rules = [Rule(GOAL, "*/cs", "here"), Rule(GOAL, f"{U}/cs", "there")]
    assert label_pages(tours, rules, all_fit=True) == [{1: GOAL}, {}]
