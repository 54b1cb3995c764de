"""What the documentation says is there, is there, and nothing else: settings, statistics, meta keys, links."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from inspect import signature
from pathlib import Path

import pytest

from focused.defaults import DEFAULTS, RENAMED
from focused.items import VERDICT
from focused.parts import DEFAULT_PRIORITIZER
from focused.registry import find, names, own
from focused.topics.examples import read_examples
from focused.topics.topic import load_topic
from scripts import reference

ROOT = Path(__file__).parent.parent.parent
SETTINGS_PAGE = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "models" / "README.md"])
STATISTIC = re.compile(r"focused/[a-z_*]+(/[a-z_*]+)*")


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
            yield "".join(str(v.value) if isinstance(v, ast.Constant) else "*" for v in values)
        case ast.Constant(value=str(text)):
            yield text
        case _:
            for child in ast.iter_child_nodes(node):
                yield from strings(child)


def statistics_in_code() -> set[str]:
    return {text for tree in trees() for text in strings(tree) if STATISTIC.fullmatch(text)}


def of_meta(node: ast.AST, names: set[str]) -> bool:
    """Is it ``request.meta[META]``, got in whatever way, or one of the names that stand for it?"""
    match node:
        case ast.Name(id=name):
            return name in names
        case ast.Subscript(slice=ast.Name(id="META")) | ast.Call(args=[ast.Name(id="META"), *_]):
            return True
    return False


def assigned(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """(target, value) of every assignment."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign) and node.value:
            yield node.target, node.value


def meta_keys(tree: ast.AST) -> Iterator[str]:
    """The keys that a file reads from or writes into ``request.meta[META]``."""
    names = {to.id for to, value in assigned(tree) if isinstance(to, ast.Name) and of_meta(value, set())}
    dicts = [value for to, value in assigned(tree) if of_meta(to, set())]
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=owner, slice=ast.Constant(value=str(key))) if of_meta(owner, names):
                yield key
            case ast.Call(func=ast.Attribute(value=owner), args=[ast.Constant(value=str(key)), *_]) if of_meta(
                owner, names
            ):
                yield key
            case ast.Dict(keys=keys, values=values):
                dicts += [v for k, v in zip(keys, values, strict=True) if isinstance(k, ast.Name) and k.id == "META"]
    spread = {v.id for d in dicts if isinstance(d, ast.Dict) for v in d.values if isinstance(v, ast.Name)}
    dicts += [value for to, value in assigned(tree) if isinstance(to, ast.Name) and to.id in spread]
    for display in dicts:
        if isinstance(display, ast.Dict):
            yield from (str(key.value) for key in display.keys if isinstance(key, ast.Constant))


def test_every_setting_is_in_the_reference_with_its_default() -> None:
    documented = {name: cells[0].strip("`") for name, cells in rows("Settings").items()}
    assert documented == {name: repr(default) for name, default in DEFAULTS.items()}


@pytest.mark.parametrize(
    ("setting", "wish"), [("FOCUSED_TRAIN_EVERY", "learns_every"), ("FOCUSED_LATE_LESSONS", "late_lessons")]
)
def test_what_prioritizers_want_is_told(setting: str, wish: str) -> None:
    wishes = {name: getattr(find("prioritizer", name), wish) for name in names("prioritizer")}
    (others,) = {wished for name, wished in wishes.items() if name != DEFAULT_PRIORITIZER}
    told = f"{wishes[DEFAULT_PRIORITIZER]} for `{DEFAULT_PRIORITIZER}`, {others} for the others"
    assert rows("Settings")[setting][1].rstrip("| ").endswith(told)


@pytest.mark.parametrize("name", reference.PAGES)
def test_tables_of_settings_arguments_and_keys_are_as_the_code_has_them(name: str) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert reference.PAGES[name](page) == page, "run python scripts/reference.py"


def test_every_setting_in_the_code_has_a_default() -> None:
    named = {text for tree in trees() for text in strings(tree) if re.fullmatch(r"FOCUSED_[A-Z_]+", text)}
    assert named - set(RENAMED) == set(DEFAULTS)


def test_a_stop_condition_is_declared_in_one_module_and_used_in_one() -> None:
    stops = [name for name in DEFAULTS if name.startswith("FOCUSED_STOP_")]
    modules = [set(strings(tree)) for tree in trees()]
    assert {name: sum(name in texts for texts in modules) for name in stops} == dict.fromkeys(stops, 2)


def option_tables() -> Iterator[dict[str, str]]:
    """The default of each option, as it is written, for each table of options in the docs."""
    for page in PAGES:
        for table in re.findall(r"^\| option \| default \|.*\n((?:\|.*\n)+)", page.read_text("utf-8"), re.M):
            cells = [line.strip("|").split(" | ") for line in table.splitlines()]
            yield {option: row[1].strip(" `") for row in cells[1:] for option in re.findall(r"`(\w+)`", row[0])}


@pytest.mark.parametrize(
    ("part", "name"), [("critic", "lexical"), *(("prioritizer", name) for name in names("prioritizer"))]
)
def test_every_option_is_in_a_table_with_its_default(part: str, name: str) -> None:
    common = {"critic", "combine", "seed", "languages", "options"}
    options = {one.name: one.default for one in signature(find(part, name)).parameters.values()}
    own = {option: default for option, default in options.items() if option not in common}
    tables = [table for table in option_tables() if own.keys() <= table.keys()]
    assert tables, f"no table has all of {', '.join(own)}"
    for option, default in own.items():
        shown = tables[0][option]
        if default is not None and shown != "as above":
            assert json.loads(shown) == (list(default) if isinstance(default, tuple) else default), option


def test_every_statistic_is_in_the_reference() -> None:
    assert set(rows("Statistics")) == statistics_in_code()


def test_every_meta_key_is_in_the_reference() -> None:
    assert set(rows("Meta keys")) == {key for tree in trees() for key in meta_keys(tree)} | set(VERDICT)


def test_settings_named_anywhere_in_the_docs_exist() -> None:
    environment = {"FOCUSED_CORPORA"}
    for page in PAGES:
        named = set(re.findall(r"\bFOCUSED_[A-Z_]+\b", page.read_text(encoding="utf-8")))
        assert named <= set(DEFAULTS) | environment, f"{page.name} names settings that are not there"


def test_commands_named_anywhere_in_the_docs_exist() -> None:
    ours = {"crawl"} | {entry.name for entry in own("scrapy.commands")}
    for page in PAGES:
        named = set(re.findall(r"(?:^|`|bin/)scrapy ([a-z]+)\b", page.read_text(encoding="utf-8"), flags=re.M))
        assert named <= ours | {"shell", "runspider"}, f"{page.name} names commands that are not there"


def test_the_topic_that_the_readme_shows_can_be_used(tmp_path: Path) -> None:
    blocks = re.findall(r"```(?:toml)?\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.S)
    (topic,) = (block for block in blocks if block.startswith('name = "tea"'))
    (examples,) = (block for block in blocks if block.startswith("class\turl"))
    (tmp_path / "tea.toml").write_text(topic, "utf-8")
    (tmp_path / "tea-examples.tsv").write_text(examples, "utf-8")
    loaded = load_topic(str(tmp_path / "tea.toml"), seeds_needed=True)
    assert {example.class_name for example in read_examples(loaded)} == {"tea", "other"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
