"""Reading files of paths: what a user wrote is checked key by key, and every mistake is reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path as File
from typing import Any

import msgspec

from focused.papers.paths.path import ENDS, PREFIX, Path, PathsError, Step
from focused.problems import Problems, did_you_mean

_STEP_KEYS = Step.__struct_fields__


def read_paths(file: str | File) -> list[Path]:
    """The paths of a file; PathsError lists all that is wrong."""
    problems = Problems()
    paths: list[Path] = []
    try:
        lines = File(file).read_bytes().splitlines()
    except OSError as error:
        raise PathsError([f"{file}: cannot be read: {error.strerror or error}"]) from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            paths += _read_line(line, f"{file}:{number}", problems)
    if not paths and not problems.found:
        problems.add(str(file), "holds no path")
    problems.raise_as(PathsError)
    return paths


def _read_line(line: bytes, where: str, problems: Problems) -> list[Path]:
    """The path in a line; none if there is anything wrong with it, which is noted."""
    try:
        written = msgspec.json.decode(line)
    except UnicodeDecodeError as error:
        problems.add(where, f"not UTF-8: {error.reason}")
    except RecursionError:
        problems.add(where, "not JSON for us: nested too deeply")
    except msgspec.DecodeError as error:
        problems.add(where, f"not JSON: {str(error).removeprefix('JSON is malformed: ')}")
    else:
        found = [*_wrong_with_path(written)]
        for place, what in found:
            problems.add(f"{where}: {place}" if place else where, what)
        return [] if found else [msgspec.convert(written, Path)]
    return []


def _wrong_with_path(path: Any) -> Iterator[tuple[str, str]]:
    """Where a line is wrong, and why."""
    if not isinstance(path, dict):
        yield "", f'{path!r} is not a path: write {{"steps": [{{"url": "http://…"}}, …]}}'
        return
    yield from _unknown_keys("", path, ("steps",))
    steps = path.get("steps")
    if not isinstance(steps, list) or not steps:
        yield "steps", "missing" if "steps" not in path else f"{steps!r} is not a list of pages, one or more"
        return
    for i, step in enumerate(steps):
        if isinstance(step, dict):
            yield from _wrong_with_step(f"steps[{i}]", step, is_last=i == len(steps) - 1)
        else:
            yield f"steps[{i}]", f'{step!r} is not a page: write {{"url": "http://…"}}'


def _wrong_with_step(at: str, step: dict[str, Any], *, is_last: bool) -> Iterator[tuple[str, str]]:
    yield from _unknown_keys(f"{at}.", step, _STEP_KEYS)
    url, layer = step.get("url"), step.get("layer", 0)
    if "url" not in step:
        yield f"{at}.url", "missing"
    elif not isinstance(url, str) or not url.startswith(("http://", "https://")):
        yield f"{at}.url", f"{url!r} is not an http address"
    if "label" in step:
        yield from ((f"{at}.label", what) for what in wrong_with_label(step["label"], is_last=is_last))
    if isinstance(layer, bool) or not isinstance(layer, int) or layer < 0:
        yield f"{at}.layer", f"{layer!r} is not a number of clicks: give a whole number from 0, or leave it out"


def wrong_with_label(label: Any, *, is_last: bool) -> Iterator[str]:
    """Why a page cannot have this label."""
    if not isinstance(label, str) or not label.strip():
        yield f"{label!r} is not a name: give one in quotes, or leave it out"
    elif label in ENDS and not is_last:
        yield f"{label!r} may only stand at the end of a path"
    elif label.lower() in ENDS and label not in ENDS:
        yield f"{label!r}: write {label.lower()!r}"
    elif label.startswith(PREFIX):
        yield f"{label!r} begins as the states of pages without a label do: leave it out"


def _unknown_keys(at: str, given: dict[str, Any], known: Sequence[str]) -> Iterator[tuple[str, str]]:
    for key in given:
        if key not in known:
            yield f"{at}{key}", f"unknown key{did_you_mean(key, known)} (known: {', '.join(known)})"
