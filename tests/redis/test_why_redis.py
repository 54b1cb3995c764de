"""`scrapy why --job redis://…` has the same answers as for a job folder: words, evidence, places, ways to end."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from lxml import html
from scrapy.settings import Settings

from focused.critics.base import Verdict
from focused.frontier.store import Answer, Lease, NewLink, Outcome, PageRecord, Says
from focused.lab.redis.server import RedisServer
from focused.pages.page import PageLimits, parse_page
from focused.pages.tokens import CrawlLexicon
from focused.prioritizers.base import Lessons
from focused.prioritizers.focused import Focused
from focused.redis.reading.reader import open_readers
from focused.redis.store import RedisStore
from focused.report.html import render_report
from focused.report.learned import learned_by_offset, saved_prioritizer
from focused.report.lessons import read_lessons
from focused.report.reader import CrawlReader
from focused.report.waiting import list_next
from focused.report.why import UnknownLink, explain_link
from focused.scheduling.starts import ABOUT
from focused.visits.training import MODEL
from tests.frontier.frontiers import lease

HUB = "http://a.example/"
GOOD, BAD = [f"{HUB}bird{n}" for n in range(4)], [f"{HUB}stone{n}" for n in range(4)]
OTHERS = [f"{HUB}{name}" for name in ("gone", "file", "old")]


class Worker:
    """A worker that has pages as tests write them, and what became of their addresses."""

    fetched: list[str]
    dead: str
    moved: str
    leased: str

    def __init__(self, server: RedisServer) -> None:
        self.lexicon = CrawlLexicon()
        self.prioritizer = Focused()
        self.store = RedisStore(server.client(), "birds", "one", self.prioritizer, lexicon=self.lexicon)
        about = {"topic": {"name": "birds"}, "critic": "keywords", "prioritizer": {"name": "focused", "options": {}}}
        self.store.note(ABOUT, json.dumps(about))
        self.store.admit(None, [NewLink(HUB, "a.example", base=4.0)])

    def next(self) -> Lease:
        leased = lease(self.store)
        assert leased is not None
        return leased

    def fetch(self, text: str, relevance: float) -> Lease:
        """The next page, which is this text; its links are admitted."""
        leased = self.next()
        page = parse_page(html.fromstring(text), leased.url, PageLimits(), lexicon=self.lexicon)
        item = {"url": leased.url, "title": page.title, "relevance": relevance, "score": leased.score}
        self.store.record(leased, PageRecord(0, leased.url, relevance, hash(text) % 2**62, title=page.title, item=item))
        if len(page.links):
            evidence = self.prioritizer.evidence(page, Verdict(relevance), page.links)
            scores = self.prioritizer.finite_scores(evidence)
            self.store.admit(leased, [NewLink(url, "a.example", depth=1) for url in page.links.urls], evidence, scores)
        lessons = self.store.lessons_of(leased)
        if lessons is not None:
            self.learn(lessons)
        self.store.acknowledge(leased, Outcome.PAGE)
        self.store.commit()
        return leased

    def learn(self, lessons: Lessons) -> None:
        self.prioritizer = self.prioritizer.learn(lessons) or self.prioritizer

    def end(self, outcome: Outcome, detail: str = "") -> Lease:
        leased = self.next()
        self.store.acknowledge(leased, outcome, detail)
        self.store.commit()
        return leased


@pytest.fixture
def worker(redis: RedisServer) -> Iterator[Worker]:
    """A hub and four pages it links to are fetched; a link is dead, one leads to a page fetched before, some wait."""
    made = Worker(redis)
    good = "".join(f"<p>a bird is here <a href={url}>feather {n}</a> and its wing</p>" for n, url in enumerate(GOOD))
    bad = "".join(f"<p>a rock is here <a href={url}>granite {n}</a> and its weight</p>" for n, url in enumerate(BAD))
    others = "".join(f"<p><a href={url}>other</a></p>" for url in OTHERS)
    made.fetch(f"<title>Birds</title>{good}{bad}{others}", 0.75)
    made.fetched = [made.fetch(f"<title>Page {n}</title><p>text {n}</p>", 0.25 * n).url for n in range(4)]
    made.dead = made.end(Outcome.DEAD, "404").url
    moved = made.next()
    made.store.redirect(moved, made.fetched[3], "a.example")
    made.store.acknowledge(moved, Outcome.OTHER)
    made.moved = moved.url
    made.store.save_model(MODEL, made.prioritizer.state(), 5)
    made.leased = made.next().url
    made.store.commit()
    yield made
    made.store.abandon()


@pytest.fixture
def reader(redis: RedisServer, worker: Worker) -> Iterator[CrawlReader]:
    (opened,) = open_readers(redis.url, "birds", Settings())
    with opened:
        yield opened


def why(reader: CrawlReader, url: str) -> str:
    return "\n".join(explain_link(reader, url))


def test_a_page_with_its_link_and_the_words_around_it(reader: CrawlReader, worker: Worker) -> None:
    story = why(reader, worker.fetched[2])
    assert "“Page 2”" in story
    assert "Page 4 of 5, depth 1. Verdict: relevance 0.500." in story
    assert "Score when it was chosen: " in story
    assert f"1. on {HUB} “Birds”" in story
    assert "page 1, R(u) = 0.750" in story
    lines = [line.split() for line in story.splitlines()]
    kind = "feather" if "bird" in worker.fetched[2] else "granite" if "stone" in worker.fetched[2] else "other"
    assert [line[1] for line in lines if line and line[0] == "0"] == [kind]
    assert "   score: 0." in story
    assert "first of all: what a link is usually worth" in story
    assert "without a name" not in story
    assert "those of the model published last (version 1)" in story


def test_what_somebody_said_of_a_page(reader: CrawlReader, worker: Worker) -> None:
    (link,) = worker.store.known([worker.fetched[2]]).links.tolist()
    worker.store.keep_answers([Answer(link, Says.NO, "teachers.ask", "now", 0.5)])
    assert "\nteachers.ask said that it is not wanted.\n" in why(reader, worker.fetched[2])
    assert "said that" not in why(reader, worker.fetched[1])
    worker.store.keep_answers([Answer(link, Says.NOTHING, "me", "later", 0.5)])
    assert "said that" not in why(reader, worker.fetched[2])


def test_every_way_to_end(reader: CrawlReader, worker: Worker) -> None:
    assert "It was tried and is dead: 404." in why(reader, worker.dead)
    assert f"It redirects to {worker.fetched[3]}\n“Page 3”" in why(reader, worker.moved)
    assert "It is being fetched now" in why(reader, worker.leased)
    assert "It is a seed" in why(reader, HUB)
    with pytest.raises(UnknownLink, match="is not known to this crawl"):
        why(reader, f"{HUB}nowhere")
    with pytest.raises(UnknownLink, match=r"Did you mean http://a\.example/\?"):
        why(reader, "https://www.a.example/")


def test_links_that_wait_have_the_places_at_which_redis_hands_them_out(reader: CrawlReader, worker: Worker) -> None:
    for rescored in (False, True):
        if rescored:
            rescoring = worker.store.rescoring()
            rescoring.score()
            rescoring.adopt()
        waiting = reader.status().waiting
        heading, *lines = list_next(reader, most=99)
        assert heading.startswith(f"{waiting} links waiting")
        assert len(lines) == waiting > 2
        for place, line in enumerate(lines, 1):
            score, url = line.split()
            assert f"Place {place} of {waiting} waiting links" in why(reader, url)
            assert f"its score now: {score}." in why(reader, url)
    first = lines[0].split()[1]
    assert worker.next().url == first


def test_lessons_and_learned_words_are_read_from_what_is_kept(reader: CrawlReader, worker: Worker) -> None:
    lessons = list(read_lessons(reader))
    assert [lesson.relevance[0] for lesson in lessons] == pytest.approx([0.0, 0.25, 0.5, 0.75])
    assert all(lesson.source_relevance.tolist() == [0.75] for lesson in lessons)
    prioritizer = saved_prioritizer(reader)[0]
    assert np.any(prioritizer.weights_of(lessons[0].evidence.ids))
    learned = learned_by_offset(reader, prioritizer, reader.page_table().link.tolist())
    assert [at.offset for at in learned[:11]] == list(range(-5, 6))
    text = render_report(reader)
    assert "What the prioritizer learned" in text
    assert "published last (version 1)" in text


def test_the_command(
    redis: RedisServer, worker: Worker, scrapy: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    run = scrapy("why", "--job", redis.url, worker.fetched[0], f"{HUB}nowhere")
    assert (run.returncode, "“Page 0”" in run.stdout) == (1, True)
    assert "is not known to this crawl" in run.stderr
    assert "links waiting" in scrapy("why", "--job", redis.url, "--crawl", "birds").stdout
    assert "there is no crawl 'fish'" in scrapy("why", "--job", redis.url, "--crawl", "fish").stderr
