"""What every prioritizer must do, whatever it thinks of links."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from typing import Any, get_args

import numpy as np
import pytest

from focused import registry
from focused.critics.base import Verdict
from focused.frontier.store import JobRefused
from focused.learned import restore
from focused.options import types_of_options
from focused.papers.prioritizers.taught import NotTaught, TaughtCard, save_taught
from focused.prioritizers.base import Combination
from focused.prioritizers.options import build
from focused.registry import UnknownName, find, names
from focused.schema import in_words
from focused.testing.prioritizer_checks import PRIORITIZER_CHECKS, evidence_of
from tests.prioritizers.prioritizer_cases import WAY, OneWordCritic, built, lessons_of, toy_paths, toy_site

CASES = [
    *[(name, {}) for name in names("prioritizer")],
    ("apprentice", {"learner": "naive-bayes", "cut": "half"}),
    ("apprentice", {"paper": True}),
    ("apprentice", {"chances": True, "cocitation": True, "offsets": False}),
    ("apprentice", {"d_max": 0, "reads": False, "bits": 10}),
    ("focused", {"words": False, "address": False, "elements": False, "siblings": False}),
    ("focused", {"d_max": 0, "offsets": False, "reads": False, "source": False, "graded": False, "bits": 10}),
]


@pytest.fixture(params=CASES, ids=lambda case: " ".join([case[0], *map(str, case[1].items())]))
def make(request):
    name, options = request.param
    return lambda: built(name, options)


def test_is_registered_under_its_name(make):
    assert make().name in names("prioritizer")


@pytest.mark.parametrize("check", PRIORITIZER_CHECKS, ids=lambda check: check.__name__)
def test_it_passes_the_checks_that_all_prioritizers_must_pass(make, check):
    check(make)


@pytest.mark.parametrize("combine", get_args(Combination))
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
    way_out = "its options go into the [prioritizer] table of the topic file, with name = 'focused'"
    assert str(error.value).startswith(f"prioritizer 'focused:d_max=3' is not known: {way_out} (available: ")


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
def test_one_that_was_not_taught_says_so(name):
    prioritizer = build(find("prioritizer", name), {}, critic=OneWordCritic())
    assert set(prioritizer.state()) == {"made for"}
    with pytest.raises(NotTaught, match=f"{name!r} has not been taught: scrapy teach --prioritizer {name}"):
        prioritizer.score(evidence_of(prioritizer))


@pytest.mark.parametrize("name", TAUGHT)
def test_what_was_taught_comes_back(name, tmp_path):
    prioritizer = built(name)
    save_taught(tmp_path, prioritizer, TaughtCard(topic="toy", prioritizer=name))
    again = build(find("prioritizer", name), {}, critic=OneWordCritic())
    with pytest.raises(NotTaught, match="scrapy teach toy --prioritizer"):
        again.load(tmp_path / "elsewhere", "toy")
    again.load(tmp_path, "toy")
    evidence = evidence_of(prioritizer)
    assert (again.score(evidence_of(again)) == prioritizer.score(evidence)).all()


@pytest.mark.parametrize("name", TAUGHT)
def test_what_another_version_has_written_is_refused_in_words(name):
    state = built(name).state()
    del state[lacking := next(key for key in state if key != "made for")]
    with pytest.raises(ValueError, match=f"^{lacking!r} is missing: another version has written it$"):
        build(find("prioritizer", name), {}, critic=OneWordCritic()).restore(state)


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


def spoiled(array: np.ndarray) -> Iterator[np.ndarray]:
    """What somebody else may have in place of an array."""
    yield array.ravel()[:-1]
    yield np.append(array.ravel(), array.ravel()[:1])
    yield array.reshape(*array.shape, 1)
    yield from (np.zeros((), np.int64), np.array(-1.5), np.array("x"), np.array(["[]"]), np.array("[]"), np.array("{"))
    if array.dtype.kind == "f":
        yield from (np.full_like(array, np.nan), np.full_like(array, np.inf))
    elif array.dtype.kind in "ui":
        yield from (np.full_like(array, np.iinfo(array.dtype).max), array.astype(float), ~array)


@pytest.mark.parametrize(
    ("name", "options"), [("focused", {}), ("apprentice", {}), ("apprentice", {"learner": "naive-bayes"})]
)
def test_what_was_not_learned_is_refused_or_does_no_harm(name, options):
    options["bits"] = 8
    evidence = evidence_of(prioritizer := built(name, options))
    lessons = lessons_of(evidence, np.linspace(0, 1, len(evidence)))
    state = prioritizer.learn(lessons).state()
    refused = 0
    for key, array in state.items():
        for bad in spoiled(array):
            restored = built(name, options)
            try:
                restore(restored, {**state, key: bad}, "it", "begin without it")
            except JobRefused:
                refused += 1
                continue
            # Others may know better than we what a number should be; but it can be worked with.
            for one in (restored, restored.learn(lessons)):
                scores = one.finite_scores(evidence)
                assert ((scores >= 0) & (scores <= 1)).all(), (key, bad)
    assert refused >= 4 * len(state)
