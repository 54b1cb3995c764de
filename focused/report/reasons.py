"""What spoke for and against one link, in words: a line for each kind of thing that a prioritizer looks at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from focused.pages.evidence import ADDRESS, CHANNELS, Evidence
from focused.prioritizers.base import CRITIC, ITS_ADDRESS, PLACE, Contribution, Prioritizer, Shown
from focused.report.text import short, signed
from focused.report.words import Feature

_MOST = 8
_LEAST = 0.005
"""What weighs less would be shown as 0.00."""
_FIRST = "first of all"
_FOR, _AGAINST = "words for it", "words against it"
_HEADINGS = (CRITIC, _FOR, _AGAINST, ITS_ADDRESS, PLACE)


def reasons(prioritizer: Prioritizer, row: Evidence, features: Sequence[Feature | None]) -> Iterator[str]:
    """What one link's features add to its score; ``features`` are those behind the ids of its row of evidence."""
    known = {number: feature for number, feature in zip(row.ids.tolist(), features, strict=True) if feature}
    under: dict[str, list[Contribution]] = {heading: [] for heading in (_FIRST, *_HEADINGS)}
    for part in prioritizer.explain(row):
        if part.feature != "score":
            under.setdefault(_heading(part, known, prioritizer.shown), []).append(part)
    first = under.pop(_FIRST)
    if first:
        # What is named though it weighs nothing is there for its name, such as the level of a link's text.
        loud = [part for part in first if not part.weight or abs(part.weight) >= _LEAST]
        yield f"{_FIRST}: {_listed(loud if _loud(first) else first, known, prioritizer.shown)}"
    for heading, parts in under.items():
        loud = _loud(parts)
        if loud:
            more = ", …" if len(loud) > _MOST else ""
            total = _weight(sum(part.weight for part in parts))
            yield f"{heading} ({total}): {_listed(loud[:_MOST], known, prioritizer.shown)}{more}"


def _loud(parts: Sequence[Contribution]) -> list[Contribution]:
    return [part for part in parts if abs(part.weight) >= _LEAST]


def _heading(part: Contribution, known: Mapping[int, Feature], shown: Mapping[str, Shown]) -> str:
    if isinstance(part.feature, str):
        return (shown[part.feature].heading if part.feature in shown else "") or _FIRST
    feature = known.get(part.feature)
    if feature is not None and feature.offset == ADDRESS:
        return ITS_ADDRESS
    return _FOR if part.weight > 0 else _AGAINST


def _listed(parts: Sequence[Contribution], known: Mapping[int, Feature], shown: Mapping[str, Shown]) -> str:
    return ", ".join(f"{_name(part.feature, known, shown)}{_towards(part)} {_weight(part.weight)}" for part in parts)


def _towards(part: Contribution) -> str:
    return f" → {short(part.towards, 40)}" if part.towards else ""


def _name(feature: int | str, known: Mapping[int, Feature], shown: Mapping[str, Shown]) -> str:
    if isinstance(feature, str):
        return shown[feature].words if feature in shown else feature
    found = known.get(feature)
    if found is None:
        return "a feature without a name"
    where = "" if found.offset == ADDRESS else CHANNELS.get(found.offset, f"({signed(found.offset)})")
    return f"{short(found.word, 40)} {where}".rstrip()


def _weight(weight: float) -> str:
    return f"{weight:+.2f}".replace("-", "\u2212")
