"""Charts are well-formed, complete, and survive odd numbers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from focused.report.charts import bar_chart, line_chart

SVG = "{http://www.w3.org/2000/svg}"


def parse(svg):
    return etree.fromstring(svg.encode())


def texts(svg):
    return [element.text for element in parse(svg).iter(f"{SVG}text")]


def coordinates(svg):
    root = parse(svg)
    for line in root.iter(f"{SVG}polyline"):
        yield [tuple(map(float, point.split(","))) for point in line.get("points").split()]


def test_a_line_per_series_with_its_name():
    svg = line_chart({"apprentice": [(0, 0), (100, 40)], "breadth-first": [(0, 0), (100, 5)]}, title="Targets")
    assert len(list(coordinates(svg))) == 2
    assert {"Targets", "apprentice", "breadth-first"} <= set(texts(svg))


def test_more_is_higher_and_later_is_further_right():
    [points] = coordinates(line_chart({"a": [(0, 0), (50, 10), (100, 30)]}))
    xs, ys = zip(*points, strict=True)
    assert list(xs) == sorted(xs)
    assert list(ys) == sorted(ys, reverse=True)


def test_ticks_are_round_and_span_the_values():
    shown = texts(line_chart({"a": [(0, 0), (1000, 117)]}))
    assert {"0", "1,000", "25", "125"} <= set(shown) or {"0", "1,000", "50", "150"} <= set(shown)


@pytest.mark.parametrize("series", [{}, {"a": []}, {"a": [(3, 7)]}, {"a": [(0, 0), (1, 0)]}, {"a": [(0, math.nan)]}])
def test_little_or_nothing_to_draw_is_drawn(series):
    parse(line_chart(series))


def test_names_are_escaped():
    name = "<b>&\"'"
    assert name in texts(line_chart({name: [(0, 1)]}, title=name))
    assert name in texts(bar_chart([(name, 1)], x_label=name))


def test_a_long_legend_takes_more_rows_within_the_width():
    svg = line_chart({f"prioritizer number {i}": [(0, i)] for i in range(12)}, width=640)
    root = parse(svg)
    assert int(root.get("height")) > 360
    for text in root.iter(f"{SVG}text"):
        assert float(text.get("x", 0)) < 640


def test_bars_are_in_proportion():
    bars = [float(bar.get("height")) for bar in parse(bar_chart([("a", 10), ("b", 20), ("c", 0)])).iter(f"{SVG}rect")]
    assert bars[1] == pytest.approx(2 * bars[0], rel=0.01)
    assert bars[2] == 0


def test_bars_below_zero_hang_from_it():
    first, second = parse(bar_chart([("a", 5), ("b", -5)])).iter(f"{SVG}rect")
    assert float(first.get("y")) + float(first.get("height")) == pytest.approx(float(second.get("y")))


def test_many_labels_are_thinned_out():
    svg = bar_chart([(f"host-{i}.example", i) for i in range(200)])
    assert len([text for text in texts(svg) if text and text.startswith("host-")]) < 20


numbers = st.floats(-1e12, 1e12)


@given(st.dictionaries(st.text(st.characters(categories=("L", "N", "P"))), st.lists(st.tuples(numbers, numbers))))
def test_whatever_the_numbers_every_point_is_inside(series):
    for points in coordinates(line_chart(series)):
        for x, y in points:
            assert 0 <= x <= 640
            assert 0 <= y <= 360
