"""Every prioritizer leads a real crawl, goes on after a kill, and can be asked why."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from focused.critics.keywords import KeywordsCritic
from focused.papers.prioritizers.taught import TaughtCard, save_taught
from focused.prioritizers.options import build
from focused.registry import find, names
from focused.report.job_reader import JobReader
from focused.report.why import explain_link
from focused.topics.identity import slug
from focused.topics.topic import load_topic
from tests.prioritizers.prioritizer_cases import toy_paths

WORDS = "star galaxy telescope"
HUB = "http://hub.example/"
PAGES = 24


def site() -> dict[str, str]:
    """Half of the pages are about stars; each links to some others, with words that tell which."""

    def link(number: int) -> str:
        text = "a galaxy of stars" if number % 2 else "soup and onions"
        return f"<li>see <a href='http://w{number % 3}.example/{number}'>{text} {number}</a> here"

    def body(number: int) -> str:
        about = "A star is seen through a telescope. " if number % 2 else "Fry the onions in butter. "
        links = "".join(link((number * 5 + step) % PAGES) for step in (1, 2, 3))
        return f"<title>Page {number}</title><h1>About</h1><p>{about * 4} Number {number}.</p><ul>{links}</ul>"

    pages = {f"http://w{number % 3}.example/{number}": body(number) for number in range(PAGES)}
    return {HUB: f"<p>Stars and soups.</p><ul>{link(0)}{link(1)}{link(2)}</ul>", **pages}


def lexical_topic(folder: Path) -> Path:
    """A topic with examples and the critic that the prioritizer of the same name goes by."""
    texts = {
        "nature.stars": ["A star is seen through a telescope.", "A galaxy of stars and a telescope."],
        "nature": ["A river in the forest.", "The forest and its river."],
        "other": ["Fry the onions in butter.", "A soup of onions and butter."],
    }
    rows = [f"{name}\t{text}" for name, some in texts.items() for text in some]
    (folder / "stars.tsv").write_text("\n".join(["class\ttext", *rows]) + "\n")
    path = folder / "stars.toml"
    path.write_text('name = "stars"\nexamples = "stars.tsv"\nfocus = ["nature.stars"]\n[critic]\nname = "lexical"\n')
    return path


def teach(name: str, models: Path) -> None:
    topic = load_topic(WORDS, seeds=[HUB])
    prioritizer: Any = build(find("prioritizer", name), {}, critic=KeywordsCritic(keywords=WORDS.split()))
    prioritizer.teach(toy_paths())
    save_taught(models / slug(topic), prioritizer, TaughtCard(topic=topic.name, prioritizer=name))


@pytest.mark.parametrize("name", names("prioritizer"))
def test_leads_a_crawl_that_is_killed_and_gone_on_with(name, crawl, tmp_path):
    if find("prioritizer", name).taught:
        teach(name, tmp_path / "models")
    settings = {"CONCURRENT_REQUESTS": 1, "FOCUSED_TRAIN_EVERY": 3}
    topic = {"topic": str(lexical_topic(tmp_path))} if name == "lexical" else {}
    how = {"arguments": {"prioritizer": name, **topic}, "settings": settings}
    assert crawl(site(), kill_after=12, **how).exit_code < 0
    again = crawl(site(), **how)
    assert again.exit_code == 0, again.log
    assert again.stats["focused/job/pages"] == PAGES + 1
    assert "Traceback" not in again.log
    with JobReader.open(tmp_path / "job") as reader:
        story = "\n".join(explain_link(reader, "http://w1.example/1"))
    assert "score: " in story
    assert "a feature without a name" not in story


def test_a_taught_prioritizer_that_was_not_taught_is_told_before_anything_is_fetched(crawl):
    taught = [name for name in names("prioritizer") if find("prioritizer", name).taught]
    for name in taught:
        result = crawl(site(), arguments={"prioritizer": name})
        assert result.exit_code == 2
        assert f"prioritizer {name!r} has not been taught for topic {WORDS!r}: scrapy teach" in result.last_line
        assert "where FILE is what `scrapy paths` has written (docs/paths.md)" in result.last_line
        assert not result.visits


FAILING = '''
from focused.prioritizers.best_first import BestFirst

class Failing(BestFirst):
    """Cannot learn."""
    name = "failing"
    learns = True

    def learn(self, lessons):
        raise RuntimeError("no")
'''


def test_a_learner_that_fails_costs_no_page(crawl, tmp_path, monkeypatch):
    (tmp_path / "their_own.py").write_text(FAILING)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    result = crawl(site(), arguments={"prioritizer": "their_own.Failing"}, settings={"FOCUSED_TRAIN_EVERY": 3})
    assert result.exit_code == 0, result.log
    assert result.stats["focused/job/pages"] == PAGES + 1
    assert result.stats["focused/training/failed"] > 1
    assert "Critic or prioritizer could not learn" in result.log


def test_the_critic_that_is_asked_for_is_taught_before_the_crawl(crawl, tmp_path):
    rows = [f"stars\t{HUB}\n", *(f"{'stars' if n % 2 else 'soups'}\thttp://w{n % 3}.example/{n}\n" for n in range(8))]
    (tmp_path / "stars.tsv").write_text("class\turl\n" + "".join(rows))
    topic = tmp_path / "stars.toml"
    topic.write_text(f'name = "stars"\nexamples = "stars.tsv"\nfocus = ["stars"]\nseeds = ["{HUB}"]\n')
    result = crawl(site(), arguments={"topic": str(topic), "critic": "naive-bayes"})
    assert result.exit_code == 0, result.log
    assert '"critic": "naive-bayes"' in (tmp_path / "models" / "stars" / "card.json").read_text()


def test_a_prioritizer_that_compares_with_the_examples_can_be_had_before_the_critic_is_taught(crawl, tmp_path):
    path = lexical_topic(tmp_path)
    path.write_text(path.read_text().replace('name = "lexical"', 'name = "logistic"'))
    result = crawl(site(), arguments={"topic": str(path), "prioritizer": "cosine"})
    assert result.exit_code == 0, result.log
    assert "has no trained critic yet: training it first" in result.log
    assert re.search(r"Critic logistic trained on \d+ examples; 0 more could not be fetched", result.log)
    assert len(result.fetched) > PAGES / 2
