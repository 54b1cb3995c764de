"""Best-first by cosine: the page's likeness to the targets, nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from focused.critics.base import Verdict
from focused.critics.targets import Targets
from focused.papers.prioritizers.cosine import Cosine
from focused.prioritizers.base import Contribution
from tests.prioritizers.prioritizer_cases import OneWordCritic, page

LINKS = "<a href=/a>a</a><a href=/b>b</a>"


def critic_after(*targets, others=()):
    critic = OneWordCritic()
    pages = [page(text) for text in (*targets, *others)]
    critic.targets = Targets.of_pages(pages, [True] * len(targets) + [False] * len(others))
    return critic


def scores_on(prioritizer, body, relevance=0.5):
    parsed = page(body)
    return prioritizer.score(prioritizer.evidence(parsed, Verdict(relevance), parsed.links))


def test_the_score_is_the_greatest_cosine_whatever_the_critic_says():
    # All words stand on one page of the two, so their weights are alike: cos = 1/(√2·√2) to the first target.
    prioritizer = Cosine(critic=critic_after("heron stork", "tax law"))
    for relevance in (0.0, 1.0):
        scores = scores_on(prioritizer, "<p>heron tax</p><a href=/a></a><a href=/b></a>", relevance)
        assert np.allclose(scores, 0.5)


def test_pages_like_a_target_come_first():
    prioritizer = Cosine(critic=critic_after("heron stork", others=["tax law"]))
    near, far, beside = (scores_on(prioritizer, f"<p>{text}</p>{LINKS}")[0] for text in ("heron", "heron tax", "law"))
    assert near > far > beside == 0


def test_a_target_is_compared_with_the_others():
    body = f"<p>heron stork {'heron ' * 20}</p>{LINKS}"
    alone = Cosine(critic=critic_after(body, "tax law"))
    assert not scores_on(alone, body).any()


def test_explains_by_the_cosine():
    prioritizer = Cosine(critic=critic_after("heron stork"))
    parsed = page(f"<p>heron stork</p>{LINKS}")
    evidence = prioritizer.evidence(parsed, Verdict(0.5), parsed.links).row(0)
    (part,) = prioritizer.explain(evidence)
    assert part == Contribution("cosine of the page to the targets", float(prioritizer.score(evidence)[0]))


def test_a_critic_without_targets_is_named_with_the_way_out():
    critic = OneWordCritic()
    critic.targets = None
    with pytest.raises(ValueError, match=r"'cosine' .* critic 'one-word' keeps none: take a critic of ours"):
        Cosine(critic=critic)


def test_scores_stored_evidence_without_a_critic():
    taught = Cosine(critic=critic_after("heron stork"))
    parsed = page(f"<p>heron</p>{LINKS}")
    evidence = taught.evidence(parsed, Verdict(0.5), parsed.links)
    assert (Cosine().score(evidence) == taught.score(evidence)).all()
    with pytest.raises(ValueError, match="no critic"):
        Cosine().evidence(parsed, Verdict(0.5), parsed.links)
