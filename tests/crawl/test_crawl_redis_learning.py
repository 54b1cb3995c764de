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
from focused.frontier.store import KeptPages, Says
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
from focused.redis.reading.status import RedisStatus
from focused.redis.store import RedisStore
from focused.report.status import AnswerCounts
from focused.report.why import explain_link
from focused.topics.topic import load_topic
from focused.visits.revision import judge_again, known_answers
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

    def open_crawl(*, through: GeneratedWeb = web, **settings: Any) -> tuple[Workers, SiteServer]:
        pages = through.pages
        site = SiteServer({url: Reply(body=page.body, wait=0.05) for url, page in pages.items()}).__enter__()
        arguments = {"topic": TOPIC, "seeds": next(iter(pages))}
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
            self.pages = reader.pages(self.table.link.tolist())
            answered = [page for page in self.pages if page.said]
            self.stories = ["\n".join(explain_link(reader, page.url)) for page in answered[:1]]
        with redis.client() as client:
            store = RedisStore(client, CRAWL, "examiner", BestFirst(), identity={"id bits": "24"})
            self.model, self.critic_model = Pool(store.server).model(MODEL), Pool(store.server).model(CRITIC)
            self.standing = store.standing()
            kept, self.answers = list(store.kept_pages()()), store.answers()
            store.close()
        self.gists = {link: gist for pages in kept for link, gist in zip(pages.links, pages.gists, strict=True)}

    def newest_critic(self) -> LearningCritic:
        critic = critic_for(load_topic(TOPIC, seeds=["http://seed.example/"]), Path("none"))
        assert isinstance(critic, LearningCritic)
        assert self.critic_model is not None
        critic.restore_learned(self.critic_model.state)
        return critic


def check_consistent(redis: RedisServer, web: GeneratedWeb) -> Outcome:
    """Every page was judged by the newest critic, or answered about; counts, items and readers say the same."""
    outcome = Outcome(redis)
    critic, links = outcome.newest_critic(), outcome.table.link.tolist()
    assert critic.version > 0
    assert len(links) == len(web.pages) == len(outcome.gists)
    assert {item["version"] for item in outcome.items} == {critic.version}
    kept = KeptPages(links, [outcome.gists[link] for link in links])
    verdicts = judge_again(critic, kept, known_answers(outcome.answers))
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
        alone = run_crawl(arguments, folder=tmp_path / "file", site=site, settings=settings)
        assert shared.wait() == 0, shared.log
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


# --- a teacher -------------------------------------------------------------------------------------------------------

