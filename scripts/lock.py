"""Write requirements.txt and requirements-dev.txt anew from pyproject.toml: every package with its version and hashes.

A version that is locked stays as it is unless ``--upgrade`` is given. Above each package that pyproject.toml names
stands the reason it gives for it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEAD = "# Written by `make lock` from pyproject.toml; install it with pip install --require-hashes -r {name}\n"
LOCKS = {
    "requirements.txt": [],
    "requirements-dev.txt": ["--group", "dev", "--constraints", "requirements.txt"],
}


def main() -> None:
    given = re.findall(r'# (.+)\n *"([a-z0-9-]+)', (ROOT / "pyproject.toml").read_text("utf-8"))
    reasons = {name: reason for reason, name in given}
    for name, options in LOCKS.items():
        lock(ROOT / name, options + sys.argv[1:])
        explain(ROOT / name, reasons)


def lock(path: Path, options: list[str]) -> None:
    """Have uv resolve what pyproject.toml asks for, for every Python and machine that it may run on."""
    command = [
        *("uv", "pip", "compile", "pyproject.toml", "--all-extras", "--universal", "--python-version", "3.11"),
        *("--fork-strategy", "fewest"),
        *("--no-config", "--default-index", "https://pypi.org/simple", "--no-emit-index-url", "--generate-hashes"),
        *("--no-header", "--no-annotate", "--quiet", "--output-file", path.name, *options),
    ]
    subprocess.run(command, cwd=ROOT, check=True)


def explain(path: Path, reasons: dict[str, str]) -> None:
    """Put the reasons beside what they are for."""
    lines = [HEAD.format(name=path.name)]
    for line in path.read_text("utf-8").splitlines(keepends=True):
        reason = reasons.get(re.split("[=;\\[ ]", line)[0])
        lines += [f"\n# {reason}\n", line] if reason else [line]
    path.write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()
