"""Memory of large pages goes back to the system, and not so often that it costs anything."""

from __future__ import annotations

import sys
from threading import Event
from types import SimpleNamespace

import twisted.internet
from twisted.internet.task import Clock

from focused import memory, responses
from focused.memory import EVERY, GiveBack


def test_it_is_given_back_now_and_then(monkeypatch):
    times, clock = [], Clock()
    monkeypatch.setattr(memory, "give_back", lambda: times.append(clock.seconds()))
    give_back = GiveBack(clock.seconds)
    for _ in range(100):
        give_back()
        clock.advance(EVERY / 10)
    assert times == [EVERY * n for n in range(1, 10)]


def test_the_c_library_can_do_so():
    memory.give_back()


def test_the_thread_of_a_large_page_does_so(monkeypatch):
    done, given = [], Event()
    reactor = SimpleNamespace(callFromThread=lambda call, result: done.append(result))
    monkeypatch.setitem(sys.modules, "twisted.internet.reactor", reactor)
    monkeypatch.setattr(twisted.internet, "reactor", reactor, raising=False)
    monkeypatch.setattr(responses, "_give_back", given.set)
    responses._in_own_thread(lambda: "parsed")
    assert given.wait(20)
    assert done == ["parsed"]
