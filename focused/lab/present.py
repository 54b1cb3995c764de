"""The tables of a comparison, for the terminal and for the HTML page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from statistics import fmean, stdev

from rich.table import Table as RichTable

from focused.lab.plan import MeasuredCrawl, Results, taught_to_text

Value = Callable[[MeasuredCrawl], float | None]
Column = tuple[str, Value, str]
"""Heading, value, format."""
TableText = tuple[str, list[str], list[list[str]]]
"""Title, headings, rows of cells."""


def _figure(name: str) -> Value:
    return lambda run: getattr(run.figures, name)


def _found(budget: int) -> Value:
    return lambda run: run.figures.found.get(budget)


def _found_by_requests(budget: int) -> Value:
    return lambda run: run.figures.found_by_requests.get(budget)


def _requests_per_page(run: MeasuredCrawl) -> float | None:
    return run.figures.requests / run.figures.pages if run.figures.pages else None


def _of_two_clicks(run: MeasuredCrawl) -> float | None:
    return run.of_two_clicks


def _precision(gamma: float) -> Value:
    return lambda run: run.likeness.precision.get(gamma) if run.likeness else None


def columns(results: Results) -> list[Column]:
    """The columns for each crawl."""
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
        *([("of two-clicks", _of_two_clicks, ".3f")] if "two-clicks" in results.plan.limits else ()),
    ]


def request_columns(results: Results) -> list[Column]:
    """The columns for what the pages of each crawl cost."""
    budgets = [budget for budget in results.plan.budgets if budget <= results.plan.pages]
    return [
        *((f"{budget} req", _found_by_requests(budget), ".0f") for budget in budgets),
        ("pages", _figure("pages"), ",.0f"),
        ("requests", _figure("requests"), ",.0f"),
        ("requests/page", _requests_per_page, ".2f"),
    ]


def likeness_columns(results: Results) -> list[Column]:
    """The columns for how similar the pages of each crawl are to the targets."""
    return [
        ("σ", lambda run: run.likeness.sigma if run.likeness else None, ".3f"),
        *((f"cos ≥ {gamma:g}", _precision(gamma), ".3f") for gamma in results.plan.gammas),
    ]


def rows_of(results: Results) -> list[str]:
    """The rows of a comparison, in the order in which they were asked for."""
    there = {run.row for run in results.runs}
    return [name for name in (*results.plan.prioritizers, *results.plan.limits) if name in there]


def tables(results: Results) -> Iterable[TableText]:
    """A table for each topic; with several topics also their mean."""
    topics = list(results.targets)
    for topic in topics:
        yield _title(results, topic), *table_of(results, [topic], columns(results))
    if len(topics) > 1:
        yield f"mean of {len(topics)} topics", *table_of(results, topics, columns(results))


def _title(results: Results, topic: str) -> str:
    title = f"{topic}: {results.targets[topic]} targets, {results.examples[topic]} examples"
    critic = results.critics.get(topic)
    return title + (f", given {results.plan.given}, critic {critic}" if results.plan.given and critic else "")


def likeness_table(results: Results) -> TableText | None:
    """How similar to the targets the pages of each row are, over all topics; None if that is not known."""
    if not any(run.likeness for run in results.runs):
        return None
    return _whole(results, "likeness to the examples wanted", likeness_columns(results))


def request_table(results: Results) -> TableText:
    """What each row found at equal requests, over all topics."""
    return _whole(results, "targets found by requests", request_columns(results))


def _whole(results: Results, what: str, shown: Sequence[Column]) -> TableText:
    topics = list(results.targets)
    title = f"mean of {len(topics)} topics" if len(topics) > 1 else topics[0]
    return f"{what}, {title}", *table_of(results, topics, shown)


def table_of(results: Results, topics: Collection[str], shown: Sequence[Column]) -> tuple[list[str], list[list[str]]]:
    """Headings, and the rows that have crawled for some topics: means over the topics of the means over the starts.

    The deviation is that of whole sets of starts, and of draws of example pages. A mean of only some crawls is marked:
    the missing ones may have been the hardest.
    """
    rows = []
    for name in rows_of(results):
        runs = [run for run in results.runs if run.row == name and run.topic in topics]
        if runs:
            heading = row_heading(results, name, len(runs), topics)
            rows.append([heading, *(_cell(runs, value, form) for _, value, form in shown)])
    return ["", *(heading for heading, _, _ in shown)], rows


def row_heading(results: Results, name: str, crawls: int, topics: Iterable[str]) -> str:
    """What a row is called: its name, and how many crawls it has if some are missing."""
    wanted = results.crawls_wanted(topics)
    return name if crawls >= wanted else f"{name} ({crawls} of {wanted} crawls)"


def notes(results: Results) -> list[str]:
    """What readers of the tables must know: which prioritizers were not taught, and so did not crawl."""
    return [taught_to_text(taught) for taught in results.taught if taught.refused]


def _cell(runs: Sequence[MeasuredCrawl], value: Value, form: str) -> str:
    mean, spread, count = mean_and_spread(runs, value)
    return "" if mean is None else to_cell(mean, spread, ".1f" if form == ".0f" and count > 1 else form)


def mean_and_spread(runs: Sequence[MeasuredCrawl], value: Value) -> tuple[float | None, float | None, int]:
    """The mean of a value, the standard deviation between sets of starts if there are several, how many there were."""
    by_start: dict[int | None, list[float]] = {}
    for run in runs:
        known = value(run)
        if known is not None:
            by_start.setdefault(run.start, []).append(known)
    everything = [known for values in by_start.values() for known in values]
    if not everything:
        return None, None, 0
    means = [fmean(values) for values in by_start.values()]
    return fmean(everything), stdev(means) if len(means) > 1 else None, len(everything)


def to_cell(mean: float, spread: float | None, form: str) -> str:
    """A mean and its spread."""
    return f"{mean:{form}}" + ("" if spread is None else f" ±{spread:{form}}")


def to_rich(table: TableText) -> RichTable:
    """A table for a terminal."""
    title, headings, rows = table
    rich = RichTable(title=title, title_justify="left", title_style="bold")
    for number, heading in enumerate(headings):
        if number:
            rich.add_column(heading, justify="right", overflow="fold")
        else:
            rich.add_column(heading, no_wrap=True)
    for cells in rows:
        rich.add_row(*cells)
    return rich
