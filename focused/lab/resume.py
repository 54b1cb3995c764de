"""Resuming a comparison: what is in its results already is not done again."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from focused.lab.plan import Plan, Results

_MAY_DIFFER = {"topics", "prioritizers", "limits", "workers", "out"}


def continued(old: Results, new: Results) -> Results:
    """Earlier results with a new plan's topics and prioritizers; ValueError if they do not go together."""
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
    return msgspec.structs.replace(
        old,
        command=_commands(old.command, new.command),
        plan=_together(old.plan, new.plan),
        targets=old.targets | new.targets,
        examples=old.examples | new.examples,
        starts=old.starts | new.starts,
    )


def _refused(old: Results, why: str) -> ValueError:
    return ValueError(f"--resume: the comparison in {old.plan.out} cannot be resumed: {why}; give another --out")


def _together(old: Plan, new: Plan) -> Plan:
    return msgspec.structs.replace(
        new,
        topics=_union(old.topics, new.topics),
        prioritizers=_union(old.prioritizers, new.prioritizers),
        limits=tuple(_union(old.limits, new.limits)),
    )


def _union(old: Sequence[str], new: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*old, *new]))


def _commands(old: list[str], new: list[str]) -> list[str]:
    """One after the other, unless it is the same one again."""
    return old if old[-len(new) :] == new else [*old, "&&", *new]
