"""What the settings say of evidence, and what a redirect teaches: in a job folder and in Redis."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from scrapy.settings import Settings

from focused.critics.keywords import KeywordsCritic
from focused.frontier.store import SEED_RANK, NewLink, Outcome
from focused.parts import Parts
from focused.prioritizers.trainer import Trainer
from focused.redis.workers.opening import join
from focused.scheduling.resume import open_folder
from focused.topics.topic import Topic
from focused.visits.visits import Visits
from tests.frontier.frontiers import Frontier, Plain, add, lease


@pytest.fixture(params=["folder", "redis"])
def open_frontier(request, tmp_path):
    opened = []

    def make(**given):
        parts = Parts(
            Topic(name="birds"), KeywordsCritic(keywords=["bird"]), Plain(), Trainer(1_000), scope=None, limits=None
        )
        if request.param == "folder":
            opened.append(open_folder(parts, tmp_path, Settings(given)))
        else:
            url = request.getfixturevalue("redis").url
            opened.append(join(parts, Settings({"REDIS_URL": url, **given}, priority="project"), lambda: False))
        return Frontier.over(opened[-1])

    yield make
    for store in opened:
        store.close()


def test_no_more_pieces_of_evidence_are_kept_than_the_setting_says(open_frontier):
    frontier = open_frontier(FOCUSED_EVIDENCE_PIECES=3)
    for number in range(6):
        add(frontier.store, NewLink(f"http://seed/{number}", "seed", base=SEED_RANK))
        frontier.page(f"http://seed/{number}", 0.5, [("http://h/a", 0.5)])
    assert len(frontier.store.lessons_of(lease(frontier.store))) == 3


def test_a_redirect_to_a_page_fetched_before_is_taught_when_its_visit_ends(open_frontier):
    frontier = open_frontier()
    add(frontier.store, NewLink("http://seed/", "seed", base=SEED_RANK))
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.5), ("http://h/c", 0.3)])
    frontier.page("http://h/a", 0.7)
    taught = []
    training = SimpleNamespace(teach=lambda lease, lessons: taught.append((lease.url, lessons)))
    visits = Visits(frontier.store, None, training, None, count=None, judged=None)
    redirected = lease(frontier.store)
    visits.begin(redirected)
    assert not frontier.store.redirect(redirected, "http://h/a", "h")
    assert visits.end(redirected, Outcome.OTHER, "") is Outcome.REDIRECT
    ((url, lessons),) = taught
    assert (url, lessons.relevance.tolist()) == ("http://h/b", [pytest.approx(0.7)])
    other = lease(frontier.store)
    visits.begin(other)
    visits.end(other, Outcome.DENIED, "")
    assert len(taught) == 1, "what was not fetched teaches nothing"
