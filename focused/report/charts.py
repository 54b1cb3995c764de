"""Line and bar charts as SVG text, for reports that are one file and load nothing.

Pure functions: numbers in, SVG out. Text and axes take the page's text colour, so that charts are legible on light and
dark ground; beyond eight series the lines are dashed. The width decides how many labels an axis has: they never meet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#8c564b")
"""Okabe and Ito's, which most colour-blind people can tell apart."""
_DASHES = ("", "7 4", "2 3", "10 3 2 3")
_LEFT, _RIGHT, _TOP, _BOTTOM = 32, 16, 34, 48
_ROW = 18
_LETTER, _GAP = 6.7, 10

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class _Axis:
    """Maps values between two ends, which are ticks themselves, to pixels; the title stands beside it."""

    ticks: tuple[float, ...]
    begin: float
    end: float
    title: str

    def at(self, value: float) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        share = (value - low) / (high - low)
        return round(self.begin + share * (self.end - self.begin), 2)


def line_chart(
    series: Mapping[str, Points],
    *,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    width: int = 640,
    height: int = 360,
) -> str:
    """Curves over a common pair of axes, with a legend below; points that are no numbers are left out."""
    curves = {name: [(x, y) for x, y in points if _is_number(x, y)] for name, points in series.items()}
    xs, ys = ([point[i] for points in curves.values() for point in points] for i in (0, 1))
    y = _y_axis(ys, height, y_label)
    left = _left_of(y)
    ticks = _ticks_apart(xs, width - left - _RIGHT)
    x = _Axis(ticks, left, width - max(_RIGHT, _length(_number(ticks[-1])) / 2), x_label)
    labels = [(x.at(tick), _number(tick)) for tick in ticks]
    parts = list(_frame(x, y, labels, title))
    for i, points in enumerate(curves.values()):
        path = " ".join(f"{x.at(a)},{y.at(b)}" for a, b in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke-width="2" {_stroke(i)}/>')
    legend, below = _legend(list(curves), x, height)
    return _svg([*parts, *legend], width, below, title)


def bar_chart(
    bars: Sequence[tuple[str, float]],
    *,
    x_label: str = "",
    y_label: str = "",
    width: int = 640,
    height: int = 280,
) -> str:
    """A bar for each label, in the order given; labels are thinned out when they would overlap."""
    shown = [(label, value if _is_number(value) else 0.0) for label, value in bars]
    y = _y_axis([value for _, value in shown], height, y_label)
    x = _Axis((0.0, float(max(len(shown), 1))), _left_of(y), width - _RIGHT, x_label)
    longest = max((_length(label) for label, _ in shown), default=0.0)
    every = max(1, math.ceil((longest + _GAP) * len(shown) / (x.end - x.begin)))
    labels = [(x.at(i + 0.5), shown[i][0]) for i in range(0, len(shown), every)]
    parts = list(_frame(x, y, labels))
    for i, (label, value) in enumerate(shown):
        left, right = x.at(i + 0.1), x.at(i + 0.9)
        top, bottom = sorted((y.at(value), y.at(0.0)))
        parts.append(
            f'<rect x="{left}" y="{top}" width="{right - left:.2f}" height="{bottom - top:.2f}" fill="{COLOURS[0]}">'
            f"<title>{escape(label)}: {_number(value)}</title></rect>"
        )
    return _svg(parts, width, height)


def _y_axis(values: Sequence[float], height: int, title: str) -> _Axis:
    return _Axis(_ticks([0.0, *values]), height - _BOTTOM, _TOP, title)


def _left_of(y: _Axis) -> float:
    """Where the plot begins: beside the title of its axis and the longest label."""
    return _LEFT + max(_length(_number(tick)) for tick in y.ticks)


def _ticks_apart(values: Sequence[float], room: float) -> tuple[float, ...]:
    """As many ticks, up to about eight, as have room for their labels side by side."""
    for near in range(8, 1, -1):
        ticks = _ticks(values, near)
        if sum(_length(_number(tick)) + _GAP for tick in ticks) <= room:
            return ticks
    return _ticks(values, 1)


def _length(label: str) -> float:
    return _LETTER * len(label)


def _ticks(values: Sequence[float], near: int = 5) -> tuple[float, ...]:
    """Round numbers that span the values, about ``near`` of them; at least two."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if high - low <= 1e-9 * max(abs(low), abs(high), 1.0):
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low < 1e-9:
        high = low + 1.0
    raw = (high - low) / near
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= raw)
    first, last = math.floor(low / step), math.ceil(high / step - 1e-9)
    return tuple(round(i * step, 12) for i in range(first, max(last, first + 1) + 1))


def _frame(x: _Axis, y: _Axis, labels: Iterable[tuple[float, str]], title: str = "") -> Iterable[str]:
    for tick in y.ticks:
        yield _line(x.begin, y.at(tick), x.end, y.at(tick), opacity=0.15)
        yield _text(x.begin - 8, y.at(tick) + 4, _number(tick), "end")
    yield _line(x.begin, y.begin, x.end, y.begin)
    yield _line(x.begin, y.begin, x.begin, y.end)
    for at, label in labels:
        yield _line(at, y.begin, at, y.begin + 5)
        yield _text(at, y.begin + 18, label, "middle")
    if title:
        yield f'<text x="{x.begin}" y="18" font-weight="bold">{escape(title)}</text>'
    if x.title:
        yield _text((x.begin + x.end) / 2, y.begin + 38, x.title, "middle")
    if y.title:
        middle = (y.begin + y.end) / 2
        yield f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">{escape(y.title)}</text>'


def _legend(names: Sequence[str], x: _Axis, top: int) -> tuple[list[str], int]:
    """The names of the series, in rows below the chart, and where these end."""
    parts, at, row = [], x.begin, top
    for i, name in enumerate(names):
        size = 44 + _length(name)
        if at > x.begin and at + size > x.end:
            at, row = x.begin, row + _ROW
        parts.append(f'<line x1="{at}" y1="{row + 6}" x2="{at + 24}" y2="{row + 6}" stroke-width="2" {_stroke(i)}/>')
        parts.append(_text(at + 30, row + 10, name, "start"))
        at += size
    return parts, row + _ROW if names else top


def _stroke(i: int) -> str:
    dash = _DASHES[i // len(COLOURS) % len(_DASHES)]
    return f'stroke="{COLOURS[i % len(COLOURS)]}"' + (f' stroke-dasharray="{dash}"' if dash else "")


def _line(x1: float, y1: float, x2: float, y2: float, *, opacity: float = 0.6) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="currentColor" opacity="{opacity}"/>'


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _svg(parts: Iterable[str], width: int, height: int, title: str = "") -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(title, quote=True)}" fill="currentColor" '
        'font-family="system-ui, sans-serif" font-size="12">'
    )
    return "\n".join([head, *parts, "</svg>"])


def _number(value: float) -> str:
    return f"{value:,.10g}"


def _is_number(*values: float) -> bool:
    return all(math.isfinite(value) for value in values)
