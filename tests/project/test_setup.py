"""Setting up on a fresh machine: what is missing is said, with the way out."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def make_venv(folder: Path, python: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [ROOT / "scripts" / "make-venv", folder]
    kept = {name: value for name, value in os.environ.items() if name != "CI"}
    return subprocess.run(
        command, env={**kept, "PYTHON": python, **environment}, capture_output=True, text=True, check=False
    )


@pytest.fixture
def python_without(tmp_path: Path) -> Callable[[str], str]:
    """A Python in which something fails: every ``-c`` program with that word in it."""

    def make(word: str) -> str:
        script = tmp_path / f"python-without-{word}"
        script.write_text(f'#!/bin/sh\ncase "$*" in *{word}*) exit 1;; esac\nexec "{sys.executable}" "$@"\n')
        script.chmod(0o755)
        return str(script)

    return make


def test_a_missing_python_is_named(tmp_path: Path) -> None:
    run = make_venv(tmp_path / "venv", "python-that-is-not-there")
    assert run.returncode == 1
    assert "no Python 3.11 or later found (looked for: python-that-is-not-there)" in run.stderr
    assert not (tmp_path / "venv").exists()


def test_a_python_that_is_too_old_is_refused(tmp_path: Path, python_without: Callable[[str], str]) -> None:
    run = make_venv(tmp_path / "venv", python_without("version_info"))
    assert run.returncode == 1
    assert "no Python 3.11 or later found" in run.stderr


def test_debians_missing_venv_package_is_named(tmp_path: Path, python_without: Callable[[str], str]) -> None:
    run = make_venv(tmp_path / "venv", python_without("ensurepip"))
    assert run.returncode == 1
    assert "apt-get install python3-venv" in run.stderr
    assert not (tmp_path / "venv").exists()


def test_an_environment_is_made(tmp_path: Path) -> None:
    run = make_venv(tmp_path / "venv", sys.executable)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "venv" / "bin" / "pip").exists()


def test_plain_make_tells_the_targets() -> None:
    run = subprocess.run(["make", "-C", ROOT], capture_output=True, text=True, check=True)
    listed = {line.split("\t")[0].strip() for line in run.stdout.splitlines() if "\t" in line}
    checks = {"test", "attack", "fuzz", "lint", "types", "docs", "coverage", "wheel", "lowest", "matrix", "audit"}
    assert listed == checks | {"help", "demo", "bench", "scrapyd", "lock", "upgrade", "clean"}


def test_every_benchmark_is_listed_with_what_it_is() -> None:
    run = subprocess.run(
        [sys.executable, ROOT / "scripts" / "list_benchmarks.py"], capture_output=True, text=True, check=True
    )
    commands, sentences = run.stdout.splitlines()[::2], run.stdout.splitlines()[1::2]
    paths = sorted((ROOT / "bench").glob("[!_]*.py"))
    benchmarks = [f"bench.{path.stem}" for path in paths if "def main(" in path.read_text(encoding="utf-8")]
    assert [command.split()[-1] for command in commands] == benchmarks
    assert all(sentence.strip() for sentence in sentences)


def need(path: Path, *wanted: str, **programs: str) -> subprocess.CompletedProcess[str]:
    """Look for programs where there are only these."""
    for name, script in programs.items():
        program = path / name.replace("_", "-")
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    command = [ROOT / "scripts" / "need", *wanted]
    return subprocess.run(command, env={"PATH": str(path)}, capture_output=True, text=True, check=False)


def test_missing_programs_are_named_with_the_command_that_installs_them(tmp_path: Path) -> None:
    run = need(tmp_path, "redis-server", "chromium", id="echo 1000", apt_get="exit 1")
    assert run.returncode == 1
    assert "apt-get install redis-server chromium (as root)" in run.stderr


def test_what_is_missing_is_installed_by_root_and_nothing_else(tmp_path: Path) -> None:
    run = need(tmp_path, "redis-server", "chromium", id="echo 0", redis_server="exit 0", apt_get='echo "asked: $*"')
    assert run.returncode == 0
    assert run.stdout.endswith("asked: install -y -qq --no-install-recommends chromium\n")


def test_programs_that_are_there_are_enough(tmp_path: Path) -> None:
    run = need(tmp_path, "redis-server", "chromium", id="echo 1000", redis_server="exit 0", chromium="exit 0")
    assert (run.returncode, run.stdout) == (0, "")


def test_the_targets_that_run_tests_see_to_both_programs() -> None:
    told = (ROOT / "Makefile").read_text("utf-8")
    assert told.count("\t@scripts/need redis-server chromium\n") == 3
