"""A redis-server of one's own for tests and benchmarks: on a free loopback port, with its files in a folder."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Self

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import ResponseError
from redis.retry import Retry

_SLOTS = 16_384
_LONGEST_START = 20.0


class RedisServer:
    """Starts on entering, ends on leaving. ``cluster=True``: a cluster of one node, which has all slots."""

    def __init__(self, folder: Path, *options: str, cluster: bool = False) -> None:
        self._folder, self._options, self._is_cluster = folder, options, cluster
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address for REDIS_URL."""
        return f"redis://127.0.0.1:{self.port}/0"

    def client(self, timeout: float = 5.0) -> Redis:
        """A client with connections of its own, which does not try again by itself."""
        return Redis(
            host="127.0.0.1",
            port=self.port,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            retry=Retry(NoBackoff(), 0),
        )

    def start(self) -> None:
        """Start, with what was kept in the folder; ready when this returns."""
        program = shutil.which("redis-server")
        if program is None:
            raise FileNotFoundError("redis-server (7 or later) is missing: apt-get install redis-server (as root)")
        options = ["--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self._folder), "--save", ""]
        if self._is_cluster:
            options += ["--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf"]
            options += ["--cluster-port", str(_free_port())]
        log = (self._folder / "redis.log").open("ab")
        with log:
            command = [program, *options, *self._options]
            self._process = subprocess.Popen(command, stdout=log, stderr=log)  # noqa: S603  # our own options
        with self.client() as client:
            self._wait_until_ready(client)
            if self._is_cluster and b"cluster_state:ok" not in client.execute_command("CLUSTER", "INFO"):
                client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, _SLOTS - 1)
                while b"cluster_state:ok" not in client.execute_command("CLUSTER", "INFO"):
                    time.sleep(0.05)

    def stop(self) -> None:
        """Stop it in order."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it, as a power cut would."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Stop it with its connections open."""
        self._running.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it continue."""
        self._running.send_signal(signal.SIGCONT)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self.thaw()
            self.stop()

    @property
    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError("the server was not started, or has ended")
        return self._process

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._running, None
        process.send_signal(how)
        process.wait(timeout=_LONGEST_START)

    def _wait_until_ready(self, client: Redis) -> None:
        until = time.monotonic() + _LONGEST_START
        while True:
            try:
                client.ping()
            except (NoConnection, ResponseError) as error:
                if self._running.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"redis-server did not start: see {self._folder / 'redis.log'}") from error
                time.sleep(0.02)
            else:
                return


def _free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port
