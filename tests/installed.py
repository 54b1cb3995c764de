"""The distribution as users get it: built from a fresh clone, installed elsewhere, tried from an empty folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
NOISE = ("PYTHONPATH", "SCRAPY_SETTINGS_MODULE", "SCRAPY_PROJECT", "VIRTUAL_ENV")


def run(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command as a user would, in whose environment nothing points at this project."""
    environment = {name: value for name, value in os.environ.items() if name not in NOISE}
    return subprocess.run(
        command,
        cwd=cwd,
        env={**environment, **(env or {})},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=240,
        check=False,
    )


def done(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """What a command prints; AssertionError with all that it said if it fails."""
    process = run(*command, cwd=cwd, env=env)
    assert process.returncode == 0, f"{command}:\n{process.stdout}\n{process.stderr}"
    return process.stdout


def clone(folder: Path) -> Path:
    """What a clone would have: every file that git knows of, or would add, as it is now."""
    files = done("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).split("\0")
    for name in filter(None, files):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def build(source: Path, *options: str) -> Path:
    """Build in a clone (sdist, and the wheel from it, unless options say otherwise); gives the folder of what came."""
    out = source.parent / "-".join(["built", *options])
    done(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, *options, cwd=source)
    return out


class Environment:
    """An environment with nothing in it but what this one has in the way of dependencies, and what is installed."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=False)
        self.bin = folder / "bin"
        (site,) = (folder / "lib").glob("python*/site-packages")
        (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))

    def install(self, *what: str | Path) -> None:
        """Install without dependencies and without the network."""
        options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check")
        done(sys.executable, "-m", "pip", "--python", self.bin / "python", "install", *options, *what, cwd=self.bin)
