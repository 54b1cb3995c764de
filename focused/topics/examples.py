"""Example pages of a topic, by class: a table with a header, its columns separated by tabs.

Columns ``class`` and at least one of ``url``, ``file`` and ``text``, of which each row fills exactly one; a ``file``
is a path relative to the table's folder. Other columns are kept (an experiment holds out rows by them). There is no
quoting: a tab ends a column, a line ends a row.
"""

from __future__ import annotations

import os.path
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from focused.addresses import to_url
from focused.problems import Problems, did_you_mean
from focused.topics import library
from focused.topics.focus import in_focus
from focused.topics.text import Unreadable, read_text
from focused.topics.topic import Topic, TopicError

_SOURCES = ("url", "file", "text")


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """One example: its class, and exactly one of an address, a file (its absolute path) and a text."""

    class_name: str
    url: str = ""
    file: str = ""
    text: str = ""
    extra: dict[str, str] = {}
    line: int = 0

    @property
    def source(self) -> tuple[str, str]:
        """Which of the three it is, and its value."""
        return next((name, value) for name in _SOURCES if (value := getattr(self, name)))


def read_examples(topic: Topic) -> list[Example]:
    """The examples of a topic, in the order of the file. TopicError lists all mistakes, with their lines."""
    if not topic.examples:
        raise TopicError([f"topic {topic.name!r} has no examples: name a file of them with the key 'examples'"])
    problems = Problems()
    examples = list(_ExampleTable(topic.examples, problems, topic.trusted_in).examples())
    if not examples and not problems.found:
        problems.add(topic.examples, "has a header and no examples")
    if not problems.found and topic.focus:
        problems.found += _strangers(topic.focus, {example.class_name for example in examples}, topic.examples)
    problems.raise_as(TopicError)
    return examples


def check_focus(focus: Sequence[str], classes: Iterable[str], *, where: str = "examples") -> None:
    """TopicError if an entry of the focus matches no class."""
    problems = _strangers(focus, set(classes), where)
    if problems:
        raise TopicError(problems)


def _strangers(focus: Sequence[str], classes: Collection[str], where: str) -> list[str]:
    """A line for each entry of the focus that matches no class."""
    names = set(classes) | {prefix for name in classes for prefix in _prefixes(name)}
    return [
        f"focus: {wanted!r} matches no class of {where}{did_you_mean(wanted, names) or _some(names)}"
        for wanted in focus
        if not any(in_focus(name, [wanted]) for name in classes)
    ]


def _prefixes(name: str) -> Iterator[str]:
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _some(names: Collection[str], most: int = 10) -> str:
    shown = ", ".join(sorted(names)[:most])
    return f" (its classes: {shown}{', …' if len(names) > most else ''})"


@dataclass
class _ExampleTable:
    """A file of examples while it is read."""

    reference: str
    problems: Problems
    trusted_in: Path | None = None

    def examples(self) -> Iterator[Example]:
        header, *rows = (line.rstrip("\r") for line in self._text().split("\n"))
        columns = [name.strip() for name in header.split("\t")]
        if not self._header_is_right(columns):
            return
        seen: dict[tuple[str, str], Example] = {}
        for number, row in enumerate(rows, start=2):
            if not row.strip():
                continue
            try:
                example = self._example(columns, row, number)
                _check_new(example, seen.setdefault(example.source, example))
            except ValueError as error:
                self._add(number, str(error))
            else:
                yield example

    def _text(self) -> str:
        try:
            return read_text(self.reference, self.reference, self.trusted_in)
        except Unreadable as error:
            raise TopicError([str(error)]) from error

    def _add(self, line: int, what: str) -> None:
        self.problems.add(f"{self.reference}:{line}", what)

    def _header_is_right(self, columns: list[str]) -> bool:
        before = len(self.problems.found)
        if columns == [""]:
            self._add(1, "empty: the first line names the columns, 'class' and 'url', 'file' or 'text'")
            return False
        if "class" not in columns:
            self._add(1, f"no column 'class' among {', '.join(map(repr, columns))}")
        if not set(_SOURCES) & set(columns):
            self._add(1, f"no column 'url', 'file' or 'text' among {', '.join(map(repr, columns))}")
        for name, count in Counter(columns).items():
            if count > 1 or not name:
                self._add(1, f"column {name!r} appears twice" if name else "a column has no name")
        return len(self.problems.found) == before

    def _example(self, columns: list[str], row: str, line: int) -> Example:
        cells = [cell.strip() for cell in row.split("\t")]
        if len(cells) > len(columns):
            raise ValueError(f"{len(cells)} columns, the header has {len(columns)}")
        values = dict.fromkeys(columns, "") | dict(zip(columns, cells, strict=False))
        name = values.pop("class")
        if not all(name.split(".")):
            raise ValueError(f"class {name!r} has an empty part" if name else "class is empty")
        sources = {kind: value for kind in _SOURCES if (value := values.pop(kind, ""))}
        if len(sources) != 1:
            raise ValueError(f"fill exactly one of url, file and text, not {' and '.join(sources) or 'none'}")
        if "url" in sources:
            sources["url"] = to_url(sources["url"])
        elif "file" in sources:
            sources["file"] = self._path(sources["file"])
        return Example(class_name=name, **sources, extra=values, line=line)

    def _path(self, name: str) -> str:
        if self.reference.startswith(library.SHIPPED):
            raise ValueError("a shipped topic brings its examples as url or text, not as file")
        path = Path(self.reference).parent / os.path.expanduser(name)
        if not os.path.isfile(path):  # False also for what cannot be a file's name
            raise ValueError(f"there is no file {name!r} beside the table")
        if self.trusted_in is not None:
            try:
                library.check_inside(path, self.trusted_in)
            except OSError as error:
                raise ValueError(f"{name!r} cannot be read: {error.strerror}") from error
        return str(path.resolve())


def _check_new(example: Example, first: Example) -> None:
    if first is not example:
        same = first.class_name == example.class_name
        as_what = "" if same else f", there as {first.class_name!r} and here as {example.class_name!r}"
        raise ValueError(f"the same {example.source[0]} as in line {first.line}{as_what}")
