"""A comparison as text for people, JSON for programs, and a page with curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec

from treasure.evaluation.compare import by_strategy
from treasure.evaluation.metrics import Figures, Mean, means
from treasure.evaluation.trial import Result

COLOURS = (
    "#0b6e4f", "#c4622d", "#31588a", "#8a3b78", "#6b6b6b", "#a58b00", "#2f7f86", "#9a1f40",
    "#5c6b2f", "#6a4fb3",
)  # fmt: skip


def summary(results: Sequence[Result]) -> dict[str, dict[int, dict[str, Mean]]]:
    """Return strategy -> pages -> measure -> mean over topics."""
    answer: dict[str, dict[int, dict[str, Mean]]] = {}
    for strategy, runs in by_strategy(results).items():
        marks = runs[0].trial.marks
        answer[strategy] = {}
        for place, mark in enumerate(marks):
            per_topic: dict[str, list[Figures]] = {}
            for run in runs:
                per_topic.setdefault(run.trial.topic, []).append(run.figures[place])
            answer[strategy][mark] = means(per_topic)
    return answer


def as_json(results: Sequence[Result], inputs: dict[str, Any]) -> bytes:
    """Return everything that was measured; CPU times are the only figures that vary."""
    content = {
        "inputs": inputs,
        "summary": {
            strategy: {
                str(mark): {name: [m.value, m.half_width] for name, m in measures.items()}
                for mark, measures in marks.items()
            }
            for strategy, marks in summary(results).items()
        },
        "results": results,
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=1)


def as_text(results: Sequence[Result]) -> str:
    """Return the tables: the mean over topics, then each topic."""
    table = summary(results)
    marks = results[0].trial.marks
    ranked = sorted(table, key=lambda name: -table[name][marks[0]]["oracle_share"].value)
    lines = ["mean over topics (± 95 %), after pages:"]
    head = f"{'strategy':16}{'pages':>7}{'hits':>9}{'harvest':>9}{'recall':>8}{'of oracle':>16}"
    lines.append(head + f"{'verdict p/r':>13}{'length':>8}{'ms':>6}")
    for name in ranked:
        for mark in marks:
            m = table[name][mark]
            verdicts = f"{m['verdict_precision'].value:.2f}/{m['verdict_recall'].value:.2f}"
            lines.append(
                f"{name:16}{mark:>7}{m['hits'].value:>9.1f}{m['harvest_rate'].value:>9.3f}"
                f"{m['recall'].value:>8.3f}{m['oracle_share']!s:>16}{verdicts:>13}"
                f"{m['target_length'].value:>8.2f}{m['cpu_ms'].value:>6.1f}"
            )
    topics = list(dict.fromkeys(result.trial.topic for result in results))
    lines += ["", "share of the oracle's hits by topic, after " + "/".join(map(str, marks))]
    for topic in topics:
        parts = []
        for name in ranked:
            runs = [r for r in results if (r.trial.topic, r.trial.strategy) == (topic, name)]
            shares = (fmean(r.figures[i].oracle_share for r in runs) for i in range(len(marks)))
            parts.append(f"{name} " + "/".join(f"{share:.2f}" for share in shares))
        lines.append(f"{topic:22}" + ", ".join(parts))
    for name in ranked:
        missing = sorted({want for r in by_strategy(results)[name] for want in r.missing})
        if missing:
            lines.append(f"{name} was not given: {', '.join(missing)}.")
    return "\n".join(lines)


def write_html(results: Sequence[Result], folder: Path, command: str) -> Path:
    """Write index.html with harvest and recall curves into *folder*; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    topics = list(dict.fromkeys(result.trial.topic for result in results))
    strategies = list(by_strategy(results))
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(strategies)}
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><title>Treasure: evaluation</title>",
        "<style>body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;"
        "padding:0 1rem;color:#26302b;background:#fbfaf6}pre{overflow-x:auto;background:#fff;"
        "padding:1rem;border:1px solid #d9d6cc}figure{display:inline-block;margin:0 1rem 1.5rem 0}"
        "svg{background:#fff;border:1px solid #d9d6cc}.key span{margin-right:1rem}</style>",
        "<h1>How focused were they?</h1>",
        f"<p><code>{escape(command)}</code></p>",
        f"<pre>{escape(as_text(results))}</pre>",
        "<p class=key>"
        + "".join(
            f'<span style="color:{colours[n]}">&#9632; {escape(n)}</span>' for n in strategies
        )
        + '<span style="color:#999">&#9632; oracle</span></p>',
    ]
    for topic in topics:
        runs = [result for result in results if result.trial.topic == topic]
        parts.append(f"<h2>{escape(topic)}</h2>")
        parts += [_figure(title, runs, colours) for title in _MEASURES]
    path = folder / "index.html"
    path.write_text("\n".join(parts) + "\n", encoding="utf-8")
    return path


_MEASURES: dict[str, Callable[[int, int, int], float]] = {
    "targets found": lambda hits, _page, _targets: float(hits),
    "harvest rate": lambda hits, page, _targets: hits / page,
    "target recall": lambda hits, _page, targets: hits / targets,
}
"""What is plotted of each topic: from hits, pages so far, and targets."""


def _figure(title: str, runs: Sequence[Result], colours: dict[str, str]) -> str:
    """Return the plot of one of ``_MEASURES``: the oracle, and the first run of each strategy."""
    width, height, left = 320, 220, 40
    first: dict[str, Result] = {}
    for run in runs:
        first.setdefault(run.trial.strategy, run)
    curves = [("#999999", _curve(title, runs[0].oracle, runs[0].targets))]
    curves += [(colours[name], _curve(title, r.curve, r.targets)) for name, r in first.items()]
    pages = max(len(values) for _, values in curves)
    top = max((max(values, default=0.0) for _, values in curves), default=1.0) or 1.0
    lines = [
        f'<polyline fill="none" stroke="{colour}" stroke-width="1.6" points="'
        + " ".join(
            f"{left + (width - left) * i / max(1, pages - 1):.1f},{height - height * v / top:.1f}"
            for i, v in _thinned(values)
        )
        + '"/>'
        for colour, values in curves
    ]
    label = f"{top:.0f}" if title == "targets found" else f"{top:.2f}"
    return (
        f'<figure><figcaption>{title}</figcaption><svg width="{width}" height="{height + 18}"'
        f' role="img" aria-label="{title}">{"".join(lines)}'
        f'<text x="2" y="12" font-size="11">{label}</text>'
        f'<text x="{width - 4}" y="{height + 14}" font-size="11" text-anchor="end">{pages} pages'
        "</text></svg></figure>"
    )


def _curve(title: str, hits: Sequence[int], targets: int) -> list[float]:
    measure = _MEASURES[title]
    return [measure(found, page, targets) for page, found in enumerate(hits, 1)]


def _thinned(values: Sequence[float], most: int = 160) -> list[tuple[int, float]]:
    step = max(1, len(values) // most)
    points = list(enumerate(values))
    return points[::step] + points[-1:]
