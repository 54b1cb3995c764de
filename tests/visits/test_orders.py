"""Orders are taken in once, with how far the inbox was read, and what follows from them outlasts the process."""

from __future__ import annotations

import pytest

from focused.frontier.inbox import Order
from focused.frontier.steering import STEERING, Steering, Verb
from focused.frontier.store import Says
from focused.visits.marks import Marks
from tests.frontier.frontiers import crash, lease
from tests.visits.test_marks import NEW, SEEN, WAITS, Place, place

__all__ = ["place"]


def tell(place: Place, verb: Verb, value: str = "") -> None:
    place.inbox.append([Order(verb=verb, value=value)])


def noted(place: Place) -> Steering:
    return Steering.of(place.store.noted(STEERING))


def test_what_follows_from_orders_is_kept_and_marks_among_them_count(place: Place) -> None:
    tell(place, "leave-out", "bad.example")
    tell(place, "limit", "pages=7")
    place.say(Says.YES, SEEN)
    tell(place, "pause")
    marks = place.marks()
    taken = marks.take_in()
    assert taken is not None
    assert taken.in_words() == (
        "3 orders taken in: leave-out bad.example; limit pages=7; pause; 1 mark taken in: 1 yes"
    )
    wanted = Steering(is_paused=True, limits={"pages": "7"}, left_out=("bad.example",))
    assert marks.steering == noted(place) == wanted
    assert place.answers() == {SEEN: "yes"}
    crash(place.store)
    place.store = place.open()
    again = place.marks()
    assert again.take_in() is None
    assert again.steering == wanted


def test_twice_is_once_and_every_worker_hears_of_it(place: Place) -> None:
    marks, other = place.marks(), place.marks()
    tell(place, "end")
    assert marks.take_in() is not None
    assert other.take_in() is None
    assert marks.steering == other.steering == noted(place) == Steering(ends=1)
    tell(place, "prefer", "h.example")
    assert other.take_in() is not None
    assert marks.take_in() is None
    assert marks.steering == other.steering == noted(place)


def test_seeds_go_before_all_others_and_teach_nothing(place: Place) -> None:
    for url in (NEW, SEEN, WAITS):
        tell(place, "seed", url)
    place.say(Says.NO, WAITS)
    marks = place.marks()
    assert marks.take_in() is not None
    assert place.fetched == [WAITS, NEW], "the one that was fetched is not fetched again"
    leases = [lease(place.store) for _ in range(2)]
    assert {one.url for one in leases} == {NEW, WAITS}
    assert not any(one.seed for one in leases)
    assert place.answers() == {WAITS: "no"}


def test_what_cannot_be_done_is_told_and_remembered(place: Place) -> None:
    marks = Marks(place.store, place.inbox, place.fetched.extend, lambda order: "not here" * (order.verb == "prefer"))
    tell(place, "prefer", "h.example")
    tell(place, "pause")
    taken = marks.take_in()
    assert taken is not None
    assert taken.not_done == ["prefer h.example is not done: not here"]
    assert "; prefer h.example is not done: not here" in taken.in_words()
    assert noted(place) == Steering(is_paused=True, not_done=("prefer h.example",))


@pytest.mark.parametrize("line", [b'{"kind": "order", "verb": "dance", "value": ""}', b'{"kind": "wish"}'])
def test_what_a_later_version_writes_is_skipped_and_counted(place: Place, line: bytes) -> None:
    tell(place, "pause")
    if place.kind == "redis":
        place.store.server.client.rpush(f"{place.store.server.prefix}inbox", line)
    else:
        with (place.folder / "inbox.jsonl").open("ab") as file:
            file.write(line + b"\n")
    tell(place, "go-on")
    taken = place.marks().take_in()
    assert taken is not None
    assert (len(taken.orders), taken.skipped) == (2, 1)
    assert noted(place) == Steering()
