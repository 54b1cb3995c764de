"""Makes the tables of settings, arguments and topic keys in docs/ from the code; ``--check`` only compares.

The ``#:`` comment above a setting, an argument or a key is its explanation, a plain comment above a group of settings
is the heading of the group's table.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from focused.defaults import SETTINGS  # noqa: E402  (only now is the project on the path)
from focused.topics.arguments import KINDS  # noqa: E402
from focused.topics.keys import KEYS  # noqa: E402

DECLARATION = re.compile(r'    "?(\w+)"?: ')


def explained(module: str) -> Iterator[tuple[str, str, str]]:
    """(heading, name, explanation) of what a module declares below ``#:`` comments."""
    heading, words = "", []
    for line in (ROOT / "focused" / f"{module}.py").read_text(encoding="utf-8").splitlines():
        declared = DECLARATION.match(line)
        if line.startswith("    #: "):
            words.append(line[7:])
        elif line.startswith("    # "):
            heading = line[6:]
        elif words and declared:
            yield heading, declared[1], " ".join(words)
            words = []


def settings_page(page: str) -> str:
    """docs/settings.md with its tables of settings made anew."""
    tables: dict[str, list[list[str]]] = {}
    for heading, name, words in explained("defaults"):
        setting = SETTINGS[name]
        also = f". `-a {setting.argument}=`" if setting.argument else ""
        tables.setdefault(heading, []).append([f"`{name}`", f"`{setting.default!r}`", words + also])
    for heading, rows in tables.items():
        page = with_table(page, f"### {heading}", ["setting", "default", "what it does"], rows)
    return page


def topics_page(page: str) -> str:
    """docs/topics.md with its tables of keys and arguments made anew."""
    keys = [[f"`{name}`", KEYS[name].words, words] for _, name, words in explained("topics/keys")]
    about = {name: words for _, name, words in explained("topics/arguments")}
    # What switches a setting off cannot be given as an argument: it is left out.
    about |= {
        SETTINGS[name].argument: re.sub(r"\. (0|Empty): .*", "", words) for _, name, words in explained("defaults")
    }
    arguments = [[f"`{name}`", kind.words, about[name]] for name, kind in KINDS.items()]
    page = with_table(page, "## The topic file", ["key", "value", "meaning"], keys)
    return with_table(page, "## Arguments of the spider", ["argument", "value", "meaning"], arguments)


def with_table(page: str, heading: str, header: list[str], rows: Iterable[list[str]]) -> str:
    """The page with the first table below a heading replaced."""
    lines = [header, ["---"] * len(header), *rows]
    table = "".join(f"|{'|'.join(cells)}|\n" if cells[0] == "---" else f"| {' | '.join(cells)} |\n" for cells in lines)
    before, found, after = page.partition(f"{heading}\n")
    if not found:
        raise ValueError(f"there is no heading {heading!r} for a table")
    return before + found + re.sub(r"(?:^\|.*\n)+", lambda _: table, after, count=1, flags=re.M)


PAGES = {"settings.md": settings_page, "topics.md": topics_page}


def main() -> int:
    """Write the pages; with ``--check``, only say which are not as the code has it."""
    stale = []
    for name, made in PAGES.items():
        path = ROOT / "docs" / name
        page = path.read_text(encoding="utf-8")
        if made(page) != page:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(made(page), encoding="utf-8")
    if stale and "--check" in sys.argv:
        print(f"not as the code has it: {', '.join(stale)}; run python scripts/reference.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
