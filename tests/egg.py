"""The egg of this project, as scrapyd is given it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def copy_project(folder: Path) -> None:
    """What an egg is built from, and the tests, which must not come into it."""
    for name in ("setup.py", "pyproject.toml", "LICENSE", "README.md", "scrapy.cfg"):
        shutil.copy(ROOT / name, folder)
    for part in ("focused", "tests"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))


def build_egg(folder: Path) -> Path:
    """Build the egg in an empty folder, so that nothing is left in the project."""
    copy_project(folder)
    command = [sys.executable, "setup.py", "-q", "bdist_egg", "-d", "eggs"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (made,) = (folder / "eggs").glob("*.egg")
    return made
