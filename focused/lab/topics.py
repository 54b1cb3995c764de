"""What a lab knows of a recorded web beside its pages: labels, example pages, topics with targets and seeds."""

from __future__ import annotations

import csv
from pathlib import Path

import msgspec

from focused.critics.base import in_focus


class LabTopic(msgspec.Struct, kw_only=True):
    """One entry of a topics file: what is wanted, where it is, where to start, and which hosts to stay inside."""

    name: str = ""
    focus: list[str]
    target_urls: list[str]
    seeds_on: list[str] = []
    seeds_far: list[str] = []
    seeds_root: list[str] = []
    hosts: list[str] = []

    def seeds(self, start: str) -> list[str]:
        """The starting pages of one kind: on, far or root."""
        found: list[str] = getattr(self, f"seeds_{start}")
        if not found:
            there = [kind for kind in ("on", "far", "root") if getattr(self, f"seeds_{kind}")]
            raise ValueError(f"topic {self.name!r} has no seeds of kind {start!r}; it has {', '.join(there) or 'none'}")
        return found


def read_topics(path: str | Path) -> dict[str, LabTopic]:
    """The topics of a topics file, by name."""
    try:
        topics = msgspec.json.decode(Path(path).read_bytes(), type=dict[str, LabTopic])
    except msgspec.DecodeError as error:
        raise ValueError(f"{path}: {error}") from error
    for name, topic in topics.items():
        topic.name = name
    return topics


def read_examples(path: str | Path, *, without: tuple[str, str] | None = None) -> dict[str, str]:
    """Address → class of the example pages; ``without`` (column, value) leaves out those that are held out."""
    rows = _table(path)
    if without and rows and without[0] not in rows[0]:
        raise ValueError(f"{path}: no column {without[0]!r} to hold out by; there are {', '.join(rows[0])}")
    if not all(row.get("url") for row in rows):
        raise ValueError(
            f"{path}: a comparison is taught by pages of its web, and not every row here has a url; "
            "name a table that has them with --examples"
        )
    return {row["url"]: row["class"] for row in rows if not without or row[without[0]] != without[1]}


def read_labels(path: str | Path) -> dict[str, list[str]]:
    """Address → labels, from a table with the columns ``url`` and ``labels`` (set apart by ``;``) or ``class``."""
    rows = _table(path)
    column = next((name for name in ("labels", "class") if rows and name in rows[0]), "")
    if not column or "url" not in rows[0]:
        raise ValueError(f"{path}: a table of labels has the columns 'url' and 'labels' (or 'class')")
    return {row["url"]: [label for label in row[column].split(";") if label] for row in rows}


def labels_beside(web: str) -> str:
    """The labels file that belongs to a web, if it lies beside it."""
    path = Path(web)
    labels = path.with_name(f"{path.name.split('.')[0]}.labels.tsv")
    return str(labels) if labels.exists() else ""


def with_label(labels: dict[str, list[str]], focus: list[str]) -> list[str]:
    """The pages that have a label in the focus."""
    return [url for url, ones in labels.items() if any(in_focus(one, focus) for one in ones)]


def _table(path: str | Path) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
