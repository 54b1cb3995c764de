"""What is built is whole, and brings the same critics, prioritizers and commands however it is installed."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

import pytest

from focused.extras import EXTRAS
from focused.registry import names, own
from tests.egg import build_egg
from tests.installed import ROOT, Environment, build, clone, done, run

Way = tuple[Path, Path, dict[str, str]]
WAYS = ("clone", "wheel", "editable", "egg")
TELL = """
import json
from focused.registry import find, names
print(json.dumps({kind: names(kind) for kind in ("critic", "prioritizer", "frontier")}))
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return clone(tmp_path_factory.mktemp("source") / "clone")


@pytest.fixture(scope="module")
def built(source: Path) -> Path:
    """sdist, and the wheel that was made from it."""
    return build(source)


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    environment = Environment(tmp_path_factory.mktemp("wheel") / "env")
    environment.install(wheel)
    return environment


@pytest.fixture(scope="module", params=WAYS)
def way(request: pytest.FixtureRequest, source: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    """A Python, the folder to run it in, and the variables to run it with: one for each way to have the project."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "wheel":
        yield request.getfixturevalue("installed").bin / "python", folder, {}
        return
    environment = Environment(folder / "env")
    python = environment.bin / "python"
    if request.param == "clone":
        yield python, source, {}
    elif request.param == "editable":
        environment.install("--editable", clone(folder / "clone"))
        yield python, folder, {}
    else:
        yield python, folder, {"PYTHONPATH": str(build_egg(folder))}


def listed(python: Path, folder: Path, variables: dict[str, str]) -> list[str]:
    """The commands that ``scrapy`` lists with our settings."""
    shown = done(python, "-m", "scrapy", cwd=folder, env={**variables, "SCRAPY_SETTINGS_MODULE": "focused.settings"})
    return [line.split()[0] for line in shown.splitlines() if line.startswith("  ") and line[2:3].islower()]


def test_every_way_brings_the_same(way: Way) -> None:
    python, folder, variables = way
    told = json.loads(done(python, "-c", TELL, cwd=folder, env=variables))
    assert told == {kind: list(names(kind)) for kind in ("critic", "prioritizer", "frontier")}
    commands = listed(python, folder, variables)
    assert {entry.name for entry in own("scrapy.commands")} <= set(commands)
    assert len(commands) == len(set(commands))


def test_no_entry_point_takes_the_name_of_one_of_scrapys_commands(tmp_path: Path) -> None:
    scrapys = {path.stem for path in Path(sys.modules["scrapy"].__file__).parent.glob("commands/[!_]*.py")}
    assert "crawl" in scrapys
    assert not {entry.name for entry in own("scrapy.commands")} & scrapys


def test_the_commands_and_the_add_on_load_neither_numpy_nor_scikit_learn(
    installed: Environment, tmp_path: Path
) -> None:
    code = (
        "import sys\n"
        "from importlib.metadata import entry_points\n"
        "for group in ('console_scripts', 'scrapy.commands'):\n"
        "    for entry in entry_points(group=group):\n"
        "        if entry.dist.name == 'focused': entry.load()\n"
        "from focused import Addon\n"
        "print([name for name in ('numpy', 'scipy', 'sklearn') if name in sys.modules])"
    )
    assert done(installed.bin / "python", "-c", code, cwd=tmp_path).strip() == "[]"


def test_the_wheel_is_whole_and_nothing_else(wheel: Path, source: Path) -> None:
    packed = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    ours = {path.relative_to(source).as_posix() for path in (source / "focused").rglob("*") if path.is_file()}
    assert packed == {name for name in ours if "__pycache__" not in name}
    assert "focused/py.typed" in packed


def test_the_wheel_is_the_same_without_the_sdist_between(wheel: Path, source: Path) -> None:
    (direct,) = build(source, "--wheel").glob("*.whl")
    assert sorted(ZipFile(direct).namelist()) == sorted(ZipFile(wheel).namelist())


def test_the_metadata_tell_what_it_is(wheel: Path) -> None:
    (name,) = (name for name in ZipFile(wheel).namelist() if name.endswith(".dist-info/METADATA"))
    told = message_from_bytes(ZipFile(wheel).read(name))
    assert (told["Name"], told["Requires-Python"]) == ("focused", ">=3.11")
    assert (told["License-Expression"], told["License-File"]) == ("BSD-3-Clause", "LICENSE")
    assert "A crawler that collects the pages on a topic" in str(told.get_payload())
    pinned = [one for one in told.get_all("Requires-Dist") if "==" in one.partition(";")[0]]
    assert pinned == []


def test_every_optional_package_is_in_the_extra_that_is_named_when_it_is_missing() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for package, extra in EXTRAS.items():
        assert [one for one in extras[extra] if one.startswith(package.replace("_", "-"))], (package, extra)


def test_the_wheel_crawls_from_an_empty_folder(installed: Environment, tmp_path: Path) -> None:
    told = done(installed.bin / "python", ROOT / "tests" / "smoke.py", tmp_path, cwd=tmp_path)
    assert "13 pages" in told


def test_without_the_extras_it_crawls_and_says_which_one_is_missing(installed: Environment, tmp_path: Path) -> None:
    blocked = "import sys\n" + "".join(f"sys.modules[{name!r}] = None\n" for name in EXTRAS)
    (tmp_path / "sitecustomize.py").write_text(blocked)
    (tmp_path / "empty").mkdir()
    without = {"PYTHONPATH": str(tmp_path)}
    told = done(installed.bin / "python", ROOT / "tests/smoke.py", tmp_path / "empty", cwd=tmp_path, env=without)
    assert "13 pages" in told
    for setting, extra in (("FOCUSED_ARCHIVE=archive", "warc"), ("FOCUSED_FRONTIER=redis", "redis")):
        crawl = ("crawl", "-a", "topic=star", "-a", "seeds=http://hub.example/", "-s", setting)
        refused = run(installed.bin / "focused", *crawl, cwd=tmp_path, env=without)
        assert refused.returncode == 2
        assert f"{setting.removesuffix('=archive')}: the package " in refused.stderr.splitlines()[-1]
        assert refused.stderr.endswith(f" is not installed: pip install 'focused[{extra}]'\n")
    (tmp_path / "web.warc").write_text("WARC/1.0")
    shown = run(installed.bin / "focused", "replay", "web.warc", cwd=tmp_path, env=without)
    assert shown.returncode == 2
    assert "the package 'fastwarc' is not installed: pip install 'focused[warc]'" in shown.stderr


def test_the_program_lists_its_commands_and_names_what_is_misspelt(installed: Environment, tmp_path: Path) -> None:
    shown = done(installed.bin / "focused", cwd=tmp_path)
    assert {"crawl", *(entry.name for entry in own("scrapy.commands"))} <= {
        line.split()[0] for line in shown.splitlines() if line.startswith("  ")
    }
    assert done(installed.bin / "focused", "--help", cwd=tmp_path) == shown
    wrong = run(installed.bin / "focused", "crwl", cwd=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "focused: there is no command 'crwl'; did you mean 'crawl'? (see focused --help)\n"


def test_in_somebodys_project_the_settings_are_theirs(installed: Environment, tmp_path: Path) -> None:
    done(installed.bin / "python", "-m", "scrapy", "startproject", "shop", cwd=tmp_path)
    asked = (installed.bin / "focused", "settings", "--get")
    assert done(*asked, "BOT_NAME", cwd=tmp_path / "shop").strip() == "shop"
    assert done(*asked, "BOT_NAME", cwd=tmp_path).strip() == "focused"
    commands = listed(installed.bin / "python", tmp_path / "shop", {})
    assert "teach" in commands
