"""Install what is built into empty environments, with every Python that is found, and try it there.

``wheel``: the wheel with nothing but what it asks for, then with all extras: a crawl from an empty folder.
``lowest``: tests with the lowest versions that pyproject.toml allows. ``all``: both, and the tests with the newest
versions, for each Python. PYTHONS="python3.12 /opt/python/bin/python" says which; uv installs, from PyPI.

What is installed is locked, with hashes, in requirements.txt and requirements-lowest.txt. Only ``all`` has what cannot
be: the newest versions, and the lowest for Pythons other than that of the lock.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.installed import build, clone  # noqa: E402  (the checkout, from wherever this is run)

LOCKED = ("--constraints", str(ROOT / "requirements.txt"))
LOWEST = ("--require-hashes", "--requirements", str(ROOT / "requirements-lowest.txt"))
WANTED = (
    *("--requirements", str(ROOT / "pyproject.toml"), "--all-extras"),
    "--group",
    f"{ROOT / 'pyproject.toml'}:tests",
)
LOWEST_PYTHON = "Python 3.11."
ROOMS = ("tests/pages", "tests/topics", "tests/critics", "tests/prioritizers", "tests/frontier", "tests/warc")
PART = (*ROOMS, "tests/crawl/test_crawl_demo.py")
# It compares with the types of Scrapy's defaults; before 2.19 that of CLOSESPIDER_TIMEOUT is an int, read as a float.
NEWER_SCRAPY = "tests/topics/test_topic_settings.py::test_scrapy_reads_each_number_as_it_is_checked"
NEWEST = 15


def main(what: str) -> int:
    pythons = [sys.executable] if what in {"wheel", "lowest"} else find_pythons()
    results = {}
    with tempfile.TemporaryDirectory(prefix="focused-") as folder:
        work = Path(folder)
        (wheel,) = build(clone(work / "clone")).glob("*.whl")
        for number, python in enumerate(pythons):
            for name, run in steps(what, python, wheel, work / str(number)):
                print(f"== {name}", flush=True)
                results[name] = run()
    print("\n".join(f"{'ok' if good else 'FAILED':<7} {name}" for name, good in results.items()))
    return 0 if all(results.values()) else 1


def steps(what: str, python: str, wheel: Path, folder: Path) -> Iterator[tuple[str, Callable[[], bool]]]:
    """What is tried with one Python: names, and functions that say whether it went well."""
    said = subprocess.run([python, "-V"], capture_output=True, text=True, check=True).stdout.strip()
    if what in {"wheel", "all"}:
        yield f"{said}: wheel", lambda: crawls(python, str(wheel), folder / "wheel")
        yield f"{said}: wheel with all extras", lambda: crawls(python, f"{wheel}[all]", folder / "extras")
    if what in {"lowest", "all"}:
        is_locked = said.startswith(LOWEST_PYTHON) and sys.platform == "linux"
        wanted = LOWEST if is_locked else ("--resolution", "lowest-direct", *WANTED)
        how = "locked" if is_locked else "not locked for this Python"
        yield f"{said}: lowest versions, {how}", lambda: passes(python, folder / "lowest", wanted, NEWER_SCRAPY)
    if what == "all":
        yield f"{said}: newest versions, not locked", lambda: passes(python, folder / "newest", WANTED)


def crawls(python: str, wanted: str, folder: Path) -> bool:
    """Does a crawl from an empty folder go well when this is installed?"""
    (folder / "empty").mkdir(parents=True)
    return install(python, folder, *LOCKED, wanted) and succeeds(
        folder / "env/bin/python", ROOT / "tests/smoke.py", folder / "empty", cwd=folder
    )


def passes(python: str, folder: Path, wanted: Sequence[str], *deselected: str) -> bool:
    """Do the tests pass with what is wanted?"""
    everything = os.environ.get("ARGS", "").split() or [*PART]
    everything += [f"--deselect={test}" for test in deselected]
    return install(python, folder, *wanted) and succeeds(
        folder / "env/bin/python", "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *everything
    )


def install(python: str, folder: Path, *wanted: str) -> bool:
    """Have uv make an environment, and put these into it; nothing is compiled."""
    uv, env = Path(sys.executable).with_name("uv"), folder / "env"
    options = ("--quiet", "--no-config", "--only-binary", ":all:")
    made = succeeds(uv, "venv", "--quiet", "--python", python, env)
    return made and succeeds(uv, "pip", "install", *options, "--python", env / "bin/python", *wanted)


def succeeds(*command: str | Path, cwd: Path = ROOT) -> bool:
    return subprocess.run(command, cwd=cwd, check=False).returncode == 0


def find_pythons() -> list[str]:
    """Those that PYTHONS names, or else every one from 3.11 on that is on the PATH."""
    named = os.environ.get("PYTHONS", "").split() or [f"python3.{minor}" for minor in range(11, NEWEST + 1)]
    code = "import sys; print(sys.version_info >= (3, 11) and sys.executable)"
    found = []
    for python in named:
        try:
            told = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False).stdout.strip()
        except OSError:
            continue
        found += [told] if told not in {"", "False"} else []
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
