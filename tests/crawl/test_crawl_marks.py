"""A user marks pages of a crawl that runs, rests or has ended, by the command; no mark is lost, whatever dies."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from scrapy.settings import Settings

from focused.commands.mark import Command
from focused.frontier.inbox import FileInbox, Mark
from focused.frontier.store import JobRefused, Says
from focused.lab.demo.bulk import bulk_web
from focused.lab.process import LONGEST, OWN_SERVER, CrawlProcess
from focused.lab.redis.server import RedisServer
from focused.lab.redis.workers import CRAWL, Workers
from focused.lab.site.reply import Reply
from focused.lab.site.server import SiteServer
from focused.redis.inbox import RedisInbox
from focused.redis.reading.reader import open_readers
from focused.report.job_reader import JobReader
from focused.report.marks import read_marks
from focused.report.reader import CrawlReader
from focused.report.why import explain_link
from tests.crawl.commands import run_here

ROOT = Path(__file__).parents[2]
HUB, FAR = "http://hub.example/", "http://far.example/x"
PAGES = 40
HELD = 25
# The words find stars and soups alike.
TOPIC = 'name = "stars"\nkeywords = ["star", "galaxy", "onion", "butter"]\nseeds = ["http://hub.example/"]\n'
STARS = "<title>Star {0}</title><p>A star of the galaxy, seen through a telescope. Number {0} w{0} v{1}.</p>"
SOUPS = "<title>Soup {0}</title><p>Fry the onion in butter and stir the soup. Number {0} w{0} v{1}.</p>"
ONE_BY_ONE = {**OWN_SERVER, "CONCURRENT_REQUESTS": 1, "ROBOTSTXT_OBEY": False}


def small_site() -> dict[str, str]:
    links = "".join(f"<li><a href={HUB}{n}>number {n}</a>" for n in range(PAGES))
    pages = {f"{HUB}{n}": (STARS if n % 2 else SOUPS).format(n, n % 5) for n in range(PAGES)}
    return {HUB: f"<p>Stars and soups.</p>{links}", **pages, FAR: STARS.format(99, 1)}


def mark(place: object, *words: str) -> tuple[int, str]:
    """The exit code of the command, and what it says."""
    command = [sys.executable, "-m", "scrapy", "mark", str(place), *words]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return run.returncode, (run.stdout + run.stderr).strip()


def mark_here(place: object, *words: str, given: str = "") -> tuple[int, str]:
    """The same in this process."""
    return run_here(Command(), place, *words, given=given)


def until(condition: Callable[[], Any], crawler: CrawlProcess) -> None:
    end = monotonic() + LONGEST
    while not condition():
        assert monotonic() < end, crawler.log[-2_000:]
        assert crawler.is_running, crawler.log[-2_000:]
        sleep(0.05)


def start(folder: Path, site: SiteServer, **settings: Any) -> CrawlProcess:
    own = {**ONE_BY_ONE, "JOBDIR": folder / "job", "FOCUSED_MODELS": folder / "models", **settings}
    return CrawlProcess(folder, {"topic": folder / "stars.toml"}, own, proxy=site.url)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[SiteServer]:
    (tmp_path / "stars.toml").write_text(TOPIC)
    with SiteServer(small_site()) as server:
        yield server


def relevance(reader: CrawlReader, *urls: str) -> list[float]:
    links = [reader.link_at(url) for url in urls]
    return [page.relevance for page in reader.pages([link.number for link in links if link])]


def fetched(site: SiteServer) -> list[str]:
    return site.fetched(status=None)


def test_a_running_crawl_takes_marks_in_and_one_that_has_ended_when_it_goes_on(
    site: SiteServer, tmp_path: Path
) -> None:
    job = tmp_path / "job"
    site.answer(HELD)
    crawler = start(tmp_path, site)
    until(lambda: len(fetched(site)) > HELD, crawler)
    # While the crawl waits for a page, and for nothing else.
    with JobReader.open(job) as reader:
        pages = {page.url: page for page in reader.pages(reader.page_table().link.tolist())}
    stars, soups = ([url for url, page in pages.items() if page.title.startswith(word)] for word in ("Star", "Soup"))
    code, said = mark(job, "--yes", *stars[:4], FAR, "--no", *soups[:4])
    assert code == 0
    assert said == (
        f"{FAR} was not fetched yet: it is fetched first, and counts when it has come\n"
        "9 marks noted: 5 yes, 4 no. The crawl is running and takes them in now."
    )
    until(lambda: " taken in: " in crawler.log and _is_judged_anew(job, stars[4:], soups[4:]), crawler)
    assert len(fetched(site)) == HELD + 1, "no page was needed for that"
    with JobReader.open(job) as reader:
        assert relevance(reader, *stars[:4]) == pytest.approx([0.95] * 4, abs=0.05)
        assert max(relevance(reader, *soups[:4])) <= 0.0501
    assert "9 marks taken in: 5 yes, 4 no, 1 to be fetched first; all pages are judged anew" in crawler.log
    site.answer()
    assert crawler.wait() == 0, crawler.log
    assert FAR in fetched(site)[HELD : HELD + 3], "before all others that wait"
    stats = {name: count for name, count in crawler.stats.items() if name.startswith("focused/mark/")}
    assert stats == {"focused/mark/yes": 5, "focused/mark/no": 4, "focused/mark/fetched_first": 1}

    # It has ended.
    assert mark_here(job, "--no", stars[0], "--forget", stars[1]) == (
        0,
        f"{stars[0]} was yes, is no now\n2 marks noted: 1 no, 1 forgotten. They count when the crawl goes on.",
    )
    with JobReader.open(job) as reader:
        assert relevance(reader, FAR)[0] > 0.949
        assert reader.status().unread == 2
        story = list(explain_link(reader, stars[0]))
        assert "You said that it is wanted." in story
        assert "You said that it is not wanted; the crawl has not taken that in yet." in story
    again = start(tmp_path, site)
    assert again.wait() == 0, again.log
    with JobReader.open(job) as reader:
        assert relevance(reader, stars[0])[0] < 0.051
        assert relevance(reader, stars[1])[0] != pytest.approx(0.95)
        items = {item["url"]: item["relevance"] for item in reader.items()}
        assert items[stars[0]] < 0.051
        status = reader.status()
        assert status.unread == 0
        assert (status.answers.yes, status.answers.no) == (3, 5)
        assert [line.is_taken for line in read_marks(reader).values()] == [True] * 9


def _is_judged_anew(job: Path, stars: list[str], soups: list[str]) -> bool:
    with JobReader.open(job) as reader:
        return min(relevance(reader, *stars)) > max(relevance(reader, *soups))


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that has ended at its limit, by a critic that does not learn."""
    folder = tmp_path_factory.mktemp("ended")
    (folder / "stars.toml").write_text(TOPIC)
    with SiteServer(small_site()) as server:
        crawler = start(folder, server, FOCUSED_STOP_PAGES=20, FOCUSED_CRITIC="keywords")
        assert crawler.wait() == 0, crawler.log
    return folder


