"""Figures of a crawl, from logs that can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from focused.lab.measure import Trace, measure, read_trace, share_of
from focused.lab.replay.log import Fetch
from focused.warc.web import Web

HOST = "http://site.example"


def web(count=10):
    return Web.from_pages({f"{HOST}/{i}": f"page {i}" for i in range(count)})


def mask(size, *rows):
    made = np.zeros(size, bool)
    made[list(rows)] = True
    return made


def test_pages_are_counted_at_the_server_without_examples_and_robots():
    fetches = [
        Fetch(0, 404, f"{HOST}/robots.txt"),
        Fetch(1, 200, f"{HOST}/0"),
        Fetch(2, 404, f"{HOST}/none"),
        Fetch(3, 200, f"{HOST}/1"),
        Fetch(4, 301, f"{HOST}/old"),
        Fetch(5, 200, f"{HOST}/%32"),
        Fetch(6, 200, f"{HOST}/3"),
    ]
    trace = read_trace(fetches, web(), ~mask(10, 1), most=2)
    assert (trace.pages, trace.requests, trace.robots) == ([0, 2], [1, 5], 1)


def test_targets_are_counted_once():
    figures = measure(Trace([3, 3, 4], [1, 2, 3]), mask(10, 3, 4), budgets=[1, 2, 3], most=3)
    assert figures.found == {1: 1, 2: 1, 3: 2}
    assert figures.pages == 3


def test_targets_are_counted_by_requests_as_well():
    # The third page came with the fifth request, the fourth with the ninth.
    trace = Trace([0, 3, 4, 5], [1, 2, 5, 9])
    figures = measure(trace, mask(10, 0, 4, 5), budgets=[1, 4, 5, 8, 9], most=8)
    assert figures.found == {1: 1, 4: 3, 5: 3, 8: 3}
    assert figures.found_by_requests == {1: 1, 4: 1, 5: 2, 8: 2}


def test_r_precision_is_taken_at_as_many_pages_as_there_are_targets():
    figures = measure(Trace([0, 1, 2, 3, 4], [1, 2, 3, 4, 5]), mask(10, 0, 2, 4, 9), budgets=[5], most=5)
    assert figures.r_precision == 2 / 4
    assert figures.found_in_all == 3


def test_what_needs_more_pages_than_were_allowed_is_not_told():
    figures = measure(
        Trace([0, 1], [1, 2]), mask(10, *range(8)), budgets=[1, 5], most=2, relevance=np.ones(10, np.float32)
    )
    assert figures.r_precision is None
    assert figures.loss_at_n is None
    assert figures.found == {1: 1}


def test_a_crawl_that_dried_up_stays_where_it_was():
    figures = measure(Trace([0, 1], [1, 2]), mask(10, 0, 1, 2), budgets=[2, 5], most=50)
    assert figures.found == {2: 2, 5: 2}
    assert figures.r_precision == pytest.approx(2 / 3)
    assert figures.curve == [0, 2, 2, 2, 2, 2]


def test_loss_is_the_mean_of_what_verdicts_lack():
    relevance = np.array([1.0, 0.5, 0.0, np.nan], np.float32)
    figures = measure(Trace([0, 1, 2, 3], [1, 2, 3, 4]), mask(4, 0, 1), budgets=[], most=4, relevance=relevance)
    assert figures.harvest_at_n == pytest.approx(0.75)
    assert figures.loss_at_n == pytest.approx(0.25)
    assert figures.loss == pytest.approx(0.5)


def test_a_crawl_of_nothing_has_figures():
    figures = measure(Trace([], []), mask(4, 0), budgets=[1], most=4, relevance=np.zeros(4, np.float32))
    assert (figures.found, figures.r_precision, figures.harvest, figures.requests) == ({1: 0}, 0.0, None, 0)


def test_a_share_is_that_of_the_sums_and_at_most_one():
    some = measure(Trace([0, 5, 1], [1, 2, 3]), mask(10, 0, 1), budgets=[1, 2, 3], most=3)
    more = measure(Trace([0, 1, 5], [1, 2, 3]), mask(10, 0, 1), budgets=[1, 2, 3], most=3)
    assert share_of(some, more) == 4 / 5
    assert share_of(more, some) == 1.0
    assert share_of(some, measure(Trace([], []), mask(10, 0), budgets=[1], most=3)) is None
