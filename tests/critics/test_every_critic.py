"""What every critic promises."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from focused.critics.base import Critic
from focused.critics.models import Card, load_critic, save_critic
from focused.pages.page import Page, Text
from focused.registry import find, names
from tests.critics.toy_pages import BIRDS, MEALS, STARS, examples, page

OPTIONS = {"keywords": {"keywords": ["bird", "owl", "bird of prey"]}}
SPECIAL = ["", "qqqq wwww zzzz", "日本語 のページ です", "bird " * 20_000, "0 1 2", "\x1e \x00"]


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
    return [page(text) for text in [*BIRDS, *STARS, *MEALS, *SPECIAL]]


def test_wanted_pages_stand_above_the_others(critic: Critic) -> None:
    wanted = [critic.judge(page(text)).relevance for text in BIRDS]
    others = [critic.judge(page(text)).relevance for text in [*STARS, *MEALS]]
    assert min(wanted) > max(others)


def test_relevance_is_a_float_from_0_to_1(critic: Critic, all_pages: list[Page]) -> None:
    for one in all_pages:
        verdict = critic.judge(one)
        assert type(verdict.relevance) is float
        assert 0 <= verdict.relevance <= 1
        assert all(0 <= chance <= 1 and type(chance) is float for _, chance in verdict.classes)


def test_classes_are_told_best_first_and_sum_to_1_at_most(critic: Critic, all_pages: list[Page]) -> None:
    for one in all_pages:
        chances = [chance for _, chance in critic.judge(one).classes]
        assert chances == sorted(chances, reverse=True)
        assert sum(chances) <= 1 + 1e-6


@pytest.mark.parametrize("name", ["naive-bayes", "logistic"])
@pytest.mark.parametrize("negatives", [True, False])
def test_classes_in_focus_sum_to_the_relevance(name: str, negatives: bool, all_pages: list[Page]) -> None:
    critic = taught(name, negatives=negatives)
    prefix = "nature.birds" if negatives else "nature"
    for one in all_pages:
        verdict = critic.judge(one)
        wanted = sum(chance for called, chance in verdict.classes if called.startswith(prefix))
        assert wanted == pytest.approx(verdict.relevance, abs=0.003)  # classes below 0.001 are not told


def test_judging_changes_nothing(critic: Critic, all_pages: list[Page]) -> None:
    before = pickle.dumps(critic)
    first = [critic.judge(one) for one in all_pages]
    critic.score_texts([Text(one, 0, len(one.ids)) for one in all_pages])
    for one in all_pages:
        critic.explain(one)
    assert [critic.judge(one) for one in all_pages] == first
    assert pickle.dumps(critic) == before


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


def test_texts_are_read_as_one_column_of_float32(critic: Critic) -> None:
    texts = [Text.of(text) for text in ["bird", "", "boil the potatoes", "zzzz", "owl bird of prey"]]
    read = critic.score_texts(texts)
    assert read.dtype == np.float32
    assert read.shape == (5,)
    assert read[4] > read[1]
    assert read[0] > read[2]
    assert read[1] == pytest.approx(read[3], abs=1e-6)
    alone = [critic.score_texts([text])[0] for text in texts]
    assert read == pytest.approx(alone, abs=1e-6)


def test_reading_nothing_gives_nothing(critic: Critic) -> None:
    assert critic.score_texts([]).shape == (0,)


def test_reasons_are_words_of_the_page_strongest_first(critic: Critic) -> None:
    reasons = critic.explain(page(BIRDS[0]), most=5)
    assert 0 < len(reasons) <= 5
    sizes = [abs(reason.weight) for reason in reasons]
    assert sizes == sorted(sizes, reverse=True)
    words = BIRDS[0].lower()
    assert all(word in words for reason in reasons for word in reason.word.split())
    assert any(reason.weight > 0 for reason in reasons)


def test_state_is_plain_data_and_comes_back(critic: Critic) -> None:
    critic.learn_from_seed(page("The heron wades. " * 40, url="http://seed.example/1"))
    critic.learn_from_seed(page("The heron fishes. " * 40, url="http://seed.example/2"))
    stored = json.loads(json.dumps(critic.state()))
    other = taught(critic.name)
    other.restore(stored)
    heron = page("The heron stands in the water, a heron among others.")
    assert other.judge(heron) == critic.judge(heron)
