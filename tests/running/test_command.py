"""What all commands have in common: help that can be read on any terminal, and refusals in one line."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from focused.registry import own
from focused.running.command import split_words, whole_number

ROOT = Path(__file__).parents[2]
COMMANDS = ["crawl", *(entry.name for entry in own("scrapy.commands"))]
HEADINGS = {"Usage", "Options", "Global Options", "Comparison", "Paths", "Import", "Record"}


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_no_headings_but_those_of_its_groups_and_fits_the_terminal(name: str, columns: int) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "scrapy", name, "-h"],
        cwd=ROOT, env={**os.environ, "COLUMNS": str(columns)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = run.stdout.splitlines()
    underlined = {lines[i - 1] for i, line in enumerate(lines) if line and set(line) <= {"=", "-"}}
    assert underlined <= HEADINGS
    assert max(map(len, lines)) <= columns


def test_the_program_runs_as_a_module(tmp_path: Path) -> None:
    command, elsewhere = [sys.executable, "-m", "focused", "crwl"], {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, cwd=tmp_path, env=elsewhere, capture_output=True, text=True, check=False)
    assert run.stderr == "focused: there is no command 'crwl'; did you mean 'crawl'? (see focused --help)\n"


def test_a_whole_number_is_one_within_its_bounds() -> None:
    assert whole_number()("7") == 7
    assert whole_number(0, 65535)("0") == 0
    for text in ("0", "-3", "x", "1.5"):
        with pytest.raises(argparse.ArgumentTypeError, match=f"'{text}': give a whole number, 1 or more"):
            whole_number()(text)
    with pytest.raises(argparse.ArgumentTypeError, match="'65536': give a whole number from 0 to 65535"):
        whole_number(0, 65535)("65536")


def test_words_are_separated_by_commas() -> None:
    assert split_words(" a, b,,c ") == ["a", "b", "c"]
