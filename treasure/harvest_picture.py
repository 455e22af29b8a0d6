"""The harvest curve as a picture: targets found against pages fetched, one line per crawl.

Matplotlib is imported when a picture is drawn, and draws without a display. The files hold no
date, so that the same curves give the same picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

COLOURS = ("#0b6e4f", "#c4622d", "#31588a", "#8a3b78", "#6b6b6b", "#a58b00")
INK, PALE = "#26302b", "#d9d6cc"
PAPER = "#fbfaf6"
LABEL_GAP = 0.055
"""Least distance of two labels at the end of lines, as a share of the height."""


@dataclass(frozen=True)
class HarvestCurve:
    """How many targets had been found after each fetched page."""

    name: str
    found: Sequence[int]

    @property
    def pages(self) -> int:
        """Pages fetched."""
        return len(self.found)

    @property
    def total(self) -> int:
        """Targets found in the end."""
        return self.found[-1] if self.found else 0


def draw(
    curves: Sequence[HarvestCurve], targets: int, title: str, files: Sequence[Path]
) -> list[Path]:
    """Draw *curves*, the best first in colour, into each of *files* (``.png``, ``.svg``)."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    style: dict[Any, Any] = {
        "svg.hashsalt": "treasure",
        "svg.fonttype": "path",
        "font.family": "DejaVu Sans",
    }
    with mpl.rc_context(style):
        figure = Figure(figsize=(9.6, 5.4), facecolor=PAPER)
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0.085, 0.13, 0.70, 0.70), facecolor=PAPER)
        pages = max((curve.pages for curve in curves), default=1)
        _draw_bounds(axes, pages, targets)
        for curve, colour in zip(curves, _cycle(len(curves)), strict=True):
            line = np.concatenate([[0], curve.found])
            axes.plot(np.arange(line.size), line, color=colour, linewidth=2.4, zorder=3)
            axes.plot(curve.pages, curve.total, "o", color=colour, markersize=6, zorder=4)
        axes.fill_between(
            np.arange(curves[0].pages + 1), [0, *curves[0].found], color=COLOURS[0], alpha=0.08
        )
        _label_ends(axes, curves, pages, targets)
        _dress(axes, pages, targets)
        figure.text(0.085, 0.92, title, fontsize=15, color=INK, weight="bold")
        figure.text(
            0.085,
            0.865,
            "pages on topic that were found, by the true labels, against pages fetched",
            fontsize=10,
            color=INK,
        )
        for path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            is_svg = path.suffix.lower() == ".svg"
            metadata = {"Date": None} if is_svg else {"Software": None}
            figure.savefig(path, dpi=150, facecolor=PAPER, metadata=metadata)
    return list(files)


def _cycle(count: int) -> list[str]:
    return [COLOURS[index % len(COLOURS)] for index in range(count)]


def _draw_bounds(axes: Any, pages: int, targets: int) -> None:
    """Draw what nobody can beat: every page a target, until there are no more."""
    edge = min(pages, targets)
    axes.plot([0, edge], [0, edge], color=PALE, linewidth=1.6, linestyle=(0, (4, 3)), zorder=1)
    axes.axhline(targets, color=PALE, linewidth=1.6, zorder=1)
    axes.text(
        pages, targets, f"all {targets:,} ", color="#8d897c", fontsize=9, va="bottom", ha="right"
    )
    axes.annotate(
        "a page on topic\nat every fetch",
        (edge * 0.62, edge * 0.62),
        xytext=(-8, 0),
        textcoords="offset points",
        color="#8d897c",
        fontsize=9,
        ha="right",
        va="center",
    )


def _label_ends(axes: Any, curves: Sequence[HarvestCurve], pages: int, targets: int) -> None:
    """Name each line where it ends, pushed apart where they end together."""
    height = max(targets, 1) * 1.08
    order = sorted(range(len(curves)), key=lambda index: curves[index].total)
    lowest = float("-inf")
    for index in order:
        curve = curves[index]
        y = max(curve.total, lowest + LABEL_GAP * height * 1.9)
        lowest = y
        rate = curve.total / curve.pages if curve.pages else 0.0
        axes.text(
            pages * 1.025, y, f"{curve.name}", color=COLOURS[index % len(COLOURS)],
            fontsize=11, weight="bold", va="bottom", clip_on=False,
        )  # fmt: skip
        recall = curve.total / targets if targets else 0.0
        axes.text(
            pages * 1.025, y,
            f"{curve.total:,} found, recall {recall:.0%}\nharvest rate {rate:.0%}",
            color=INK, fontsize=8.5, va="top", clip_on=False,
        )  # fmt: skip


def _dress(axes: Any, pages: int, targets: int) -> None:
    axes.set_xlim(0, pages * 1.01)
    axes.set_ylim(0, max(targets, 1) * 1.08)
    axes.set_xlabel("pages fetched", color=INK, fontsize=10)
    axes.set_ylabel("pages on topic found", color=INK, fontsize=10)
    axes.grid(axis="y", color="#ebe8de", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=9, length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(PALE)
