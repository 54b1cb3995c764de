"""Answers about pages of a sample change the verdicts on the others, as they would in a crawl."""

from __future__ import annotations

from pathlib import Path

import pytest
from scrapy.settings import Settings

from focused.teaching.corrected import CorrectedSample
from focused.teaching.trial import Sample
from focused.testing.toys import BIRDS, MEALS, STARS, page
from focused.topics.topic import Topic


def corrected(tmp_path: Path, texts: list[str], critic: str = "combined") -> CorrectedSample:
    pages = [page(f"{text} Number {i}.", url=f"http://h{i % 3}.example/{i}") for i, text in enumerate(texts)]
    topic = Topic(name="light", keywords=["light", "eggs"], critic={"name": critic})
    return CorrectedSample(topic, Settings({"FOCUSED_MODELS": str(tmp_path)}), Sample(pages, pages[:1]))


def test_answers_about_some_pages_change_what_is_made_of_pages_like_them(tmp_path: Path) -> None:
    texts = (BIRDS + STARS + MEALS) * 3
    sample = corrected(tmp_path, texts)
    before = sample.judge({})
    assert sample.judge({}) == before, "judging changes nothing"
    numbers = {
        kind: [i for i, text in enumerate(texts) if text in kind_texts]
        for kind, kind_texts in (("stars", STARS), ("birds", BIRDS))
    }
    answers = {sample.pages[i].url: kind == "stars" for kind in numbers for i in numbers[kind][:4]}
    after = sample.judge(answers)
    assert all((after[i] > 0.9) == (kind == "stars") for kind in numbers for i in numbers[kind][:4]), "as was said"
    rest = {kind: [after[i] - before[i] for i in numbers[kind][4:]] for kind in numbers}
    assert sum(rest["stars"]) > 0 > sum(rest["birds"])
    assert sample.judge({}) == before, "taken back"


@pytest.mark.parametrize(("texts", "critic"), [(BIRDS, "combined"), ((BIRDS + MEALS) * 3, "keywords")])
def test_where_nothing_is_learned_an_answer_is_the_verdict_on_its_page_alone(
    tmp_path: Path, texts: list[str], critic: str
) -> None:
    sample = corrected(tmp_path, texts, critic)
    before, after = sample.judge({}), sample.judge({sample.pages[1].url: False})
    assert after[1] < 0.051
    assert [*after[:1], *after[2:]] == [*before[:1], *before[2:]]


def test_the_text_shown_is_the_part_of_the_page_that_speaks_for_it(tmp_path: Path) -> None:
    filler = " ".join(f"word{i}" for i in range(200))
    sample = corrected(tmp_path, [f"{filler} all the light of day {filler}", "", filler])
    long, _, none = sample.pages
    shown = sample.near(long)
    assert ("light", True) in shown
    assert len(shown) == 30
    assert not any(speaks for _, speaks in sample.near(none))
