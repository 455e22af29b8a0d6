"""Plots as SVG text: lines and bars for reports, nothing to install and nothing to load.

A plot is a string that stands in any HTML page, light or dark: ink comes from ``currentColor``.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import floor, log10

WIDTH, HEIGHT = 640, 240
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 16, 36
COLOURS = ("#0b7285", "#d9480f", "#5f3dc4", "#2b8a3e", "#a61e4d", "#846358")

Point = tuple[float, float]


def lines(
    series: Sequence[tuple[str, Sequence[Point]]], *, x: str, y: str, percent: bool = False
) -> str:
    """Return a plot of named lines; *x* and *y* say what the axes are."""
    points = [point for _, line in series for point in line]
    if not points:
        return _empty()
    right = max(px for px, _ in points) or 1.0
    top = 1.0 if percent else (max(py for _, py in points) or 1.0)
    parts = [_axes(right, top, x, y, percent)]
    for index, (name, line) in enumerate(series):
        colour = COLOURS[index % len(COLOURS)]
        path = " ".join(f"{_x(px, right):.1f},{_y(py, top):.1f}" for px, py in _thin(line))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if len(series) > 1:
            parts.append(
                f'<text x="{LEFT + 8}" y="{TOP + 12 + 16 * index}" fill="{colour}">'
                f"{escape(name)}</text>"
            )
    return _svg(parts, f"{y} by {x}")


def bars(values: Sequence[tuple[str, float]], *, y: str) -> str:
    """Return a plot of one bar per name."""
    if not values:
        return _empty()
    top = max(value for _, value in values) or 1.0
    step = (WIDTH - LEFT - RIGHT) / len(values)
    parts = [_axes(0, top, "", y, False)]
    for index, (name, value) in enumerate(values):
        left, height = LEFT + index * step, (HEIGHT - TOP - BOTTOM) * value / top
        parts.append(
            f'<rect x="{left + step * 0.1:.1f}" y="{HEIGHT - BOTTOM - height:.1f}"'
            f' width="{step * 0.8:.1f}" height="{height:.1f}" fill="{COLOURS[0]}">'
            f"<title>{escape(name)}: {value:,.0f}</title></rect>"
            f'<text x="{left + step / 2:.1f}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">'
            f"{escape(name[:14])}</text>"
        )
    return _svg(parts, y)


def _axes(right: float, top: float, x: str, y: str, percent: bool) -> str:
    parts = []
    for tick in _ticks(top):
        place = _y(tick, top)
        label = f"{tick:.0%}" if percent else f"{tick:,g}"
        parts.append(
            f'<line x1="{LEFT}" y1="{place:.1f}" x2="{WIDTH - RIGHT}" y2="{place:.1f}"'
            ' stroke="currentColor" stroke-opacity="0.15"/>'
            f'<text x="{LEFT - 6}" y="{place + 4:.1f}" text-anchor="end">{label}</text>'
        )
    parts += [
        f'<text x="{_x(tick, right):.1f}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">'
        f"{tick:,g}</text>"
        for tick in (_ticks(right) if right else ())
    ]
    parts.append(
        f'<text x="{(WIDTH + LEFT) / 2:.0f}" y="{HEIGHT - 4}" text-anchor="middle">{escape(x)}'
        f'</text><text x="12" y="{TOP - 4}">{escape(y)}</text>'
    )
    return "".join(parts)


def _svg(parts: Sequence[str], title: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title, quote=True)}"'
        f' font-family="sans-serif" font-size="11" fill="currentColor">{"".join(parts)}</svg>'
    )


def _empty() -> str:
    return _svg([f'<text x="{WIDTH / 2}" y="{HEIGHT / 2}" text-anchor="middle">nothing</text>'], "")


def _ticks(most: float) -> list[float]:
    """Return three to six round numbers from 0 to *most*."""
    power = 10.0 ** floor(log10(most))
    step = next(power * part for part in (0.2, 0.5, 1.0, 2.0) if most / (power * part) <= 6)
    return [round(step * number, 10) for number in range(floor(most / step) + 1)]


def _thin(line: Sequence[Point], most: int = 500) -> Sequence[Point]:
    step = max(1, len(line) // most)
    return [*line[::step], line[-1]] if line else line


def _x(value: float, right: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * value / right


def _y(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top
