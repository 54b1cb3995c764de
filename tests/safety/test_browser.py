"""Requests of a browser: those to inner addresses are aborted, however they are written, and names that lead there."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from focused.safety.browser import BrowserGuard, abort_inner

NAMES = {"open.example": ["93.184.216.34"], "rebound.example": ["10.0.0.5"], "both.example": ["93.184.216.34", "::1"]}


def is_aborted(url: str, guard: BrowserGuard = abort_inner) -> bool:
    """Does the guard abort this request? Names resolve as above; all others do not."""

    async def resolve(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        if host not in NAMES:
            raise OSError("no such name")
        return [(None, None, None, "", (address, port)) for address in NAMES[host]]

    async def ask() -> bool:
        setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)  # noqa: B010  # as a stand-in
        return await guard(SimpleNamespace(url=url))

    return asyncio.run(ask())


@pytest.mark.parametrize(
    "url",
    [
        *("http://169.254.169.254/latest/", "https://127.1:8443/", "http://0x7f000001/", "http://[::ffff:10.0.0.1]/"),
        *("http://localhost:6379/", "http://router/", "http://metadata.internal/", "ws://192.168.0.1/", "http://[::1/"),
        *(
            "http://rebound.example/",
            "http://both.example/",
            "file:///etc/passwd",
            "ftp://open.example/",
            "chrome://gpu",
        ),
    ],
)
def test_what_leads_to_an_inner_address_is_aborted(url):
    assert is_aborted(url)


@pytest.mark.parametrize(
    "url",
    [
        *("http://open.example/", "https://open.example:8443/a.js", "http://93.184.216.34/", "wss://open.example/"),
        *("data:text/css,a", "blob:http://open.example/1", "about:blank", "http://unknown.example/"),
    ],
)
def test_everything_else_is_fetched(url):
    assert not is_aborted(url)


def test_what_is_allowed_is_fetched():
    guard = BrowserGuard(["10.0.0.0/8", "wiki.example.lan"])
    assert not is_aborted("http://10.1.2.3/", guard)
    assert not is_aborted("http://rebound.example/", guard)
    assert not is_aborted("http://wiki.example.lan/", guard)
    assert is_aborted("http://192.168.0.1/", guard)
