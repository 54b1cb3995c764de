"""Dockerfile and compose.yaml fit the project and each other; where a Docker engine answers, they are built, too."""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from scrapy.settings import Settings, default_settings

from focused.defaults import DEFAULTS
from focused.lab.redis.server import RedisServer
from tests.egg import ROOT

INSTRUCTIONS = {"FROM", "RUN", "COPY", "ENV", "USER", "WORKDIR", "ENTRYPOINT"}
# What compose knows, as far as it is used here.
SERVICE_KEYS = {
    *("build", "image", "init", "cap_drop", "security_opt", "networks", "volumes", "depends_on", "logging"),
    *("entrypoint", "command", "environment", "restart", "stop_grace_period", "profiles", "healthcheck"),
}
VARIABLE = re.compile(r"(?<!\$)\$\{(\w+):-([^}]*)\}")
COMPOSE_TEXT = (ROOT / "compose.yaml").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(COMPOSE_TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DEPLOY_PAGE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")


def instructions() -> Iterator[tuple[str, str]]:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    whole = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text, flags=re.M))
    for line in filter(None, map(str.strip, whole.splitlines())):
        name, _, rest = line.partition(" ")
        yield name, " ".join(rest.split())


def all_of(name: str) -> list[str]:
    return [rest for found, rest in instructions() if found == name]


def environment() -> dict[str, str]:
    return dict(pair.split("=", 1) for line in all_of("ENV") for pair in shlex.split(line))


def filled_in(text: str) -> str:
    """As compose fills in variables that are not set."""
    return VARIABLE.sub(r"\2", text).replace("$$", "$")


def worker_command() -> list[str]:
    """The command line of a worker, by its shell."""
    service = SERVICES["worker"]
    assert service["entrypoint"] == ["sh", "-c"]
    (line,) = service["command"]
    variables = {name: filled_in(value) for name, value in service["environment"].items()}
    known = filled_in(line)
    echo = subprocess.run(
        ["sh", "-c", known.replace("exec scrapy", "printf '%s\\n'", 1)],
        env={**variables, "HOSTNAME": "4f1c", "PATH": os.environ["PATH"]},
        check=True,
        capture_output=True,
        text=True,
    )
    return echo.stdout.splitlines()


# --- the image ---------------------------------------------------------------------------------------------------


def test_the_dockerfile_has_only_what_is_known_and_begins_with_the_readmes_python() -> None:
    found = [name for name, _ in instructions()]
    assert found[0] == "FROM"
    assert set(found) <= INSTRUCTIONS
    (wanted,) = re.findall(r"Python (3\.\d+) or later", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert re.fullmatch(rf"python:{re.escape(wanted)}-slim(-\w+)?", all_of("FROM")[0])


def test_what_is_copied_is_there_and_not_ignored() -> None:
    ignore = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    assert ignore[0] == "*", "nothing else shall go to the engine: not .venv, not models, not jobs"
    for source, _ in map(str.split, all_of("COPY")):
        assert (ROOT / source).exists()
        assert f"!{source}" in ignore
    copied = {line.split()[0] for line in all_of("COPY")}
    assert {line[1:] for line in ignore if line.startswith("!")} == copied
    assert any(fnmatch.fnmatch("focused/frontier/__pycache__", line) for line in ignore[1:])


def test_what_is_copied_is_enough(tmp_path: Path) -> None:
    root, home = tmp_path / "image", tmp_path / "home"
    home.mkdir()
    for source, target in map(str.split, all_of("COPY")):
        place = root / target.strip("/")
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / source, place)
    variables = environment()
    variables["PYTHONPATH"] = str(root / variables["PYTHONPATH"].strip("/"))

    def scrapy(*arguments: str) -> str:
        command = [sys.executable, "-P", "-m", *shlex.split(all_of("ENTRYPOINT")[0].strip("[]").strip('"'))]
        kept = {"PATH": os.environ["PATH"], **variables}
        run = subprocess.run([*command, *arguments], cwd=home, env=kept, check=True, capture_output=True, text=True)
        return run.stdout

    assert scrapy("list").split() == ["focused"]
    code = "import focused.redis.server as r, focused.topics.topic as t; t.load_topic('astronomy'); print(r)"
    where = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=home, env=variables, check=True, capture_output=True, text=True
    ).stdout
    assert str(root) in where
    assert scrapy("settings", "--get", "FOCUSED_MODELS").strip() == variables["FOCUSED_MODELS"]


def test_it_does_not_run_as_root_and_may_write_where_it_works() -> None:
    order = [name for name, _ in instructions()]
    (user,), (home,) = all_of("USER"), all_of("WORKDIR")
    assert user != "root"
    assert order.index("USER") > max(i for i, name in enumerate(order) if name == "RUN")
    (made,) = (line for line in all_of("RUN") if line.startswith("useradd"))
    assert f"--home-dir {home} " in made
    folders = re.findall(rf"{home}\S*", made.partition("install --directory --owner focused")[2])
    assert {home, environment()["FOCUSED_MODELS"]} <= set(folders)


