"""Connections that wait for another request to their host are bounded over all hosts."""

from __future__ import annotations

import pytest
from twisted.internet.defer import succeed
from twisted.internet.task import Clock

from focused.safety.handler import BoundedPool

MOST = 5


class Connection:
    """What the pool asks of one."""

    state = "QUIESCENT"

    def __init__(self, host):
        self.host, self.open, self.transport = host, True, self

    def loseConnection(self):  # noqa: N802 - Twisted's name
        self.open = False


class Endpoint:
    def connect(self, _factory):
        return succeed("a new one")


@pytest.fixture
def pool():
    return BoundedPool(Clock(), MOST)


def put(pool, hosts):
    connections = [Connection(host) for host in hosts]
    for one in connections:
        pool._putConnection(one.host, one)
    return connections


def test_only_the_latest_are_kept_however_many_hosts_there_are(pool):
    connections = put(pool, range(3 * MOST))
    assert [one.host for one in connections if one.open] == list(range(2 * MOST, 3 * MOST))
    # Nor is anything kept of the hosts whose connections were closed, were taken, or have waited long enough.
    taken = pool.getConnection(2 * MOST, Endpoint()).result
    assert taken._clientProtocol is connections[2 * MOST]
    assert len(pool._connections) == len(pool._timeouts) == MOST - 1
    pool._reactor.advance(pool.cachedConnectionTimeout)
    assert not pool._connections
    assert [one.host for one in connections if one.open] == [2 * MOST]


def test_one_that_was_used_again_is_the_latest(pool):
    first, second, *_ = put(pool, range(MOST))
    assert pool.getConnection(first.host, Endpoint()).result._clientProtocol is first
    pool._putConnection(first.host, first)
    put(pool, [MOST])
    assert (first.open, second.open) == (True, False)


def test_of_one_host_no_more_are_kept_than_it_may_have(pool):
    connections = put(pool, ["a"] * MOST)
    assert [one.open for one in connections] == [False] * (MOST - pool.maxPersistentPerHost) + [
        True
    ] * pool.maxPersistentPerHost
    assert pool.getConnection("b", Endpoint()).result == "a new one"