TEACHERS = """
import os, signal
from pathlib import Path

FOLDER = Path(os.environ["DEATHS"])

def labels(pages, topic):
    with (FOLDER / "asked").open("a") as file:
        file.writelines(f"{page.url}\\n" for page in pages)
    (FOLDER / f"asked by {os.getpid()}").touch()
    assert all(page.title in page.text for page in pages)
    return ["/stars/" in page.url for page in pages]

def dies_once(pages, topic):
    if (FOLDER / "asked").exists() and not (FOLDER / "died").exists():
        (FOLDER / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return labels(pages, topic)
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """In which workers find a teacher, and a critic that may kill them."""
    (tmp_path / "teachers.py").write_text(TEACHERS)
    (tmp_path / "mortal.py").write_text(MORTAL)
    return {"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)]), "DIES": "", "DEATHS": str(tmp_path)}


def asked(folder: Path) -> list[str]:
    return (folder / "asked").read_text().splitlines()


def check_answers(outcome: Outcome, folder: Path, count: int) -> None:
    """So many pages were answered about, each once and by its label, and all readers say so."""
    answered = {page.url: page for page in outcome.pages if page.said}
    assert sorted(asked(folder)) == sorted(answered), "an answer that was given is kept, and nothing is asked twice"
    assert len(answered) == len(outcome.answers) == count
    assert all(page.said == (Says.YES if "/stars/" in url else Says.NO) for url, page in answered.items())
    said = [answer.said for answer in outcome.answers.values()]
    found = [answer.said for answer in outcome.answers.values() if answer.relevance >= 0.5]
    counts = AnswerCounts(said.count(Says.YES), said.count(Says.NO), 0, len(found), found.count(Says.YES))
    assert outcome.status.answers == counts
    assert "said that it is " in outcome.stories[0]


def leases(redis: RedisServer) -> list[int]:
    """How many links each worker has."""
    (reader,) = open_readers(redis.url, CRAWL, Settings())
    with reader:
        status = reader.status()
    assert isinstance(status, RedisStatus)
    return [worker.leases for worker in status.workers]


def test_the_trainer_asks_about_the_pages_of_all_workers_and_all_verdicts_follow(
    crawl, web: GeneratedWeb, redis: RedisServer, tmp_path: Path, environment: dict[str, str]
):
    workers, site = crawl(FOCUSED_TEACHER="teachers.labels", FOCUSED_TEACHER_ANSWERS=17)
    # Nobody is asked before both are at work.
    site.answer(9)
    one, other = workers.start(2, environment=environment)
    workers.until(lambda: workers.meta() and len(leases(redis)) == 2 and all(leases(redis)))
    site.answer()
    assert workers.wait() == [0, 0], one.log + other.log
    outcome = check_consistent(redis, web)
    check_answers(outcome, tmp_path, 17)
    for worker in (one, other):
        assert {item["url"] for item in worker.items} & set(asked(tmp_path)), "it is asked about the pages of both"
    counts = [worker.stats.get(f"focused/teacher/{word}", 0) for worker in (one, other) for word in ("yes", "no")]
    assert sum(counts) == 17


def test_the_trainer_is_killed_while_the_teacher_answers_and_another_asks_for_the_rest(
    crawl, web: GeneratedWeb, redis: RedisServer, tmp_path: Path, environment: dict[str, str]
):
    workers, site = crawl(FOCUSED_TEACHER="teachers.dies_once", FOCUSED_TEACHER_ANSWERS=9, **SHORT)
    site.answer(100)
    workers.start(2, environment=environment)
    workers.until(lambda: len(workers.running) == 1)
    (left,) = workers.running
    before = asked(tmp_path)
    workers.until(lambda: workers.trainer() is left)
    site.answer()
    assert workers.wait() == [0], left.log
    assert sorted(worker.code for worker in workers.started) == [-9, 0]
    check_answers(check_consistent(redis, web), tmp_path, 9)
    assert 0 < len(before) <= 5
    assert len([*tmp_path.glob("asked by *")]) == 2


def test_answers_that_a_killed_trainer_has_not_learned_are_learned_by_the_next(
    crawl, web: GeneratedWeb, redis: RedisServer, tmp_path: Path, environment: dict[str, str]
):
    workers, site = crawl(
        FOCUSED_TEACHER="teachers.labels", FOCUSED_TEACHER_ANSWERS=5, FOCUSED_CRITIC="mortal.Mortal", **SHORT
    )
    # Too few for the critic to learn without answers.
    site.answer(20)
    (first,) = workers.start(environment=environment | {"DIES": "before it is published"})
    assert first.wait() == -9, first.log
    assert asked(tmp_path)
    assert workers.count("critic") == 0
    (next_one,) = workers.start(environment=environment)
    workers.until(lambda: learned(workers))
    assert workers.count("pages") < 25
    site.answer()
    assert workers.wait() == [0], next_one.log
    check_answers(check_consistent(redis, web), tmp_path, 5)


def test_a_crawl_does_not_end_before_the_last_answers_are_learned(
    crawl, redis: RedisServer, tmp_path: Path, environment: dict[str, str]
):
    small = bulk_web(12, size=3_000, links=11, hosts=4)
    workers, _ = crawl(through=small, FOCUSED_TEACHER="teachers.labels")
    (worker,) = workers.start(environment=environment)
    assert workers.wait() == [0], worker.log
    outcome = check_consistent(redis, small)
    assert 0 < len(outcome.answers) <= 5
    check_answers(outcome, tmp_path, len(outcome.answers))


def test_answers_that_no_critic_can_learn_from_keep_no_worker(
    crawl, redis: RedisServer, tmp_path: Path, environment: dict[str, str]
):
    (tmp_path / "failing.py").write_text(FAILING)
    small = bulk_web(12, size=3_000, links=11, hosts=4)
    workers, _ = crawl(through=small, FOCUSED_TEACHER="teachers.labels", FOCUSED_CRITIC="failing.Failing")
    for number in (1, 2):
        started = workers.start(number, environment=environment)
        assert workers.wait() == [0] * number
        assert all(0 < worker.stats["focused/training/failed"] <= 2 for worker in started)
    assert workers.count("answers") == len(asked(tmp_path)) > 0
    assert workers.count("learned_answers") == 0