def test_marks_come_from_a_file_or_standard_input_and_are_listed(ended: Path) -> None:
    job, file = ended / "job", ended / "marks.txt"
    file.write_text(f"# mine\n\nyes {HUB}1\nno\t{HUB}2\nyes HTTP://HUB.example:80/3#top\n")
    assert mark_here(job, "--from", str(file))[0] == 0
    code, said = mark_here(job, "--from", "-", "--list", given=f"forget {HUB}1\n")
    assert code == 0
    lines = [f"no\t{HUB}2\t(not taken in yet)", f"yes\t{HUB}3\t(not taken in yet)"]
    assert said.splitlines()[-2:] == lines


def test_a_critic_that_does_not_learn_has_the_verdicts_on_marked_pages_changed(ended: Path) -> None:
    job = ended / "job"
    with JobReader.open(job) as reader:
        table = reader.page_table()
        before = dict(zip(table.link.tolist(), table.relevance.tolist(), strict=True))
        best = max(before, key=lambda link: before[link])
        (page,) = reader.pages([best])
    mark_here(job, "--no", page.url)
    with SiteServer(small_site()) as server:
        again = start(ended, server, FOCUSED_STOP_PAGES=20, FOCUSED_CRITIC="keywords")
        assert again.wait() == 0, again.log
    assert "the critic keywords does not learn here: only the verdicts on these pages change" in again.log
    with JobReader.open(job) as reader:
        table = reader.page_table()
        after = dict(zip(table.link.tolist(), table.relevance.tolist(), strict=True))
        assert after[best] == pytest.approx(0.05)
        assert next(item["relevance"] for item in reader.items() if item["url"] == page.url) == pytest.approx(0.05)
        marked = {line.mark.url for line in read_marks(reader).values()}
        unmarked = [one.link for one in reader.pages(list(before)) if one.url not in marked]
        assert all(after[link] == before[link] for link in unmarked)


