"""What the command refuses, in one line, before anything is served."""

from __future__ import annotations

import os
import socket
import stat
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from focused.watch.serving import address_of, bind, token_in

Scrapy = Callable[..., CompletedProcess[str]]


def refusal(scrapy: Scrapy, *words: object) -> str:
    run = scrapy("watch", *words)
    assert (run.returncode, run.stdout) == (2, "")
    return run.stderr.strip().splitlines()[-1]


def test_a_port_that_is_taken_is_named_with_the_way_out(scrapy: Scrapy, job: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        said = refusal(scrapy, job, "--port", port)
    assert f"port {port} on 127.0.0.1 cannot be used (Address already in use): give another --port" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "99999"], "'99999': give a whole number from 0 to 65535"),
        (["--host", "203.0.113.9", "--port", "0"], "port 0 on 203.0.113.9 cannot be used"),
        (["--host", "no such host", "--port", "0"], "--host 'no such host' is not an address of this machine"),
    ],
)
def test_what_cannot_be_listened_on_is_refused(scrapy: Scrapy, job: Path, words: list[str], said: str) -> None:
    assert said in refusal(scrapy, job, *words)


def test_a_place_without_a_crawl_is_refused(scrapy: Scrapy, tmp_path: Path) -> None:
    assert "there is no job in" in refusal(scrapy, tmp_path / "no" / "jobs")
    assert "Redis does not answer" in refusal(scrapy, "redis://127.0.0.1:1/0")
    assert "give one crawl" in refusal(scrapy)


def test_without_the_extra_the_command_says_what_to_install(
    scrapy: Scrapy, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [one for one in sys.modules if one.partition(".")[0] in {"starlette", "uvicorn"}]:
        monkeypatch.delitem(sys.modules, name)
    for name in [one for one in sys.modules if one.startswith("focused.watch.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert refusal(scrapy, job).endswith("is not installed: pip install 'focused[watch]'")


def test_a_token_is_made_for_its_owner_and_taken_again(tmp_path: Path) -> None:
    file = tmp_path / "token"
    token = token_in(str(file))
    assert len(token) > 40
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert token_in(str(file)) == token
    assert len({token_in(None) for _ in range(9)}) == 9


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        ("x" * 40, 0o644, "can be read by others: chmod 600"),
        ("short", 0o600, "give one token of 20 letters and digits or more"),
        ("x" * 30 + "\r\nSet-Cookie: y", 0o600, "give one token"),
        ("", 0o600, "give one token"),
    ],
)
def test_a_token_that_protects_nothing_is_refused(tmp_path: Path, content: str, mode: int, said: str) -> None:
    file = tmp_path / "token"
    file.write_text(content)
    file.chmod(mode)
    with pytest.raises(ValueError, match=said):
        token_in(str(file))


@pytest.mark.parametrize(
    ("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "localhost"), ("localhost", "localhost")]
)
def test_the_address_can_be_opened(host: str, shown: str) -> None:
    with closing(bind(host, 0)) as listening:
        assert address_of(listening, host, "t") == f"http://{shown}:{listening.getsockname()[1]}/?token=t"


@pytest.mark.skipif(not os.path.exists("/proc/net/if_inet6"), reason="this machine has no IPv6")
def test_addresses_of_version_6_are_in_brackets() -> None:
    with closing(bind("::1", 0)) as listening:
        assert address_of(listening, "::1", "t").startswith("http://[::1]:")
