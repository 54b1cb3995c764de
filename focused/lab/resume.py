"""Resuming a comparison: what is in its results already is not done again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import msgspec

from focused.lab.plan import RESULTS, Plan, Results, read_results

_MAY_DIFFER = {"topics", "prioritizers", "limits", "workers", "out"}


class Done:
    """What an earlier comparison in the same folder has done, if there was one."""

    def __init__(self, results: Results | None = None) -> None:
        self.results = results
        self.runs = {run.key for run in results.runs} if results else set()
        self.taught = {taught.key for taught in results.taught if not taught.refused} if results else set()

    @classmethod
    def of(cls, folder: Path) -> Self:
        """What a folder's results contain. ValueError if they cannot be read."""
        return cls(read_results(folder) if (folder / RESULTS).exists() else None)

    def continued(self, new: Results) -> Results:
        """The earlier results with a new plan's topics and prioritizers; ValueError if they do not go together."""
        old = self.results
        if old is None:
            return new
        self._check(old, new)
        return msgspec.structs.replace(
            old,
            command=_commands(old.command, new.command),
            plan=_together(old.plan, new.plan),
            targets=old.targets | new.targets,
            examples=old.examples | new.examples,
            starts=old.starts | new.starts,
        )

    def _check(self, old: Results, new: Results) -> None:
        then, now = msgspec.structs.asdict(old.plan), msgspec.structs.asdict(new.plan)
        for name in then.keys() - _MAY_DIFFER:
            if then[name] != now[name]:
                raise _refused(old, f"it was made with {name} {then[name]!r}, not {now[name]!r}")
        if old.versions != new.versions:
            raise _refused(old, f"it was made with {old.versions}, not {new.versions}")
        for what in ("targets", "examples", "starts"):
            before, after = getattr(old, what), getattr(new, what)
            other = [topic for topic in before.keys() & after.keys() if before[topic] != after[topic]]
            if other:
                raise _refused(old, f"topic {other[0]!r} has other {what} now")


def _refused(old: Results, why: str) -> ValueError:
    return ValueError(f"--resume: the comparison in {old.plan.out} cannot be resumed: {why}; give another --out")


def _together(old: Plan, new: Plan) -> Plan:
    both = {name: _union(getattr(old, name), getattr(new, name)) for name in ("topics", "prioritizers", "limits")}
    return msgspec.structs.replace(new, **(both | {"limits": tuple(both["limits"])}))


def _union(old: Sequence[str], new: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*old, *new]))


def _commands(old: list[str], new: list[str]) -> list[str]:
    """One after the other, unless it is the same one again."""
    return old if old[-len(new) :] == new else [*old, "&&", *new]
