"""The order of waiting links, against a plain model of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focused.frontier.order import LinkOrder, scores_to_bits, sort
from focused.frontier.table import LinkTable

HOSTS = 4
scores = st.integers(0, 20).map(lambda n: float(np.float32(n / 20)))
steps = st.one_of(
    st.tuples(st.just("new"), st.integers(0, HOSTS - 1), scores),
    st.tuples(st.just("change"), st.integers(0, 60), scores),
    st.tuples(st.just("remove"), st.integers(0, 60), st.just(0.0)),
    st.tuples(st.just("pop"), st.integers(0, 2**HOSTS - 1), st.just(0.0)),
    st.tuples(st.just("snapshot"), st.just(0), scores),
    st.tuples(st.just("adopt"), st.just(0), st.just(0.0)),
)


class Links:
    """An order over a table of its own."""

    def __init__(self):
        self.table = LinkTable()
        self.order = LinkOrder(self.table)

    def put(self, link, host, score):
        self.table.host[link] = host
        self.order.put(link, score)


class Model:
    """The same promises, kept the slow way."""

    def __init__(self):
        self.score, self.host = {}, {}
        self.rescored, self.touched = None, set()

    def best(self, blocked):
        free = [(-score, link) for link, score in self.score.items() if self.host[link] not in blocked]
        return min(free)[1] if free else None


@given(st.lists(steps, max_size=120))
@settings(max_examples=150)
def test_order_serves_the_best_free_link_through_changes_and_rescoring(plan):
    links, model, now, newest, run = Links(), Model(), 0.0, 1, None
    order = links.order
    for what, number, score in plan:
        link = number % newest if newest > 1 else 0
        if what == "new":
            links.put(newest, number, score)
            model.score[newest], model.host[newest] = score, number
            model.touched.add(newest)
            newest += 1
        elif what == "change" and link in model.score:
            if model.score[link] != score:
                model.touched.add(link)
            links.put(link, model.host[link], score)
            model.score[link] = score
        elif what == "remove":
            order.remove(link)
            model.score.pop(link, None)
        elif what == "pop":
            blocked = {host for host in range(HOSTS) if number >> host & 1}
            asked = now
            taken = order.pop(now, lambda host: asked + 1 if host in blocked else 0.0)  # noqa: B023
            assert taken == model.best(blocked)
            model.score.pop(taken, None)
            now += 1.5
        elif what == "snapshot" and run is None:
            snapshot = order.snapshot(len(links.table.state))
            new = {int(n): float(np.float32((int(n) * 7 % 11) / 11 * score)) for n in snapshot.links}
            run = sort(snapshot, np.array(list(new.values()), np.float32)), new
            model.touched = set()
        elif what == "adopt" and run is not None:
            order.adopt(run[0])
            model.score.update({n: s for n, s in run[1].items() if n in model.score and n not in model.touched})
            run = None
        assert len(order) == len(model.score)


def test_equal_scores_are_served_in_order_of_discovery_on_both_sides_of_a_rescoring():
    links = Links()
    order = links.order
    for link in (3, 1, 2):
        links.put(link, 0, 0.5)
    order.adopt(sort(order.snapshot(len(links.table.state)), np.full(3, 0.25, np.float32)))
    links.put(5, 0, 0.25)
    links.put(4, 0, 0.25)
    assert [order.pop(0, lambda _: 0.0) for _ in range(6)] == [1, 2, 3, 4, 5, None]


def test_a_busy_host_is_passed_over_until_it_is_released():
    links = Links()
    order = links.order
    links.put(1, 7, 0.9)
    links.put(2, 8, 0.1)
    assert order.pop(0, lambda host: float("inf") if host == 7 else 0.0) == 2
    assert order.pop(1e9, lambda _: 0.0) is None, "only a release wakes a host that waits for one"
    order.release(7)
    assert order.pop(0, lambda _: 0.0) == 1


def test_with_patience_poor_links_wait_for_better_ones_whose_host_is_soon_ready():
    links = Links()
    order = links.order
    links.put(1, 7, 0.9)
    links.put(2, 8, 0.3)
    links.put(3, 9, 0.5)
    busy = {7: float("inf"), 8: 0.0, 9: 0.0}
    assert order.pop(0, busy.__getitem__, 0.5) == 3, "0.5 is more than half of 0.9"
    assert order.pop(0, busy.__getitem__, 0.5) is None, "0.3 is not"
    assert order.pop(0, busy.__getitem__, 0.2) == 2, "less patience takes it"
    links.put(2, 8, 0.3)
    order.release(7)
    asleep = {7: 1_000.0, 8: 0.0}
    assert order.pop(0, asleep.__getitem__, 0.5) == 2, "a host that sleeps for long is not waited for"
    links.put(2, 8, 0.3)
    assert order.pop(1_000.0, lambda _: 0.0, 0.5) == 1


def test_the_next_wake_is_the_first_sleeping_host():
    links = Links()
    order = links.order
    for host in (1, 2):
        links.put(host, host, 0.5)
    assert order.pop(0, lambda host: 10.0 * host) is None
    assert order.next_wake() == 10.0
    assert order.pop(10, lambda _: 0.0) == 1
    assert order.next_wake() == 20.0


@pytest.mark.parametrize("values", [[-2.0, -0.5, -0.0, 0.0, 1e-9, 0.5, 1.0, 4.0]])
def test_bits_sort_like_scores_best_first(values):
    bits = scores_to_bits(values)
    assert list(bits) == sorted(bits, reverse=True)
