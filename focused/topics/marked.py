"""Pages that a user has marked, as examples of a topic: rows are added to its table, and the table to its file.

Nothing else of either file changes, comments included. Both are replaced whole, the table first: if the process dies in
between, the next call adds what is missing.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from focused.files import write_whole
from focused.topics.examples import Example, read_examples
from focused.topics.focus import in_focus
from focused.topics.text import read_text
from focused.topics.topic import Topic, TopicError, load_topic

WANTED, UNWANTED = "wanted", "unwanted"
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Marked:
    """A page that a user says is wanted, or not, and its class if that was said."""

    url: str
    is_wanted: bool
    class_name: str = ""


@dataclass(frozen=True, slots=True)
class Added:
    """How many examples were added to which table, and how many that were there have another class now."""

    table: Path
    added: int
    changed: int


def add_examples(file: str, marked: Sequence[Marked]) -> Added:
    """Have a topic file's examples say what was marked. TopicError if the topic is wrong, or would be then."""
    topic = load_topic(file, seedless=True)
    if topic.path is None or topic.examples.startswith("shipped:"):
        raise TopicError([f"--to {file!r}: give a topic file of your own (TOML)"])
    examples = read_examples(topic) if topic.examples else []
    table = Path(topic.examples) if topic.examples else topic.path.with_suffix(".tsv")
    if not topic.examples and table.exists():
        raise TopicError(
            [f"{table} exists, and {file} does not name it: add examples = {table.name!r}, or move it away"]
        )
    known = {example.url: example.class_name for example in examples}
    classes = {
        one.url: _class_of(one, topic, examples)
        for one in marked
        # An example may say more than the mark.
        if one.class_name or one.url not in known or in_focus(known[one.url], topic.focus) != one.is_wanted
    }
    names = {classes.get(example.url, example.class_name) for example in examples} | set(classes.values())
    lost = [wanted for wanted in topic.focus or [WANTED] if not any(in_focus(name, [wanted]) for name in names)]
    if classes and lost:
        raise TopicError([f"{file}: no example of {lost[0]!r} would be there: mark a page of it with yes as well"])
    text, added, changed = _rows(table, examples, classes)
    if not (added or changed):
        return Added(table, 0, 0)
    named = _named_in(topic, table)
    with write_whole(table) as out:
        out.write(text.encode())
    if named:
        with write_whole(topic.path) as out:
            out.write(named.encode())
    return Added(table, added, changed)


def _class_of(marked: Marked, topic: Topic, examples: Sequence[Example]) -> str:
    """The class of a marked page: what the user says, or else the first that is wanted, or not."""
    if marked.class_name:
        if topic.focus and in_focus(marked.class_name, topic.focus) != marked.is_wanted:
            what = "wanted" if marked.is_wanted else "not wanted"
            raise TopicError(
                [f"{marked.url} is marked as {what} and of class {marked.class_name!r}, which the focus contradicts"]
            )
        return marked.class_name
    names = (example.class_name for example in examples)
    known = (name for name in names if in_focus(name, topic.focus) == marked.is_wanted)
    default = (topic.focus[0] if topic.focus else WANTED) if marked.is_wanted else UNWANTED
    return next(known, default)


def _rows(table: Path, examples: Sequence[Example], classes: Mapping[str, str]) -> tuple[str, int, int]:
    """The table with what was marked, how many rows are new, and how many have another class."""
    text = read_text(str(table), str(table)) if table.exists() else "class\turl\n"
    lines = text.removesuffix("\n").split("\n")
    end = "\r" if lines[0].endswith("\r") else ""
    columns = [name.strip() for name in lines[0].split("\t")]
    if "url" not in columns:
        columns.append("url")
        lines[0] = f"{lines[0].removesuffix(end)}\turl{end}"
    there = {example.url: example for example in examples if example.url}
    added = changed = 0
    for url, name in classes.items():
        known = there.get(url)
        if known is None:
            cells = {"class": name, "url": url}
            lines.append("\t".join(cells.get(column, "") for column in columns).rstrip("\t") + end)
            added += 1
        elif known.class_name != name:
            cells_there = lines[known.line - 1].split("\t")
            cells_there[columns.index("class")] = name
            lines[known.line - 1] = "\t".join(cells_there)
            changed += 1
    return "\n".join(lines) + "\n", added, changed


def _named_in(topic: Topic, table: Path) -> str:
    """The topic file, naming its table and the class that is wanted; '' if it does."""
    assert topic.path is not None
    keys: dict[str, Any] = {} if topic.examples else {"examples": table.name}
    if not topic.focus:
        keys["focus"] = [WANTED]
    if not keys:
        return ""
    text = topic.path.read_bytes().decode("utf-8-sig")
    first = _TABLE.search(_without_texts(text))
    before, after = (text[: first.start()], f"\n{text[first.start() :]}") if first else (text, "")
    before = before.rstrip() + "\n"
    lines = "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in keys.items())
    new = f"{before}{lines}{after}"
    found = tomllib.loads(new.replace("\r\n", "\n"))
    if any(found.get(key) != value for key, value in keys.items()):
        raise TopicError([f"{topic.file}: add these lines above its first table, then try again: {lines.strip()!r}"])
    return new


def _without_texts(text: str) -> str:
    """TOML with texts, comments and arrays blanked, so that a line that begins with a bracket begins a table."""

    def blank(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", "x", found[0])

    text = re.sub(r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*', blank, text)
    return re.sub(r"=\s*\[[^\]]*(?:\[[^\]]*\][^\]]*)*\]", blank, text)
