"""`python -m fuzz TARGET --minutes 5`: fuzz a target for so long (all in turn, if none is named).

It goes on with what earlier runs have found. In out/fuzz/TARGET are ``corpus`` (inputs that reached something new),
``crashes`` (inputs that failed) and ``log``. What fails is printed as a test to paste. Exit code: 0 if nothing failed,
1 if something did, 2 if nothing could be tried.
"""

from __future__ import annotations

import argparse
import base64
import re
import subprocess
import sys
import zlib
from collections.abc import Iterable
from hashlib import sha1
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGETS = sorted(path.stem for path in (ROOT / "fuzz" / "targets").glob("[!_]*.py"))
# A page of the largest size takes a second, with everything counted.
SLOWEST, MOST_MB = 20, 2_500
LONGEST = 4_096


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Fuzz the readers.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"{', '.join(TARGETS)} (default: each in turn)")
    parser.add_argument("--minutes", type=float, default=5.0, help="how long each (default: 5)")
    parser.add_argument("--folder", type=Path, default=ROOT / "out" / "fuzz", help="where to (default: out/fuzz)")
    given = parser.parse_args(arguments)
    if strangers := set(given.targets) - set(TARGETS):
        parser.error(f"{', '.join(sorted(strangers))}: no such target (known: {', '.join(TARGETS)})")
    if find_spec("atheris") is None:
        print(
            "atheris is not installed: `make fuzz` installs it, where there is a wheel (Linux, x86_64)", file=sys.stderr
        )
        return 2
    return max(fuzz(target, given.minutes, given.folder / target) for target in given.targets or TARGETS)


def fuzz(target: str, minutes: float, folder: Path) -> int:
    """Run the target in a process of its own, and say what came of it."""
    corpus, seeds, crashes = (folder / name for name in ("corpus", "seeds", "crashes"))
    for one in (corpus, seeds, crashes):
        one.mkdir(parents=True, exist_ok=True)
    write_seeds(seeds, import_module(f"fuzz.targets.{target}").seeds())
    limits = (f"-max_total_time={round(minutes * 60)}", f"-timeout={SLOWEST}", f"-rss_limit_mb={MOST_MB}")
    options = (*limits, f"-max_len={LONGEST}", "-print_final_stats=1", f"-artifact_prefix={crashes}/")
    command = [sys.executable, "-m", "fuzz.run", target, *options, str(corpus), str(seeds)]
    print(f"{target}: fuzzing for {minutes:g} minutes; {folder / 'log'} has the details", flush=True)
    with (folder / "log").open("w", encoding="utf-8", errors="replace") as log:
        code = subprocess.run(command, cwd=ROOT, stdout=log, stderr=log, check=False).returncode
    text = (folder / "log").read_text("utf-8", "replace")
    print(summary(target, text, len(list(corpus.iterdir()))))
    found = [Path(path) for path in re.findall(r"Test unit written to (.+)", text)]
    for path in found:
        print(f"\n{reason(text)}\n{path} has the input. A test of it, for tests/fuzz/test_found.py:\n")
        print(as_test(target, path.read_bytes()))
    if code and not found:
        print(f"{target}: it ended with code {code}, and no input to show for it:\n{text[-2_000:]}", file=sys.stderr)
        return 2
    return 1 if found else 0


def write_seeds(folder: Path, seeds: Iterable[bytes]) -> None:
    for data in seeds:
        (folder / sha1(data, usedforsecurity=False).hexdigest()).write_bytes(data)


def summary(target: str, log: str, kept: int) -> str:
    """How much was tried, in one line."""
    stats = dict(re.findall(r"^stat::(\w+): +(\d+)", log, re.M))
    seconds = re.search(r"^Done \d+ runs in (\d+) second", log, re.M)
    time = f" in {int(seconds[1]) / 60:.1f} minutes" if seconds else ""
    reached = re.findall(r"\bcov: (\d+)", log)
    tried, places = int(stats.get("number_of_executed_units", 0)), reached[-1] if reached else "0"
    found = f"{places} places in the code reached, {kept:,} inputs kept, at most {stats.get('peak_rss_mb', '?')} MB"
    return f"{target}: {tried:,} executions{time}, {found}"


def reason(log: str) -> str:
    """The exception, or what else libFuzzer says."""
    raised = re.search(r"=== Uncaught Python exception: ===\n(.*?)(?=\n==\d+==|\Z)", log, re.S)
    said = re.search(r"^==\d+== ?(ERROR.*)", log, re.M)
    return raised[1].strip() if raised else said[1] if said else "no reason given"


def as_test(target: str, data: bytes) -> str:
    """A test that fails as long as the target fails with this input."""
    packed = base64.b85encode(zlib.compress(data, 9)).decode()
    value = repr(data) if len(data) <= 80 else f"unpacked({packed!r})"
    name = f"test_{target}_{sha1(data, usedforsecurity=False).hexdigest()[:8]}"
    return f"def {name}() -> None:\n    {target}.check({value})\n"


def unpacked(text: str) -> bytes:
    """A long input, as `as_test` writes it."""
    return zlib.decompress(base64.b85decode(text))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
