"""What the documentation says is there, is there, and nothing else: settings, statistics, meta keys, links."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from focused.defaults import DEFAULTS

ROOT = Path(__file__).parent.parent.parent
SETTINGS_PAGE = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "models" / "README.md"])
STATISTIC = re.compile(r"focused/[a-z_]+(/[a-z_*]+)+")
META = "focused"


def section(title: str) -> str:
    """The text of one section of the settings page."""
    return re.split(r"^## ", SETTINGS_PAGE, flags=re.M)[_titles().index(title) + 1]


def _titles() -> list[str]:
    return re.findall(r"^## (.*)$", SETTINGS_PAGE, flags=re.M)


def rows(title: str) -> dict[str, list[str]]:
    """The rows of a section's tables: the name in the first cell, and the other cells."""
    cells = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in section(title).splitlines()
        if line.startswith("| `")
    ]
    return {first.strip("` "): rest for first, *rest in cells}


def trees() -> Iterator[ast.AST]:
    for path in sorted((ROOT / "focused").rglob("*.py")):
        yield ast.parse(path.read_text(encoding="utf-8"))


def strings(node: ast.AST) -> Iterator[str]:
    """The string literals of a file; what an f-string fills in becomes ``*``."""
    match node:
        case ast.JoinedStr(values=values):
            yield "".join(v.value if isinstance(v, ast.Constant) else "*" for v in values)
        case ast.Constant(value=str(text)):
            yield text
        case _:
            for child in ast.iter_child_nodes(node):
                yield from strings(child)


def statistics_in_code() -> set[str]:
    return {text for tree in trees() for text in strings(tree) if STATISTIC.fullmatch(text)}


def test_every_setting_is_in_the_reference_with_its_default() -> None:
    documented = {name: cells[0].strip("`") for name, cells in rows("Settings").items()}
    assert documented == {name: repr(default) for name, default in DEFAULTS.items()}


def test_every_setting_in_the_code_has_a_default() -> None:
    named = {text for tree in trees() for text in strings(tree) if re.fullmatch(r"FOCUSED_[A-Z_]+", text)}
    assert named == set(DEFAULTS)


def test_every_statistic_is_in_the_reference() -> None:
    assert set(rows("Statistics")) == statistics_in_code()


def test_settings_named_anywhere_in_the_docs_exist() -> None:
    environment = {"FOCUSED_CORPORA"}
    for page in PAGES:
        named = set(re.findall(r"\bFOCUSED_[A-Z_]+\b", page.read_text(encoding="utf-8")))
        assert named <= set(DEFAULTS) | environment, f"{page.name} names settings that are not there"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
