"""The pages about which a teacher may be asked, as workers of one crawl share them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from scrapy.utils.test import get_crawler

from focused.asking import Asking
from focused.frontier.store import Answer, NewLink, Outcome, PageRecord, Says
from focused.lab.redis.server import RedisServer
from focused.pages.page import Page, page_from_html
from focused.redis.store import RedisStore
from focused.redis.workers.questions import SharedCandidates, bytes_to_candidate, candidate_to_bytes
from focused.visits.questions import MOST_PAGES, Candidate, Question
from focused.visits.visit import Visit
from tests.frontier.frontiers import open_redis
from tests.redis.versions import Version

Open = Callable[[], RedisStore]


@pytest.fixture
def opened(redis: RedisServer) -> Iterator[Open]:
    """Opens workers of one crawl."""
    stores: list[RedisStore] = []

    def open_worker() -> RedisStore:
        stores.append(open_redis(redis))
        return stores[-1]

    yield open_worker
    for store in stores:
        store.abandon()


def candidate_page(link: int, text: str = "star galaxy") -> Page:
    return page_from_html(f"<title>Ω {link}</title><p>{text}</p>", f"http://a.example/{link}")


def candidate(link: int, text: str = "star galaxy") -> Candidate:
    return Candidate.of(link, candidate_page(link, text))


def test_a_page_comes_back_as_it_was_offered() -> None:
    offered = candidate(7, "star galaxy star \ud800 onion")
    found = bytes_to_candidate(candidate_to_bytes(offered))
    assert (found.link, found.question) == (offered.link, offered.question)
    for i in (0, 1):
        assert found.bag[i].dtype == offered.bag[i].dtype
        assert found.bag[i].tolist() == offered.bag[i].tolist()


def test_of_a_long_page_the_most_frequent_words_are_kept() -> None:
    words = [f"w{n}" for n in range(3_000)]
    offered = candidate(7, " ".join([*words, *words[2_000:]]))
    found = bytes_to_candidate(candidate_to_bytes(offered))
    ids, counts = found.bag
    assert len(ids) == 500
    assert set(counts.tolist()) == {2}
    assert (np.diff(ids.astype(np.int64)) > 0).all(), "in the order of their ids"
    assert len(candidate_to_bytes(offered)) < 25_000


def test_whoever_is_the_trainer_may_ask_about_the_pages_of_all_and_of_the_dead(opened: Open) -> None:
    stores = [opened() for _ in range(3)]
    one, other, late = map(SharedCandidates, stores)
    assert stores[0].train(10.0)
    assert [shared.is_asking_here for shared in (one, other, late)] == [True, False, False]
    one.add(candidate(1))
    other.add(candidate(2))
    other.add(candidate(3))
    stores[1].keep_answers([Answer(2, Says.NO, "me", "now", 0.5)])
    stores[0].commit()
    stores[0].server.ask("leave")
    assert stores[2].train(10.0)
    assert late.is_asking_here
    for _ in range(2):
        late.remove(stores[2].answers().keys())
        assert [page.link for page in late.open()] == [3, 1]
        assert [page.link for page in late.asked()] == [2]
    # A page may be fetched twice, after a death.
    late.add(candidate(1))
    late.remove([])
    assert sorted(page.link for page in late.open()) == [1, 2, 3]


def test_the_newest_pages_are_kept(opened: Open) -> None:
    store = opened()
    shared = SharedCandidates(store)
    for link in range(MOST_PAGES + 7):
        shared.add(candidate(link))
    shared.remove([9])
    assert [page.link for page in shared.open()] == [7, 8, *range(10, MOST_PAGES + 7)]


def answer_everything(pages: Sequence[Question], topic: object) -> list[bool]:
    return [True for _ in pages]


def page_through(store: RedisStore, asking: Asking, number: int) -> None:
    """Fetch a page, of which the worker takes note for the teacher."""
    url = f"http://a.example/{number}"
    store.admit(None, [NewLink(url, "a.example", base=4.0)])
    lease = store.lease(0, lambda _host: 0.0)
    assert lease is not None
    store.sent(lease, 0.0, 1_000, 0.0)
    record = store.record(lease, PageRecord(0, url, 0.5, number))
    asking.add(Visit(lease, candidate_page(number), record))
    store.acknowledge(lease, Outcome.PAGE)
    assert not asking.is_due, "the trainer asks"


def test_a_worker_offers_no_more_pages_once_others_have_got_all_answers(redis: RedisServer, opened: Open) -> None:
    name = f"{__name__}.answer_everything"
    settings = {"FOCUSED_TOPIC": "star galaxy", "FOCUSED_TEACHER": name, "FOCUSED_TEACHER_ANSWERS": 2}
    trainer, store = opened(), opened()
    assert trainer.train(10.0)
    crawler = get_crawler(settings_dict=settings)
    crawler.spider = crawler._create_spider("focused")
    asking = Asking(crawler, store, Version(), SharedCandidates(store))
    for number in range(1, 13):
        page_through(store, asking, number)
    trainer.keep_answers([Answer(link, Says.UNKNOWN, name, "now", 0.5) for link in (1, 2)])
    for number in range(13, 40):
        page_through(store, asking, number)
    store.commit()
    with redis.client() as client:
        assert client.llen("{focused:test}:questions") == 17, "until it would have been asked again"


def test_answers_that_say_nothing_are_no_news(opened: Open) -> None:
    one, other = opened(), opened()
    one.keep_answers([Answer(link, said, "me", "now", 0.5) for link, said in enumerate(Says, 1)])
    other.beat()
    assert (other.standing().answers, other.standing().learned_answers) == (3, 0), "yes, no, and one taken back"
    assert len(other.answers()) == 4
