"""Whether R means what it says, against figures that can be computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from focused.lab.calibration import Bin, measure_calibration, pooled
from focused.lab.calibration_table import calibration_table, topic_calibration_tables
from focused.lab.measure import CrawlFigures
from focused.lab.plan import MeasuredCrawl, Plan, Results


def calibration(judged, wanted):
    """A crawl of all pages, page *i* judged ``judged[i]``."""
    targets = np.zeros(len(judged), bool)
    targets[list(wanted)] = True
    return measure_calibration(range(len(judged)), targets, np.array(judged, np.float32))


# Four pages, of which 0 and 3 are wanted.
#   bin 9: 0.9375 and 1.0, one of them wanted; bin 0: 0.0; bin 2: 0.25, wanted
ONE = ([0.9375, 1.0, 0.0, 0.25], [0, 3])
# Two pages, one wanted: R = 0.75 for it, 0.25 for the other.
OTHER = ([0.75, 0.25], [0])


def test_the_figures_of_a_crawl():
    one = calibration(*ONE)
    assert (one.pages, one.wanted, one.accepted, one.right) == (4, 2, 2, 1)
    assert one.expected == pytest.approx(2.1875)
    assert one.ratio == pytest.approx(2.1875 / 2)
    assert one.is_close
    # |1.9375 - 1| in the last bin, |0.25 - 1| in the third.
    assert one.ece == pytest.approx((0.9375 + 0.75) / 4)
    assert one.brier == pytest.approx((0.0625**2 + 1 + 0 + 0.75**2) / 4)
    assert one.skill == pytest.approx(1 - one.brier / 0.25)
    assert (one.precision, one.recall) == (0.5, 0.5)
    assert [(number, found.pages, found.wanted) for number, found in enumerate(one.bins) if found.pages] == [
        (0, 1, 0),
        (2, 1, 1),
        (9, 2, 1),
    ]


def test_crawls_are_pooled_page_by_page_each_with_its_own_base_rate():
    one, other = calibration(*ONE), calibration([0.75, 0.25, 0.25], [0])
    both = pooled([one, other])
    assert (both.pages, both.wanted, both.accepted, both.right) == (7, 3, 3, 2)
    assert both.expected == pytest.approx(2.1875 + 1.25)
    # The third bin: 0.75 of three pages, one of which is wanted. Apart, the crawls are off by 0.75 and by 0.5 there.
    assert both.bins[2] == Bin(3, 1, 0.75)
    assert both.ece == pytest.approx((0.9375 + 0.25 + 0.25) / 7)
    squares, chance = 4 * one.brier + 3 * other.brier, 4 * 0.25 + 3 * (1 / 3) * (2 / 3)
    assert both.brier == pytest.approx(squares / 7)
    assert both.skill == pytest.approx(1 - squares / chance)


def test_a_page_counts_once_and_only_if_it_was_judged():
    relevance = np.array([0.75, np.nan, 0.25], np.float32)
    found = measure_calibration([0, 0, 1, 2], np.array([True, True, False]), relevance)
    assert (found.pages, found.wanted, found.expected) == (2, 1, 1.0)
    assert measure_calibration([1], np.array([True, True, False]), relevance) is None
    assert measure_calibration([], np.array([True, True, False]), relevance) is None


def test_where_nothing_is_wanted_or_nothing_is_accepted_some_figures_are_missing():
    found = calibration([0.25, 0.125], [])
    assert (found.skill, found.ratio, found.precision, found.recall) == (None, None, None, None)
    assert not found.is_close
    assert found.brier == pytest.approx((0.0625 + 0.015625) / 2)
    assert calibration([0.9, 0.8], [0, 1]).skill is None


@pytest.mark.parametrize(("judged", "is_close"), [([0.75] * 4, True), ([0.8] * 4, False), ([0.3] * 4, False)])
def test_a_sum_is_close_within_a_factor(judged, is_close):
    assert calibration(judged, [0, 1]).is_close == is_close


def crawl(topic, start, found, row="focused"):
    figures = CrawlFigures(
        pages=found.pages if found else 0,
        requests=0,
        robots=0,
        found={},
        found_in_all=0,
        r_precision=None,
        harvest_at_n=None,
        loss_at_n=None,
        harvest=None,
        loss=None,
        curve=[],
    )
    return MeasuredCrawl(topic=topic, row=row, start=start, figures=figures, calibration=found)


def results(runs, starts=1):
    topics = list(dict.fromkeys(run.topic for run in runs))
    return Results(
        command=[],
        versions={},
        plan=Plan(topics=topics, web=[], prioritizers=["focused"], pages=4, out="", limits=("bound",)),
        targets=dict.fromkeys(topics, 2),
        examples=dict.fromkeys(topics, 1),
        starts={topic: [["http://a.example/"]] * starts for topic in topics},
        runs=runs,
    )


def test_the_table_pools_topics_and_has_rows_of_real_crawls_only():
    runs = [crawl("birds", 0, calibration(*ONE)), crawl("storms", 0, calibration([0.25, 0.0], [0]))]
    title, headings, rows = calibration_table(results([*runs, crawl("birds", 0, None, row="bound")]))
    assert title == "calibration of R, 2 topics pooled"
    [row] = rows
    cells = dict(zip(headings, row, strict=True))
    assert cells[""] == "focused"
    assert (cells["pages"], cells["wanted"], cells["sum of R"], cells["ratio"]) == ("6", "3", "2.4", "0.81")
    assert cells["within 1.5×"] == "1"
    # The third bin has 0.5 of two pages, both wanted.
    assert cells["ECE"] == f"{(0.9375 + 1.5) / 6:.3f}"
    assert cells["ECE by topic"] == f"{(1.6875 / 4 + 0.75 / 2) / 2:.3f}"
    assert (cells["R ≥ 0.5"], cells["precision"], cells["recall"]) == ("2", "0.50", "0.33")


def test_starts_and_draws_give_mean_and_spread_and_missing_crawls_are_marked():
    runs = [crawl("birds", 0, calibration(*ONE)), crawl("birds", 1, calibration(*OTHER))]
    _, headings, [row] = calibration_table(results(runs, starts=2))
    assert dict(zip(headings, row, strict=True))["wanted"] == "1.5 ±0.7"
    _, _, [row] = calibration_table(results(runs, starts=3))
    assert row[0] == "focused (2 of 3 crawls)"


def test_each_topic_has_a_table_if_it_was_judged():
    runs = [crawl("birds", 0, calibration(*ONE)), crawl("storms", 0, None)]
    [(title, headings, [row])] = topic_calibration_tables(results(runs))
    assert title == "calibration of R, birds"
    assert "ECE" in headings
    assert not {"within 1.5×", "ECE by topic"} & set(headings)
    assert row[1] == "4"
    assert calibration_table(results([crawl("storms", 0, None)])) is None
