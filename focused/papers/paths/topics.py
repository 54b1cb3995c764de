"""What is known of a recorded web beside its pages: labels, example pages, topics with their targets and seeds."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import msgspec

from focused.topics.focus import in_focus
from focused.topics.text import to_text


class KnownTopic(msgspec.Struct, kw_only=True):
    """One entry of a topics file: what is wanted, where it is, where to start, and which hosts to stay inside.

    ``title`` is what a user would call the topic (several names are separated by commas), ``words`` are those that
    a user would give for it.
    """

    name: str = ""
    focus: list[str]
    target_urls: list[str]
    seeds_on: list[str] = []
    seeds_far: list[str] = []
    seeds_root: list[str] = []
    hosts: list[str] = []
    title: str = ""
    words: list[str] = []

    def seeds(self, start: str) -> list[str]:
        """The starting pages of one kind: on, far or root."""
        found: list[str] = getattr(self, f"seeds_{start}")
        if not found:
            there = [kind for kind in ("on", "far", "root") if getattr(self, f"seeds_{kind}")]
            raise ValueError(f"topic {self.name!r} has no seeds of kind {start!r}; it has {', '.join(there) or 'none'}")
        return found


def read_topics(path: str | Path) -> dict[str, KnownTopic]:
    """The topics of a topics file, by name."""
    text = to_text(Path(path).read_bytes(), path)
    if not text.strip():
        raise ValueError(f"{path}: empty: a topics file is a JSON object, from a topic's name to what it is")
    try:
        topics = msgspec.json.decode(text, type=dict[str, KnownTopic])
    except msgspec.DecodeError as error:
        raise ValueError(f"{path}: {error}") from error
    for name, topic in topics.items():
        topic.name = name
    return topics


def read_table(path: str | Path) -> tuple[list[str], list[dict[str, str]]]:
    """The columns and the rows of a tab-separated table without quoting; what a row lacks is empty.

    ValueError names the file, and the line if it is known.
    """
    text = to_text(Path(path).read_bytes(), path)
    reader = csv.DictReader(io.StringIO(text, newline=""), restval="", delimiter="\t", quoting=csv.QUOTE_NONE)
    try:
        return list(reader.fieldnames or ()), list(reader)
    except csv.Error as error:
        raise ValueError(f"{path}:{reader.reader.line_num}: not a tab-separated table: {error}") from error


def read_examples(path: str | Path, *, without: tuple[str, str] | None = None) -> dict[str, str]:
    """Address → class of the example pages; ``without`` (column, value) leaves out those that are held out."""
    columns, rows = read_table(path)
    if rows and "class" not in columns:
        raise ValueError(f"{path}: no column 'class' among {', '.join(map(repr, columns))}")
    if without and rows and without[0] not in columns:
        raise ValueError(f"{path}: no column {without[0]!r} to hold out by; there are {', '.join(columns)}")
    if not all(row.get("url") for row in rows):
        raise ValueError(
            f"{path}: a comparison is taught by pages of its web, and not every row here has a url; "
            "name a table that has them with --examples"
        )
    return {row["url"]: row["class"] for row in rows if not without or row[without[0]] != without[1]}


def read_labels(path: str | Path) -> dict[str, list[str]]:
    """Address → labels, from a table with the columns ``url`` and ``labels`` (set apart by ``;``) or ``class``."""
    columns, rows = read_table(path)
    column = next((name for name in ("labels", "class") if name in columns), "")
    if not (rows and column and "url" in columns):
        what = "a table of labels has the columns 'url' and 'labels' (or 'class'), and a row for each page"
        raise ValueError(f"{path}: {what}")
    return {row["url"]: [label for label in row[column].split(";") if label] for row in rows}


def labels_beside(web: str) -> str:
    """The labels file that belongs to a web, if it lies beside it."""
    path = Path(web)
    labels = path.with_name(f"{path.name.split('.')[0]}.labels.tsv")
    return str(labels) if labels.exists() else ""


def with_label(labels: dict[str, list[str]], focus: list[str]) -> list[str]:
    """The pages that have a label in the focus."""
    return [url for url, ones in labels.items() if any(in_focus(one, focus) for one in ones)]
