"""The HTML page of a comparison: one file with all tables and curves, without scripts or external resources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import chain
from pathlib import Path
from statistics import fmean

from focused.files import write_text
from focused.lab.calibration_table import calibration_table, topic_calibration_tables
from focused.lab.measure import CURVE_EVERY
from focused.lab.plan import MeasuredCrawl, Results, taught_to_text
from focused.lab.present import (
    TableText,
    likeness_columns,
    likeness_table,
    notes,
    request_table,
    rows_of,
    table_of,
    tables,
)
from focused.report.charts import line_chart

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76em; margin: 2em auto; padding: 0 1em;
  color: #1c1c1c; background: #fff }
@media (prefers-color-scheme: dark) { body { color: #e6e6e6; background: #161616 } }
table { border-collapse: collapse; margin: 0 0 1.5em } th, td { padding: .2em .7em; text-align: right }
th:first-child, td:first-child { text-align: left } thead { border-bottom: 1px solid } pre { white-space: pre-wrap }
details { margin: 1em 0 2em } summary { cursor: pointer } .charts { display: flex; flex-wrap: wrap; gap: 1em }
"""
_SIMILARITY = "Likeness to the examples wanted"

Curve = Callable[[MeasuredCrawl], Sequence[float]]


def write_page(results: Results, folder: Path) -> Path:
    """Write ``compare.html`` and an SVG file for each topic; gives the page's path."""
    parts = ["<!doctype html><meta charset=utf-8><title>Comparison</title>", f"<style>{_STYLE}</style>"]
    parts += ["<h1>Comparison</h1>", f"<pre>{escape(' '.join(results.command))}</pre>"]
    parts += [f"<p>{escape(note)}</p>" for note in notes(results)]
    every, topics = list(tables(results)), list(results.targets)
    for topic, table in zip(topics, every, strict=False):
        chart = _curves(results, topic, lambda run: run.figures.curve, title=topic, label="targets found")
        parts += [_table(table), chart, *_likeness(results, topic)]
        write_text(folder / f"{topic.replace('/', '_')}.svg", chart)
    means = [*every[len(topics) :], request_table(results), likeness_table(results) if len(topics) > 1 else None]
    parts += [_table(table) for table in means if table]
    calibration = calibration_table(results)
    if calibration:
        parts.append(_table(calibration))
        each = "".join(map(_table, topic_calibration_tables(results)))
        parts.append(f"<details><summary>Calibration by topic</summary>{each}</details>")
    if results.taught:
        lines = "".join(f"<li>{escape(taught_to_text(taught))}</li>" for taught in results.taught)
        parts.append(f"<details><summary>How prioritizers were taught</summary><ul>{lines}</ul></details>")
    page = folder / "compare.html"
    write_text(page, "\n".join(parts))
    return page


def _likeness(results: Results, topic: str) -> Iterable[str]:
    """σ and precision, to be opened by who wants them."""
    known = [run.likeness for run in results.runs if run.topic == topic and run.likeness]
    if not known:
        return
    charts = [_curves(results, topic, _sigma, title="σ", label="maximum average similarity", begin=CURVE_EVERY)]
    for gamma in results.plan.gammas:
        # A threshold that no page came to has its zeros in the table.
        if any(likeness.precision[gamma] for likeness in known):
            title = f"precision, cos ≥ {gamma:g}"
            charts.append(
                _curves(results, topic, _precision(gamma), title=title, label="share of pages", begin=CURVE_EVERY)
            )
    yield f"<details><summary>{_SIMILARITY}</summary>"
    yield _table(("", *table_of(results, [topic], likeness_columns(results))))
    yield from chain(['<div class="charts">'], charts, ["</div></details>"])


def _sigma(run: MeasuredCrawl) -> Sequence[float]:
    return run.likeness.sigma_curve if run.likeness else ()


def _precision(gamma: float) -> Curve:
    return lambda run: run.likeness.precision_curve.get(gamma, ()) if run.likeness else ()


def _curves(results: Results, topic: str, curve: Curve, *, title: str, label: str, begin: int = 0) -> str:
    """A curve a row, the mean over the starts; an SVG. The first value was taken after ``begin`` pages."""
    series = {}
    for name in rows_of(results):
        found = [curve(run) for run in results.runs if run.row == name and run.topic == topic]
        if any(found):
            means = map(fmean, zip(*filter(None, found), strict=True))
            series[name] = [(begin + i * CURVE_EVERY, mean) for i, mean in enumerate(means)]
    size = (560, 340) if begin else (760, 400)
    return line_chart(series, title=title, x_label="pages", y_label=label, width=size[0], height=size[1])


def _table(table: TableText) -> str:
    title, headings, rows = table
    heads = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>" for cells in rows)
    heading = f"<h2>{escape(title)}</h2>" if title else ""
    return f"{heading}<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
