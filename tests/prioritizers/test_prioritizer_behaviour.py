"""What every prioritizer must do, whatever it thinks of links."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import pytest

from focused import registry
from focused.critics.base import Verdict
from focused.options import types_of_options
from focused.pages.evidence import Evidence
from focused.papers.prioritizers.taught import NotTaught, TaughtCard, load_taught, save_taught
from focused.prioritizers.base import COMBINATIONS
from focused.prioritizers.options import build
from focused.registry import UnknownName, find, names
from focused.schema import in_words
from tests.prioritizers.prioritizer_cases import (
    WAY,
    OneWordCritic,
    built,
    evidence_of,
    lessons_of,
    page,
    toy_paths,
    toy_site,
)

BODY = (
    "<h1>Birds</h1><p>the penguin <a href=/penguin>penguin page</a> swims</p>"
    "<ul><li><a href=/tax>tax</a> law<li><a href=/empty><img src=x></a></ul><a href=/penguin>again</a>"
)
CLASSES = (("Science.Biology", 0.7), ("Sport", 0.3))
CASES = [
    *[(name, {}) for name in names("prioritizer")],
    ("apprentice", {"learner": "naive-bayes"}),
    ("apprentice", {"topics": False, "cocitation": True, "offsets": False}),
    ("apprentice", {"d_max": 0, "reads": False, "bits": 10}),
    ("focused", {"words": False, "address": False, "elements": False, "siblings": False}),
    ("focused", {"d_max": 0, "offsets": False, "reads": False, "source": False, "graded": False, "bits": 10}),
]


@pytest.fixture(params=CASES, ids=lambda case: " ".join([case[0], *map(str, case[1].items())]))
def make(request):
    name, options = request.param
    return lambda: built(name, options)


def some_evidence(prioritizer, relevance=0.5):
    return evidence_of(prioritizer, BODY, relevance, CLASSES, [0.9, np.nan, 0.1, np.nan])


def taught(prioritizer, rounds=5):
    for _ in range(rounds):
        evidence = some_evidence(prioritizer)
        prioritizer = prioritizer.learn(lessons_of(evidence, [0.9, 0.05, 0.05, 0.9])) or prioritizer
    return prioritizer


def test_is_registered_under_its_name(make):
    assert make().name in names("prioritizer")


def test_scores_before_it_has_learned(make):
    prioritizer = make()
    scores = prioritizer.score(some_evidence(prioritizer))
    assert scores.shape == (4,)
    assert scores.dtype == np.float32


@pytest.mark.parametrize("relevance", [0.0, 0.5, 1.0])
def test_scores_are_finite_and_between_0_and_1(make, relevance):
    for prioritizer in (make(), taught(make(), 60)):
        scores = prioritizer.score(some_evidence(prioritizer, relevance))
        assert np.isfinite(scores).all()
        assert ((scores >= 0) & (scores <= 1)).all()


def test_scoring_changes_nothing(make):
    prioritizer = taught(make())
    evidence = some_evidence(prioritizer)
    before = evidence.to_bytes()
    first = prioritizer.score(evidence)
    assert (prioritizer.score(evidence) == first).all()
    assert evidence.to_bytes() == before


def test_a_row_scores_the_same_alone_and_in_company(make):
    prioritizer = taught(make())
    evidence = some_evidence(prioritizer)
    alone = [prioritizer.score(evidence.row(i))[0] for i in range(len(evidence))]
    assert np.allclose(alone, prioritizer.score(evidence), atol=1e-6)


def test_of_the_ids_only_the_upper_bits_matter_that_it_says(make):
    prioritizer = taught(make())
    evidence = some_evidence(prioritizer)
    cut = evidence.select(range(len(evidence)))
    cut.ids = cut.ids & np.uint32(2**32 - 2 ** (32 - prioritizer.id_bits))
    assert (prioritizer.score(cut) == prioritizer.score(evidence)).all()
    lessons, of_cut = (lessons_of(rows, [0.9, 0.05, 0.05, 0.9]) for rows in (evidence, cut))
    learned, alike = (prioritizer.learn(each) or prioritizer for each in (lessons, of_cut))
    assert (alike.score(cut) == learned.score(evidence)).all()


def test_the_number_of_dense_columns_is_as_declared(make):
    prioritizer = make()
    assert some_evidence(prioritizer).dense.shape == (4, len(prioritizer.dense))


def test_evidence_tells_where_the_links_stand(make):
    prioritizer = make()
    parsed = page(BODY)
    assert (some_evidence(prioritizer).leaf == parsed.links.first).all()


def test_evidence_survives_being_stored(make):
    prioritizer = taught(make())
    evidence = some_evidence(prioritizer)
    stored = Evidence.from_bytes(evidence.to_bytes())
    assert (prioritizer.score(stored) == prioritizer.score(evidence)).all()
    lessons = lessons_of(stored, [0.9, 0.1, 0.1, 0.9])
    again = prioritizer.learn(lessons)
    assert (again is None) == (not prioritizer.learns)


def test_evidence_of_pages_can_be_joined(make):
    prioritizer = make()
    parts = [some_evidence(prioritizer, 0.2), evidence_of(prioritizer, ""), some_evidence(prioritizer, 0.8)]
    joined = prioritizer.score(Evidence.concat(parts))
    assert np.allclose(joined, np.concatenate([prioritizer.score(part) for part in parts]), atol=1e-6)


@pytest.mark.parametrize("body", ["", "no links at all", "<a href=/x></a>", "<a href=/x><a href=/y>", "<frame src=/f>"])
def test_poor_pages(make, body):
    prioritizer = taught(make())
    evidence = evidence_of(prioritizer, body)
    assert len(prioritizer.score(evidence)) == len(evidence) == len(page(body).links)


def test_some_of_a_pages_links(make):
    prioritizer = taught(make())
    parsed = page(BODY)
    rows = [2, 0]
    some = prioritizer.evidence(parsed, Verdict(0.5), parsed.links.select(rows))
    every = prioritizer.evidence(parsed, Verdict(0.5), parsed.links)
    assert (prioritizer.score(some) == prioritizer.score(every)[rows]).all()


def test_words_never_seen_before(make):
    prioritizer = taught(make())
    scores = prioritizer.score(evidence_of(prioritizer, "<a href=/q>zyzzyva ξένος 漢字</a> quux"))
    assert np.isfinite(scores).all()


def test_learning_leaves_the_older_snapshot_alone(make):
    old = taught(make())
    evidence = some_evidence(old)
    scores = old.score(evidence)
    state = {name: array.copy() for name, array in old.state().items()}
    new = taught(old)
    assert (old.score(evidence) == scores).all()
    assert all(np.array_equal(old.state()[name], array) for name, array in state.items())
    assert (new is not old) == old.learns


def test_learns_or_says_that_it_does_not(make):
    prioritizer = make()
    evidence = some_evidence(prioritizer)
    learned = prioritizer.learn(lessons_of(evidence, [0.9, 0.1, 0.1, 0.9]))
    assert (learned is not None) == prioritizer.learns


def test_dead_links_teach_nothing(make):
    prioritizer = taught(make())
    lessons = lessons_of(some_evidence(prioritizer), [0, 0, 0, 0])
    lessons.alive[:] = False
    assert prioritizer.learn(lessons) is None


def test_the_same_lessons_give_the_same_scores(make):
    one, other = taught(make()), taught(make())
    evidence = some_evidence(one)
    assert (one.score(evidence) == other.score(evidence)).all()


def test_state_brings_everything_back_and_learning_goes_on_as_before(make, tmp_path):
    prioritizer = taught(make())
    np.savez(tmp_path / "state.npz", **prioritizer.state())
    back = make()
    with np.load(tmp_path / "state.npz", allow_pickle=False) as arrays:
        back.restore({name: arrays[name] for name in arrays.files})
    evidence = some_evidence(prioritizer)
    assert (back.score(evidence) == prioritizer.score(evidence)).all()
    assert (taught(back).score(evidence) == taught(prioritizer).score(evidence)).all()


def test_explains_each_link(make):
    prioritizer = taught(make())
    for i in range(4):
        parts = prioritizer.explain(some_evidence(prioritizer).row(i))
        weights = [abs(part.weight) for part in parts]
        assert parts
        assert weights == sorted(weights, reverse=True)
        assert all(isinstance(part.feature, int | str) for part in parts)


def test_weights_of_features(make):
    prioritizer = taught(make())
    ids = np.unique(some_evidence(prioritizer).ids)
    weights = prioritizer.weights_of(ids)
    assert weights.shape == ids.shape
    assert weights.dtype == np.float32


@pytest.mark.parametrize("combine", COMBINATIONS)
@pytest.mark.parametrize("name", names("prioritizer"))
def test_takes_every_way_to_combine(name, combine):
    assert build(find("prioritizer", name), {"combine": combine}).combine == combine


@pytest.mark.parametrize("seed", ["a", -1, 2**32, 1.5, True, None])
@pytest.mark.parametrize("name", names("prioritizer"))
def test_a_seed_that_nothing_can_be_drawn_from_is_told(name, seed):
    with pytest.raises(ValueError, match=f"seed={seed!r}: give a whole number from 0 to 4294967295"):
        build(find("prioritizer", name), {"seed": seed})


@pytest.mark.parametrize("name", ["focused.critics.base.Critic", "focused.prioritizers.base.Prioritizer", "os.path"])
def test_what_is_no_prioritizer_is_told_with_the_way_out(name):
    with pytest.raises(UnknownName) as error:
        find("prioritizer", name)
    way_out = "name a class derived from focused.prioritizers.base.Prioritizer"
    assert str(error.value) == f"{name!r} is not a prioritizer: {way_out}"


def test_options_behind_a_name_are_told_where_they_go():
    with pytest.raises(UnknownName) as error:
        find("prioritizer", "focused:d_max=3")
    way_out = "options go, with name = 'focused', into the [prioritizer] table of the topic file"
    assert str(error.value).startswith(f"prioritizer 'focused:d_max=3' is not known: {way_out} (there are ")


def test_a_bad_option_is_told_with_the_file_that_it_is_in(tmp_path):
    file = str(tmp_path / "topic.toml")
    kind = find("prioritizer", "focused")
    with pytest.raises(ValueError, match=rf"^{file}: \[prioritizer\] novelti=1 is not .* did you mean 'novelty'"):
        build(kind, {"novelti": 1}, file=file)
    with pytest.raises(ValueError, match=rf"^{file}: \[prioritizer\] spread='x': give"):
        build(kind, {"spread": "x"}, file=file)


TAUGHT = [name for name in names("prioritizer") if find("prioritizer", name).taught]


def along_the_way(prioritizer, pages):
    """Evidence page after page, each reached by the first link of the one before."""
    arrived_by = None
    for one in pages:
        evidence = prioritizer.evidence(one, Verdict(0.5), one.links, arrived_by=arrived_by)
        yield evidence
        arrived_by = evidence.select([0])


@pytest.mark.parametrize("name", TAUGHT)
def test_a_taught_one_finds_its_way_on_a_site_it_has_not_seen(name):
    prioritizer = built(name)
    site = toy_site("other", "bob")
    way = [path.format(name="bob") for path, *_ in WAY[:-1]]
    pages = [site[f"http://other.example/{path}"] for path in way]
    for evidence in along_the_way(prioritizer, pages[1:]):
        scores = prioritizer.score(evidence)
        assert scores[0] == scores.max()


@pytest.mark.parametrize("name", TAUGHT)
def test_what_was_taught_comes_back(name, tmp_path):
    prioritizer = built(name)
    save_taught(tmp_path, prioritizer, TaughtCard(topic="toy", prioritizer=name))
    again = build(find("prioritizer", name), {}, critic=OneWordCritic())
    with pytest.raises(NotTaught, match="scrapy teach toy --prioritizer"):
        load_taught(tmp_path / "elsewhere", again, "toy")
    load_taught(tmp_path, again, "toy")
    evidence = some_evidence(prioritizer)
    assert (again.score(some_evidence(again)) == prioritizer.score(evidence)).all()


@pytest.mark.parametrize("name", TAUGHT)
def test_teaching_can_be_interrupted(name):
    def stop(done, total):
        raise KeyboardInterrupt

    prioritizer: Any = build(find("prioritizer", name), {}, critic=OneWordCritic())
    with pytest.raises(KeyboardInterrupt):
        prioritizer.teach(toy_paths(), stop)


@pytest.mark.parametrize("name", TAUGHT)
def test_nothing_is_taught_by_no_paths(name):
    prioritizer: Any = build(find("prioritizer", name), {}, critic=OneWordCritic())
    with pytest.raises(NotTaught):
        prioritizer.teach([])


@pytest.mark.parametrize("name", TAUGHT)
def test_teaching_gives_figures_and_progress(name):
    steps = []
    prioritizer: Any = build(find("prioritizer", name), {}, critic=OneWordCritic())
    figures = prioritizer.teach(toy_paths(), lambda done, total: steps.append((done, total)))
    assert figures
    assert all(np.isfinite(value) for value in figures.values())
    assert steps
    assert all(done <= total for done, total in steps)


@pytest.mark.parametrize("part", ["critic", "prioritizer"])
def test_the_type_of_every_option_says_what_it_takes(part: str) -> None:
    """Numbers have bounds, words are of a choice."""
    for name, kind in registry.usable(part):
        options = set(signature(kind).parameters) - {"critic", "keywords", "languages", "options"}
        words = {option: in_words(hint) for option, hint in types_of_options(kind).items() if option in options}
        assert words.keys() == options, name
        assert not [option for option in words if words[option] in {"a number", "a whole number", "text in quotes"}]
