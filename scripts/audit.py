"""Compare the locked versions with known advisories: https://osv.dev, which has those of PyPI and GitHub.

Exit code: 0 if all were compared and nothing is known, 1 if something is, 2 if they could not be compared. Another
address than OSV's own is the first argument. Standard library alone, so that it runs before anything is installed.

requirements-lowest.txt is left out: its versions are old on purpose, and only `make lowest` installs them, for tests.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

ROOT = Path(__file__).parent.parent
OSV = "https://api.osv.dev"
_LOCKED = re.compile(r"([A-Za-z0-9._-]+)(?:\[\S+\])?==([^\s;\\]+)")
# OSV takes 1,000 at once.
_AT_ONCE = 500
_SECONDS = 30.0
_MOST_BYTES = 50_000_000
_MOST_PAGES = 20

Package = tuple[str, str]
"""Its name and version."""


class NotCompared(Exception):
    """Why the versions could not be compared, in a sentence."""


def main(arguments: Sequence[str] = (), *, root: Path = ROOT, seconds: float = _SECONDS) -> int:
    server = arguments[0] if arguments else OSV
    try:
        locked = read_locks(root)
        known = ask(server, sorted(locked), seconds)
    except NotCompared as error:
        print(f"audit: not compared: {error}", file=sys.stderr)
        return 2
    for package, advisories in known.items():
        where = ", ".join(locked[package])
        print(f"{package[0]} {package[1]} ({where}): {', '.join(f'https://osv.dev/{one}' for one in advisories)}")
    print(f"audit: {len(locked)} locked versions compared with {server}: advisories for {len(known)} of them")
    return 1 if known else 0


def read_locks(root: Path) -> dict[Package, list[str]]:
    """Every version that is locked, and the locks it is in. NotCompared if a lock holds something else."""
    found: dict[Package, list[str]] = {}
    for path in sorted({*root.glob("requirements*.txt")} - {root / "requirements-lowest.txt"}):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if not line.strip() or line[0] == "#" or line.startswith("    --hash="):
                continue
            match = _LOCKED.match(line)
            if match is None:
                raise NotCompared(
                    f"{path.name}:{number} is not a locked version: {line!r}; make it anew with `make lock`"
                )
            found.setdefault((match[1], match[2]), []).append(path.name)
    if not found:
        raise NotCompared(f"there are no locked versions in {root}: make them with `make lock`")
    return {package: sorted(set(names)) for package, names in found.items()}


def ask(server: str, packages: Sequence[Package], seconds: float) -> dict[Package, list[str]]:
    """The advisories for those packages that there are any for."""
    known: dict[Package, list[str]] = {}
    waiting: list[tuple[Package, str]] = [(package, "") for package in packages]
    pages = 0
    while waiting:
        pages += 1
        if pages > _MOST_PAGES + len(packages) // _AT_ONCE:
            raise NotCompared(f"{server} has no end of answers: try again later")
        some, waiting = waiting[:_AT_ONCE], waiting[_AT_ONCE:]
        queries = [_query(package, page) for package, page in some]
        for (package, _), result in zip(some, _results(server, queries, seconds), strict=True):
            advisories, more = _read(server, result)
            if advisories:
                known[package] = sorted({*known.get(package, ()), *advisories})
            waiting += [(package, more)] if more else []
    return known


def _query(package: Package, page: str) -> dict[str, Any]:
    name, version = package
    query: dict[str, Any] = {"package": {"name": name, "ecosystem": "PyPI"}, "version": version}
    return query | {"page_token": page} if page else query


def _results(server: str, queries: Sequence[Any], seconds: float) -> list[Any]:
    body = json.dumps({"queries": queries}).encode()
    request = Request(f"{server}/v1/querybatch", body, {"Content-Type": "application/json"})
    try:
        with urlopen(request, timeout=seconds) as answer:
            answered = json.loads(answer.read(_MOST_BYTES))
    except HTTPError as error:
        raise NotCompared(f"{server} answers with {error.code} {error.reason}: try again later") from error
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise NotCompared(f"{server} cannot be reached ({reason}): try again from where it can be") from error
    except (ValueError, RecursionError) as error:
        raise _garbled(server) from error
    results = answered.get("results") if isinstance(answered, dict) else None
    if not isinstance(results, list) or len(results) != len(queries):
        raise _garbled(server)
    return results


def _read(server: str, result: Any) -> tuple[list[str], str]:
    """The numbers of advisories, and the token for more of them."""
    advisories = result.get("vulns", []) if isinstance(result, dict) else None
    more = result.get("next_page_token", "") if isinstance(result, dict) else None
    if not isinstance(advisories, list) or not isinstance(more, str):
        raise _garbled(server)
    ids = [str(one.get("id")) if isinstance(one, dict) else "" for one in advisories]
    if not all(re.fullmatch(r"[A-Z][A-Za-z0-9:._-]*-[A-Za-z0-9:._-]+", one) for one in ids):
        raise _garbled(server)
    return ids, more


def _garbled(server: str) -> NotCompared:
    return NotCompared(f"the answer of {server} is not one of OSV's: is a proxy in between?")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
