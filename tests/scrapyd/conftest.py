"""One egg and one scrapyd for all tests here, and the webs that it crawls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from focused.lab.demo.bulk import bulk_web
from focused.lab.demo.files import write_web
from focused.lab.demo.web import GeneratedWeb
from focused.lab.site.server import SiteServer
from tests.egg import build_egg
from tests.scrapyd.daemon import Scrapyd, documented_conf


@pytest.fixture(scope="session")
def egg(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_egg(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="session")
def web() -> GeneratedWeb:
    return bulk_web(200, size=3_000, links=12, hosts=12)


@pytest.fixture(scope="session")
def site(web: GeneratedWeb) -> Iterator[SiteServer]:
    with SiteServer(dict(web.pages)) as server:
        yield server


@pytest.fixture(scope="session")
def scrapyd(tmp_path_factory: pytest.TempPathFactory, site: SiteServer, egg: Path) -> Iterator[Scrapyd]:
    with Scrapyd(tmp_path_factory.mktemp("scrapyd"), site.url, conf=documented_conf()) as server:
        server.deploy(egg)
        yield server


@pytest.fixture(scope="session")
def topic(tmp_path_factory: pytest.TempPathFactory, web: GeneratedWeb) -> str:
    """A topic file on the machine, whose critic must be taught by example pages."""
    folder = tmp_path_factory.mktemp("topic")
    [path] = [path for path in write_web(web, folder / "web.warc.gz") if path.suffix == ".toml"]
    return str(path)
