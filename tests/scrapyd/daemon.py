"""A real scrapyd for tests: a process of its own in a folder of its own, on a free port of loopback.

It is configured by the very file that docs/deploy.md shows, with the folder, the port and the pace of polling changed.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode
from urllib.request import ProxyHandler, Request, build_opener

from tests.egg import ROOT

DEPLOY_PAGE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
STATE = "/var/lib/focused"
"""The folder that docs/deploy.md keeps everything in."""
_DIRECT = build_opener(ProxyHandler({}))
_TICK = 0.2
_BOUNDARY = "the-egg-stands-between-these-lines"


def documented_conf() -> str:
    """The scrapyd.conf in docs/deploy.md."""
    (conf,) = re.findall(r"```ini\n(\[scrapyd\]\n.*?)```", DEPLOY_PAGE, flags=re.S)
    return conf


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Scrapyd:
    """A scrapyd as a context manager; ``proxy`` is the way to the web for all its crawls.

    It leads a process group, so that it can be stopped with its crawls, as systemd does.
    """

    def __init__(self, folder: Path, proxy: str, *, command: Sequence[str] = (), conf: str = "") -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._proxy = proxy
        self._command = command or [sys.executable, "-m", "scrapyd", "--pidfile="]
        if conf:
            own = re.sub(r"(?m)^poll_interval = .*", "poll_interval = 0.1", conf.replace(STATE, str(folder)))
            (folder / "scrapyd.conf").write_text(own, encoding="utf-8")

    def __enter__(self) -> Self:
        with (self.folder / "scrapyd.log").open("ab") as log:
            self.process = subprocess.Popen(
                self._command, cwd=self.folder, env=self._environment(), stdout=log, stderr=log, start_new_session=True
            )
        self.wait(self._answers, "scrapyd does not answer")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def path(self, *parts: str) -> str:
        return str(self.folder.joinpath(*parts))

    def run(self, *command: str) -> None:
        """One of the project's commands, out of the deployed egg."""
        arguments = [sys.executable, "-m", "scrapyd.runner", *command]
        environment = {**self._environment(), "SCRAPY_PROJECT": "focused"}
        run = subprocess.run(
            arguments, cwd=self.folder, env=environment, check=False, capture_output=True, text=True, timeout=280
        )
        assert run.returncode == 0, run.stderr

    def log(self) -> str:
        """What scrapyd itself has written."""
        return (self.folder / "scrapyd.log").read_text("utf-8", "replace")

    def stop(self) -> None:
        """End scrapyd and all its crawls with one SIGTERM each, as ``systemctl stop`` does, and wait for all."""
        group = self.process.pid
        if self.process.poll() is None:
            os.killpg(group, signal.SIGTERM)
            self.process.wait(30)
        try:
            self.wait(lambda: not _lives(group), "a crawl outlives scrapyd")
        except AssertionError:
            os.killpg(group, signal.SIGKILL)
            raise

    def wait(self, done: Any, otherwise: str, seconds: float = 280.0) -> Any:
        """What ``done`` gives, once it gives something."""
        until = time.monotonic() + seconds
        while not (result := done()):
            assert time.monotonic() < until, f"{otherwise}:\n{self.log()[-3_000:]}"
            time.sleep(_TICK)
        return result

    def get(self, service: str, **query: str) -> dict[str, Any]:
        return self._call(f"{self.url}/{service}.json?{urlencode(query)}")

    def post(self, service: str, fields: Sequence[tuple[str, str]]) -> dict[str, Any]:
        return self._call(f"{self.url}/{service}.json", urlencode(fields).encode())

    def text(self, path: str) -> str:
        """A page of scrapyd: a log, items."""
        with _DIRECT.open(self.url + path, timeout=120) as answer:
            return str(answer.read().decode())

    def deploy(self, egg: Path, version: str = "1") -> dict[str, Any]:
        """addversion.json, as a form with a file."""
        parts = [
            f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in (("project", "focused"), ("version", version))
        ]
        head = 'Content-Disposition: form-data; name="egg"; filename="project.egg"\r\n\r\n'
        parts.append(f"--{_BOUNDARY}\r\n{head}".encode() + egg.read_bytes() + f"\r\n--{_BOUNDARY}--\r\n".encode())
        kind = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}
        return self._call(f"{self.url}/addversion.json", b"".join(parts), kind)

    def schedule(self, jobid: str, *, settings: dict[str, Any] | None = None, **arguments: str) -> None:
        """Schedule a crawl, as fast as the site allows."""
        fast = {"DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False, **(settings or {})}
        fields = [("project", "focused"), ("spider", "focused"), ("jobid", jobid), *arguments.items()]
        fields += [("setting", f"{name}={value}") for name, value in fast.items()]
        assert self.post("schedule", fields)["jobid"] == jobid

    def cancel(self, jobid: str) -> dict[str, Any]:
        return self.post("cancel", [("project", "focused"), ("job", jobid)])

    def jobs(self, state: str, jobid: str) -> list[dict[str, Any]]:
        """The jobs of one id in one state; one that was started again is listed as often as it has finished."""
        return [job for job in self.get("listjobs", project="focused")[state] if job["id"] == jobid]

    def finish(self, jobid: str, times: int = 1) -> dict[str, Any]:
        """Wait until a job has finished so many times, and give what is listed of it."""
        listed = self.wait(lambda: (found := self.jobs("finished", jobid))[times - 1 :] and found, f"{jobid} runs on")
        return dict(listed[0])

    def _environment(self) -> dict[str, str]:
        """Ours, without a way around the proxy. The project must come from the egg, as on a machine without it."""
        not_ours = {"PYTHONPATH", "SCRAPY_SETTINGS_MODULE"}
        kept = {
            name: value for name, value in os.environ.items() if name not in not_ours and "_proxy" not in name.lower()
        }
        ways = {"http_proxy": self._proxy, "https_proxy": self._proxy}
        return {**kept, **ways, "SCRAPYD_HTTP_PORT": str(self.port), "FOCUSED_MODELS": self.path("models")}

    def _call(self, url: str, data: bytes | None = None, headers: dict[str, str] | None = None) -> dict[str, Any]:
        with _DIRECT.open(Request(url, data, headers or {}), timeout=120) as answer:
            result: dict[str, Any] = json.load(answer)
        assert result["status"] == "ok", result["message"]
        return result

    def _answers(self) -> bool:
        assert self.process.poll() is None, f"scrapyd has ended:\n{self.log()[-3_000:]}"
        try:
            return bool(self.get("daemonstatus"))
        except OSError:
            return False


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
