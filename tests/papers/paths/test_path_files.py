"""Paths as users write them."""

from __future__ import annotations

import pytest

from focused.pages.page import page_from_html
from focused.papers.paths.path import FAIL, GOAL, Path, PathsError, Step, layers_of, write_paths
from focused.papers.paths.reading import read_paths
from focused.papers.paths.stops import resolve

U = "http://u.example"
GOOD = Path([Step(f"{U}/", "home"), Step(f"{U}/cs"), Step(f"{U}/ann", "faculty"), Step(f"{U}/cs1", GOAL)])
ASTRAY = Path([Step(f"{U}/", "home"), Step(f"{U}/cs"), Step(f"{U}/news", FAIL)])


def written(tmp_path, *lines):
    file = tmp_path / "paths.jsonl"
    file.write_text("\n".join(lines))
    return file


def problems_of(file):
    with pytest.raises(PathsError) as caught:
        read_paths(file)
    return caught.value.problems


def test_written_paths_are_read_again(tmp_path):
    write_paths(tmp_path / "p.jsonl", [GOOD, ASTRAY])
    assert read_paths(tmp_path / "p.jsonl") == [GOOD, ASTRAY]
    assert '{"url":"http://u.example/cs"}' in (tmp_path / "p.jsonl").read_text()


def test_a_page_without_label_stands_on_the_way_to_the_next_that_has_one():
    assert GOOD.states() == ["home", "to faculty", "faculty", GOAL]
    assert ASTRAY.states() == ["home", "to fail", FAIL]
    assert Path([Step(f"{U}/", "home"), Step(f"{U}/x")]).states() == ["home", "to fail"]
    assert (GOOD.end, ASTRAY.end, Path(GOOD.steps[:2]).end) == (GOAL, FAIL, "")


def test_layers_are_told_or_counted_by_the_shortest_way_of_all_paths():
    assert layers_of([GOOD, ASTRAY], 4) == {f"{U}/": 3, f"{U}/cs": 2, f"{U}/ann": 1, f"{U}/cs1": 0, f"{U}/news": 4}
    assert layers_of([GOOD], 2)[f"{U}/"] == 2
    told = Path([Step(f"{U}/", layer=9), Step(f"{U}/cs", layer=1), Step(f"{U}/x", layer=0)])
    assert layers_of([told], 4) == {f"{U}/": 4, f"{U}/cs": 1, f"{U}/x": 0}


def test_every_mistake_is_told_with_its_line(tmp_path):
    file = written(
        tmp_path,
        '{"steps": [{"url": "u.example"}]}',
        "",
        '{"steps": []}',
        "{'steps'}",
        '{"steps": [{"url": "http://a/", "label": "goal"}, {"url": "http://b/", "lable": "x", "layer": -7}]}',
        '{"steps": [{"url": "http://a/", "label": ""}, {"url": "http://b/", "label": "to x"}], "step": 1}',
    )
    assert [problem.removeprefix(f"{file}:") for problem in problems_of(file)] == [
        "1: steps[0].url: 'u.example' is not an http address",
        "3: steps: [] is not a list of pages, one or more",
        "4: not JSON: object keys must be strings (byte 1)",
        "5: steps[0].label: 'goal' may only stand at the end of a path",
        "5: steps[1].lable: unknown key; did you mean 'label'? (known: url, label, layer)",
        "5: steps[1].layer: -7 is not a number of clicks: give a whole number from 0, or leave it out",
        "6: step: unknown key; did you mean 'steps'? (known: steps)",
        "6: steps[0].label: '' is not a name: give one in quotes, or leave it out",
        "6: steps[1].label: 'to x' begins as the states of pages without a label do: leave it out",
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[]", "1: [] is not a path: write"),
        ("{}", "1: steps: missing"),
        ('{"steps": {}}', "1: steps: {} is not a list of pages"),
        ('{"steps": ["http://a/"]}', "1: steps[0]: 'http://a/' is not a page: write"),
        ('{"steps": [{"label": "a"}]}', "1: steps[0].url: missing"),
        ('{"steps": [{"url": 3}]}', "1: steps[0].url: 3 is not an http address"),
        ('{"steps": [{"url": "http://a/", "label": null}]}', "1: steps[0].label: None is not a name"),
        ('{"steps": [{"url": "http://a/", "layer": true}]}', "1: steps[0].layer: True is not a number of clicks"),
        ('{"steps": [{"url": "http://a/", "layer": "1"}]}', "1: steps[0].layer: '1' is not a number of clicks"),
        ('{"steps": [', "1: not JSON: Input data was truncated"),
        ("[" * 100_000, "1: not JSON for us: nested too deeply"),
        ('{"steps": "\udcff"}', "1: not UTF-8: invalid start byte"),
    ],
)
def test_what_is_no_path_is_told_in_words(tmp_path, line, told):
    file = tmp_path / "paths.jsonl"
    file.write_text(line, encoding="utf-8", errors="surrogateescape")
    (problem,) = problems_of(file)
    assert problem.startswith(f"{file}:{told}")


def test_a_path_may_pass_a_target(tmp_path):
    """As walks that are drawn do."""
    told = [Path([Step(f"{U}/a", layer=0), Step(f"{U}/b", GOAL, layer=0)])]
    write_paths(tmp_path / "p.jsonl", told)
    assert read_paths(tmp_path / "p.jsonl") == told


@pytest.mark.parametrize("lines", [[], [""], ["", "  "]])
def test_a_file_without_paths(tmp_path, lines):
    assert problems_of(written(tmp_path, *lines))[0].endswith("holds no path")


def test_a_file_that_is_not_there(tmp_path):
    assert "cannot be read: No such file" in problems_of(tmp_path / "none")[0]


def test_stops_know_which_link_was_taken():
    html = "<a href=/x>x</a><a href='/CS#top'>cs</a><a href=/cs>again</a>"
    pages = {url: page_from_html(html, url) for url in (f"{U}/", f"{U}/cs", f"{U}/cs1")}
    first, second = resolve([GOOD, Path([Step(f"{U}/cs"), Step(f"{U}/")])], pages.get, str.lower)
    assert [(stop.link, stop.layer, stop.state) for stop in first] == [(1, 3, "home"), (-1, 2, "to faculty")]
    assert [stop.link for stop in second] == [-1, -1]


def test_an_end_in_capitals_is_told(tmp_path):
    file = written(tmp_path, '{"steps": [{"url": "http://a/"}, {"url": "http://b/", "label": "Goal"}]}')
    assert problems_of(file)[0].endswith("steps[1].label: 'Goal': write 'goal'")
