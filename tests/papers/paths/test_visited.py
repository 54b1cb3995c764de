"""From visited pages to ways."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from focused.papers.paths.path import FAIL, GOAL, Path, Step, write_paths
from focused.papers.paths.reading import read_paths
from focused.papers.paths.visited import LONGEST_WAY, NOT, ShownWays, Tour, Visited, keys_of
from tests.papers.paths.har_cases import U


def visit(page: str, referer: str | None = "", *links: str) -> Visited:
    """A page of a university, or of another site if it is a whole address."""

    def whole(name: str) -> str:
        return name if "//" in name else f"{U}/{name}"

    urls = [whole(one) for one in page.split(" ")]
    return Visited(urls, whole(referer) if referer is not None else "", links=keys_of(map(whole, links)))


def ways_of(tour: Tour, **labels: str) -> ShownWays:
    """The paths of a tour; its pages are named by the ends of their addresses."""
    ways = ShownWays()
    ways.add(tour, {tour.add(visit(name or "/")): label for name, label in labels.items()})
    return ways


def shown(path: Path) -> list[tuple[str, str]]:
    return [(step.url.removeprefix(f"{U}/"), step.label) for step in path.steps]


def before(tour: Tour) -> dict[str, str]:
    """For each page, the one that led to it."""
    names = [page.url.removeprefix(f"{U}/") for page in tour.pages]
    return {name: names[source] if source >= 0 else "-" for name, source in zip(names, tour.before, strict=True)}


ELSEWHERE = "https://v.example.org"


@pytest.mark.parametrize(
    ("visits", "led"),
    [
        ([visit(""), visit("cs"), visit("ann", "cs")], {"": "-", "cs": "", "ann": "cs"}),
        # Without a Referer, by the links of the last page that has one.
        (
            [visit("a", None, "c"), visit("b", "a", "c"), visit("c", None), visit("d", None)],
            {"b": "a", "c": "b", "d": "-"},
        ),
        # What a Referer names was not visited: links are not looked at, somebody came from elsewhere.
        ([visit("a", None, "b"), visit("b", f"{ELSEWHERE}/x")], {"b": "-"}),
        # A page is known by each of its addresses.
        (
            [visit("cs cs/index.html", None), visit("ann", "cs/index.html"), visit("bob", "cs")],
            {"ann": "cs", "bob": "cs"},
        ),
        # To other sites browsers name the site alone: the page with the link, else the last one of that site.
        (
            [
                visit("a", None, f"{ELSEWHERE}/x"),
                visit("b", "a"),
                visit(f"{ELSEWHERE}/x", ""),
                visit(f"{ELSEWHERE}/y", ""),
            ],
            {f"{ELSEWHERE}/x": "a", f"{ELSEWHERE}/y": "b"},
        ),
        # Going back is not a page, going on from there a branch; a page that is met again is the same.
        (
            [visit("a", None), visit("b", "a"), visit("a", None), visit("c", "a"), visit("b", "c"), visit("d", "b")],
            {"a": "-", "b": "a", "c": "a", "d": "b"},
        ),
    ],
)
def test_a_page_is_reached_by_a_link_of_one_before_it(visits: list[Visited], led: dict[str, str]) -> None:
    found = before(Tour(visits))
    assert {page: found[page] for page in led} == led
    assert len(found) == len({url for one in visits for url in one.urls[:1]})


def test_the_way_to_a_goal_is_its_chain_of_links_and_what_was_left_failed() -> None:
    tour = Tour(
        [visit("home", None), visit("news", "home"), visit("x", "news"), visit("cs", "home"), visit("bob", "cs")]
    )
    for one in (visit("ann", "cs"), visit("cs1", "ann")):
        tour.add(one)
    ways = ways_of(tour, cs="department", cs1=GOAL)
    assert [shown(path) for path in ways.paths] == [
        [("home", ""), ("cs", "department"), ("ann", ""), ("cs1", GOAL)],
        [("home", ""), ("news", ""), ("x", FAIL)],
        [("home", ""), ("cs", "department"), ("bob", FAIL)],
    ]
    assert (ways.unreached, ways.cut) == ([], 0)


def test_goals_on_the_way_to_others_are_targets_and_no_ends() -> None:
    tour = Tour(
        [visit("a", None), visit("b", "a"), visit("c", "b"), visit("d", "c"), visit("e", "c"), visit("a", None)]
    )
    ways = ways_of(tour, b=GOAL, c=GOAL, d=NOT)
    assert ways.paths == [
        Path([Step(f"{U}/a"), Step(f"{U}/b", GOAL)]),
        Path([Step(f"{U}/a"), Step(f"{U}/b", layer=0), Step(f"{U}/c", GOAL)]),
        # The way failed after the goal; and e is no failure: who has found a goal seeks no more.
        Path([Step(f"{U}/c", layer=0), Step(f"{U}/d", FAIL)]),
    ]


def test_where_somebody_still_is_has_not_failed_unless_it_is_said() -> None:
    tour = Tour([visit("a", None), visit("b", "a"), visit("c", "b")])
    assert ways_of(tour).paths == []
    assert [shown(path) for path in ways_of(tour, c=NOT).paths] == [[("a", ""), ("b", ""), ("c", FAIL)]]
    tour.add(visit("a", None))
    assert [shown(path) for path in ways_of(tour).paths] == [[("a", ""), ("b", ""), ("c", FAIL)]]
    # A milestone is on the way to something, whether it was found or not.
    assert ways_of(tour, c="department").paths == []


def test_what_is_not_sought_may_lead_to_a_goal() -> None:
    tour = Tour([visit("a", None), visit("b", "a"), visit("c", "b")])
    assert [shown(path) for path in ways_of(tour, b=NOT, c=GOAL).paths] == [[("a", ""), ("b", ""), ("c", GOAL)]]


def test_a_page_that_no_link_led_to_has_no_way() -> None:
    tour = Tour([visit("a", None), visit("b", None), visit("c", None)])
    ways = ways_of(tour, a=GOAL, b=NOT)
    assert (ways.paths, ways.unreached) == ([], [f"{U}/a", f"{U}/b"])


def test_long_ways_keep_their_last_steps() -> None:
    tour = Tour([visit("0", None), *(visit(str(n), str(n - 1)) for n in range(1, 120))])
    ways = ways_of(tour, **{"119": GOAL, "3": GOAL})
    assert [shown(path)[0] for path in ways.paths] == [("0", ""), (str(120 - LONGEST_WAY), "")]
    assert (len(ways.paths[1].steps), ways.cut) == (LONGEST_WAY, 1)


def test_its_paths_are_those_that_are_read(tmp_path) -> None:
    tour = Tour([visit("a", None), visit("b", "a"), visit("c", "b"), visit("d", "c"), visit("a", None)])
    ways = ways_of(tour, b=GOAL, c="here", d=NOT)
    write_paths(tmp_path / "p.jsonl", ways.paths)
    assert read_paths(tmp_path / "p.jsonl") == ways.paths


def test_the_work_for_a_page_does_not_grow_with_the_pages_before_it(monkeypatch) -> None:
    looked = 0

    class Links:
        def __array__(self, *_: object, **__: object) -> NDArray[np.int64]:
            nonlocal looked
            looked += 1
            return keys_of([f"{U}/elsewhere"])

    tour = Tour()
    for n in range(250):
        one = visit(str(n), None)
        one.links = Links()  # type: ignore[assignment]
        tour.add(one)
    assert 100 * 100 < looked <= 250 * 100
