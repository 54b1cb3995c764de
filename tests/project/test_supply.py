"""What is installed is locked, by hash; and what is locked can be compared with advisories."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from scripts import audit, lock, matrix

ROOT = Path(__file__).parent.parent.parent
SCRIPTS = [path for path in sorted((ROOT / "scripts").iterdir()) if path.is_file()]
LOCKS = sorted(path.name for path in ROOT.glob("requirements*.txt"))


# --- what is installed -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOCKS)
def test_every_line_of_a_lock_is_a_version_with_hashes(name: str) -> None:
    text = (ROOT / name).read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert lines
    assert [
        line for line in lines if not re.match(r"[a-z0-9-]+(\[\S+\])?==\S+ .*--hash=sha256:[0-9a-f]{64}", line)
    ] == []


def test_the_locks_are_those_that_are_written() -> None:
    assert sorted(lock.LOCKS) == LOCKS


def test_pip_installs_only_what_is_locked_and_builds_nothing() -> None:
    makefile = re.sub(r"\\\n", " ", (ROOT / "Makefile").read_text("utf-8"))
    files = [ROOT / "Dockerfile", ROOT / ".ci" / "run", *SCRIPTS, *(ROOT / ".github").rglob("*.yml")]
    commands = re.findall(r".*pip install.*", makefile)
    for path in files:
        commands += re.findall(r".*\bpip install.*", re.sub(r"\\\n", " ", path.read_text("utf-8")))
    # One in the Makefile, one in the Dockerfile, and what lock.py writes of how to install.
    assert len(commands) == 3
    assert [command for command in commands if "--require-hashes" not in command] == []
    assert [command for command in commands if "--only-binary=:all:" not in command] == [
        next(line for line in commands if line.startswith("HEAD"))
    ]
    assert set(re.findall(r"\$\(INSTALL\)(?: --target \S+)? -r (\S+)", makefile)) == {
        *("requirements.txt", "requirements-dev.txt", "requirements-fuzz.txt")
    }


def test_what_uv_installs_is_locked_but_for_what_is_new_on_purpose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Environments of `make wheel lowest` and, with the newest versions, of `make matrix`."""
    installed: list[list[str]] = []

    def succeeds(*command: str | Path, **_: Any) -> bool:
        installed.append([*map(str, command)])
        return True

    monkeypatch.setattr(matrix, "succeeds", succeeds)
    for name, run in matrix.steps("all", sys.executable, tmp_path / "some.whl", tmp_path):
        installed.clear()
        assert run()
        (command,) = (one for one in installed if "install" in one)
        assert "--only-binary" in command
        is_locked = "--require-hashes" in command or str(ROOT / "requirements.txt") in command
        assert is_locked != ("not locked" in name), name


@pytest.mark.parametrize(("said", "is_locked"), [("Python 3.11.7", True), ("Python 3.13.1", False)])
def test_the_lowest_versions_are_locked_for_the_python_of_the_lock(tmp_path: Path, said: str, is_locked: bool) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho '{said}'\n")
    python.chmod(0o755)
    ((name, _),) = matrix.steps("lowest", str(python), tmp_path / "some.whl", tmp_path)
    assert name.endswith(" locked") is is_locked


def test_what_changes_in_a_lock_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "requirements.txt"
    assert lock.versions(path) == {}
    path.write_text("# words\na==1 \\\n    --hash=sha256:0\nb[c]==2 ; python_version < '3.12' \\\nb[c]==3 \\\n")
    assert lock.versions(path) == {"a": "1", "b": "2, 3"}


MAKE = """#!/bin/sh
shift
case $1 in
    lock) printf '%s' "$CHANGES" ;;
    "$FAILS") exit 1 ;;
    *) echo "made $1" ;;
esac
"""


@pytest.mark.parametrize(
    ("changes", "fails", "code", "says"),
    [
        ("", "", 0, "upgrade: every package is the newest already\n"),
        ("requirements.txt: lxml 6.0 → 6.1\n", "", 0, "upgrade: what changed\nrequirements.txt: lxml 6.0 → 6.1\n"),
        ("requirements.txt: lxml 6.0 → 6.1\n", "types", 1, "upgrade: what changed\nrequirements.txt: lxml 6.0 → 6.1\n"),
    ],
)
def test_an_upgrade_runs_every_step_and_says_what_changed(
    tmp_path: Path, changes: str, fails: str, code: int, says: str
) -> None:
    (tmp_path / "make").write_text(MAKE)
    (tmp_path / "make").chmod(0o755)
    variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "CHANGES": changes, "FAILS": fails or "nothing"}
    run = subprocess.run([ROOT / "scripts" / "upgrade"], env=variables, capture_output=True, text=True, check=False)
    assert run.returncode == code
    assert run.stdout.endswith(says)
    steps = [".venv/installed-dev", "lint", "types", "docs", "test", "wheel", "lowest"] if changes else []
    assert re.findall("^made (.*)$", run.stdout, re.M) == [step for step in steps if step != fails]
    assert run.stderr == (f"upgrade: {fails} failed with the new versions\n" if fails else "")


# --- advisories --------------------------------------------------------------------------------------------------

Answer = Callable[[list[dict[str, Any]]], bytes | int]
"""What is answered to some queries: a body, or a status."""


