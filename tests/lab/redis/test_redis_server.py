"""Promises of the test server: it ends whatever happens."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from focused.lab.redis import server as redis_server
from focused.lab.redis.server import RedisServer


def test_a_server_that_does_not_get_ready_is_not_left_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(redis_server, "_LONGEST_START", 2.0)
    server = RedisServer(tmp_path, "--requirepass", "sesame", "--pidfile", str(tmp_path / "pid"))
    with pytest.raises(RuntimeError, match="did not start"):
        server.__enter__()
    words = (tmp_path / "redis.log").read_text().split()
    (number,) = {int(word.removeprefix("pid=").rstrip(",")) for word in words if word.startswith("pid=")}
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)
