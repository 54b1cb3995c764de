"""What every critic promises."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial

import pytest

from focused.critics.base import Critic
from focused.critics.models import Card, load_critic, save_critic
from focused.pages.page import Page, Text
from focused.registry import find, names
from focused.testing.critic_checks import CRITIC_CHECKS, MakeCritic
from focused.testing.toys import BIRDS, MEALS, STARS, UNUSUAL, examples, page

OPTIONS = {"keywords": {"keywords": ["bird", "owl", "bird of prey"]}}


def taught(name: str, *, negatives: bool = True) -> Critic:
    pages, classes = examples(negatives=negatives)
    focus = ["nature.birds"] if negatives else ["nature"]
    critic: Critic = find("critic", name)(**OPTIONS.get(name, {}))
    return critic.fit(pages, classes, focus)


@pytest.fixture(params=names("critic"))
def critic(request: pytest.FixtureRequest) -> Critic:
    return taught(request.param)


@pytest.fixture
def all_pages() -> list[Page]:
    return [page(text) for text in [*BIRDS, *STARS, *MEALS, *UNUSUAL]]


@pytest.mark.parametrize("check", CRITIC_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", names("critic"))
def test_it_passes_the_checks_that_all_critics_must_pass(name: str, check: Callable[[MakeCritic], None]) -> None:
    check(partial(find("critic", name), **OPTIONS.get(name, {})))


def test_judging_and_explaining_leave_nothing_behind_in_it(critic: Critic, all_pages: list[Page]) -> None:
    before = pickle.dumps(critic)
    for one in all_pages:
        critic.judge(one)
        critic.explain(one)
    critic.score_texts([Text.of(one.text) for one in all_pages])
    assert pickle.dumps(critic) == before


def test_wanted_pages_stand_above_the_others(critic: Critic) -> None:
    wanted = [critic.judge(page(text)).relevance for text in BIRDS]
    others = [critic.judge(page(text)).relevance for text in [*STARS, *MEALS]]
    assert min(wanted) > max(others)


@pytest.mark.parametrize("name", ["naive-bayes", "logistic"])
@pytest.mark.parametrize("negatives", [True, False])
def test_classes_in_focus_sum_to_the_relevance(name: str, negatives: bool, all_pages: list[Page]) -> None:
    critic = taught(name, negatives=negatives)
    prefix = "nature.birds" if negatives else "nature"
    for one in all_pages:
        verdict = critic.judge(one)
        wanted = sum(chance for called, chance in verdict.classes if called.startswith(prefix))
        assert wanted == pytest.approx(verdict.relevance, abs=0.003)  # classes below 0.001 are not told


def test_a_saved_critic_judges_as_before(critic: Critic, all_pages: list[Page], tmp_path) -> None:
    save_critic(tmp_path, "toy", critic, Card(topic="toy", fingerprint="f", critic=critic.name))
    again, _ = load_critic(tmp_path, "toy", topic="toy", fingerprint="f")
    assert [again.judge(one) for one in all_pages] == [critic.judge(one) for one in all_pages]
    assert again.explain(all_pages[0]) == critic.explain(all_pages[0])


def test_an_empty_page_is_as_doubtful_as_one_of_unknown_words(critic: Critic) -> None:
    empty, unknown = critic.judge(page("")), critic.judge(page("qqqq wwww zzzz"))
    assert empty.relevance == pytest.approx(unknown.relevance, abs=1e-6)
    assert empty.relevance < 0.5
    assert critic.explain(page("")) == []


def test_texts_with_telling_words_are_relevant_and_those_of_unknown_words_are_empty_ones(critic: Critic) -> None:
    bird, nothing, meal, unknown, prey = critic.score_texts(
        [Text.of(text) for text in ("bird", "", "boil the potatoes", "zzzz", "owl bird of prey")]
    )
    assert prey > nothing
    assert bird > meal
    assert nothing == pytest.approx(unknown, abs=1e-6)


def test_what_a_critic_takes_from_seeds_is_its_own(critic: Critic) -> None:
    """One that learns on the job keeps them for then; of the others only the one of plain words takes anything."""
    heron = page("The heron stands in the water, a heron among others.")
    before = critic.judge(heron)
    for number in range(2):
        critic.learn_from_seed(page(f"The heron wades, heron number {number}. " * 40, url=f"http://s.example/{number}"))
    assert (critic.judge(heron) != before) == (critic.name == "keywords")
    assert bool(critic.state().get("seeds")) == (critic.name in {"keywords", "combined"})


def test_reasons_are_words_of_the_page_strongest_first(critic: Critic) -> None:
    reasons = critic.explain(page(BIRDS[0]), most=5)
    assert 0 < len(reasons) <= 5
    sizes = [abs(reason.weight) for reason in reasons]
    assert sizes == sorted(sizes, reverse=True)
    words = BIRDS[0].lower()
    assert all(word in words for reason in reasons for word in reason.word.split())
    assert any(reason.weight > 0 for reason in reasons)
