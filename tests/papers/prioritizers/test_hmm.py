"""The HMM crawler: clusters of pages, and belief along the path."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from focused.critics.base import Verdict
from focused.papers.paths.stops import Stop
from focused.papers.prioritizers.hmm import Hmm
from focused.papers.prioritizers.hmm_chain import Clusters
from focused.papers.prioritizers.states import STATES, normalised, uniform
from focused.papers.prioritizers.taught import NotTaught
from focused.prioritizers.options import build
from tests.prioritizers.prioritizer_cases import WAY, OneWordCritic, built, page, toy_paths, toy_site


def along(prioritizer):
    site, arrived_by = toy_site("other", "bob"), None
    for path, *_ in WAY:
        here = site["http://other.example/" + path.format(name="bob")]
        evidence = prioritizer.evidence(here, Verdict(0.5), here.links, arrived_by=arrived_by)
        yield here, evidence
        arrived_by = evidence.row(0)


@pytest.fixture(scope="module")
def taught():
    return built("hmm", {"clusters": 12})


def test_pages_that_are_alike_are_in_one_cluster():
    pages = [page(f"penguin ice fish snow {'whale ' * i}") for i in range(1, 5)]
    pages += [page(f"tax law court judge {'fine ' * i}") for i in range(1, 5)]
    clusters = Clusters.of(pages, clusters=2, dimensions=3, seed=0)
    numbers = [clusters.of_page(one) for one in pages]
    assert len(set(numbers[:4])) == len(set(numbers[4:])) == 1
    assert numbers[0] != numbers[4]
    assert clusters.of_page(page("a penguin on the ice")) == numbers[0]


@pytest.mark.parametrize("body", ["", "zyzzyva", "123"])
def test_a_page_of_unknown_words_has_a_cluster(body):
    pages = [page("penguin ice fish"), page("tax law court"), page("soup bread salt")]
    clusters = Clusters.of(pages, clusters=9, dimensions=9, seed=0)
    assert 0 <= clusters.of_page(page(body)) < len(clusters) <= 3


def test_belief_is_the_forward_recursion_by_hand(taught):
    model = taught.model
    coming = uniform()
    for here, evidence in along(taught):
        seen = normalised(coming * model.emissions[:, model.of_page(here)])
        coming = seen @ model.transitions
        assert np.allclose(evidence.dense, coming, atol=1e-6)


def test_chances_sum_to_one(taught):
    assert np.allclose(taught.model.transitions.sum(axis=1), 1)
    assert np.allclose(taught.model.emissions.sum(axis=1), 1)
    assert (taught.model.transitions > 0).all()


def test_all_links_of_a_page_share_its_prediction(taught):
    for _, evidence in along(taught):
        assert len(set(taught.score(evidence).tolist())) == min(len(evidence), 1)


def test_links_of_pages_nearer_to_a_target_score_higher():
    prioritizer = Hmm(clusters=12)
    prioritizer.teach([path for path in toy_paths() if path[-1].state == "goal"])
    scores = [float(prioritizer.score(evidence)[0]) for _, evidence in along(prioritizer)][:4]
    assert scores[3] > scores[2] > max(scores[:2])


def test_the_path_counts_beside_the_page(taught):
    here = toy_site("other", "bob")["http://other.example/cs/people"]
    scores = set()
    for belief in np.eye(STATES):
        arrived = next(along(taught))[1].row(0)
        arrived.dense[0] = belief
        evidence = taught.evidence(here, Verdict(0.5), here.links, arrived_by=arrived)
        scores.add(round(float(taught.score(evidence)[0]), 3))
    assert len(scores) > 1


def test_viterbi_and_order_by_state(taught):
    other = copy.copy(taught)
    other.inference, other.priority = "viterbi", "state"
    scores = [float(other.score(evidence)[0]) for _, evidence in along(other)]
    assert scores[3] > scores[0]


def test_tells_the_path_as_the_reason(taught):
    *_, (_, evidence) = along(taught)
    (reason,) = taught.explain(evidence.row(0))
    assert reason.feature.startswith("path so far: T")


def test_works_without_targets():
    critic = OneWordCritic()
    critic.targets = None
    figures = Hmm(critic=critic).teach(toy_paths())
    assert figures["pages: log-loss"] < figures["pages: log-loss of the prior"]


def test_the_same_paths_teach_the_same(taught):
    assert all(
        np.array_equal(taught.state()[name], array) for name, array in built("hmm", {"clusters": 12}).state().items()
    )


def test_pages_without_words_cannot_teach():
    bare = [
        [Stop(page("", f"http://s.example/{n}/{layer}"), "to goal", layer, -1) for layer in (2, 1, 0)] for n in range(9)
    ]
    with pytest.raises(NotTaught, match="too few to cluster"):
        Hmm().teach(bare)


@pytest.mark.parametrize(
    "options",
    [{"inference": "x"}, {"priority": "x"}, {"gamma": -1}, {"clusters": 1}, {"dimensions": 0}, {"smoothing": 0}],
)
def test_options_of_hmm_that_are_wrong_are_named(options):
    ((name, value),) = options.items()
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        build(Hmm, options)


def test_what_was_clustered_is_bound_to_its_options(taught):
    with pytest.raises(ValueError, match="clusters=12, not 50"):
        Hmm().restore(taught.state())
