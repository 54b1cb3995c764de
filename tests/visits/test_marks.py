"""What users say of pages is taken in once, some at a time, whatever else lies in the inbox."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import Any

import pytest

from focused.frontier.inbox import FILE_NAME, FileInbox, Mark
from focused.frontier.store import SURE, NewLink, Outcome, PageRecord, Says
from focused.frontier.store_sqlite import SqliteStore
from focused.lab.redis.server import RedisServer
from focused.prioritizers.breadth_first import BreadthFirst
from focused.redis.inbox import RedisInbox
from focused.visits import marks as room
from focused.visits.marks import Marks
from tests.frontier.frontiers import lease, open_redis

URL = "http://h.example/"
SEEN, WAITS, NEW, GONE = (f"{URL}{name}" for name in ("seen", "waits", "new", "gone"))


class Place:
    """A crawl with a page, a dead link and one that waits, and its inbox."""

    def __init__(self, kind: str, folder: Path, redis: RedisServer) -> None:
        self.kind, self.folder, self.redis = kind, folder, redis
        self.fetched: list[str] = []
        self.store: Any = self.open()
        self.store.admit(None, [NewLink(url, "h.example", base=2 - i / 2) for i, url in enumerate((SEEN, GONE, WAITS))])
        leased = lease(self.store)
        self.store.record(leased, PageRecord(0, SEEN, 0.25, 1))
        self.store.acknowledge(leased, Outcome.PAGE)
        self.store.acknowledge(lease(self.store), Outcome.DEAD)
        self.store.commit()

    def open(self) -> Any:
        return open_redis(self.redis) if self.kind == "redis" else SqliteStore(self.folder, BreadthFirst())

    @property
    def inbox(self) -> Any:
        if self.kind == "redis":
            return RedisInbox(self.store.server.client, self.store.server.crawl)
        return FileInbox(self.folder)

    def marks(self) -> Marks:
        return Marks(self.store, self.inbox, self.fetched.extend)

    def say(self, said: Says, *urls: str) -> None:
        self.inbox.append([Mark(url=url, said=said) for url in urls])

    def answers(self) -> dict[str, str]:
        """What counts, by address."""
        urls = [SEEN, WAITS, NEW, GONE]
        names = dict(zip(self.store.known(urls).links.tolist(), urls, strict=True))
        return {names[link]: str(one.said) for link, one in self.store.answers().items()}


@pytest.fixture(params=["file", "redis"])
def place(request: pytest.FixtureRequest, tmp_path: Path, redis: RedisServer):
    made = Place(request.param, tmp_path, redis)
    yield made
    made.store.close()


def test_marks_become_answers_and_pages_that_are_not_there_go_before_all_others(place: Place) -> None:
    marks = place.marks()
    assert marks.take_in() is None
    place.say(Says.YES, SEEN, NEW)
    place.say(Says.NO, WAITS, GONE)
    taken = marks.take_in()
    assert taken is not None
    assert taken.in_words() == "4 marks taken in: 2 yes, 2 no, 2 to be fetched first"
    assert place.answers() == {SEEN: "yes", NEW: "yes", WAITS: "no", GONE: "no"}
    assert place.fetched == [NEW, WAITS]
    place.store.admit(None, [NewLink("http://h.example/seed", "h.example", base=4.0)])
    leases = [lease(place.store) for _ in range(3)]
    assert {one.url for one in leases[:2]} == {NEW, WAITS}
    assert [one.seed for one in leases] == [False, False, True], "what is marked with no is no example, as seeds are"
    assert place.store.known([SEEN]).relevance[0] == pytest.approx(SURE)


def test_twice_is_the_same_as_once_and_nothing_is_lost_between(place: Place) -> None:
    place.say(Says.YES, SEEN)
    marks, other = place.marks(), place.marks()
    assert marks.take_in() is not None
    assert marks.take_in() is other.take_in() is None
    place.say(Says.NO, SEEN)
    assert other.take_in() is not None
    assert marks.take_in() is None, "the other one was first"
    place.store.close()
    place.store = place.open()
    assert place.marks().take_in() is None
    assert place.answers() == {SEEN: "no"}


def test_the_last_mark_counts_and_one_can_be_taken_back(place: Place) -> None:
    place.say(Says.YES, SEEN)
    place.say(Says.NO, SEEN)
    marks = place.marks()
    taken = marks.take_in()
    assert taken is not None
    assert "1 changed" in taken.in_words()
    place.say(Says.YES, SEEN)
    taken = marks.take_in()
    assert taken is not None
    assert taken.changed == 1
    place.say(Says.NOTHING, SEEN, NEW)
    taken = marks.take_in()
    assert taken is not None
    assert taken.in_words() == "2 marks taken in: 2 forgotten"
    assert place.store.known([SEEN]).relevance[0] == pytest.approx(0.25), "as the critic had it"
    assert place.answers() == {SEEN: "nothing"}
    assert place.fetched == []


def test_many_marks_are_taken_in_some_at_a_time(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_MOST", 3)
    place.inbox.append([Mark(url=f"{URL}{number}", said=Says.YES) for number in range(7)])
    marks, counts = place.marks(), []
    while (taken := marks.take_in()) is not None:
        counts.append((len(taken.marks), marks.has_more))
    assert counts == [(3, True), (3, True), (1, False)]
    assert len(place.store.answers()) == 7
    assert all(isnan(one.relevance) for one in place.store.answers().values())


def test_nonsense_is_skipped_and_does_not_come_again(place: Place) -> None:
    place.say(Says.YES, SEEN)
    if place.kind == "redis":
        place.store.server.client.rpush(f"{place.store.server.prefix}inbox", b"{")
    else:
        with (place.folder / FILE_NAME).open("ab") as file:
            file.write(b"{\n")
    marks = place.marks()
    taken = marks.take_in()
    assert taken is not None
    assert taken.in_words() == "1 mark taken in: 1 yes, 1 unreadable lines skipped"
    assert marks.take_in() is None
    assert not marks.has_more


def test_a_line_that_is_being_written_does_not_look_like_more(tmp_path: Path, redis: RedisServer) -> None:
    place = Place("file", tmp_path, redis)
    place.say(Says.YES, SEEN)
    with (tmp_path / FILE_NAME).open("ab") as file:
        file.write(b'{"kind": "mark"')
    marks = place.marks()
    assert marks.take_in() is not None
    assert marks.take_in() is None
    assert not marks.has_more, "the critic learns"
    place.store.close()


def test_an_inbox_that_was_deleted_begins_anew(place: Place) -> None:
    place.say(Says.YES, SEEN, NEW)
    marks = place.marks()
    assert marks.take_in() is not None
    if place.kind == "redis":
        place.store.server.client.delete(f"{place.store.server.prefix}inbox")
    else:
        (place.folder / FILE_NAME).unlink()
    assert marks.take_in() is None
    place.say(Says.NO, SEEN)
    assert marks.take_in() is not None
    assert place.answers()[SEEN] == "no"
