"""What all tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest
from hypothesis import settings
from scrapy.cmdline import execute
from scrapy.settings import Settings

from focused.lab.redis.server import RedisServer
from tests.small_web import SmallWeb

# Where a green run lets a change in, the same change must not fail by the luck of the draw; everywhere else new
# examples are tried at every run.
# No example has a deadline: how long it takes is the machine's business.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("ours", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "ours")
# Shells let what they start in the background ignore Ctrl-C, and what that starts would ignore it, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def small_web(tmp_path_factory: pytest.TempPathFactory) -> SmallWeb:
    """A small recorded web, made once."""
    return SmallWeb(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def redis_for_all(tmp_path_factory: pytest.TempPathFactory):
    """A Redis server, started once; for tests that leave it running."""
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(scope="session")
def redis_cluster_for_all(tmp_path_factory: pytest.TempPathFactory):
    """A Redis Cluster of one node: it refuses a script that touches keys of several slots."""
    with RedisServer(tmp_path_factory.mktemp("cluster"), cluster=True) as server:
        yield server


@pytest.fixture
def redis_cluster(redis_cluster_for_all: RedisServer) -> RedisServer:
    """That cluster, empty."""
    with redis_cluster_for_all.client() as client:
        client.flushall()
    return redis_cluster_for_all


@pytest.fixture
def redis(redis_for_all: RedisServer) -> RedisServer:
    """That server, empty."""
    with redis_for_all.client() as client:
        client.flushall()
    return redis_for_all


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory):
    """A cache of its own for graphs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def scrapy(capfd: pytest.CaptureFixture[str]) -> Callable[..., CompletedProcess[str]]:
    """Run a scrapy command, in this process."""

    def run(*arguments: object) -> CompletedProcess[str]:
        project = Settings()
        project.setmodule("focused.settings", priority="project")
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            execute(["scrapy", *map(str, arguments)], project)
        out, error = capfd.readouterr()
        return CompletedProcess(arguments, int(ended.value.code or 0), out, error)

    return run
