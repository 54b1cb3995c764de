"""Lists the benchmarks in bench/: the command of each, and the first line of what it says of itself."""

from __future__ import annotations

import ast
from pathlib import Path

BENCH = Path(__file__).parent.parent / "bench"


def main() -> None:
    """Print a line or two for each benchmark."""
    for path in sorted(BENCH.glob("[!_]*.py")):
        about = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        print(f".venv/bin/python bench/{path.name}\n    {about.partition(chr(10))[0]}")


if __name__ == "__main__":
    main()
