"""What speaks against a topic's words and examples is said, with a way out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from focused.critics.choose import choose_critic
from focused.critics.combined import CombinedCritic
from focused.critics.language import guess_languages_of_words, language_of
from focused.critics.terms import language_of_phrases, phrases_of, terms_of_phrases
from focused.pages.page import Page
from focused.teaching.doubts import doubts_about, doubts_about_examples, doubts_about_pages, doubts_about_seeds
from focused.testing.toys import BIRDS, MEALS, page
from focused.topics.topic import Topic, TopicError, load_topic


def doubts(tmp_path: Path, *keywords: str, **values: Any) -> list[str]:
    topic = Topic(name="birds", keywords=list(keywords), **values)
    return list(doubts_about(topic, Settings({"FOCUSED_MODELS": str(tmp_path)})))


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        (["c"], "'c' is read as the single character 'c', which says little: give words"),
        (["chess", "C++"], "'C++' is read as the single character 'c', which says little: give words"),
        (["天"], "'天' is read as the single character '天', which says little: give words"),
        (["the", "of"], "'the', 'of': too common to tell pages apart: give words that only wanted pages use"),
        (["tea, oolong, matcha"], "'tea, oolong, matcha' is taken for one phrase: if it is several, make each an"),
        (["tea oolong matcha green leaf pot"], "'tea oolong matcha green leaf pot' is taken for one phrase"),
        ([f"word{i}" for i in range(500)], "too many words, 500 with those of phrases: only the first 100 count"),
        (
            ["rock climbing", "bouldering", "Klettern", "Felsen"],
            'the words seem to be of several languages: confirm or correct them by languages = ["en", "de"]',
        ),
    ],
)
def test_words_that_say_little_are_named(tmp_path: Path, keywords: list[str], said: str) -> None:
    [doubt] = doubts(tmp_path, *keywords)
    assert doubt.startswith(f"topic 'birds': {said}")
    [doubt] = doubts(tmp_path, *keywords, given="birds.toml")
    assert doubt.startswith(f"birds.toml: keywords: {said}")


@pytest.mark.parametrize(
    "keywords",
    [
        ["bird", "birds", "Bird"],
        ["the war", "trench"],
        ["天文学"],
        ["climbing 🧗", "rock-climbing", "climber's knot"],
        ["Klettern", "Felsen"],
        ["oolong", "matcha", "tea ceremony", "Camellia sinensis"],
        [f"word{i}" for i in range(100)],
        ["x" * 300],
    ],
)
def test_words_that_will_do_are_not_doubted(tmp_path: Path, keywords: list[str]) -> None:
    assert doubts(tmp_path, *keywords) == []


def test_languages_that_the_topic_names_are_not_doubted_and_another_critic_takes_any_number(tmp_path: Path) -> None:
    both = ["rock climbing", "bouldering", "Klettern", "Felsen"]
    assert doubts(tmp_path, *both, critic={"languages": ["en", "de"]}) == []
    assert doubts(tmp_path, *(f"word{i}" for i in range(500)), critic={"name": "keywords"}) == []


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        ("stars and galaxies", ("en",)),
        ("oolong matcha tea ceremony camellia sinensis", ("en",)),
        ("die sterne galaxien", ("de",)),
        ("rock climbing bouldering klettern felsen", ("en", "de")),
        ("bird birds oiseau oiseaux plumage", ("en", "fr")),
    ],
)
def test_the_languages_of_a_few_words(words: str, codes: tuple[str, ...]) -> None:
    assert guess_languages_of_words(words.split()) == codes


def test_words_of_two_languages_weigh_as_they_would_alone() -> None:
    phrases = phrases_of(["rock climbing", "bouldering", "Klettern", "Felsen", "Haus"])
    terms = terms_of_phrases(phrases, language_of_phrases(phrases, ()))
    weights = {name: weight for name, (_, weight) in terms.items()}
    assert weights["haus"] < 0.5 < weights["felsen"] < weights["bouldering"]
    assert terms_of_phrases(phrases, language_of(("en",)))["haus"][1] == 1, "English hardly has it"


def test_characters_without_spaces_and_split_words_are_found() -> None:
    critic = CombinedCritic(keywords=["天文学", "AC/DC", "C++"])
    for on, off in (
        ("日本の天文学の歴史。" * 5, "日本の料理の歴史。" * 5),
        ("AC/DC play " * 9, "the DC and the AC " * 9),
    ):
        assert critic.judge(page(on)).relevance > 1.2 * critic.judge(page(off)).relevance


def test_more_words_than_are_kept_still_judge() -> None:
    critic = CombinedCritic(keywords=[f"word{i}" for i in range(500)])
    assert critic.judge(page("word3 word7 " * 20)).relevance > critic.judge(page("word400 " * 20)).relevance


CASES = {
    "fit": (BIRDS, MEALS, ["bird", "soup"]),
    "none shown": (BIRDS, MEALS, ["telescope", "comet"]),
    "the other way round": ([*MEALS, "A bird pie, baked in the oven."], BIRDS, ["bird", "feathers"]),
    "too few to compare": (["A bird pie, baked in the oven."], BIRDS, ["bird", "feathers"]),
    "nothing unwanted": (BIRDS, [], ["bird"]),
    "no words": (BIRDS, MEALS, []),
}
SAID = {
    "none shown": "no wanted example (such as wanted/0) shows any of the keywords ('telescope', 'comet')",
    "the other way round": "unwanted examples (such as other/1) show the keywords ('bird', 'feathers') more than "
    "wanted ones do (such as wanted/0)",
}


@pytest.mark.parametrize("case", CASES)
def test_examples_that_contradict_the_words(case: str) -> None:
    wanted, others, keywords = CASES[case]
    examples: list[tuple[str, Page]] = [(f"wanted/{i}", page(text)) for i, text in enumerate(wanted)]
    examples += [(f"other/{i}", page(text)) for i, text in enumerate(others)]
    choice = choose_critic(Topic(name="birds", keywords=keywords, examples="birds.tsv"))
    said = list(doubts_about_examples(choice, examples, [True] * len(wanted) + [False] * len(others)))
    change = "; change the keywords, the focus or the examples"
    assert said == ([f"The words contradict the examples: {SAID[case]}{change}"] if case in SAID else [])


def test_seeds_and_first_pages() -> None:
    assert not list(doubts_about_seeds({}))
    assert not list(doubts_about_seeds({"http://a.example/": 0.05, "http://b.example/": 0.1}))
    [doubt] = doubts_about_seeds({"http://a.example/": 0.05, "http://b.example/": 0.09})
    assert "(2 seeds, the best with relevance 0.09: http://b.example/)" in doubt
    alike = [0.2] * 50
    [doubt] = doubts_about_pages(alike, 0)
    assert doubt.startswith("Each of the first 50 pages shows some of the topic (relevance 0.20 to 0.20 at first)")
    assert not list(doubts_about_pages(alike, 1))
    assert not list(doubts_about_pages([*alike, 0.05], 0))
    assert not list(doubts_about_pages(alike[:9], 0))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "x"\n', ["keywords: missing: a topic without examples", "seeds: missing: a crawl needs addresses"]),
        ('name = "x"\nseeds = ["http://a.example/"]\n', ["keywords: missing: a topic without examples"]),
        (
            'name = "x"\nkeywords = ["🧗", "a"]\n',
            ["keywords[0]: '🧗' has no letter or digit: give words", "seeds: missing"],
        ),
        (
            'name = "x"\nkeywords = "tea oolong"\nseeds = ["http://a.example/"]\n',
            ["keywords: 'tea oolong' is not a list"],
        ),
    ],
)
def test_a_topic_with_too_little_in_it_is_refused(tmp_path: Path, text: str, said: list[str]) -> None:
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(TopicError) as refused:
        load_topic("x.toml", folder=tmp_path, seeds_needed=True)
    assert len(refused.value.problems) == len(said)
    for problem, start in zip(sorted(refused.value.problems), sorted(said), strict=True):
        assert problem.startswith(f"x.toml: {start}")
