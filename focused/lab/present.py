"""A comparison shown: tables for the terminal, one self-contained page with curves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from statistics import fmean, stdev

from rich.table import Table

from focused.lab.measure import CURVE_EVERY, Figures
from focused.lab.plan import Results, Run
from focused.report.charts import line_chart

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76em; margin: 2em auto; padding: 0 1em;
  color: #1c1c1c; background: #fff }
@media (prefers-color-scheme: dark) { body { color: #e6e6e6; background: #161616 } }
table { border-collapse: collapse; margin: 0 0 1.5em } th, td { padding: .2em .7em; text-align: right }
th:first-child, td:first-child { text-align: left } thead { border-bottom: 1px solid } pre { white-space: pre-wrap }
"""

Value = Callable[[Run], float | None]


def _figure(name: str) -> Value:
    return lambda run: getattr(run.figures, name)


def _found(budget: int) -> Value:
    return lambda run: run.figures.found.get(budget)


def columns(results: Results) -> list[tuple[str, Value, str]]:
    """Heading, value, format of what is shown of each run."""
    budgets = [budget for budget in results.plan.budgets if budget <= results.plan.pages]
    return [
        *((f"at {budget}", _found(budget), ".0f") for budget in budgets),
        ("R-prec.", _figure("r_precision"), ".2f"),
        ("harvest N", _figure("harvest_at_n"), ".2f"),
        ("loss N", _figure("loss_at_n"), ".2f"),
        ("loss end", _figure("loss"), ".2f"),
        ("/best-first", lambda run: run.loss_ratio, ".2f"),
        ("pages", _figure("pages"), ",.0f"),
        ("requests", _figure("requests"), ",.0f"),
        ("CPU ms", lambda run: run.cpu_ms, ".2f"),
        ("share", lambda run: run.share, ".3f"),
    ]


def rows_of(results: Results) -> list[str]:
    """The rows of a comparison, in the order in which they were asked for."""
    there = {run.row for run in results.runs}
    return [name for name in (*results.plan.prioritizers, *results.plan.limits) if name in there]


def tables(results: Results) -> Iterable[tuple[str, list[list[str]]]]:
    """A heading and the cells of a table for each topic; with several topics also their mean."""
    shown = columns(results)
    for topic, wanted in results.targets.items():
        title = f"{topic}: {wanted} targets, {results.examples[topic]} examples"
        yield title, [_cells(name, _of(results.runs, name, topic), shown) for name in rows_of(results)]
    if len(results.targets) > 1:
        title = f"mean of {len(results.targets)} topics"
        yield title, [_mean_cells(name, results, shown) for name in rows_of(results)]


def _of(runs: Sequence[Run], row: str, topic: str) -> list[Run]:
    return [run for run in runs if run.row == row and run.topic == topic]


def _cells(name: str, runs: Sequence[Run], shown: Sequence[tuple[str, Value, str]]) -> list[str]:
    """Mean over the starts, with the standard deviation where there are several."""
    cells = [name]
    for _, value, form in shown:
        values = [known for run in runs if (known := value(run)) is not None]
        cells.append(_cell(values, values, form))
    return cells


def _mean_cells(name: str, results: Results, shown: Sequence[tuple[str, Value, str]]) -> list[str]:
    """Mean over the topics of the means over the starts; its deviation is that of whole sets of starts."""
    cells = [name]
    for _, value, form in shown:
        by_start: dict[int, list[float]] = {}
        for run in results.runs:
            known = value(run) if run.row == name else None
            if known is not None:
                by_start.setdefault(run.start, []).append(known)
        everything = [known for values in by_start.values() for known in values]
        cells.append(_cell(everything, [fmean(values) for values in by_start.values()], form))
    return cells


def _cell(values: Sequence[float], samples: Sequence[float], form: str) -> str:
    """The mean of some values, and how much it differs between samples; a mean of counts has a decimal."""
    if not values:
        return ""
    form = ".1f" if form == ".0f" and len(values) > 1 else form
    return f"{fmean(values):{form}}" + (f" ±{stdev(samples):{form}}" if len(samples) > 1 else "")


def to_rich(results: Results) -> Iterable[Table]:
    """The tables for a terminal."""
    for title, rows in tables(results):
        table = Table(title=title, title_justify="left", title_style="bold")
        table.add_column("")
        for heading, _, _ in columns(results):
            table.add_column(heading, justify="right")
        for cells in rows:
            table.add_row(*cells)
        yield table


def curves(results: Results, topic: str) -> str:
    """Targets against pages, a curve a row, the mean over the starts; an SVG."""
    series = {}
    for name in rows_of(results):
        runs = _of(results.runs, name, topic)
        if runs:
            series[name] = list(_mean_curve([run.figures for run in runs]))
    return line_chart(series, title=topic, x_label="pages", y_label="targets found", width=760, height=400)


def _mean_curve(figures: Sequence[Figures]) -> Iterable[tuple[float, float]]:
    for i, found in enumerate(zip(*(one.curve for one in figures), strict=True)):
        yield i * CURVE_EVERY, fmean(found)


def write_page(results: Results, folder: Path) -> Path:
    """Write ``compare.html`` and an SVG file for each topic; gives the page's path."""
    parts = ["<!doctype html><meta charset=utf-8><title>Comparison</title>", f"<style>{_STYLE}</style>"]
    parts += ["<h1>Comparison</h1>", f"<pre>{escape(' '.join(results.command))}</pre>"]
    for title, rows in tables(results):
        heads = "".join(f"<th>{escape(heading)}</th>" for heading in ("", *(name for name, _, _ in columns(results))))
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>" for cells in rows)
        parts.append(f"<h2>{escape(title)}</h2><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>")
        topic = title.rpartition(": ")[0]
        if topic in results.targets:
            chart = curves(results, topic)
            parts.append(chart)
            (folder / f"{topic.replace('/', '_')}.svg").write_text(chart, "utf-8")
    page = folder / "compare.html"
    page.write_text("\n".join(parts), "utf-8")
    return page