@contextmanager
def osv(answer: Answer) -> Iterator[tuple[str, list[Any]]]:
    """A server on loopback that speaks like OSV's: its address, and what it was asked."""
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            queries = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
            asked.append((self.path, queries))
            found = answer(queries)
            status, body = (found, b"{}") if isinstance(found, int) else (200, found)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with two locks, and versions that are old on purpose."""
    (tmp_path / "requirements.txt").write_text(
        "# Written by a test\n\n# Why it is there.\nsome-thing[extra]==1.0 ; python_version >= '3.12' \\\n"
        "    --hash=sha256:0\nsome-thing[extra]==0.9 ; python_version < '3.12' \\\n    --hash=sha256:1\n"
    )
    (tmp_path / "requirements-dev.txt").write_text("other==2 \\\n    --hash=sha256:2\nsome-thing==1.0 \\\n")
    (tmp_path / "requirements-lowest.txt").write_text("old==0 \\\n    --hash=sha256:3\n")
    return tmp_path


def results(*each: dict[str, Any]) -> bytes:
    return json.dumps({"results": each}).encode()


def test_versions_without_advisories_are_compared(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with osv(lambda queries: results(*[{}] * len(queries))) as (server, asked):
        assert audit.main([server], root=root) == 0
    assert capsys.readouterr().out == f"audit: 3 locked versions compared with {server}: advisories for 0 of them\n"
    ((path, queries),) = asked
    assert path == "/v1/querybatch"
    assert queries == [
        {"package": {"name": name, "ecosystem": "PyPI"}, "version": version}
        for name, version in (("other", "2"), ("some-thing", "0.9"), ("some-thing", "1.0"))
    ]


def test_advisories_are_named_with_the_locks_also_those_on_later_pages(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(queries: list[dict[str, Any]]) -> bytes:
        if "page_token" in queries[0]:
            return results({"vulns": [{"id": "PYSEC-2024-2"}]})
        return results({}, {}, {"vulns": [{"id": "GHSA-a-b", "modified": "…"}], "next_page_token": "more"})

    with osv(answer) as (server, asked):
        assert audit.main([server], root=root) == 1
    assert (
        "some-thing 1.0 (requirements-dev.txt, requirements.txt): https://osv.dev/GHSA-a-b, https://osv.dev/PYSEC-2024-2\n"
        in (capsys.readouterr().out)
    )
    assert [one["page_token"] for _, queries in asked for one in queries if "page_token" in one] == ["more"]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (b"<html>a proxy</html>", "is not one of OSV's"),
        (b"\xff\xfe", "is not one of OSV's"),
        (b"[" * 100_000, "is not one of OSV's"),
        (b"[]", "is not one of OSV's"),
        (b"{}", "is not one of OSV's"),
        (results({}, {}), "is not one of OSV's"),
        (results({}, {}, {"vulns": 3}), "is not one of OSV's"),
        (results({}, {}, {"vulns": [{"id": 3}]}), "is not one of OSV's"),
        (results({}, {}, {"vulns": [{"id": "\x1b[2J"}]}), "is not one of OSV's"),
        (results({}, {}, {"next_page_token": 3}), "is not one of OSV's"),
        (503, "503 Service Unavailable: try again later"),
    ],
)
def test_an_answer_that_is_none_is_not_taken_for_no_advisories(
    root: Path, capsys: pytest.CaptureFixture[str], answer: bytes | int, says: str
) -> None:
    with osv(lambda _: answer) as (server, _):
        assert audit.main([server], root=root) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("audit: not compared: ")
    assert says in printed.err
    assert printed.err.count("\n") == 1


def test_pages_without_end_are_not_followed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with osv(lambda queries: results(*[{"next_page_token": "more"}] * len(queries))) as (server, asked):
        assert audit.main([server], root=root) == 2
    assert "has no end of answers" in capsys.readouterr().err
    assert len(asked) < 50


def test_a_server_that_refuses_or_says_nothing_is_named(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        silent = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        assert audit.main([silent], root=root, seconds=0.05) == 2
    assert f"{silent} cannot be reached (timed out)" in capsys.readouterr().err
    assert audit.main([silent], root=root) == 2
    assert f"{silent} cannot be reached ([Errno 111] Connection refused)" in capsys.readouterr().err
    late = Event()
    with osv(lambda _: int(late.wait(5)) or 500) as (server, _):
        assert audit.main([server], root=root, seconds=0.05) == 2
        late.set()
    assert f"{server} cannot be reached (timed out)" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line", ["some-thing>=1", "git+https://h.example/x", "-r other.txt", "--index-url https://h.example"]
)
def test_a_lock_that_holds_something_else_is_refused(root: Path, capsys: pytest.CaptureFixture[str], line: str) -> None:
    with (root / "requirements.txt").open("a") as file:
        file.write(f"{line}\n")
    assert audit.main(["http://127.0.0.1:9"], root=root) == 2
    assert f"requirements.txt:8 is not a locked version: {line!r}" in capsys.readouterr().err


def test_without_locks_nothing_is_said_to_be_fine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit.main(["http://127.0.0.1:9"], root=tmp_path) == 2
    assert "there are no locked versions" in capsys.readouterr().err


def test_the_locks_of_the_project_can_be_read() -> None:
    found = audit.read_locks(ROOT)
    named = {name: where for (name, _), where in found.items()}
    assert named["scrapy"] == ["requirements-dev.txt", "requirements.txt"]
    assert named["atheris"] == ["requirements-fuzz.txt"]
