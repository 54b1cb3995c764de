"""What every prioritizer must keep. Each check is a function that raises AssertionError with a sentence.

A prioritizer is given as its class, or as any function that makes one, ready to lead a crawl::

    def test_my_prioritizer():
        check_prioritizer(MyPrioritizer)
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.arrays import load_arrays, save_arrays
from focused.critics.base import Verdict
from focused.pages.evidence import Evidence
from focused.prioritizers.base import Lessons, Prioritizer
from focused.testing.must import must
from focused.testing.toys import LINKS, POOR, page_of_links

MakePrioritizer = Callable[[], Prioritizer]
_CLASSES = (("Science.Biology", 0.7), ("Sport", 0.3))
_FETCHED = (0.9, np.nan, 0.1, np.nan)
_RELEVANCE = (0.9, 0.05, 0.05, 0.9)


def check_prioritizer(make: MakePrioritizer) -> None:
    """All checks."""
    for check in PRIORITIZER_CHECKS:
        check(make)


def evidence_of(prioritizer: Prioritizer, relevance: float = 0.5, body: str = LINKS) -> Evidence:
    """Evidence of all links of a page."""
    page = page_of_links(body)
    fetched = np.resize(np.array(_FETCHED, np.float32), len(page.links))
    return prioritizer.evidence(page, Verdict(relevance, _CLASSES), page.links, fetched=fetched)


def lessons_of(evidence: Evidence, relevance: Sequence[float] = _RELEVANCE, *, alive: bool = True) -> Lessons:
    """One lesson a row, each about a page of its own."""
    n = len(evidence)
    ones = np.ones(n, np.float32)
    return Lessons(
        evidence, np.array(relevance, np.float32), ones * np.float32(0.5), ones, np.full(n, alive), np.ones(n, np.bool_)
    )


def taught(prioritizer: Prioritizer, rounds: int = 5) -> Prioritizer:
    """One that has learned the same few lessons several times."""
    for _ in range(rounds):
        prioritizer = prioritizer.learn(lessons_of(evidence_of(prioritizer))) or prioritizer
    return prioritizer


def _scores_of(prioritizer: Prioritizer, relevance: float = 0.5, body: str = LINKS) -> NDArray[np.float32]:
    return prioritizer.score(evidence_of(prioritizer, relevance, body))


def _must_equal(one: NDArray[Any], other: NDArray[Any], promise: str) -> None:
    must(np.array_equal(one, other), promise, (one, other))


def check_evidence(make: MakePrioritizer) -> None:
    """Evidence has a row for each link, in the links' order, and as many dense numbers as the class declares."""
    prioritizer = make()
    evidence, links = evidence_of(prioritizer), page_of_links().links
    must(len(evidence) == len(links), "evidence has a row for each link", len(evidence))
    _must_equal(evidence.leaf, links.first, "evidence.leaf holds the links' first leaves")
    width = evidence.dense.shape[1]
    must(width == len(prioritizer.dense), "Evidence.dense has a column for each name in `dense`", width)
    prioritizer = taught(prioritizer)
    parts = [prioritizer.evidence(page_of_links(), Verdict(0.5), links.select(rows)) for rows in ([2, 0], [0, 1, 2, 3])]
    few, every = (prioritizer.score(part) for part in parts)
    _must_equal(few, every[[2, 0]], "a link has the same score when only some links are asked for")


def check_scores(make: MakePrioritizer) -> None:
    """Scores are finite float32 numbers from 0 to 1, one a row, before and after learning."""
    for prioritizer in (make(), taught(make(), 60)):
        for relevance in (0.0, 0.5, 1.0):
            scores = _scores_of(prioritizer, relevance)
            must(scores.shape == (4,) and scores.dtype == np.float32, "score gives a float32 a row", scores)
            must(bool(((scores >= 0) & (scores <= 1)).all()), "scores are finite numbers from 0 to 1", scores)


def check_poor_pages(make: MakePrioritizer) -> None:
    """Pages without links, links without text and words never seen have scores, too."""
    prioritizer = taught(make())
    for body in (*POOR, "<a href=/q>zyzzyva ξένος 漢字</a> quux"):
        scores = _scores_of(prioritizer, body=body)
        links = len(page_of_links(body).links)
        must(
            scores.shape == (links,) and bool(np.isfinite(scores).all()), "poor pages have scores, too", (body, scores)
        )


def check_scoring_changes_nothing(make: MakePrioritizer) -> None:
    """Scoring changes neither the prioritizer nor the evidence."""
    prioritizer = taught(make())
    evidence = evidence_of(prioritizer)
    before, first = evidence.to_bytes(), prioritizer.score(evidence)
    _must_equal(prioritizer.score(evidence), first, "scoring again gives the same scores")
    must(evidence.to_bytes() == before, "scoring leaves the evidence as it was", evidence)


