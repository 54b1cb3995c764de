"""Charts as plain SVG text: they need no script and no other file, and follow the page they stand on.

Colours are taken from the page's CSS variables (``--chart-1``…), with defaults of their own, and text has the colour of
the text around it; so a chart is at home on light and on dark pages, and is a good file by itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

COLOURS = ("#2f6fde", "#e07b1a", "#1f9d6b", "#c2417c", "#7a5bd6", "#8a8f98")
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 14, 30, 40
_FONT = 13
_MOST_POINTS = 500
_MOST_LABELS = 24
# What may not stand in XML at all.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart; ``low`` and ``high`` draw a band around it."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


def line_chart(
    series: Sequence[Series],
    *,
    title: str,
    x_label: str = "",
    y_label: str = "",
    y_max: float | None = None,
    size: tuple[int, int] = (720, 300),
) -> str:
    """Lines over numbers. The y axis begins at 0 and ends at ``y_max``, or a little above the highest point."""
    xs = [x for one in series for x in one.x]
    ys = [y for one in series for y in (*one.y, *one.high)]
    top = y_max if y_max is not None else max(_finite(ys), default=0.0) * 1.05
    frame = _Frame(size, (min(xs, default=0.0), max(xs, default=0.0)), (0.0, top))
    parts = [*frame.grid(y_label), *frame.numbers_below(x_label)]
    for i, one in enumerate(series):
        parts += _line(frame, one, i)
    parts += _legend([one.name for one in series], size[0])
    return _svg(size, title, parts)


def bar_chart(
    labels: Sequence[str],
    bars: Mapping[str, Sequence[float]],
    *,
    title: str,
    x_label: str = "",
    y_label: str = "",
    size: tuple[int, int] = (560, 280),
) -> str:
    """Bars over labels, one series or several stacked; values below 0 hang down."""
    up = [sum(max(values[i], 0.0) for values in bars.values()) for i in range(len(labels))]
    down = [sum(min(values[i], 0.0) for values in bars.values()) for i in range(len(labels))]
    frame = _Frame(size, (0.0, max(len(labels), 1)), (min(down, default=0.0) * 1.05, max(up, default=0.0) * 1.05))
    parts = [*frame.grid(y_label), *frame.labels_below(labels, x_label)]
    above, below = [0.0] * len(labels), [0.0] * len(labels)
    for n, (name, values) in enumerate(bars.items()):
        for i, value in enumerate(values):
            base = above if value >= 0 else below
            parts.append(frame.bar(i, base[i], value, _fill(n), f"{labels[i]}: {name} {_number(value)}"))
            base[i] += value
    parts += _legend(list(bars), size[0]) if len(bars) > 1 else []
    return _svg(size, title, parts)


class _Frame:
    """The axes of a chart: numbers to places in the picture."""

    def __init__(self, size: tuple[int, int], x: tuple[float, float], y: tuple[float, float]) -> None:
        self.width, self.height = size
        self.x_low, self.x_high = x if x[1] > x[0] else (x[0], x[0] + 1)
        self.y_low, self.y_high = y if y[1] > y[0] else (y[0], y[0] + 1)
        self.right, self.bottom = self.width - _RIGHT, self.height - _BOTTOM

    def x(self, value: float) -> float:
        return _LEFT + (value - self.x_low) / (self.x_high - self.x_low) * (self.right - _LEFT)

    def y(self, value: float) -> float:
        return self.bottom - (value - self.y_low) / (self.y_high - self.y_low) * (self.bottom - _TOP)

    def grid(self, label: str) -> Iterator[str]:
        for tick in ticks(self.y_low, self.y_high, 5):
            y, strong = self.y(tick), ".5" if tick == 0 else ".14"
            yield f'<path d="M{_LEFT} {y:.1f}H{self.right}" stroke="currentColor" stroke-opacity="{strong}"/>'
            yield _text(_LEFT - 7, y + 4, _number(tick), "end")
        yield _text(_LEFT - 38, 14, label, "start")

    def numbers_below(self, label: str) -> Iterator[str]:
        for tick in ticks(self.x_low, self.x_high, 7):
            yield _text(self.x(tick), self.bottom + 17, _number(tick), "middle")
        yield _text((_LEFT + self.right) / 2, self.height - 5, label, "middle")

    def labels_below(self, labels: Sequence[str], label: str) -> Iterator[str]:
        each = max(1, math.ceil(len(labels) / _MOST_LABELS))
        for i in range(0, len(labels), each):
            yield _text(self.x(i + 0.5), self.bottom + 17, labels[i], "middle")
        yield _text((_LEFT + self.right) / 2, self.height - 5, label, "middle")

    def bar(self, place: int, base: float, value: float, fill: str, told: str) -> str:
        left, right = self.x(place + 0.14), self.x(place + 0.86)
        top, bottom = sorted((self.y(base), self.y(base + value)))
        shape = f'x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" rx="1.5"'
        return f"<rect {shape} {fill}><title>{_plain(told)}</title></rect>"


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers from ``low`` to ``high``, about ``most`` of them."""
    rough = (high - low) / max(most, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(step * i, 12) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def _line(frame: _Frame, one: Series, number: int) -> Iterator[str]:
    rows = _thinned(len(one.x))
    if len(one.low) and len(one.high):
        there = [(one.x[i], one.high[i]) for i in rows]
        back = [(one.x[i], one.low[i]) for i in reversed(rows)]
        yield f'<path d="{_path(frame, [*there, *back])}Z" {_fill(number)} fill-opacity=".15"/>'
    points = [(one.x[i], one.y[i]) for i in rows]
    colour = _colour(number)
    style = f'style="stroke:{colour}" fill="none" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"'
    yield f'<path d="{_path(frame, points)}" {style}/>'


def _path(frame: _Frame, points: Iterable[tuple[float, float]]) -> str:
    """A path through the points; it is broken where a number is missing."""
    pieces, pen = [], "M"
    for x, y in points:
        if math.isfinite(y):
            pieces.append(f"{pen}{frame.x(x):.1f} {frame.y(y):.1f}")
            pen = "L"
        else:
            pen = "M"
    return "".join(pieces)


def _thinned(n: int) -> list[int]:
    """Which of n points are drawn: more than the picture has pixels would only be bytes."""
    if n <= _MOST_POINTS:
        return list(range(n))
    return sorted({int(i) for i in np.linspace(0, n - 1, _MOST_POINTS)})


def _legend(names: Sequence[str], width: int) -> Iterator[str]:
    at = float(width - _RIGHT)
    for i, name in reversed(list(enumerate(names))):
        at -= 7.2 * len(name)
        yield _text(at, 14, name, "start")
        yield f'<rect x="{at - 18:.1f}" y="8" width="13" height="4" rx="2" {_fill(i)}/>'
        at -= 32


def _svg(size: tuple[int, int], title: str, parts: Iterable[str]) -> str:
    width, height = size
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" font-family="system-ui, sans-serif" font-size="{_FONT}">'
        f"<title>{_plain(title)}</title>{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    if not text:
        return ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="currentColor" fill-opacity=".78">{_plain(text)}</text>'


def _colour(number: int) -> str:
    which = number % len(COLOURS)
    return f"var(--chart-{which + 1}, {COLOURS[which]})"


def _fill(number: int) -> str:
    return f'style="fill:{_colour(number)}"'


def _plain(text: str) -> str:
    return escape(_CONTROL.sub("\ufffd", text))


def _number(value: float) -> str:
    if abs(value) >= 10_000:
        return f"{value / 1000:,.0f}k"
    return f"{value:,.4g}".replace("-", "\u2212")


def _finite(values: Iterable[float]) -> Iterator[float]:
    return (value for value in values if math.isfinite(value))