def test_the_questions_that_help_most_are_about_pages_that_nobody_has_marked(ended: Path) -> None:
    job = ended / "job"
    code, said = mark_here(job, "--ask", "3")
    assert code == 0
    asked = [line.strip() for line in said.splitlines() if line.strip().startswith(HUB)]
    assert len(set(asked)) == 3
    assert said.count("R 0.") + said.count("R 1.") == 3
    lines = [json.loads(line) for line in mark_here(job, "--ask", "3", "--json")[1].splitlines()]
    assert [line["url"] for line in lines] == asked
    assert all(f"R {line['relevance']:.2f}" in said and line["title"] in said and line["words"] for line in lines)
    mark_here(job, "--no", *asked)
    _, said = mark_here(job, "--ask", "3")
    assert not set(asked) & set(said.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--yes", "hub.example/1"], "--yes: 'hub.example/1' is not an http(s) address; did you mean 'https://hub"),
        (["--yes", HUB, "--no", "ftp://x/"], "--no: 'ftp://x/' is not an http(s) address"),
        (["--yes", HUB + "x" * 9_000], "--yes: the address has more than 8,000 characters"),
        (["--yes", HUB, "--class", "soups"], "--class 'soups': no class of this crawl: its topic has no examples"),
        (["--from", "missing.txt"], "missing.txt: there is no such file"),
        ([], "give marks (--yes, --no, --forget, --from), or --list, --ask N or --to TOPIC.toml"),
        (["--list", "--json"], "--json is for --ask N: give both"),
        (["--ask", "0"], "'0': give a whole number, 1 or more"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence_and_nothing_is_noted(ended: Path, words: list[str], said: str) -> None:
    before = FileInbox(ended / "job").end()
    code, told = mark_here(ended / "job", *words)
    assert code == 2
    assert said in told
    assert FileInbox(ended / "job").end() == before


def test_a_job_that_is_not_there_or_damaged_is_refused(tmp_path: Path) -> None:
    for place, said in (
        (tmp_path, "there is no job in"),
        ("redis://127.0.0.1:1/0", "Redis does not answer at redis://127.0.0.1:1/0"),
    ):
        code, told = mark_here(place, "--yes", HUB)
        assert code == 2
        assert said in told
    (tmp_path / "job.db").write_bytes(b"no database" * 99)
    assert "is not a readable job file" in mark_here(tmp_path, "--yes", HUB)[1]
    assert not (tmp_path / "inbox.jsonl").exists()


def test_kills_at_any_moment_lose_no_mark(site: SiteServer, tmp_path: Path) -> None:
    """Marks come all the time, of pages that are there and that are not; what was acknowledged counts in the end."""
    moments, said = random.Random(1), {}
    inbox, numbers = FileInbox(tmp_path / "job"), iter(range(10_000))

    def say() -> None:
        number = next(numbers)
        url = f"{HUB}{number % (PAGES + 5)}"
        one = Mark(url=url, said=Says.YES if number % 3 else Says.NO)
        try:
            inbox.append([one])
        except JobRefused:
            return  # there is no job yet
        said[url] = one.said

    for answered in (10, 25, 38):
        site.answer(answered)
        crawler, most = start(tmp_path, site), moments.randint(5, 25)
        while " taken in: " not in crawler.log:
            say()
            sleep(0.02)
        for _ in range(most):
            say()
            sleep(moments.random() / 20)
        crawler.kill()
    site.answer()
    crawler = start(tmp_path, site)
    assert crawler.wait() == 0, crawler.log
    assert len(said) == PAGES + 5
    with JobReader.open(tmp_path / "job") as reader:
        pages = {page.url: page for page in reader.pages(reader.page_table().link.tolist())}
        assert {url: page.said for url, page in pages.items() if url in said} == {
            url: str(one) for url, one in said.items() if url in pages
        }
        assert len(pages) == PAGES + 1
        for url, page in pages.items():
            assert {"yes": page.relevance > 0.949, "no": page.relevance < 0.051}.get(page.said, True), url
        assert reader.status().unread == 0
        exported = {item["url"]: item["relevance"] for item in reader.items()}
        assert exported == pytest.approx({url: page.relevance for url, page in pages.items()}, abs=1e-6)


def test_two_workers_take_in_what_a_third_process_marks(redis: RedisServer, tmp_path: Path) -> None:
    web = bulk_web(120, size=1_000, links=12, hosts=6)
    pages = {url: Reply(body=page.body, wait=0.02) for url, page in web.pages.items()}
    first = next(iter(pages))
    arguments = {"topic": "star galaxy telescope", "seeds": first}
    settings = {"ROBOTSTXT_OBEY": False, "CONCURRENT_REQUESTS": 2}
    with SiteServer(pages) as site, Workers(tmp_path, redis, site.url, arguments, settings) as workers:
        site.answer(60)
        workers.start(2)
        # No page comes any more.
        workers.until(lambda: len(site.visits) >= 64)
        (reader,) = open_readers(redis.url, CRAWL, Settings())
        with reader:
            links = [page.url for page in reader.pages(reader.page_table().link.tolist())]
            waiting = [url for url in pages if (link := reader.link_at(url)) and link.state == 1][:2]
        code, told = mark_here(redis.url, "--yes", links[3], waiting[0], "--no", links[4], waiting[1])
        assert (code, told.splitlines()[-1]) == (
            0,
            "4 marks noted: 2 yes, 2 no. The crawl is running and takes them in now.",
        )
        workers.until(lambda: workers.count("learned_answers") >= 4)
        site.answer()
        assert workers.wait() == [0, 0]
        assert sum("marks taken in" in worker.log for worker in workers.started) == 1, "by one of them"
        assert workers.count("learned_answers") == workers.count("answers") >= 6, "two came with their pages"
        assert mark_here(redis.url, "--forget", links[4])[0] == 0
    (reader,) = open_readers(redis.url, CRAWL, Settings())
    with reader:
        assert all(one > 0.949 for one in relevance(reader, links[3], waiting[0]))
        assert all(one < 0.051 for one in relevance(reader, links[4], waiting[1]))
        assert "You said that it is wanted." in list(explain_link(reader, waiting[0]))
        status, items = reader.status(), {item["url"]: item["relevance"] for item in reader.items()}
        assert (status.answers.yes, status.answers.no, status.unread) == (2, 2, 1)
        assert items[waiting[1]] < 0.051
        assert [line.mark.said for line in read_marks(reader).values()] == ["yes", "yes", "nothing", "no"]


def test_marks_on_a_terminal_are_noted_one_by_one(ended: Path) -> None:
    """By a terminal of its own; q ends it."""
    pid, terminal = os.forkpty()
    if not pid:
        os.chdir(ROOT)
        os.execv(sys.executable, [sys.executable, "-m", "scrapy", "mark", str(ended / "job"), "--ask", "5"])
    with JobReader.open(ended / "job") as reader:
        before = len(read_marks(reader))
    shown = b""
    for word in (b"what\n", b"y\n", b"u\n", b"q\n"):
        while shown.count(b"q(uit): ") == 0:
            shown += os.read(terminal, 1_000)
        shown = b""
        os.write(terminal, word)
    assert os.waitpid(pid, 0)[1] == 0
    with JobReader.open(ended / "job") as reader:
        new = list(read_marks(reader).values())[before:]
    assert [line.mark.said for line in new] == ["yes", "unknown"]
    assert json.loads((ended / "job" / "inbox.jsonl").read_text().splitlines()[-1])["who"] == "you"


def test_a_crawl_in_redis_of_another_version_or_that_is_gone_is_told_nothing(redis: RedisServer) -> None:
    prefix = "{focused:other}:"
    with redis.client() as client:
        client.hset(f"{prefix}meta", "of:format", 1)
        code, told = mark_here(redis.url, "--yes", HUB, "--crawl", "other")
        assert code == 2
        assert "was written by another version" in told
        assert not client.exists(f"{prefix}inbox")
        client.delete(f"{prefix}meta")
        with pytest.raises(JobRefused, match="there is no crawl 'other' in Redis any more"):
            RedisInbox(client, "other").append([Mark(url=HUB, said=Says.YES)])
        assert not client.exists(f"{prefix}inbox")
        assert "there is no crawl 'other'" in mark_here(redis.url, "--yes", HUB, "--crawl", "other")[1]
