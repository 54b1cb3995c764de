"""Lists the benchmarks in bench/: the command of each, and the first line of what it says of itself."""

from __future__ import annotations

import ast
from pathlib import Path

BENCH = Path(__file__).parent.parent / "bench"


def main() -> None:
    """Print a line or two for each benchmark."""
    for path in sorted(BENCH.glob("[!_]*.py")):
        text = path.read_text(encoding="utf-8")
        if "__main__" not in text:
            continue
        about = ast.get_docstring(ast.parse(text)) or ""
        print(f".venv/bin/python -m bench.{path.stem}\n    {about.partition(chr(10))[0]}")


if __name__ == "__main__":
    main()
