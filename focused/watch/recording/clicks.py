"""What was clicked, each click on disk at once; and the paths that follow from all of them.

The clicks are lines of JSON in a file beside the paths. Whoever goes on, or was killed, begins with what is there.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path as File

import msgspec

from focused.files import NotWritten, append_whole
from focused.papers.paths.labels import wrong_with_name
from focused.papers.paths.path import GOAL, write_paths
from focused.papers.paths.visited import NOT, ShownWays, Tour, Visited
from focused.report.text import short

_LONGEST_TITLE, _LONGEST_NAME = 200, 100


class _Came(msgspec.Struct, tag="visit", forbid_unknown_fields=True):
    """A page that came; ``before`` is the number of the one whose link led to it, or -1."""

    urls: list[str]
    before: int
    title: str


class _Label(msgspec.Struct, tag="label", forbid_unknown_fields=True):
    """What was said of a page; nothing if that was taken back."""

    page: int
    label: str


class _Undo(msgspec.Struct, tag="undo", forbid_unknown_fields=True):
    """The label that was given last is taken back."""


_Click = _Came | _Label | _Undo


class ShownClicks:
    """The pages that were visited, their labels, and the paths; a context manager that has the file for itself."""

    def __init__(self, out: File) -> None:
        self.out = out
        self.journal = out.with_suffix(".clicks.jsonl")
        if out.exists() and not self.journal.exists():
            raise ValueError(f"--out {str(out)!r} exists, and its paths were not recorded here: give another file")
        out.parent.mkdir(parents=True, exist_ok=True)
        self.tour, self.labels = Tour(), dict[int, str]()
        self._said: list[tuple[int, str]] = []
        self.was_cut = False
        """Was the last click half written?"""
        # Each click is one write, to the end.
        self._file = open(self.journal, "ab+", buffering=0)  # noqa: SIM115  # closed by `close`
        try:
            self._read()
        except BaseException:
            self._file.close()
            raise

    def _read(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ValueError(
                f"{self.journal} is being written by another `paths record`: give another --out"
            ) from error
        self._file.seek(0)
        *lines, rest = self._file.read().split(b"\n")
        for number, line in enumerate(lines, 1):
            try:
                self._take(msgspec.json.decode(line, type=_Click))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
                raise ValueError(
                    f"{self.journal}:{number}: is no click that was recorded here ({error}): give another --out"
                ) from error
        if rest:
            self.was_cut = True
            self._file.truncate(sum(len(line) + 1 for line in lines))

    def close(self) -> None:
        """Leave the file to others; one without a click is taken away."""
        if not os.fstat(self._file.fileno()).st_size:
            self.journal.unlink(missing_ok=True)
        self._file.close()

    def visit(self, urls: list[str], before: int, title: str) -> int:
        """The number of a page that has come from the last of these addresses, the first is the one that was asked."""
        self._note(_Came(urls, before, short(title, _LONGEST_TITLE)))
        return self.tour.last

    def label(self, page: int, label: str) -> None:
        """Say what a page is: ``goal``, ``not`` or the name of a milestone; '' takes it back."""
        self._note(_Label(page, label))
        self.write()

    def undo(self) -> int:
        """Take the last label back; the number of its page."""
        if not self._said:
            raise ValueError("there is nothing to undo")
        page, _ = self._said[-1]
        self._note(_Undo())
        self.write()
        return page

    def ways(self) -> ShownWays:
        """The paths, those to goals first."""
        ways = ShownWays()
        ways.add(self.tour, self.labels, is_all_said=True)
        return ways

    def write(self) -> None:
        """Write the paths whole."""
        paths = self.ways().paths
        if paths or self.out.exists():
            write_paths(self.out, paths)

    def milestones(self) -> list[str]:
        """The names that were given, the one of the last page first."""
        names = (self.labels[page] for page in sorted(self.labels, reverse=True))
        return [name for name in dict.fromkeys(names) if name not in {GOAL, NOT}]

    @property
    def can_undo(self) -> bool:
        """Was anything said?"""
        return bool(self._said)

    def _note(self, click: _Click) -> None:
        """Check it, write it down, and do it."""
        do = self._action(click)
        try:
            append_whole(self._file, msgspec.json.encode(click) + b"\n")
            os.fsync(self._file.fileno())
        except OSError as error:
            raise NotWritten(repr(str(self.journal)), error) from error
        do()

    def _take(self, click: _Click) -> None:
        self._action(click)()

    def _action(self, click: _Click) -> Callable[[], None]:
        """What a click does; ValueError if it cannot be."""
        pages = len(self.tour.pages)
        match click:
            case _Came(urls, before, title):
                if not urls or not -1 <= before < pages:
                    raise ValueError("it leads from a page that was not visited")
                return lambda: self._visited(Visited(urls, title=title), before)
            case _Label(page, label):
                if not 0 <= page < pages:
                    raise ValueError("it labels a page that was not visited")
                if label not in {"", GOAL, NOT} and (wrong := _wrong_with_milestone(label)):
                    raise ValueError(wrong)
                return lambda: self._labelled(page, label)
            case _Undo():
                if not self._said:
                    raise ValueError("there is nothing to undo")
                return self._undone

    def _visited(self, visit: Visited, before: int) -> None:
        self.tour.add(visit, before)

    def _labelled(self, page: int, label: str) -> None:
        self._said.append((page, self.labels.get(page, "")))
        self._set(page, label)

    def _undone(self) -> None:
        self._set(*self._said.pop())

    def _set(self, page: int, label: str) -> None:
        self.labels.pop(page, None)
        if label:
            self.labels[page] = label


def _wrong_with_milestone(name: str) -> str:
    if len(name) > _LONGEST_NAME:
        return f"the name of a milestone has at most {_LONGEST_NAME} characters"
    if name != short(name, _LONGEST_NAME):
        return f"{name!r}: give a name without line breaks, hidden characters, or spaces around it"
    return next(iter(wrong_with_name(name)), "")
