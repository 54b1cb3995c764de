"""The default prioritizer learns from shown ways."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest

from focused.arrays import load_arrays
from focused.learned import begin_with
from focused.pages.fetched import Fetched
from focused.pages.page import Page, page_from_html
from focused.papers.paths.path import FAIL, GOAL, Path, Step
from focused.papers.paths.stops import Stops, resolve
from focused.papers.prioritizers.taught import NotTaught
from focused.papers.teaching.paths import PathTeaching
from focused.papers.teaching.shown import learn_ways, lessons_of_ways, shown_to_text
from focused.prioritizers.focused import Focused
from focused.topics.topic import Topic
from focused.visits.visits import judge
from focused.warc.web import normal_form
from tests.papers.teaching.test_path_teaching import paths_of, site_of, url
from tests.prioritizers.prioritizer_cases import OneWordCritic

U = "http://u.example"


def pages_of(*sites: int) -> dict[str, Page]:
    return {address: page_from_html(html, address) for n in sites for address, html in site_of(n).items()}


def with_pages(paths: list[Path], pages: dict[str, Page]) -> list[Stops]:
    return resolve(paths, pages.get, normal_form)


@pytest.fixture
def prioritizer() -> Focused:
    """One that knows nothing."""
    return Focused(critic=OneWordCritic())


def way(end: str, *names: str, **layers: int) -> Path:
    steps = [Step(f"{U}/{name}", layer=layers.get(name, -1)) for name in names]
    steps[-1].label = end
    return Path(steps)


def page(name: str, *links: str) -> Page:
    return page_from_html("".join(f"<a href='/{to}'>to {to}</a> " for to in links), f"{U}/{name}")


def test_a_step_is_worth_what_it_leads_to(prioritizer: Focused) -> None:
    paths = [
        way(GOAL, "a", "b", "c", "d"),
        way(GOAL, "x", "c", "d", "e", d=0),
        way(FAIL, "a", "b", "f", "g"),
        way(FAIL, "b", "c"),
    ]
    graph = {"a": "b", "b": "fc", "c": "d", "d": "e", "f": "g", "x": "c", "e": "", "g": ""}
    ways = with_pages(paths, {f"{U}/{name}": page(name, *to) for name, to in graph.items()})
    lessons = lessons_of_ways(prioritizer, paths, ways)
    # One for each page: b, c (by two links, from b and x), d (a goal is there), e, f, g.
    assert [one.relevance.tolist() for one in lessons] == [[0.25], [0.5, 0.5], [1.0], [1.0], [0.0], [0.0]]
    assert [one.weight.tolist() for one in lessons] == [[1.0], [0.5, 0.5], [1.0], [1.0], [1.0], [1.0]]
    assert all(one.alive.all() for one in lessons)


def test_links_that_are_not_on_their_pages_teach_nothing(prioritizer: Focused) -> None:
    paths = [way(GOAL, "a", "b", "c")]
    some = with_pages(paths, {f"{U}/a": page("a", "elsewhere"), f"{U}/b": page("b", "c"), f"{U}/c": page("c")})
    assert learn_ways(prioritizer, paths, some, lambda *_: None)[1] == {"steps": 1.0, "ways": 1.0}
    none = with_pages(paths, {f"{U}/a": page("a"), f"{U}/b": page("b"), f"{U}/c": page("c")})
    with pytest.raises(NotTaught, match="no page on the paths has the link that leads to the next one"):
        learn_ways(prioritizer, paths, none, lambda *_: None)


def scores_on(prioritizer: Focused, number: int) -> list[tuple[float, float]]:
    """For each page of a site that leads on to another: the score of that link, and that of the one to the news."""
    found = []
    for one in pages_of(number).values():
        if len(one.links) == 2:
            evidence = prioritizer.evidence(one, judge(OneWordCritic(), one), one.links)
            found.append(tuple(prioritizer.score(evidence).tolist()))
    return found


def test_shown_ways_are_followed_on_a_site_that_was_not_shown(prioritizer: Focused) -> None:
    paths = [path for number in range(5) for path in paths_of(number)]
    told: list[tuple[int, int]] = []
    state = {name: array.copy() for name, array in prioritizer.state().items()}
    ways = with_pages(paths, pages_of(*range(5)))
    learned, figures = learn_ways(prioritizer, paths, ways, lambda *step: told.append(step))
    before, after = scores_on(prioritizer, 7), scores_on(learned, 7)
    assert len(before) == len(after) > 2
    assert all(on > 1.5 * news for on, news in after)
    assert all(on == news for on, news in before)
    assert figures == {"steps": 25.0, "ways": 10.0}
    assert shown_to_text(figures) == "25 steps of 10 ways shown"
    assert told == [(n, 25) for n in range(1, 26)]
    # It is another one, and of what ways do not show it has learned nothing.
    assert all(np.array_equal(array, state[name]) for name, array in prioritizer.state().items())
    assert learned.aliveness is prioritizer.aliveness
    assert learned.visits is prioritizer.visits
    again, _ = learn_ways(copy(prioritizer), paths, ways, lambda *_: None)
    assert all(np.array_equal(array, again.state()[name]) for name, array in learned.state().items())


def test_what_was_learned_is_written_for_a_crawl_to_begin_with(prioritizer: Focused, tmp_path) -> None:
    paths = [path for number in range(2) for path in paths_of(number)]
    teaching = PathTeaching(Topic(name="courses"), prioritizer, {}, tmp_path)
    card = teaching.teach(paths, Fetched(pages_of(0, 1), {}), {"file": "paths.jsonl"}, lambda *_: None)
    assert card.figures == {"steps": 10.0, "ways": 4.0}
    assert teaching.file == tmp_path / "courses/focused.npz"
    crawling = Focused(critic=OneWordCritic())
    assert begin_with(crawling, str(teaching.file)) == "10 steps of 4 ways shown"
    assert crawling.learner.seen == 10
    assert begin_with(Focused(), saved(tmp_path, prioritizer)) == ""
    assert set(load_arrays(teaching.file)) == {*prioritizer.state(), "shown"}


def saved(folder, prioritizer: Focused) -> str:
    """What a crawl has learned, in a file."""
    from focused.arrays import save_arrays

    (folder / "learned.npz").write_bytes(save_arrays(prioritizer.state()))
    return str(folder / "learned.npz")


def test_a_page_that_is_missing_ends_its_way(prioritizer: Focused) -> None:
    paths = paths_of(0)
    pages = pages_of(0)
    del pages[url(0, "cs/people")]
    _, figures = learn_ways(prioritizer, paths, with_pages(paths, pages), lambda *_: None)
    assert figures == {"steps": 2.0, "ways": 2.0}
