"""Maximum-entropy models against scikit-learn's, and against what was made by a known one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from focused.pages.evidence import Evidence
from focused.papers.prioritizers.features import rows_to_matrix
from focused.papers.prioritizers.maxent import NO_STATE, Samples, fit
from focused.papers.prioritizers.states import STATES

KNOWN = np.array([3, 8, 21], np.uint32)


def drawn(count=400, seed=0):
    """States that depend on the features, on the state before, and on one of two numbers."""
    rng = np.random.default_rng(seed)
    has = rng.random((count, len(KNOWN))) < 0.4
    before = rng.integers(NO_STATE, STATES, count)
    numbers = rng.normal(size=(count, 2)).astype(np.float32)
    state = np.clip(np.where(has[:, 0], 0, before) + (numbers[:, 1] > 1), 0, STATES - 1)
    state = np.where(rng.random(count) < 0.1, rng.integers(0, STATES, count), state)
    starts = np.concatenate([[0], np.cumsum(has.sum(axis=1))])
    ids = np.concatenate([KNOWN[row] for row in has])
    return Samples(Evidence.of(starts, ids, numbers), before, state, rng.random(count) + 0.5)


def fitted(samples, strength=1.0, iterations=300):
    return fit(samples, KNOWN, strength=strength, iterations=iterations, tick=lambda: None)


def chances(model, samples):
    every = model.transitions(model.says(samples.seen))
    return every[np.arange(len(samples)), np.maximum(samples.before, 0)]


def test_is_the_model_that_scikit_learn_finds():
    samples = drawn().select(drawn().before != NO_STATE)
    model = fitted(samples)
    dense = samples.seen.dense.astype(float)
    scaled = (dense - dense.mean(axis=0)) / dense.std(axis=0)
    words = rows_to_matrix((samples.seen.starts, samples.seen.ids), KNOWN).toarray()
    table = np.hstack([np.eye(STATES)[samples.before], scaled, np.ones((len(samples), 1)), words])
    other = LogisticRegression(C=1.0, fit_intercept=False, max_iter=2_000, tol=1e-8)
    other.fit(table, samples.state, sample_weight=samples.weight)
    assert np.allclose(chances(model, samples), other.predict_proba(table), atol=2e-3)


def test_transitions_are_distributions():
    model = fitted(drawn())
    every = model.transitions(model.says(drawn(seed=1).seen))
    assert every.shape == (400, STATES, STATES)
    assert (every >= 0).all()
    assert np.allclose(every.sum(axis=2), 1)


def test_tells_states_it_has_not_seen_better_than_their_frequency():
    model, new = fitted(drawn()), drawn(seed=1)
    right = chances(model, new).argmax(axis=1) == new.state
    assert right.mean() > 0.7 > np.bincount(new.state).max() / len(new)


def test_the_weaker_the_prior_the_larger_the_weights():
    sizes = [np.abs(fitted(drawn(), strength).of_ids).sum() for strength in (0.01, 1.0, 100.0)]
    assert sizes == sorted(sizes)


def test_a_number_that_never_changes_does_no_harm():
    samples = drawn()
    samples.seen.dense[:, 0] = 4
    assert np.isfinite(fitted(samples).of_dense).all()


def test_a_state_that_never_occurs_is_improbable():
    samples = drawn().select(drawn().state != 2)
    assert chances(fitted(samples), samples)[:, 2].mean() < 0.02


def test_says_when_it_has_taken_a_step_and_can_be_stopped():
    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(drawn(), KNOWN, strength=1.0, iterations=50, tick=stop)


def test_contributions_add_up_to_what_is_said():
    model, row = fitted(drawn()), drawn().seen.row(5)
    pull = np.array([1.0, 0, 0, 0, -1.0])
    parts = model.contributions(row, pull, ("one", "other"))
    said = (model.says(row)[0] - model.bias) @ pull
    assert np.isclose(sum(part.weight for part in parts), said, atol=1e-4)


def test_features_that_are_not_known_weigh_nothing():
    weights = fitted(drawn()).weights_of(np.array([4, 8], np.uint32), np.ones(STATES) * [1, 0, 0, 0, 0])
    assert weights[0] == 0 != weights[1]
