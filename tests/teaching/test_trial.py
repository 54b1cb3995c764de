"""A topic is tried on a sample: what is in it, and what is said of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from scrapy.settings import Settings

from focused.critics.base import Critic, Verdict
from focused.critics.keywords import KeywordsCritic
from focused.pages.page import Page, page_from_html
from focused.safety.scope import Rules, Scope
from focused.teaching.trial import Sample, Trial, choose_links, gather_sample, try_topic
from focused.teaching.trial_text import trial_lines
from focused.testing.toys import BIRDS, MEALS, STARS, page
from focused.topics.topic import Topic
from tests.small_web import ONE, SmallWeb
from tests.small_web import STARS as STAR_WORDS


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings({"FOCUSED_MODELS": str(tmp_path / "models")})


def gather(small_web: SmallWeb, topic: Topic, settings: Settings, most: int) -> Sample:
    web = str(small_web.warc)
    return asyncio.run(gather_sample(topic, settings, most, web=web, runner=None, progress=lambda *_: None))


def of_pages(settings: Settings, texts: list[str], *keywords: str, seeds: int = 1, critic: str = "combined") -> Trial:
    pages = [page(text, url=f"http://h{i % 3}.example/{i}") for i, text in enumerate(texts)]
    topic = Topic(name="birds", keywords=list(keywords), critic={"name": critic})
    return try_topic(topic, settings, Sample(pages, pages[:seeds]))


class Half(Critic):
    """A critic without words or reasons."""

    def judge(self, page: Page) -> Verdict:
        return Verdict(0.5)


def test_a_sample_has_the_seeds_and_what_they_link_to_and_no_more_than_was_asked_for(
    small_web: SmallWeb, settings: Settings
) -> None:
    seeds = [f"{ONE}/", small_web.targets[0]]
    topic = Topic(name="stars", keywords=STAR_WORDS, seeds=seeds)
    sample = gather(small_web, topic, settings, 15)
    assert [seed.url for seed in sample.seeds] == seeds
    assert sample.pages[:2] == sample.seeds
    assert len({one.digest for one in sample.pages}) == len(sample.pages)
    assert 10 < len(sample.pages) + len(sample.missing.failures) <= 15
    linked = {url for seed in sample.seeds for url in seed.links.urls}
    assert linked & {one.url for one in sample.pages[2:]}


def test_half_of_the_links_are_the_best_by_their_words_and_half_are_any() -> None:
    critic = KeywordsCritic(keywords=["star"])
    links = "".join(f"<p><a href=/{i}>{'star' if i % 10 == 9 else 'soup'} {i}</a></p>" for i in range(40))
    seed = page_from_html(links, "http://a.example/")
    scope = Scope(Rules(deny=["/19$"]))
    chosen = choose_links(critic, [seed], scope, {"http://a.example/29"}, 4)
    numbers = [int(url.rpartition("/")[2]) for url in chosen]
    assert set(numbers[:2]) == {9, 39}, "of the best those that are out of scope, or there already, are left out"
    assert numbers[2:] == [0, 38]
    assert choose_links(critic, [page("no link")], scope, (), 4) == []


def test_what_is_wanted_which_words_say_so_and_which_ones_are_learned(settings: Settings) -> None:
    texts = [f"{text} Ornithology and plumage." for text in BIRDS * 2] + (STARS + MEALS) * 2
    found = of_pages(settings, [f"{text} {i}" for i, text in enumerate(texts)], "bird", "feathers", "falcon", "a")
    assert found.tried[0].page.url in {f"http://h{i % 3}.example/{i}" for i in range(8)}
    assert [one.relevance for one in found.tried] == sorted((one.relevance for one in found.tried), reverse=True)
    assert 1 < found.wanted < 10
    assert (found.given["bird"], found.given["falcon"]) == (8, 0)
    assert found.never == ["falcon"]
    assert found.everywhere == ["a"]
    assert "bird" in found.shown[:2]
    assert {"ornithology", "plumage"} <= set(found.added[:12])
    assert not {"bird", "birds", "feathers"} & set(found.added), "they were given"
    assert found.doubts == []


def test_a_handful_of_pages_teaches_nothing_and_is_judged(settings: Settings) -> None:
    found = of_pages(settings, BIRDS + MEALS, "bird")
    assert found.added == []
    assert found.tried[0].relevance > found.tried[-1].relevance


def test_critics_that_do_not_learn_or_have_no_words(settings: Settings) -> None:
    texts = [f"{text} {i}" for i, text in enumerate((BIRDS + MEALS) * 3)]
    found = of_pages(settings, texts, "bird", critic="keywords")
    assert (found.given, found.added) == ({"bird": 12}, [])
    found = of_pages(settings, texts, critic=f"{__name__}.Half")
    assert (found.wanted, found.found, found.given, found.shown) == (12, 24, {}, [])


def test_seeds_that_do_not_show_the_words(settings: Settings) -> None:
    [doubt] = of_pages(settings, MEALS + BIRDS, "bird", seeds=2).doubts
    assert doubt.startswith("None of the pages to begin at looks like the topic (2 seeds, the best with relevance 0.0")


def test_words_that_every_page_has(settings: Settings) -> None:
    wall = [f"{text} birds of prey, feathers {i}" for i, text in enumerate((STARS + MEALS) * 5)]
    found = of_pages(settings, wall, "birds of prey", "feathers")
    assert found.everywhere == ["birds of prey", "feathers"]
    [doubt] = found.doubts
    assert doubt.startswith("Each of the first 40 pages shows some of the topic (relevance 0.")
    assert "give other words or example pages" in doubt


def test_it_is_told_in_lines(settings: Settings) -> None:
    pages = [page(f"{text} {i}", url=f"http://a.example/{i}") for i, text in enumerate((BIRDS + MEALS) * 4)]
    pages[0].title = "Owls\x1b[31m"
    topic, sample = Topic(name="birds", keywords=["bird", "falcon"]), Sample(pages, pages[:1])
    sample.missing.failures["http://a.example/x"] = "HTTP 404"
    lines = list(trial_lines(topic, sample, try_topic(topic, settings, sample)))
    assert lines[0] == "topic 'birds', tried on 32 pages: 1 seed, and pages linked from there"
    assert lines[1] == "  not fetched    HTTP 404 (1, first http://a.example/x)"
    assert lines[2].startswith("  wanted         about ")
    assert sum("http://a.example/" in line for line in lines[3:]) == 15, "the ten best, and the five lowest"
    assert "  on no page     falcon" in lines
    assert not any("\x1b" in line for line in lines)
    alone = Sample(pages)
    assert next(trial_lines(topic, alone, try_topic(topic, settings, alone))).endswith(
        "tried on 32 pages, its examples, because it has no seeds"
    )
