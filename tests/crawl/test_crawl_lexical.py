"""A crawl led by lexical profiles, the weights that it teaches, and the next crawl that goes by them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from focused.frontier.records import read_records
from focused.report.job_reader import JobReader
from focused.report.why import explain_link
from tests.crawl.test_crawl_prioritizers import HUB, lexical_topic, site

ROOT = Path(__file__).parents[2]


def teach(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scrapy", "teach", str(folder / "stars.toml"), *options]
    own = os.environ | {"FOCUSED_MODELS": str(folder / "models")}
    return subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, check=False, timeout=280)


@pytest.fixture
def how(tmp_path):
    topic = {"topic": str(lexical_topic(tmp_path)), "prioritizer": "lexical"}
    return {"arguments": topic, "settings": {"CONCURRENT_REQUESTS": 1}}


def test_pages_get_levels(crawl, how):
    result = crawl(site(), **how)
    assert result.exit_code == 0, result.log
    levels = {item["url"].rpartition("/")[2]: item["class"] for item in result.items if item["url"] != HUB}
    assert all(level == ("level 1" if int(number) % 2 else "irrelevant") for number, level in levels.items())
    assert all((item["relevance"] > 0.5) == (item["class"] == "level 1") for item in result.items)


@pytest.mark.parametrize("by", ["order", "replay"])
def test_weights_are_found_on_a_crawl_and_used_by_the_next(crawl, how, tmp_path, by):
    crawl(site(), **how)
    taught = teach(tmp_path, "--weights", "--job", str(tmp_path / "job"), "--by", by)
    assert taught.returncode == 0, taught.stderr
    assert f"topic 'stars', weights by {by}: a = 0." in taught.stdout
    card = json.loads((tmp_path / "models/stars/lexical.card.json").read_text())
    weights = [card["figures"][name] for name in "abc"]
    assert sum(weights) == pytest.approx(1)
    with np.load(tmp_path / "models/stars/lexical.npz") as arrays:
        assert arrays["weights"].tolist() == pytest.approx(weights)
    with (tmp_path / "stars.toml").open("a") as topic:
        topic.write('[prioritizer]\nname = "lexical"\ncombination = "linear"\n')
    (tmp_path / "job").rename(tmp_path / "first")
    again = crawl(site(), **how)
    assert again.exit_code == 0, again.log
    with closing(read_records(tmp_path / "job")) as records:
        kept = records.execute("SELECT count(*) FROM models WHERE name = 'prioritizer'").fetchone()[0]
    with JobReader.open(tmp_path / "job") as reader:
        story = "\n".join(explain_link(reader, "http://w1.example/1"))
    assert kept == 1
    assert "anchor: level 1" in story


def test_what_cannot_be_learned_from_is_told(crawl, how, tmp_path):
    assert crawl(site(), **how | {"arguments": {**how["arguments"], "prioritizer": "best-first"}}).exit_code == 0
    other = teach(tmp_path, "--weights", "--job", str(tmp_path / "job"))
    assert other.returncode == 1
    assert "led by the prioritizer 'best-first', which keeps no levels of links" in other.stderr
    missing = teach(tmp_path, "--weights", "--job", str(tmp_path / "nowhere"))
    assert missing.returncode == 1
    assert "there is no job in" in missing.stderr
    alone = teach(tmp_path, "--weights")
    assert alone.returncode == 2
    assert "give --weights and --job JOBDIR" in alone.stderr
    assert not (tmp_path / "models/stars/lexical.npz").exists()


def test_another_critic_is_told_before_anything_is_fetched(crawl):
    result = crawl(site(), arguments={"prioritizer": "lexical"})
    assert result.exit_code == 2
    assert "uses the levels of the critic 'lexical', but the critic is 'combined'" in result.last_line
    assert not result.visits
