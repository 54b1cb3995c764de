"""Precision and maximum average similarity, on cosines that can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from focused.lab.likeness import Bags, measure_likeness
from focused.papers.paths.graph import read_page
from focused.warc.web import Web

# Two targets, four pages: the first target is met once, and closely; the second is what the crawl stays near.
COSINES = np.array([[0.9, 0.5], [0.1, 0.6], [0.0, 0.7], [0.0, 0.6]], np.float32)


def test_precision_is_the_share_of_pages_near_any_target():
    likeness = measure_likeness(COSINES, [0.5, 0.7, 0.95], most=4)
    assert likeness.precision == {0.5: 1.0, 0.7: 0.5, 0.95: 0.0}


def test_sigma_is_the_mean_over_pages_to_the_target_that_is_nearest_in_the_mean():
    assert measure_likeness(COSINES, [], most=4).sigma == pytest.approx(0.6, abs=1e-4)


def test_sigma_does_not_grow_with_the_number_of_pages():
    many = np.tile(COSINES, (50, 1))
    assert measure_likeness(many, [], most=200).sigma == pytest.approx(0.6, abs=1e-4)


def test_curves_tell_what_held_after_each_ten_pages():
    cosines = np.concatenate([np.full((10, 1), 0.8), np.full((10, 1), 0.2)]).astype(np.float32)
    likeness = measure_likeness(cosines, [0.5], most=20)
    assert likeness.sigma_curve == pytest.approx([0.8, 0.5], abs=1e-4)
    assert likeness.precision_curve == {0.5: [1.0, 0.5]}


def test_a_crawl_that_dried_up_stays_where_it_was():
    likeness = measure_likeness(COSINES, [0.7], most=30)
    assert likeness.precision_curve[0.7] == [0.5, 0.5, 0.5]


def test_without_pages_or_targets_there_is_nothing_to_tell():
    assert measure_likeness(COSINES[:0], [0.5], most=4) is None
    assert measure_likeness(COSINES[:, :0], [0.5], most=4) is None


@pytest.fixture
def web():
    texts = {"star": "star galaxy star", "soup": "soup onion", "both": "star soup"}
    return Web.from_pages({f"http://site.example/{name}": f"<p>{text}</p>" for name, text in texts.items()})


def test_a_page_is_parsed_once_for_all_topics_and_crawls(web, monkeypatch):
    parsed = []

    def read(web, row):
        parsed.append(row)
        return read_page(web, row)

    monkeypatch.setattr("focused.lab.likeness.read_page", read)
    bags = Bags(web)
    for _ in range(2):
        assert [len(bags.of(row)[0]) for row in (0, 2, 1)] == [2, 2, 2]
    assert sorted(parsed) == [0, 1, 2]
