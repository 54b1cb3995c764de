"""The critic that takes whatever is given, and learns from the pages it meets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from focused.critics.base import RELEVANT
from focused.critics.combined import CombinedCritic
from focused.critics.gist import MOST_WORDS, Gist
from focused.critics.logistic import LogisticCritic
from focused.pages.page import Page
from focused.testing.toys import BIRDS, MEALS, STARS, page

WORDS = ["bird", "bird of prey", "feathers"]


def at(text: str, host: str, number: int = 0, title: str = "") -> Page:
    return page(text, title=title, url=f"http://{host}/{number}")


def met(critic: CombinedCritic, pages: Sequence[Page]) -> CombinedCritic:
    new = critic.learn_from_pages([critic.gist(one) for one in pages])
    assert new is not None
    return new


def crawl() -> list[Page]:
    """Pages of several hosts; on those of birds there are also words that nobody gave."""
    wanted = [at(f"{text} Ornithology and plumage.", f"h{i % 4}.example", i) for i, text in enumerate(BIRDS * 4)]
    others = [at(text, f"h{i % 4}.example", 100 + i) for i, text in enumerate((STARS + MEALS) * 6)]
    return wanted + others


def test_words_alone_tell_pages_apart_and_are_never_certain() -> None:
    critic = CombinedCritic(keywords=WORDS)
    found, other = critic.judge(at(BIRDS[0] * 5, "a.example", title="Birds of prey")), critic.judge(page(STARS[0]))
    assert other.relevance < 0.1 < RELEVANT < found.relevance < 0.9


def test_more_of_the_words_is_more_relevant() -> None:
    critic = CombinedCritic(keywords=WORDS)
    said = [critic.judge(page(f"{'bird feathers ' * n}{'table chair window ' * 60}")).relevance for n in (0, 1, 3, 9)]
    assert said == sorted(said)
    assert len(set(said)) == len(said)


def test_words_that_nobody_gave_are_learned_from_pages_that_show_those_that_were_given() -> None:
    before = CombinedCritic(keywords=WORDS)
    after = met(before, crawl())
    stranger = page("Ornithology: a lecture on plumage. " * 3, url="http://new.example/")
    assert after.judge(stranger).relevance > 2 * after.judge(page(MEALS[0])).relevance
    assert {"ornithology", "plumage"} <= {reason.word for reason in after.explain(stranger)}
    assert after.score_texts([_text("plumage")])[0] > after.score_texts([_text("potatoes")])[0]
    assert (before.version, after.version) == (0, 1)
    assert not before.judge(stranger).relevance > before.judge(page(MEALS[0])).relevance, "a snapshot stays as it is"


def test_pages_are_judged_again_as_they_would_be_judged_now() -> None:
    pages = crawl()
    critic = met(CombinedCritic(keywords=WORDS), pages)
    again = critic.judge_again([critic.gist(one) for one in pages])
    assert [one.relevance for one in again] == pytest.approx([critic.judge(one).relevance for one in pages])


def test_what_was_learned_is_there_again_after_a_restart() -> None:
    pages = crawl()
    critic = met(CombinedCritic(keywords=WORDS), pages)
    other = CombinedCritic(keywords=WORDS)
    other.restore_learned(critic.learned())
    assert other.version == 1
    assert [other.judge(one) for one in pages] == [critic.judge(one) for one in pages]


def test_a_word_that_every_page_of_a_host_has_is_its_furniture() -> None:
    wall = [at(f"{text} bird feathers", "birds-r-us.example", i) for i, text in enumerate(MEALS * 8)]
    elsewhere = [at(text, f"h{i}.example", i) for i, text in enumerate(BIRDS * 2 + STARS * 2)]
    before = CombinedCritic(keywords=WORDS)
    after = met(before, wall + elsewhere)
    here, there = (at(f"{STARS[0]} bird feathers", host, 99) for host in ("birds-r-us.example", "new.example"))
    assert before.judge(here) == before.judge(there)
    assert after.judge(here).relevance < 0.75 * after.judge(there).relevance


def test_a_menu_says_nothing_of_the_pages_that_have_it() -> None:
    """It has words that are learned from wanted pages elsewhere; the pages beneath it are about meals."""
    under_menu = [at(f"{MEALS[i % 3]} meal{i}", "meals.example", i) for i in range(20)]
    with_menu = [at(f"{MEALS[i % 3]} meal{i} ornithology plumage", "meals.example", i) for i in range(20)]
    critic = CombinedCritic(keywords=WORDS)
    without, learned = met(critic, crawl() + under_menu), met(critic, crawl() + with_menu)
    assert "plumage" in {reason.word for reason in learned.explain(at("On plumage and ornithology", "new.example"))}
    assert "plumage" not in {reason.word for reason in learned.explain(with_menu[0])}
    said = [one.judge(pages[0]).relevance for one, pages in ((without, under_menu), (learned, with_menu))]
    assert said[1] == pytest.approx(said[0], abs=0.02)


def test_a_host_that_is_wholly_on_the_topic_keeps_most_of_its_words() -> None:
    """It shows them as often as its texts are long, which no menu does."""
    texts = [" ".join(BIRDS[(i + n) % 4] for n in range(1 + i % 5)) for i in range(30)]
    of_birds = [at(f"{text} bird {i}", "birds.example", i) for i, text in enumerate(texts)]
    elsewhere = [at(text, f"h{i}.example", i) for i, text in enumerate((MEALS + STARS) * 4)]
    before = CombinedCritic(keywords=WORDS)
    after = met(before, of_birds + elsewhere)
    assert after.judge(of_birds[0]).relevance > 0.8 * before.judge(of_birds[0]).relevance


def test_pages_alone_are_enough_and_words_with_them_are_worth_more() -> None:
    pages, classes = [page(text) for text in BIRDS[:2]], ["bird"] * 2
    alone = met(CombinedCritic().fit(pages, classes, ["bird"]), crawl())
    both = met(CombinedCritic(keywords=WORDS).fit(pages, classes, ["bird"]), crawl())
    wanted, other = page(BIRDS[3], url="http://x.example/"), page(MEALS[1], url="http://x.example/")

    def odds(critic: CombinedCritic) -> float:
        said = [critic.judge(one).relevance for one in (wanted, other)]
        return float(np.subtract(*np.log(np.divide(said, np.subtract(1, said)))))

    assert 0 < odds(alone) < odds(both)


@pytest.mark.parametrize("unwanted", [0, 20, 100, 290, 310, 1000])
def test_it_grows_into_a_taught_classifier_without_a_break(unwanted: int) -> None:
    wanted = [at(f"{BIRDS[i % 4]} {i}", "h.example", i) for i in range(10)]
    others = [at(f"{(STARS + MEALS)[i % 8]} {i}", "h.example", 100 + i) for i in range(unwanted)]
    classes = ["bird"] * len(wanted) + ["other"] * len(others)
    critic = CombinedCritic(keywords=WORDS).fit(wanted + others, classes, ["bird"])
    taught = LogisticCritic().fit(wanted + others, classes, ["bird"])
    one = page(BIRDS[2], url="http://x.example/")
    apart = abs(critic.judge(one).relevance - taught.judge(one).relevance)
    assert critic.is_learning == (unwanted <= 290)
    if not critic.is_learning:
        assert critic.judge(one) == taught.judge(one)
        assert critic.gist(one) == b"", "nothing has to be kept"
    elif unwanted >= 100:
        assert apart < 0.25


def test_a_seed_counts_as_far_as_the_words_agree_with_it() -> None:
    def after(*seeds: Page) -> CombinedCritic:
        critic = CombinedCritic(keywords=WORDS)
        for seed in seeds:
            critic.learn_from_seed(seed)
        return met(critic, crawl())

    good = at(f"{BIRDS[0]} {BIRDS[1]} falconry falconry", "seed.example", title="Birds of prey")
    home = at("Contact search login falconry falconry " * 3, "seed.example")
    one = page("Falconry, falconry and falconry", url="http://x.example/")
    agreed, not_agreed, none = (critic.judge(one).relevance for critic in (after(good), after(home), after()))
    assert agreed > not_agreed
    assert agreed - none > 2 * (not_agreed - none)


def test_nothing_is_learned_from_a_handful_of_pages_or_where_that_is_switched_off() -> None:
    critic = CombinedCritic(keywords=WORDS)
    assert critic.learn_from_pages([critic.gist(one) for one in crawl()[:9]]) is None
    switched_off = CombinedCritic(keywords=WORDS, on_the_job=False)
    assert not switched_off.is_learning
    assert switched_off.gist(crawl()[0]) == b""


def test_a_gist_is_small_and_comes_back_as_it_was() -> None:
    critic = CombinedCritic(keywords=[*WORDS, *(f"word{i}" for i in range(300))])
    long = page(" ".join(f"w{i} " * (1 + i % 5) for i in range(5_000)), url=f"http://{'h' * 300}.example/")
    data = critic.gist(long)
    assert len(data) <= 4_096
    kept = Gist.from_bytes(data)
    assert len(kept.ids) == MOST_WORDS
    assert set(kept.counts.tolist()) == {5}, "the most frequent words are kept"
    assert kept.to_bytes() == data


@pytest.mark.parametrize("text", ["", "日本語 のページ です", "0 1 2", "bird " * 20_000])
def test_unusual_pages_are_met_and_judged(text: str) -> None:
    critic = met(CombinedCritic(keywords=WORDS), [*crawl(), *(at(text, "odd.example", i) for i in range(5))])
    assert 0 <= critic.judge(page(text)).relevance <= 1


def test_words_that_every_page_has_and_words_without_letters() -> None:
    everywhere = [at(f"{text} bird", f"h{i}.example", i) for i, text in enumerate((BIRDS + MEALS + STARS) * 2)]
    critic = met(CombinedCritic(keywords=["bird"]), everywhere)
    assert all(0 < one.relevance < 0.9 for one in critic.judge_again([critic.gist(one) for one in everywhere]))
    with pytest.raises(ValueError, match=r"keywords=\['!\?'\]: give at least one word"):
        CombinedCritic(keywords=["!?"])


def _text(words: str):
    from focused.pages.page import Text

    return Text.of(words)


def test_pages_that_are_all_alike_teach_nothing_and_a_crawl_of_wanted_pages_is_one() -> None:
    critic = CombinedCritic(keywords=WORDS)
    same = [at(BIRDS[0], f"h{i}.example", i) for i in range(20)]
    assert critic.learn_from_pages([critic.gist(one) for one in same]) is None
    wanted = [at(f"{BIRDS[i % 4]} Birds of prey, their feathers. w{i % 7}", f"h{i}.example", i) for i in range(40)]
    rich = met(critic, wanted)
    assert np.mean([rich.judge(one).relevance for one in wanted]) > RELEVANT


# --- answers -----------------------------------------------------------------------------------------------------


def answered(critic: CombinedCritic, pages: Sequence[Page], answers: Sequence[tuple[Page, bool]]) -> CombinedCritic:
    new = critic.learn_from_pages(
        [critic.gist(one) for one in pages], [(critic.gist(one), is_wanted) for one, is_wanted in answers]
    )
    assert new is not None
    return new


def test_answers_teach_beyond_the_page_that_they_are_about() -> None:
    """Words find birds and meals alike; somebody says that meals are not meant, and stars are."""
    critic = CombinedCritic(keywords=[*WORDS, "oven", "potatoes", "butter", "onions"])
    pages = crawl()
    star, meal, bird = page(STARS[1]), page(MEALS[1]), page(BIRDS[1])
    before = answered(critic, pages, [])
    said = [
        (at(text, "q.example", n), is_star)
        for is_star, texts in ((True, STARS), (False, MEALS))
        for n, text in enumerate(texts)
    ]
    after = answered(critic, pages, said)
    assert after.judge(star).relevance > 1.5 * before.judge(star).relevance
    assert after.judge(meal).relevance < before.judge(meal).relevance / 1.2
    assert after.judge(bird).relevance > 0.5 * before.judge(bird).relevance, "what the words say still counts"


def test_a_seed_that_is_not_wanted_is_no_example_any_more() -> None:
    def verdict(*answers: tuple[Page, bool]) -> float:
        critic = CombinedCritic(keywords=WORDS)
        critic.learn_from_seed(seed)
        return answered(critic, crawl(), answers).judge(page("Falconry, falconry and falconry")).relevance

    seed = at(f"{BIRDS[0]} {BIRDS[1]} falconry falconry", "seed.example", title="Birds of prey")
    assert verdict((seed, False)) < 0.8 * verdict()


def test_answers_about_one_page_that_contradict_one_another_do_no_harm() -> None:
    one = at(BIRDS[0], "q.example")
    critic = answered(CombinedCritic(keywords=WORDS), crawl(), [(one, True), (one, False)])
    assert 0 < critic.judge(one).relevance < 1
