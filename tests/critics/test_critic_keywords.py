"""Keywords and phrases: graded by how much a page is about them, and by what the seeds have in common."""

from __future__ import annotations

import pytest

from focused.critics.keywords import KeywordsCritic
from focused.options import make
from focused.pages.page import Page, Text
from focused.testing.toys import page

FILLER = "People in the town said that the year was good and that they would come again with the children. "
ABOUT = "Climbing on rock: the rock climbing route goes up, and rock climbing gear is needed. "


def relevance(critic: KeywordsCritic, text: str, title: str = "") -> float:
    return critic.judge(page(text, title=title)).relevance


@pytest.fixture
def critic() -> KeywordsCritic:
    return KeywordsCritic(keywords=["rock climbing"])


def test_a_page_about_it_a_mention_and_a_page_about_something_else(critic: KeywordsCritic) -> None:
    about = relevance(critic, (ABOUT + FILLER) * 10)
    mention = relevance(critic, FILLER * 100 + ABOUT)
    assert about > 0.6
    assert 0 < mention < about / 4
    assert relevance(critic, FILLER * 100) == 0


def test_more_of_it_is_more_but_never_certain(critic: KeywordsCritic) -> None:
    steps = [relevance(critic, ABOUT * share + FILLER * (20 - share)) for share in range(1, 21)]
    assert steps == sorted(steps)
    assert len(set(steps)) == len(steps)
    assert steps[-1] < 0.95


def test_length_alone_changes_little(critic: KeywordsCritic) -> None:
    short, long = (relevance(critic, (ABOUT + FILLER) * times) for times in (20, 200))
    assert short == pytest.approx(long, abs=0.1)


def test_the_words_of_a_phrase_count_for_more_side_by_side(critic: KeywordsCritic) -> None:
    together = relevance(critic, FILLER * 3 + "rock climbing " * 3)
    apart = relevance(critic, FILLER * 3 + "rock and climbing " * 3)
    half = relevance(critic, FILLER * 3 + "rock music " * 3)
    assert together > apart > half > 0
    assert half < together / 3


def test_a_phrase_does_not_reach_over_the_end_of_a_text(critic: KeywordsCritic) -> None:
    end, begin = Text.of("on the rock"), Text.of("climbing up")
    both = critic.score_texts([end, begin])
    assert max(both) < critic.score_texts([Text.of("on the rock climbing up")])[0]


def test_rare_words_weigh_more_than_common_ones() -> None:
    critic = KeywordsCritic(keywords=["stargazing", "light"])
    assert relevance(critic, FILLER * 5 + "stargazing " * 5) > 2 * relevance(critic, FILLER * 5 + "light " * 5)


def test_common_words_count_when_there_are_no_others() -> None:
    critic = KeywordsCritic(keywords=["people"])
    assert relevance(critic, "people " * 10 + FILLER * 5) > 0.2


def test_what_general_language_shows_by_chance_does_not_count() -> None:
    critic = KeywordsCritic(keywords=["that"])
    usual = "One that many use. " + "Others walked home by train, took some food, and left early this evening. " * 7
    assert relevance(critic, usual * 5) == 0
    assert relevance(critic, "that " * 10 + usual * 5) > 0


def test_singular_and_plural_are_one() -> None:
    critic = KeywordsCritic(keywords=["galaxies", "star"])
    assert relevance(critic, FILLER + "galaxy " * 3) == relevance(critic, FILLER + "galaxies " * 3) > 0.2
    assert relevance(critic, FILLER + "stars " * 3) == relevance(critic, FILLER + "star " * 3) > 0


def test_the_title_counts_for_more(critic: KeywordsCritic) -> None:
    assert relevance(critic, FILLER * 5, title="Rock climbing") > relevance(critic, FILLER * 5 + "Rock climbing")


def test_keywords_in_other_scripts() -> None:
    critic = KeywordsCritic(keywords=["天文学"])
    assert relevance(critic, "天文学は宇宙の天体を研究する学問である。天文学の歴史は長い。") > 0.2
    assert relevance(critic, "料理の作り方を説明する。") == 0


def seed(number: int, words: str) -> Page:
    return page(FILLER * 3 + words, url=f"http://seed.example/{number}")


def test_seeds_bring_their_own_words_bounded_by_their_share() -> None:
    critic = KeywordsCritic(keywords=["rock climbing"], seed_share=0.3)
    kin = page(FILLER + "The belay and the carabiner, the belay again, a carabiner on the harness. " * 5)
    assert critic.judge(kin).relevance == 0
    assert critic.learn_from_seed(seed(1, "belay carabiner harness " * 9))
    assert critic.judge(kin).relevance == 0, "one seed alone may be about anything"
    assert critic.learn_from_seed(seed(2, "harness belay carabiner " * 9))
    assert 0.15 < critic.judge(kin).relevance <= 0.3
    own = page((ABOUT + FILLER) * 10)
    assert critic.judge(own).relevance > critic.judge(kin).relevance
    assert {reason.word for reason in critic.explain(kin, most=3)} == {"belay", "carabiner", "harness"}


def test_a_seed_counts_once_and_empty_ones_not_at_all(critic: KeywordsCritic) -> None:
    one = seed(1, "belay " * 9)
    assert critic.learn_from_seed(one)
    assert not critic.learn_from_seed(one)
    assert not critic.learn_from_seed(page("", url="http://seed.example/2"))


def test_seeds_can_be_left_unread() -> None:
    critic = KeywordsCritic(keywords=["rock climbing"], seed_share=0)
    assert not critic.learn_from_seed(seed(1, "belay " * 9))
    assert critic.state() == {"seeds": {}}


@pytest.mark.parametrize(
    "wrong",
    [
        {"keywords": []}, {"keywords": ["!?"]}, {"keywords": "owl"}, {"keywords": [3]},
        {"seed_share": 1.0}, {"seed_share": -0.1}, {"seed_share": "all"}, {"languages": ["xx"]}, {"languages": "en"},
        {"min_seeds": "x"}, {"min_seeds": 0}, {"min_seeds": 2.5}, {"min_seeds": True},
    ],
)  # fmt: skip
def test_wrong_options_are_named(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}="):
        make(KeywordsCritic, {"keywords": ["bird"]} | wrong, table="critic")
