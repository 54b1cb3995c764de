"""Labels of pages, from a prioritizer taught by paths into what a crawl writes."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest
from scrapy.exporters import CsvItemExporter

from focused.critics.keywords import KeywordsCritic
from focused.items import FIELDS, PageItem
from focused.lab.process import crawl_environment
from focused.pages.page import Page
from focused.papers.prioritizers.crf import Crf
from focused.papers.prioritizers.taught import TaughtCard, save_taught
from focused.topics.identity import slug
from focused.topics.topic import load_topic
from tests.prioritizers.prioritizer_cases import WAY, toy_paths, toy_site

WORDS = "course syllabus homework"
ROOT = "http://o.example/"
LABELS = {ROOT + path.format(name="bob"): label for path, label, *_ in WAY}


def as_html(page: Page) -> str:
    """A toy page as it would come over the wire: what was read of it, written again."""
    leaves, links = list(page.leaves), page.links
    for url, first in zip(links.urls, links.first.tolist(), strict=True):
        leaves[first] = f"<a href='{url}'>{leaves[first]}</a>"
    opened: dict[int, str] = {}
    for tag, leaf in zip(page.tags, page.tag_leaves, strict=True):
        if tag in {"title", "h1", "h2", "p", "ul", "li"}:
            opened[leaf] = opened.get(leaf, "") + f"<{tag}>"
    closed = {"<title>": "</title>", "<h1>": "</h1>", "<h2>": "</h2>"}
    parts = (opened.get(i, "") + leaf + closed.get(opened.get(i, ""), "") for i, leaf in enumerate(leaves))
    return "<html><body>" + "".join(parts)


@pytest.fixture
def crawled(crawl, tmp_path):
    """A crawl of a site like those that the paths are from."""
    arguments = {"topic": WORDS, "seeds": ROOT, "prioritizer": "crf"}
    crf = Crf(critic=KeywordsCritic(keywords=WORDS.split()))
    crf.teach(toy_paths())
    topic = load_topic(WORDS, seeds=[ROOT])
    save_taught(tmp_path / "models" / slug(topic), crf, TaughtCard(topic=topic.name, prioritizer="crf"))
    pages = {url: as_html(page) for url, page in toy_site("o", "bob").items()}
    result = crawl(pages, arguments=arguments, settings={"CONCURRENT_REQUESTS": 1})
    assert result.exit_code == 0, result.log
    return result


def test_labels_are_in_the_output_and_in_the_export_and_the_way_to_the_goal_is_gone_first(crawled, tmp_path):
    labels = {item["url"]: item["label"] for item in crawled.items}
    assert {url: labels[url] for url in LABELS} == LABELS
    assert {label for url, label in labels.items() if url not in LABELS} == {"fail"}
    fetched = [item["url"] for item in sorted(crawled.items, key=lambda item: item["order"])]
    assert fetched[: len(LABELS)] == list(LABELS)
    command = [sys.executable, "-m", "scrapy", "export", str(tmp_path / "job"), "-o", "-"]
    run = subprocess.run(command, env=crawl_environment(), capture_output=True, text=True, check=True)
    exported = [json.loads(line) for line in run.stdout.splitlines()]
    assert {item["url"]: item["label"] for item in exported} == labels
    command = [sys.executable, "-m", "scrapy", "why", f"{ROOT}~bob/cs1", "--job", str(tmp_path / "job")]
    story = subprocess.run(command, env=crawl_environment(), capture_output=True, text=True, check=True).stdout
    assert "from 'faculty' to 'goal'" in story
    assert "course in the anchor → goal" in story


def test_in_csv_there_is_a_column_for_labels_and_it_is_empty_where_a_page_has_none():
    written = io.BytesIO()
    exporter = CsvItemExporter(written)
    for item in (PageItem(url="http://a/", order=1), PageItem(url="http://b/", order=2, label="goal")):
        exporter.export_item(item)
    exporter.stream.flush()
    heading, without, labelled = written.getvalue().decode().splitlines()
    assert heading.split(",") == list(FIELDS)
    assert [line.split(",")[-1] for line in (without, labelled)] == ["", "goal"]
