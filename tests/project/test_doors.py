"""The core imports no wing, no two rooms import one another, and no name has two meanings."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
WINGS = {"redis", "papers", "lab", "watch"}
MAY_KNOW = {
    "redis": {"redis"},
    "papers": {"papers"},
    "lab": {"lab", "papers", "redis"},
    "watch": {"watch", "papers"},
}
"""Which wings the modules of a wing may import, beside the core; those of the core may import none."""

EVERYWHERE = {"Command"}
"""Scrapy finds commands by this name."""


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in sorted((ROOT / "focused").rglob("*.py"))}


def room_of(module: str) -> str:
    """``pages``, ``frontier``…; what lies in the project's folder itself is a room of its own; a wing is one room."""
    return module.split(".")[1] if "." in module else "focused"


def wing_of(module: str) -> str:
    room = room_of(module)
    return room if room in WINGS else ""


def imports(node: ast.AST) -> Iterator[str]:
    """All of our modules that a module imports, inside functions too; what is only for types is left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names if alias.name.split(".")[0] == "focused")
        elif isinstance(child, ast.ImportFrom) and (child.module or "").split(".")[0] == "focused":
            for alias in child.names:
                whole = f"{child.module}.{alias.name}"
                yield whole if whole in MODULES else str(child.module)
        else:
            yield from imports(child)


IMPORTS = {module: set(imports(ast.parse(path.read_text("utf-8")))) for module, path in MODULES.items()}


def forbidden_doors() -> set[tuple[str, str]]:
    return {
        (module, wing_of(known))
        for module, every in IMPORTS.items()
        for known in every
        if wing_of(known) and wing_of(known) not in MAY_KNOW.get(wing_of(module), set())
    }


def rooms_known() -> dict[str, set[str]]:
    """Which rooms the modules of each room import."""
    rooms: dict[str, set[str]] = defaultdict(set)
    for module, every in IMPORTS.items():
        rooms[room_of(module)] |= {room_of(known) for known in every} - {room_of(module)}
    return rooms


def test_no_room_imports_a_wing_that_it_must_not_know() -> None:
    assert forbidden_doors() == set(), "a wing comes in by an entry point, or what it needs is elsewhere"


def test_no_two_rooms_import_one_another() -> None:
    rooms = rooms_known()
    try:
        TopologicalSorter(rooms).prepare()
    except CycleError as error:
        raise AssertionError(f"these rooms import one another: {' ← '.join(error.args[1])}") from error


def named_types(module: str) -> Iterator[tuple[str, str]]:
    """The classes and aliases of types that a module makes, and what each of them is."""
    for node in ast.parse(MODULES[module].read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef):
            yield node.name.lstrip("_"), module
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id.lstrip("_")
            if name[0].isupper() and not name.isupper() and "TypeVar(" not in ast.unparse(node.value):
                yield name, ast.unparse(node.value)


def names_with_two_meanings() -> dict[str, set[str]]:
    meanings: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        for name, meaning in named_types(module):
            meanings[name].add(meaning)
    return {name: each for name, each in meanings.items() if len(each) > 1 and name not in EVERYWHERE}


def test_no_two_classes_have_one_name() -> None:
    assert names_with_two_meanings() == {}, "one meaning a name"
