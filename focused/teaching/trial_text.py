"""How a topic was tried, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from focused.report.text import counted, short
from focused.teaching.trial import Sample, Trial, Tried
from focused.topics.topic import Topic

_BEST, _REST, _WORDS = 10, 5, 12
_BORDER = (0.3, 0.7)
_TITLE = 36


def trial_lines(topic: Topic, sample: Sample, trial: Trial) -> Iterator[str]:
    """What was fetched, how much of it is wanted, the pages at both ends and in between, and the words."""
    yield f"topic {topic.name!r}, tried on {_origin(sample)}"
    if sample.missing.failures:
        yield f"  not fetched    {sample.missing.missing()}"
    pages = counted(len(trial.tried), "page")
    yield f"  wanted         about {trial.wanted:.0f} of {pages}; {trial.found} found (R ≥ 0.5)"
    best, others = trial.tried[:_BEST], trial.tried[_BEST:]
    low, high = _BORDER
    border = sorted((one for one in others if low <= one.relevance <= high), key=lambda one: abs(one.relevance - 0.5))
    lowest = [one for one in others if one.relevance < low][-_REST:]
    for heading, some in (("best", best), ("undecided", border[:_REST]), ("lowest", lowest)):
        yield from _listed(heading, some)
    yield from _words("words given", [f"{word} ({pages})" for word, pages in trial.given.items()])
    yield from _words("on no page", trial.never)
    yield from _words("on nearly all", trial.everywhere)
    yield from _words("strongest", trial.shown[:_WORDS])
    yield from _words("words added", trial.added[:_WORDS])


def _origin(sample: Sample) -> str:
    pages = counted(len(sample.pages), "page")
    if not sample.seeds:
        return f"{pages}, its examples, because it has no seeds"
    return f"{pages}: {counted(len(sample.seeds), 'seed')}, and pages linked from there"


def _listed(heading: str, tried: Sequence[Tried]) -> Iterator[str]:
    for i, one in enumerate(tried):
        title = short(one.page.title, _TITLE)
        yield f"  {heading if not i else '':<13}  {one.relevance:.2f}  {title:<{_TITLE}}  {short(one.page.url, 200)}"


def _words(heading: str, words: Sequence[str]) -> Iterator[str]:
    if words:
        more = f", and {len(words) - _WORDS:,} more" if len(words) > _WORDS else ""
        yield f"  {heading:<13}  {', '.join(words[:_WORDS])}{more}"
