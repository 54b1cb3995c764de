"""What spoke for and against one link, in words: a line for each kind of thing that a prioritizer looks at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from focused.pages.evidence import ADDRESS, CHANNELS, Evidence
from focused.prioritizers.base import Contribution, Prioritizer
from focused.prioritizers.places import PLACES
from focused.report.text import short, signed
from focused.report.words import Feature

_MOST = 8
_LEAST = 0.005
"""What weighs less would be told as 0.00."""
_FIRST = "first of all"
_CRITIC, _FOR, _AGAINST, _ADDRESS, _PLACE = _KINDS = (
    "the critic says",
    "words for it",
    "words against it",
    "its address",
    "its place",
)
_OF_CRITIC = {
    "anchor": "of the link's text",
    "words around": "of the words around it",
    "source relevance": "of the page it stands on",
}
_PLAINLY = {
    "bias": "what a link is usually worth",
    "no text": "it has no text",
    "novelty": "it leads where few pages were seen",
}


def reasons(prioritizer: Prioritizer, row: Evidence, features: Sequence[Feature | None]) -> Iterator[str]:
    """What one link's features add to its score; ``features`` are those behind the ids of its row of evidence."""
    known = {number: feature for number, feature in zip(row.ids.tolist(), features, strict=True) if feature}
    # Others have numbers of these names that are not the critic's.
    of_critic = _OF_CRITIC if set(_OF_CRITIC) <= set(prioritizer.dense) else {}
    names = {**_PLAINLY, **of_critic}
    of_kind: dict[str, list[Contribution]] = {}
    for part in prioritizer.explain(row):
        if part.feature != "score":
            of_kind.setdefault(_kind(part, known, of_critic), []).append(part)
    first = of_kind.get(_FIRST, [])
    if first:
        # What is named though it weighs nothing is told for its name, such as the level of a link's text.
        loud = [part for part in first if not part.weight or abs(part.weight) >= _LEAST]
        yield f"{_FIRST}: {_told(loud if _loud(first) else first, known, names)}"
    for kind in _KINDS:
        parts = of_kind.get(kind, [])
        loud = _loud(parts)
        if loud:
            more = ", …" if len(loud) > _MOST else ""
            total = _weight(sum(part.weight for part in parts))
            yield f"{kind} ({total}): {_told(loud[:_MOST], known, names)}{more}"


def _loud(parts: Sequence[Contribution]) -> list[Contribution]:
    return [part for part in parts if abs(part.weight) >= _LEAST]


def _kind(part: Contribution, known: Mapping[int, Feature], of_critic: Mapping[str, str]) -> str:
    if isinstance(part.feature, str):
        return _CRITIC if part.feature in of_critic else _PLACE if part.feature in PLACES else _FIRST
    feature = known.get(part.feature)
    if feature is not None and feature.offset == ADDRESS:
        return _ADDRESS
    return _FOR if part.weight > 0 else _AGAINST


def _told(parts: Sequence[Contribution], known: Mapping[int, Feature], names: Mapping[str, str]) -> str:
    return ", ".join(f"{_name(part.feature, known, names)}{_towards(part)} {_weight(part.weight)}" for part in parts)


def _towards(part: Contribution) -> str:
    return f" → {short(part.towards, 40)}" if part.towards else ""


def _name(feature: int | str, known: Mapping[int, Feature], names: Mapping[str, str]) -> str:
    if isinstance(feature, str):
        return names.get(feature, feature)
    found = known.get(feature)
    if found is None:
        return "a feature without a name"
    where = "" if found.offset == ADDRESS else CHANNELS.get(found.offset, f"({signed(found.offset)})")
    return f"{short(found.word, 40)} {where}".rstrip()


def _weight(weight: float) -> str:
    return f"{weight:+.2f}".replace("-", "\u2212")
