"""Write the locks anew from pyproject.toml: every package with its version and hashes.

A version that is locked stays as it is unless ``--upgrade`` is given; then what has changed is printed. Above each
package that pyproject.toml names stands the reason it gives for it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCKED = re.compile(r"^([a-z0-9-]+)(?:\[\S+\])?==([^\s;]+)", re.M)
HEAD = "# Written by `make lock` from pyproject.toml; install it with pip install --require-hashes -r {name}\n"
# For every Python and machine that it may run on; or for those that `make lowest fuzz` are run with in CI.
EVERYWHERE = ("pyproject.toml", "--all-extras", "--universal", "--fork-strategy", "fewest")
ON_LINUX = ("--python-platform", "linux", "--only-binary", ":all:")
LOCKS: dict[str, tuple[str, ...]] = {
    "requirements.txt": EVERYWHERE,
    "requirements-dev.txt": (*EVERYWHERE, "--group", "dev", "--constraints", "requirements.txt"),
    "requirements-lowest.txt": (
        *("pyproject.toml", "--all-extras", "--group", "tests", "--resolution", "lowest-direct"),
        *ON_LINUX,
    ),
    "requirements-fuzz.txt": ("--group", "fuzz", *ON_LINUX),
}


def main() -> None:
    given = re.findall(r'# (.+)\n *"([a-z0-9-]+)', (ROOT / "pyproject.toml").read_text("utf-8"))
    reasons = {name: reason for reason, name in given}
    for name, options in LOCKS.items():
        path = ROOT / name
        before = versions(path)
        lock(path, [*options, *sys.argv[1:]])
        explain(path, reasons)
        after = versions(path)
        for package in sorted(before.keys() | after.keys()):
            if (was := before.get(package, "-")) != (now := after.get(package, "-")):
                print(f"{name}: {package} {was} → {now}")


def versions(path: Path) -> dict[str, str]:
    """What a lock holds; several versions of a package are for different Pythons or machines."""
    found: dict[str, str] = {}
    for name, version in LOCKED.findall(path.read_text("utf-8") if path.exists() else ""):
        found[name] = f"{found[name]}, {version}" if name in found else version
    return found


def lock(path: Path, options: list[str]) -> None:
    """Have uv resolve what pyproject.toml asks for."""
    command = [
        *("uv", "pip", "compile", "--python-version", "3.11"),
        *("--no-config", "--default-index", "https://pypi.org/simple", "--no-emit-index-url", "--generate-hashes"),
        *("--no-header", "--no-annotate", "--quiet", "--output-file", path.name, *options),
    ]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def explain(path: Path, reasons: dict[str, str]) -> None:
    """Put the reasons beside what they are for."""
    lines = [HEAD.format(name=path.name)]
    for line in path.read_text("utf-8").splitlines(keepends=True):
        reason = reasons.get(re.split("[=;\\[ ]", line)[0])
        lines += [f"\n# {reason}\n", line] if reason else [line]
    path.write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()
