"""A galaxy drawn as in the papers' Fig. 4: every dot at its number and its number's length.

The regions that won are framed digit by digit: blue, then red dashed, then green dotted. The size
of a dot is its weight; in a plain galaxy that is its length, and more for words of the anchor.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from treasure.ddc.galaxy import Galaxy
from treasure.ddc.numbers import across, digits, written
from treasure.errors import UserError

FORMATS = (".svg", ".png")
_FRAMES = (("tab:blue", "-"), ("tab:red", "--"), ("tab:green", ":"))


def draw(galaxy: Galaxy, path: Path, title: str = "") -> None:
    """Write a picture of *galaxy* to *path*, which ends in .svg or .png."""
    if path.suffix.lower() not in FORMATS:
        raise UserError(f"A picture is written as .svg or .png. Got {path.name!r} instead.")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    figure = Figure(figsize=(10, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    strings = galaxy.lexicon.digits
    x, y = _places(galaxy, strings)
    heaviest = float(galaxy.dot_weight.max()) if len(x) else 1.0
    axes.scatter(x, y, s=8 + 60 * galaxy.dot_weight / heaviest, c="0.35", alpha=0.6, linewidths=0)
    top = max((len(own) for own in strings), default=3) + 0.7
    best = digits(galaxy.numbers[0][0]) if galaxy.numbers else ""
    for depth, (color, style) in enumerate(_FRAMES[: len(best)], 1):
        low, wide = across(best[:depth]), 1000 / 10**depth
        axes.add_patch(
            Rectangle(
                (low, 0.3 + 0.06 * depth),
                wide,
                top - 0.4 - 0.12 * depth,
                fill=False,
                edgecolor=color,
                linestyle=style,
                linewidth=1.6,
            )
        )
    axes.set(xlim=(-5, 1005), ylim=(0.2, top), xlabel="D-number", ylabel="length of the D-number")
    axes.set_xticks(range(0, 1001, 100), [f"{number:03d}" for number in range(0, 1000, 100)] + [""])
    axes.set_title(title or _caption(galaxy))
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise UserError(f"The picture {path} cannot be written: {error.strerror}.") from None


def _places(galaxy: Galaxy, strings: list[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where the dots are drawn; those on the same spot are set a little apart."""
    x = np.array([across(strings[number]) for number in galaxy.dot_number])
    y = np.array([float(len(strings[number])) for number in galaxy.dot_number])
    spread = np.random.default_rng(0).uniform(-0.22, 0.22, len(y))
    return x, y + spread


def _caption(galaxy: Galaxy) -> str:
    if not galaxy.numbers:
        return "no dots: none of the words is in the lexicon"
    number, share = galaxy.numbers[0]
    return f"{written(number)} {galaxy.lexicon.name(number)} ({share:.0%})"
