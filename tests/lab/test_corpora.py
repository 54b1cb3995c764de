"""On real webs: the graph and the limits agree with figures that were worked out independently."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from focused.lab.bounds import Truth, walk
from focused.papers.paths.graph import read_graph
from focused.papers.paths.topics import read_examples, read_labels, read_topics, with_label
from focused.topics.focus import in_focus
from focused.warc.web import Web

CORPORA = Path(os.environ.get("FOCUSED_CORPORA", Path(__file__).parents[3] / "shared" / "corpora"))
NEAR = 4
"""Targets by which two parsers may differ: frames, entities, ties between links that rank alike."""

pytestmark = pytest.mark.skipif(not CORPORA.is_dir(), reason="the corpora are not here (FOCUSED_CORPORA)")


@pytest.fixture(scope="module")
def wpcd():
    path = CORPORA / "wpcd.warc.gz"
    web = Web.open(path)
    return web, read_graph(web, path)


# Targets after 200, 500 and 1,000 pages from the far starts, example pages counted as targets.
@pytest.mark.parametrize(
    ("topic", "breadth", "near"),
    [
        ("Science.Biology.Birds", (0, 3, 6), (108, 115, 116)),
        ("Science.Physics.Space_Astronomy", (2, 7, 12), (95, 95, 95)),
        ("Mathematics", (0, 1, 2), (44, 44, 44)),
        ("Religion", (2, 9, 23), (117, 123, 124)),
        ("Design_and_Technology.Architecture", (0, 0, 5), (33, 42, 42)),
    ],
)
def test_limits_are_those_found_by_others(wpcd, topic, breadth, near):
    web, graph = wpcd
    lab = read_topics(CORPORA / "wpcd.topics.json")[topic]
    examples = read_examples(CORPORA / "wpcd.examples.tsv")
    labelled = with_label(read_labels(CORPORA / "wpcd.labels.tsv"), lab.focus)
    wanted = {*lab.target_urls, *labelled, *(url for url, name in examples.items() if in_focus(name, lab.focus))}
    targets = np.isin(np.arange(len(web)), [web.find(url) for url in wanted])
    ground = Truth(graph, targets, targets, np.ones(len(web), bool), np.ones(len(graph), bool))
    seeds = [web.find(url) for url in lab.seeds_far]

    def found(name):
        return np.cumsum(targets[walk(ground, seeds, 1_000, name).pages])[[199, 499, 999]]

    assert np.abs(found("near-bound") - near).max() <= NEAR
    assert np.abs(found("breadth-first") - breadth).max() <= 2 * NEAR
    assert (found("bound") >= found("near-bound") - NEAR).all()