def check_rows_are_independent(make: MakePrioritizer) -> None:
    """A row has the same score alone, in company, and among those of other pages."""
    prioritizer = taught(make())
    parts = [evidence_of(prioritizer, 0.2), evidence_of(prioritizer, body=""), evidence_of(prioritizer, 0.8)]
    together = prioritizer.score(Evidence.concat(parts))
    alone = [prioritizer.score(part.row(i))[0] for part in parts for i in range(len(part))]
    must(np.allclose(together, alone, atol=1e-6), "a row has the same score alone and in company", (together, alone))


def check_stored_evidence(make: MakePrioritizer) -> None:
    """Evidence that was stored, and of whose ids only the upper `id_bits` were kept, says and teaches the same."""
    prioritizer = taught(make())
    evidence = evidence_of(prioritizer)
    stored = Evidence.from_bytes(evidence.to_bytes())
    cut = evidence.select(range(len(evidence)))
    cut.ids = cut.ids & np.uint32(2**32 - 2 ** (32 - prioritizer.id_bits))
    learned = (prioritizer.learn(lessons_of(evidence)) or prioritizer).score(evidence)
    for other in (stored, cut):
        _must_equal(prioritizer.score(other), prioritizer.score(evidence), "stored evidence has the same scores")
        after = (prioritizer.learn(lessons_of(other)) or prioritizer).score(evidence)
        _must_equal(after, learned, "stored evidence teaches the same")


def check_learning(make: MakePrioritizer) -> None:
    """`learn` gives a new snapshot and leaves the old one alone; None if there is nothing to learn."""
    old = taught(make())
    evidence = evidence_of(old)
    scores, state = old.score(evidence), {name: array.copy() for name, array in old.state().items()}
    new = old.learn(lessons_of(evidence))
    must((new is not None) == old.learns, "`learns` says whether learn gives a snapshot or None", new)
    must(new is not old, "learn gives a new snapshot, not itself", new)
    _must_equal(old.score(evidence), scores, "learning leaves the scores of the older snapshot alone")
    kept = [np.array_equal(old.state()[name], array) for name, array in state.items()]
    must(all(kept), "learning leaves the state of the older snapshot alone", kept)
    dead = old.learn(lessons_of(evidence, alive=False))
    knows = old.learns_of_the_dead
    must((dead is not None) == knows, "`learns_of_the_dead` says whether dead links give a snapshot or None", dead)
    if dead is not None:
        other = old.learn(lessons_of(evidence, [1 - one for one in _RELEVANCE], alive=False)) or old
        _must_equal(other.score(evidence), dead.score(evidence), "the relevance of dead links has no meaning")


def check_the_same_lessons_teach_the_same(make: MakePrioritizer) -> None:
    """Two that learned the same lessons give the same scores."""
    one, other = taught(make()), taught(make())
    _must_equal(_scores_of(one), _scores_of(other), "the same lessons give the same scores")


def check_state(make: MakePrioritizer) -> None:
    """State brings all back that was learned, to the bit, and learning goes on as before."""
    prioritizer = taught(make())
    back = make()
    back.restore(load_arrays(save_arrays(prioritizer.state())))
    for _ in range(2):
        _must_equal(_scores_of(back), _scores_of(prioritizer), "restore brings back exactly what state gave")
        back, prioritizer = taught(back), taught(prioritizer)
    there = pickle.loads(pickle.dumps(prioritizer))  # noqa: S301  # our own
    _must_equal(_scores_of(there), _scores_of(prioritizer), "a prioritizer can be sent to another process")


def check_explanations(make: MakePrioritizer) -> None:
    """Each link is explained, strongest first; each feature has a weight."""
    prioritizer = taught(make())
    evidence = evidence_of(prioritizer)
    for i in range(len(evidence)):
        parts = prioritizer.explain(evidence.row(i))
        sizes = [abs(part.weight) for part in parts]
        must(bool(parts) and sizes == sorted(sizes, reverse=True), "each link is explained, strongest first", parts)
        known = all(isinstance(part.feature, int | str) for part in parts)
        must(known, "a feature is an id of the evidence or a name", parts)
    ids = np.unique(evidence.ids)
    weights = prioritizer.weights_of(ids)
    must(weights.shape == ids.shape and weights.dtype == np.float32, "weights_of gives a float32 an id", weights)


PRIORITIZER_CHECKS: tuple[Callable[[MakePrioritizer], None], ...] = (
    check_evidence,
    check_scores,
    check_poor_pages,
    check_scoring_changes_nothing,
    check_rows_are_independent,
    check_learning,
    check_stored_evidence,
    check_the_same_lessons_teach_the_same,
    check_state,
    check_explanations,
)
