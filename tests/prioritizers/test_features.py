"""A feature of links is declared once; what was declared before stays what it was."""

from __future__ import annotations

import pickle
from zlib import crc32

import numpy as np
import pytest

from focused.critics.base import Verdict
from focused.pages.evidence import Evidence
from focused.pages.page import Page
from focused.prioritizers.base import Lessons
from focused.prioritizers.features import Layout, Look, Number, Place, Words
from focused.prioritizers.focused import Focused
from focused.prioritizers.kalman import KalmanLearner
from focused.report.reasons import reasons
from tests.prioritizers.prioritizer_cases import OneWordCritic, lessons_of, page

BODY = (
    "<title>Birds</title><div id=top><a href=/>home</a> <a href='/about/us.html'>about us</a></div>"
    "<p>the penguin <a href=/birds/penguin.html>penguin page</a> swims</p>"
    "<ul class='list long'><li>see <a href='/birds/~owl/?id=7'>owl</a> here<li><a href=/tax/law.html>tax</a> law"
    "<li><a href=http://other.example/birds/><img src=x></a></ul>"
)


def three_pages() -> list[Page]:
    return [page(BODY, f"http://site.example/{name}") for name in ("", "birds/1.html", "tax/2.html")]


def taught_on(pages: list[Page], **options: object) -> tuple[Focused, list[Evidence]]:
    """One that has learned from some links of each page, and the evidence of all of them."""
    prioritizer = Focused(critic=OneWordCritic(), **options)
    evidence = [prioritizer.evidence(one, Verdict(0.2 + 0.3 * i), one.links) for i, one in enumerate(pages)]
    for number, seen in enumerate(evidence):
        relevance = [0.1, 0.0, 0.9, 0.7, 0.05, 0.3][number:]
        lessons: Lessons = lessons_of(seen.select(range(number, len(seen))), relevance)
        lessons.first[number + 1 :: 2] = False
        prioritizer = prioritizer.learn(lessons) or prioritizer
    return prioritizer, evidence


def test_evidence_of_the_default_is_what_jobs_have_stored() -> None:
    """Ids are in job files and in saved models: a change here makes them worthless."""
    _, evidence = taught_on(three_pages())
    assert [crc32(seen.ids.tobytes()) for seen in evidence] == [679021033, 3828506647, 648648027]
    assert {crc32(seen.starts.tobytes()) for seen in evidence} == {52582097}
    assert evidence[0].dense[2, :5].tolist() == pytest.approx([0.2, 4.3944492, 4.3944492, 0.0, 3.0])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [0.08127522, 0.125945, 0.8935496, 0.6178222, 0.05543214, 0.2278221]),
        ({"bits": 8}, [0.08296904, 0.1160449, 0.8923465, 0.6084945, 0.04597681, 0.2266855]),
        ({"words": False, "spread": 0.5}, [0.3426682, 0.2978629, 0.9756494, 0.6431785, 0.1222992, 0.1808377]),
        ({"siblings": False, "reads": False}, [0.1666567, 0.08767274, 0.8215209, 0.5618023, 0.08783452, 0.2278786]),
        (
            {"elements": False, "address": False, "source": False, "rarity": False, "novelty": 0.3},
            [0.2914659, 0.283548, 0.9418565, 0.7414961, 0.1454976, 0.3327879],
        ),
    ],
)
def test_scores_of_the_default_are_what_they_were(options: dict[str, object], expected: list[float]) -> None:
    """Noted before features were declared in a list, and when no link was taken for dead."""
    prioritizer, evidence = taught_on(three_pages(), price=0.0, **options)
    assert prioritizer.score(evidence[1]) == pytest.approx(expected, rel=1e-5)


def last_letter(look: Look) -> np.ndarray:
    return np.array([ord(url[-1]) for url in look.links.urls], np.uint32)


def length_of_address(look: Look) -> np.ndarray:
    return np.array([len(url) / 100 for url in look.links.urls])


class WithTwoMore(Focused):
    """The default, and two features that are declared here and nowhere else."""

    name = "with-two-more"
    features = (
        *Focused.features,
        Place(name="its last letter", of=last_letter, spread=2.0, trust="letters", heading="its spelling"),
        Number(name="length", of=length_of_address, mean=0.5, spread=1.0, shown="its length"),
    )


def test_a_feature_is_learned_and_explained_by_its_declaration_alone() -> None:
    prioritizer, links = WithTwoMore(), page("<a href=/1/x>a</a><a href=/2/y>b</a><a href=/3/x>c</a><a href=/4/y>d</a>")
    seen = prioritizer.evidence(links, Verdict(0.5), links.links)
    assert seen.dense[:, prioritizer.dense.index("length")].tolist() == pytest.approx([0.23] * 4)
    for _ in range(5):
        prioritizer = prioritizer.learn(lessons_of(seen.select([0, 1]), [0.9, 0.0])) or prioritizer
    scores = prioritizer.score(seen)
    assert scores[2] > 2 * scores[3]
    lines = list(reasons(prioritizer, seen.row(2), [None] * len(seen.row(2).ids)))
    assert lines[0].startswith("first of all: ")
    assert "its length +" in lines[0]
    assert any(line.startswith("its spelling (+") and "its last letter +" in line for line in lines)


def test_no_one_kind_of_features_is_needed() -> None:
    """Numbers alone, places alone, words alone."""
    parsed = page(BODY)
    look = Look(parsed, Verdict(0.5), parsed.links)
    place = Place(name="letter", of=last_letter, spread=1.0, trust="letters")
    number = Number(name="length", of=length_of_address, mean=1.0, spread=1.0)
    (words,) = (each for each in Focused.features if isinstance(each, Words) and each.name == "address")
    for features in ([number], [place], [words], [number, words], [words, place]):
        learner = KalmanLearner(Layout(features), bias=(0.0, 1.0), bits=8)
        seen = learner.layout.evidence(look)
        learned = learner.learn(lessons_of(seen, [0.9, 0.1, 0.9, 0.1, 0.9, 0.1]))
        total = sum(part.weight for part in learned.explain(seen.row(0)))
        assert learned.score(seen)[0] == pytest.approx(1 / (1 + np.exp(-total)), rel=1e-4)


def test_a_prioritizer_made_of_features_can_go_to_another_process() -> None:
    prioritizer, evidence = taught_on(three_pages())
    there = pickle.loads(pickle.dumps(prioritizer))
    assert (there.score(evidence[0]) == prioritizer.score(evidence[0])).all()
