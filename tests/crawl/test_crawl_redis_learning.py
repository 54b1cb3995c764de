"""The critic of a shared crawl learns on the job: one worker teaches it, and in the end all pages are judged alike."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scrapy.settings import Settings

from focused.critics.base import LearningCritic
from focused.critics.choose import critic_for
from focused.lab.demo.bulk import bulk_web
from focused.lab.demo.demonstration import demonstration_web
from focused.lab.demo.web import HTML, GeneratedWeb
from focused.lab.redis.server import RedisServer
from focused.lab.redis.workers import CRAWL, Workers
from focused.lab.site.crawl import run_crawl
from focused.lab.site.reply import Reply
from focused.lab.site.server import SiteServer
from focused.prioritizers.best_first import BestFirst
from focused.redis.pool import Pool
from focused.redis.reading.reader import open_readers
from focused.redis.store import RedisStore
from focused.topics.topic import load_topic
from focused.visits.training import CRITIC, MODEL

TOPIC = "star galaxy telescope"
SETTINGS = {"ROBOTSTXT_OBEY": False, "CONCURRENT_REQUESTS": 4}
# A worker that was killed is taken for dead as soon as that.
SHORT = {"FOCUSED_LEASE_SECONDS": 4}
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def web() -> GeneratedWeb:
    return bulk_web(240, size=3_000, links=12, hosts=12)


@pytest.fixture
def crawl(tmp_path: Path, redis: RedisServer, web: GeneratedWeb) -> Iterator[Callable[..., tuple[Workers, SiteServer]]]:
    """Workers of one crawl through the web, by plain words. A page takes a while, so that there is time to learn."""
    opened: list[Any] = []

    def open_crawl(**settings: Any) -> tuple[Workers, SiteServer]:
        site = SiteServer({url: Reply(body=page.body, wait=0.05) for url, page in web.pages.items()}).__enter__()
        arguments = {"topic": TOPIC, "seeds": next(iter(web.pages))}
        workers = Workers(tmp_path, redis, site.url, arguments, {**SETTINGS, **settings})
        opened.extend([workers, site])
        return workers, site

    yield open_crawl
    for each in opened:
        each.__exit__(None, None, None)


class Outcome:
    """What a crawl has left in Redis: its pages as readers see them, and what it has kept to judge them anew."""

    def __init__(self, redis: RedisServer) -> None:
        (reader,) = open_readers(redis.url, CRAWL, Settings())
        with reader:
            self.items, self.table, self.status = list(reader.items()), reader.page_table(), reader.status()
        with redis.client() as client:
            store = RedisStore(client, CRAWL, "examiner", BestFirst(), identity={"id bits": "24"})
            self.model, self.critic_model = Pool(store.server).model(MODEL), Pool(store.server).model(CRITIC)
            self.standing = store.standing()
            kept = list(store.kept_pages()())
            store.close()
        self.gists = {link: gist for pages in kept for link, gist in zip(pages.links, pages.gists, strict=True)}

    def newest_critic(self) -> LearningCritic:
        critic = critic_for(load_topic(TOPIC, seeds=["http://seed.example/"]), Path("none"))
        assert isinstance(critic, LearningCritic)
        assert self.critic_model is not None
        critic.restore_learned(self.critic_model.state)
        return critic


def check_consistent(redis: RedisServer, web: GeneratedWeb) -> Outcome:
    """Every page was judged by the newest critic, whoever fetched it; counts, items and readers say the same."""
    outcome = Outcome(redis)
    critic, links = outcome.newest_critic(), outcome.table.link.tolist()
    assert critic.version > 0
    assert len(links) == len(web.pages) == len(outcome.gists)
    assert {item["version"] for item in outcome.items} == {critic.version}
    verdicts = critic.judge_again([outcome.gists[link] for link in links])
    relevance = [verdict.relevance for verdict in verdicts]
    assert outcome.table.relevance == pytest.approx(relevance)
    assert [item["relevance"] for item in outcome.items] == pytest.approx(relevance, abs=1e-6)
    assert outcome.standing.relevance == pytest.approx(sum(relevance))
    assert outcome.standing.found == outcome.status.relevant == sum(one >= 0.5 for one in relevance)
    assert outcome.standing.outdated == 0
    assert max(map(len, outcome.gists.values())) <= 4_096
    return outcome


def learned(workers: Workers) -> bool:
    return workers.count("critic") > 0


def test_all_pages_of_two_workers_are_judged_by_the_newest_critic(crawl, web: GeneratedWeb, redis: RedisServer):
    workers, _ = crawl()
    one, other = workers.start(2)
    assert workers.wait() == [0, 0]
    assert one.items
    assert other.items
    outcome = check_consistent(redis, web)
    versions = [worker.stats["focused/critic/version"] for worker in (one, other)]
    assert max(versions) == outcome.newest_critic().version
    stars = np.array(["/stars/" in item["url"] for item in outcome.items])
    assert outcome.table.relevance[stars].mean() > 2 * outcome.table.relevance[~stars].mean()


def taught_by(redis: RedisServer) -> float:
    """The version of the critic whose verdicts have taught the prioritizer that was published last."""
    with redis.client() as client:
        return float(client.hget(f"{{focused:{CRAWL}}}:model:{MODEL}", "critic") or 0)


MORTAL = '''
import os, signal
from pathlib import Path
from focused.critics.combined import CombinedCritic

FOLDER = Path(os.environ["DEATHS"])

def die(where):
    """Once, in the process that has the critic learn."""
    if where == os.environ["DIES"] and not (FOLDER / "died").exists():
        (FOLDER / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)

class Mortal(CombinedCritic):
    trains = False

    def learn_from_pages(self, gists, answered=()):
        new = super().learn_from_pages(gists, answered)
        die("before it is published")
        if new is not None:
            new.trains = True
        return new

    def learned(self):
        if self.trains:
            die("when it is published")
        return super().learned()

    def worth(self, relevance):
        if self.trains:
            die("when the prioritizer is taught anew")
        return super().worth(relevance)
'''


@pytest.mark.parametrize(
    "when", ["before it is published", "when it is published", "when the prioritizer is taught anew"]
)
def test_the_trainer_is_killed_while_the_critic_learns_and_another_makes_the_revision_again(
    crawl, web: GeneratedWeb, redis: RedisServer, tmp_path: Path, when: str
):
    (tmp_path / "mortal.py").write_text(MORTAL)
    path = os.pathsep.join([str(ROOT), str(tmp_path)])
    workers, site = crawl(FOCUSED_CRITIC="mortal.Mortal", **SHORT)
    site.answer(100)
    workers.start(2, environment={"PYTHONPATH": path, "DIES": when, "DEATHS": str(tmp_path)})
    workers.until(lambda: len(workers.running) == 1)
    (left,) = workers.running
    workers.until(lambda: workers.trainer() is left)
    site.answer()
    assert workers.wait() == [0], left.log
    assert sorted(worker.code for worker in workers.started) == [-9, 0]
    outcome = check_consistent(redis, web)
    assert outcome.model is not None
    assert outcome.model.critic > 0, "what was learned from older verdicts is gone"


def test_a_crawl_that_goes_on_later_begins_with_the_newest_critic(crawl, web: GeneratedWeb, redis: RedisServer):
    workers, site = crawl(**SHORT)
    site.answer(100)
    workers.start()
    workers.until(lambda: learned(workers) and taught_by(redis) == workers.count("critic"))
    before = Outcome(redis).newest_critic().version
    for worker in workers.running:
        worker.kill()
    site.answer()
    (late,) = workers.start()
    assert late.wait() == 0, late.log
    assert check_consistent(redis, web).newest_critic().version >= before


def test_a_worker_alone_finds_about_what_a_crawl_in_a_file_finds(redis: RedisServer, tmp_path: Path):
    """The one learns beside its crawl, the other waits for it: so the pages take a while here."""
    web = demonstration_web(800, seed=2)
    html = {url: page for url, page in web.pages.items() if dict(page.headers).get("Content-Type") == HTML}
    pages = {**web.pages, **{url: Reply(body=page.body, wait=0.2) for url, page in html.items() if page.status == 200}}
    arguments = {"topic": " ".join(web.keywords[:4]), "seeds": " ".join(web.seeds["far"][:3]), "pages": 150}
    settings = {**SETTINGS, "CONCURRENT_REQUESTS": 2}
    (tmp_path / "file").mkdir()
    with SiteServer(pages) as site, Workers(tmp_path, redis, site.url, arguments, settings) as workers:
        (shared,) = workers.start()
        assert shared.wait() == 0, shared.log
        alone = run_crawl(arguments, folder=tmp_path / "file", site=site, settings=settings)
    found, expected = (len({item["url"] for item in items} & set(web.targets)) for items in (shared.items, alone.items))
    assert shared.stats["focused/critic/version"] > 0
    assert found > 0.75 * expected > 15


FAILING = """
from focused.critics.combined import CombinedCritic

class Failing(CombinedCritic):
    def learn_from_pages(self, gists, answered=()):
        raise ArithmeticError("nothing can be learned")
"""


def test_a_critic_that_cannot_learn_costs_what_it_would_have_learned(
    crawl, web: GeneratedWeb, redis: RedisServer, tmp_path: Path
):
    (tmp_path / "failing.py").write_text(FAILING)
    workers, _ = crawl(FOCUSED_CRITIC="failing.Failing")
    (worker,) = workers.start(environment={"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])})
    assert workers.wait() == [0], worker.log
    assert len(worker.items) == len(web.pages)
    assert 0 < worker.stats["focused/training/failed"] <= 5, "it is tried as often as it would learn"
    assert worker.stats["focused/training/batches"] > 0
    assert not [item for item in Outcome(redis).items if "version" in item]
