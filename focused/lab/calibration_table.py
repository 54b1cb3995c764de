"""The tables of how well R is calibrated: one over all topics, and one for each topic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, stdev

from focused.lab.calibration import CLOSE, Calibration, pooled
from focused.lab.plan import Results
from focused.lab.present import TableText, row_heading, rows_of, to_cell

OfCrawls = Sequence[Calibration]
"""The crawls that are pooled: those of several topics, with the same number of start and draw."""
OfPool = Callable[[Calibration, OfCrawls], float | None]
_COLUMNS: list[tuple[str, OfPool, str]] = [
    ("pages", lambda whole, _: whole.pages, ",.0f"),
    ("wanted", lambda whole, _: whole.wanted, ",.0f"),
    ("sum of R", lambda whole, _: whole.expected, ",.1f"),
    ("ratio", lambda whole, _: whole.ratio, ".2f"),
    (f"within {CLOSE:g}×", lambda _, parts: sum(part.is_close for part in parts), ".0f"),
    ("ECE", lambda whole, _: whole.ece, ".3f"),
    ("ECE by topic", lambda _, parts: fmean(part.ece for part in parts), ".3f"),
    ("Brier", lambda whole, _: whole.brier, ".3f"),
    ("skill", lambda whole, _: whole.skill, ".3f"),
    ("R ≥ 0.5", lambda whole, _: whole.accepted, ",.0f"),
    ("precision", lambda whole, _: whole.precision, ".2f"),
    ("recall", lambda whole, _: whole.recall, ".2f"),
]
_OF_TOPICS = {f"within {CLOSE:g}×", "ECE by topic"}


def calibration_table(results: Results) -> TableText | None:
    """A row for each prioritizer, its crawls of all topics pooled; None if no crawl was judged."""
    topics = list(results.targets)
    title = f"{len(topics)} topics pooled" if len(topics) > 1 else topics[0]
    return _table(results, topics, title, _COLUMNS)


def topic_calibration_tables(results: Results) -> Iterable[TableText]:
    """A table for each topic."""
    shown = [column for column in _COLUMNS if column[0] not in _OF_TOPICS]
    for topic in results.targets:
        table = _table(results, [topic], topic, shown)
        if table:
            yield table


def _table(
    results: Results, topics: Sequence[str], title: str, shown: Sequence[tuple[str, OfPool, str]]
) -> TableText | None:
    rows = []
    for name in rows_of(results):
        runs = [run for run in results.runs if run.row == name and run.topic in topics and run.calibration]
        crawled: dict[int | None, list[Calibration]] = {}
        for run in runs:
            if run.calibration:
                crawled.setdefault(run.start, []).append(run.calibration)
        if crawled:
            heading = row_heading(results, name, len(runs), topics)
            rows.append([heading, *(_cell(list(crawled.values()), value, form) for _, value, form in shown)])
    return (f"calibration of R, {title}", ["", *(heading for heading, _, _ in shown)], rows) if rows else None


def _cell(crawled: Sequence[OfCrawls], value: OfPool, form: str) -> str:
    """The mean over starts and draws, and the standard deviation between them if there are several."""
    known = [found for parts in crawled if (found := value(pooled(parts), parts)) is not None]
    if not known:
        return ""
    several = len(known) > 1
    return to_cell(fmean(known), stdev(known) if several else None, form.replace(".0f", ".1f") if several else form)
