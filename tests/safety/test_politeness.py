"""How hosts in trouble are kept count of."""

import pytest

from focused.safety.politeness import HostHealth, Patience, retry_after

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        (b"0", 0.0),
        (b" 120 ", 120.0),
        (b"Tue, 14 Nov 2023 22:14:20 GMT", 60.0),
        (b"Tuesday, 14-Nov-23 22:14:20 GMT", 60.0),
        (b"Tue, 14 Nov 2003 22:14:20 GMT", 0.0),
        (b"soon", None),
        (b"-5", None),
        (b"1.5", None),
        (b"", None),
        (b"\xff\xfe", None),
        (b"9" * 5_000, 9_999_999_999.0),
        (b"Tue, 99 Nov 99999999999 22:14:20 GMT", None),
    ],
)
def test_retry_after_in_both_forms(header, seconds):
    assert retry_after(header, NOW) == seconds


class Clock:
    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def health(clock):
    return HostHealth(Patience(failures=3, first=10.0, longest=60.0, times=4, longest_asked=600.0), clock)


def fail(health, host, times):
    return [health.failed(host) for _ in range(times)]


def test_a_host_that_has_answered_before_is_left_alone_for_longer_and_longer(health, clock):
    health.answered("a")
    waits = fail(health, "a", 2)
    for _ in range(4):
        waits.append(health.failed("a"))
        clock.now += waits[-1]
    assert waits == [0.0, 0.0, 10.0, 20.0, 40.0, 60.0]
    assert health.closed("a") == ""
    health.failed("a")
    assert health.closed("a") == "dead"


def test_failures_of_what_was_under_way_do_not_lengthen_the_sleep(health, clock):
    health.answered("a")
    assert fail(health, "a", 3)[-1] == 10.0
    clock.now += 4
    assert fail(health, "a", 5) == [6.0] * 5
    assert health.asleep("a") == 6.0


def test_an_answer_forgets_all_troubles(health):
    health.answered("a")
    fail(health, "a", 2)
    health.answered("a")
    assert fail(health, "a", 2) == [0.0, 0.0]
    assert health.asleep("a") == 0.0


def test_a_host_that_never_answered_is_dead_at_once_and_gets_another_chance_later(health, clock):
    fail(health, "a", 3)
    assert health.closed("a") == "dead"
    clock.now += 3_601
    assert health.closed("a") == ""
    fail(health, "a", 1)
    assert health.closed("a") == "dead"


def test_when_all_hosts_fail_it_is_our_own_network(health, clock):
    for i in range(30):
        health.failed(f"host{i}")
    assert fail(health, "a", 3)[-1] == 10.0
    assert health.closed("a") == ""
    health.answered("well")
    clock.now += 11
    health.failed("a")
    assert health.closed("a") == "dead"


def test_a_host_that_asks_for_time_gets_it(health, clock):
    assert health.asked_for_time("a", 120.0) == 120.0
    assert health.asleep("a") == 120.0
    clock.now += 121
    assert health.asleep("a") == 0.0


def test_it_asks_for_more_than_is_borne_with(health, clock):
    health.asked_for_time("a", 601.0)
    assert health.closed("a") == "unwilling"
    clock.now += 602
    assert health.closed("a") == ""


def test_it_asks_again_and_again(health, clock):
    waits = []
    for _ in range(4):
        waits.append(health.asked_for_time("a", None))
        clock.now += waits[-1]
    assert waits == [10.0, 20.0, 40.0, 60.0]
    health.asked_for_time("a", None)
    assert health.closed("a") == "unwilling"


def test_zero_seconds_are_one(health):
    assert health.asked_for_time("a", 0.0) == 1.0
