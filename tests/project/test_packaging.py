"""The egg that scrapyd is given: whole, without the tests, and working from inside its zip file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.egg import ROOT, build_egg


@pytest.fixture(scope="module")
def egg(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_egg(tmp_path_factory.mktemp("project"))


def names(egg: Path) -> list[str]:
    return ZipFile(egg).namelist()


def from_egg(egg: Path, *arguments: str) -> str:
    """Run Python with the egg instead of the project, from a folder that knows nothing of it."""
    environment = {**os.environ, "PYTHONPATH": str(egg), "SCRAPY_SETTINGS_MODULE": "focused.settings"}
    command = [sys.executable, *arguments]
    run = subprocess.run(command, cwd=egg.parent, env=environment, check=True, capture_output=True, text=True)
    return run.stdout


def test_the_egg_tells_scrapyd_where_the_settings_are(egg: Path) -> None:
    entry_points = ZipFile(egg).read("EGG-INFO/entry_points.txt").decode()
    assert "[scrapy]\nsettings = focused.settings\n" in entry_points


def test_the_egg_has_no_tests(egg: Path) -> None:
    assert not [name for name in names(egg) if name.startswith(("tests", "bench", "docs"))]


def test_the_egg_has_every_data_file(egg: Path) -> None:
    packed = set(names(egg))
    files = [path for path in (ROOT / "focused").rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"}]
    assert files
    assert {path.relative_to(ROOT).as_posix() for path in files} <= packed


def test_scrapy_finds_the_spider_in_the_egg(egg: Path) -> None:
    assert from_egg(egg, "-m", "scrapy", "list").split() == ["focused"]


def test_shipped_topics_load_from_the_zipped_egg(egg: Path) -> None:
    code = "import focused.topics.topic as t; print(t.__file__); print(t.load_topic('astronomy').name)"
    where, name = from_egg(egg, "-c", code).split()
    assert where.startswith(str(egg))
    assert name == "astronomy"
