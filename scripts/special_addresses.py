"""Makes focused/safety/special.py from IANA's registries of special-purpose addresses.

    python scripts/special_addresses.py iana-ipv4-special-registry-1.csv iana-ipv6-special-registry-1.csv 2025-10-09

The files are those that https://www.iana.org/assignments/iana-ipv4-special-registry/ and …/iana-ipv6-special-registry/
give as CSV. They have no date: give the one that the pages call "Last Updated", of the two the later one.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from datetime import date
from ipaddress import ip_network
from pathlib import Path

TABLE = Path(__file__).parent.parent / "focused" / "safety" / "special.py"
_BLOCK, _NAME, _REACHABLE = "Address Block", "Name", "Globally Reachable"
# A cell may end with the number of a note.
_NOTE = re.compile(r"\s*\[\d+\]")
_HEAD = '''"""IANA's registries of special-purpose IPv4 and IPv6 addresses, as of a date.

Made by scripts/special_addresses.py from the registries' CSV files: change nothing here by hand.
"""

UPDATED = "{updated}"
"""When the registries were changed last before this table was made."""

SPECIAL: tuple[tuple[str, bool, str], ...] = (
'''
_TAIL = ''')
"""Each block, whether the registry says that it is globally reachable, and its name. The smallest block counts."""
'''


def rows(path: Path) -> Iterator[tuple[str, bool, str]]:
    """The blocks of one registry. One of which it is not said whether it is reachable ("N/A", or nothing) is not."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        table = csv.DictReader(file)
        missing = {_BLOCK, _NAME, _REACHABLE} - set(table.fieldnames or ())
        if missing:
            raise ValueError(f"{path} is not a registry of special-purpose addresses: no column {sorted(missing)}")
        for row in table:
            name = " ".join(_NOTE.sub("", row[_NAME]).replace('"', "").split())
            is_reachable = _NOTE.sub("", row[_REACHABLE] or "").strip() == "True"
            for block in _NOTE.sub("", row[_BLOCK]).split(","):
                yield str(ip_network(block.strip())), is_reachable, name


def module(paths: list[Path], updated: str) -> str:
    """The module with the blocks of all files."""
    blocks = [row for path in paths for row in rows(path)]
    lines = [f'    ("{block}", {is_reachable}, "{name}"),\n' for block, is_reachable, name in blocks]
    return _HEAD.format(updated=date.fromisoformat(updated)) + "".join(lines) + _TAIL


def main(arguments: list[str]) -> str | None:
    """Write the table; why it could not be written."""
    if len(arguments) != 3:
        return __doc__
    try:
        *paths, updated = arguments
        TABLE.write_text(module([Path(path) for path in paths], updated), encoding="utf-8")
    except (OSError, ValueError) as error:
        return f"{error}. Nothing was written."
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