def test_packages_are_those_of_the_project_and_need_no_compiler() -> None:
    (install,) = (line for line in all_of("RUN") if line.startswith("pip"))
    assert "--only-binary=:all:" in install
    assert "--requirement /srv/focused/requirements.txt" in install
    assert not re.search(r"apt-get|gcc|build-essential", " ".join(all_of("RUN")))


# --- compose -----------------------------------------------------------------------------------------------------


def test_compose_has_only_known_keys_and_names_that_are_there() -> None:
    assert set(COMPOSE) == {"name", "x-focused", "services", "networks", "volumes"}
    for service in SERVICES.values():
        assert set(service) <= SERVICE_KEYS
        assert set(service["networks"]) <= set(COMPOSE["networks"])
        assert {volume.split(":")[0] for volume in service.get("volumes", [])} <= set(COMPOSE["volumes"])
        assert set(service.get("depends_on", {})) <= set(SERVICES)
        if "build" in service:
            assert (ROOT / service["build"] / "Dockerfile").exists()
        for name, wanted in service.get("depends_on", {}).items():
            assert wanted["condition"] != "service_healthy" or "healthcheck" in SERVICES[name]


def test_every_variable_is_told() -> None:
    named = {name for name, _ in VARIABLE.findall(COMPOSE_TEXT)}
    assert not re.findall(r"(?<!\$)\$(?![\${])", COMPOSE_TEXT), "a single $ is filled in by compose, and is a mistake"
    section = DEPLOY_PAGE.partition("## Containers\n")[2].partition("\n## ")[0]
    assert named == set(re.findall(r"^\| `([A-Z_]+)` \|", section, flags=re.M))
    for name, default in VARIABLE.findall(COMPOSE_TEXT):
        assert f"| `{name}` | `{default}` |" in section


def test_a_worker_joins_the_crawl_in_that_redis() -> None:
    crawl, spider, *options = worker_command()
    assert (crawl, spider) == ("crawl", "focused")
    pairs = list(zip(options[::2], options[1::2], strict=True))
    settings = dict(value.split("=", 1) for flag, value in pairs if flag == "-s")
    assert [value for flag, value in pairs if flag == "-a"] == ["topic=astronomy"]
    assert [value for flag, value in pairs if flag == "-o"] == ["items/4f1c.jsonl"]
    assert settings["FOCUSED_FRONTIER"] == "redis"
    assert settings["REDIS_URL"] == "redis://redis:6379/0"
    assert "redis" in SERVICES
    known = {*DEFAULTS, *vars(default_settings), "REDIS_URL"}
    assert set(settings) <= known
    assert int(settings["FOCUSED_MOST_WAITING"]) > 0
    project = Settings()
    project.setmodule("focused.settings")
    assert settings["USER_AGENT"] == project["USER_AGENT"], "who says nothing is announced as the project does"


def test_what_workers_write_outlasts_them() -> None:
    (home,) = all_of("WORKDIR")
    for name in ("worker", "scrapy"):
        assert SERVICES[name]["volumes"] == [f"focused:{home}"]


def test_redis_is_reached_by_nobody_else() -> None:
    assert SERVICES["redis"]["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"]["internal"] is True
    assert not any("ports" in service for service in SERVICES.values())
    assert set(SERVICES["worker"]["networks"]) == {"inside", "outside"}


def test_redis_takes_the_options_and_keeps_what_it_is_told(tmp_path: Path) -> None:
    program, *options = shlex.split(filled_in(SERVICES["redis"]["command"]))
    assert program == "redis-server"
    with RedisServer(tmp_path, *options) as server:
        with server.client() as client:
            wanted = {"appendonly": "yes", "appendfsync": "everysec", "save": "", "maxmemory-policy": "noeviction"}
            found = {name: client.config_get(name)[name] for name in [*wanted, "maxmemory"]}
            client.set("kept", "yes")
        assert found == {**wanted, "maxmemory": str(2 * 1024**3)}
        server.stop()
        server.start()
        with server.client() as client:
            assert client.get("kept") == b"yes"


# --- with an engine ----------------------------------------------------------------------------------------------


def answers(*command: str) -> bool:
    program = shutil.which(command[0])
    return program is not None and subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_compose_takes_the_file() -> None:
    if not answers("docker", "compose", "version"):
        pytest.skip("docker compose is not here: compose.yaml was checked without it")
    run = subprocess.run(["docker", "compose", "config"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.timeout(1_800)
def test_the_image_is_built_and_runs() -> None:
    if not answers("docker", "info"):
        pytest.skip("no Docker engine answers: the Dockerfile was checked, but no image was built from it")
    image = "focused-test"
    built = subprocess.run(
        ["docker", "build", "--tag", image, "."], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    try:
        run = ["docker", "run", "--rm", "--network", "none", image]
        listed = subprocess.run([*run, "list"], capture_output=True, text=True, check=True)
        assert listed.stdout.split() == ["focused"]
        who = ["docker", "run", "--rm", "--network", "none", "--entrypoint", "id", image, "-un"]
        assert subprocess.run(who, capture_output=True, text=True, check=True).stdout.strip() == all_of("USER")[0]
    finally:
        subprocess.run(["docker", "rmi", image], capture_output=True, check=False)
