"""Each target of the fuzzer holds for the inputs it begins with, and fails where the code it reads with is wrong."""

from __future__ import annotations

import os
import subprocess
from collections import deque
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from focused.arrays import save_arrays
from focused.warc.reader import Recorded
from fuzz import __main__ as command
from fuzz.targets import address, arrays, page, redis, robots, topic, warc

ROOT = Path(__file__).parent.parent.parent
TARGETS = {one.__name__.rpartition(".")[2]: one for one in (address, arrays, page, redis, robots, topic, warc)}


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_holds_for_its_seeds_whole_and_cut(name: str) -> None:
    target = TARGETS[name]
    seeds = list(target.seeds())
    assert len(set(seeds)) >= 10
    assert seeds == list(target.seeds())
    assert max(map(len, seeds)) <= 3 * command.LONGEST, "libFuzzer would cut it"
    for data in seeds:
        target.check(data)
    for data in seeds[::5]:
        target.check(data[: len(data) * 2 // 3])
        target.check(data[:2] + data[3:])
    target.check(b"")


def test_every_target_is_known() -> None:
    assert sorted(TARGETS) == command.TARGETS
    assert all(import_module(f"fuzz.targets.{name}").__doc__ for name in TARGETS)


def raising(*_: Any, **__: Any) -> None:
    raise KeyError("a defect")


WRONG: dict[str, tuple[str, Any]] = {
    "a reader raises": ("page.response_to_page_now", raising),
    "a link is lost": ("page.join", lambda base, href: f"{base}{href}"),
    "two ways to join differ": ("address.join", lambda base, href: "http://else.example/"),
    "a public address is taken for an inner one": ("address.is_public", lambda one: False),
    "a rule is not obeyed": ("robots.RobotsTxt._verdict", lambda self, url: True),
    "another exception than TopicError": ("topic.load_topic", raising),
    "too much is set": ("topic.HARMLESS", frozenset()),
    "the body is another": ("warc.Archive.read", lambda self, entry: Recorded(entry.status)),
    "arrays change": ("arrays.save_arrays", lambda given: save_arrays(dict.fromkeys(given, np.zeros(1)))),
    "scores beyond 1": ("arrays.Focused.finite_scores", lambda self, evidence: np.full(len(evidence), 2.0)),
    "records are mixed up": ("redis.Packing._unpack", lambda self, halves, octets, at, counts: counts[:0]),
    "another exception than the callers catch": ("redis.bytes_to_answer", lambda link, data: os.stat("/nowhere")),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_target_sees_what_is_wrong(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    place, instead = WRONG[what]
    target = TARGETS[place.partition(".")[0]]
    monkeypatch.setattr(f"fuzz.targets.{place}", instead)
    with pytest.raises((AssertionError, KeyError, OSError)):
        deque(map(target.check, target.seeds()), 0)


# --- the command -------------------------------------------------------------------------------------------------


def test_without_atheris_it_is_said_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert command.main(["page"]) == 2
    assert "`make fuzz` installs it" in capsys.readouterr().err


CRASH = """\
INFO: seed corpus: files: 3
#2 INITED cov: 5 ft: 6 corp: 1/1b exec/s: 0 rss: 60Mb
#9 NEW    cov: 7 ft: 8 corp: 2/2b exec/s: 0 rss: 60Mb

 === Uncaught Python exception: ===
KeyError: 'a defect'
Traceback (most recent call last):
  File "fuzz/targets/page.py", line 1, in check

==31357== ERROR: libFuzzer: fuzz target exited
Test unit written to {path}
stat::number_of_executed_units: 1234
stat::peak_rss_mb:              60
"""


def fuzzer(folder: Path, log: str, code: int) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(arguments: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        assert "-max_total_time=30" in arguments
        assert len(list((folder / "page" / "seeds").iterdir())) == len(set(page.seeds()))
        options["stdout"].write(log)
        return subprocess.CompletedProcess(arguments, code)

    return run


def outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: str, code: int) -> int:
    monkeypatch.setattr(command, "find_spec", lambda name: name)
    monkeypatch.setattr(subprocess, "run", fuzzer(tmp_path, log, code))
    return command.main(["page", "--minutes", "0.5", "--folder", str(tmp_path)])


@pytest.mark.parametrize("data", [b"\0short", bytes(range(256)) * 3])
def test_what_fails_is_printed_as_a_test_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data: bytes
) -> None:
    path = tmp_path / "crash-1"
    path.write_bytes(data)
    assert outcome(tmp_path, monkeypatch, CRASH.format(path=path), 77) == 1
    printed = capsys.readouterr().out
    assert "page: 1,234 executions, 7 places in the code reached, 0 inputs kept, at most 60 MB" in printed
    assert "KeyError: 'a defect'\nTraceback" in printed
    test = printed[printed.index("def test_") :]
    checked: list[bytes] = []
    space: dict[str, Any] = {"page": type("page", (), {"check": checked.append}), "unpacked": command.unpacked}
    exec(test, space)
    next(value for name, value in space.items() if name.startswith("test_page_"))()
    assert checked == [data]


def test_an_end_without_a_finding_is_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = "#9 NEW    cov: 7 ft: 8\nDone 900 runs in 31 second(s)\nstat::number_of_executed_units: 900\n"
    assert outcome(tmp_path, monkeypatch, log, 0) == 0
    assert "page: 900 executions in 0.5 minutes, 7 places" in capsys.readouterr().out


def test_a_fuzzer_that_does_not_start_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert outcome(tmp_path, monkeypatch, "ImportError: no libFuzzer", 1) == 2
    assert "no input to show for it:\nImportError: no libFuzzer" in capsys.readouterr().err
