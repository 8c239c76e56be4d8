"""Draw the picture of a reproduction as SVG: the first figure of each row over the row's position."""

import math
from html import escape
from itertools import pairwise

from textveil_training.reproduce.results import Reproduction

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 640, 360, 60, 46, 24
_COLORS = ("#1b6ca8", "#c8553d", "#2d7d46", "#7b4fa3", "#b8860b", "#4a4a4a")
_GRAY = "#777777"
_CLOSE = 26
"""Distance of labels of the horizontal axis below which the later one is left out."""

Point = tuple[float, float]


def draw_picture(found: Reproduction) -> str:
    """Draw the rows of a computed table as an SVG plot.

    Rows of one series, such as one mechanism at several epsilons, are points on a line. A row without a position on the
    horizontal axis, such as a baseline, is a dashed horizontal line.
    """
    column = next(name for row in found.rows if row.series for name in row.figures)
    series: dict[str, list[Point]] = {}
    for row in found.rows:
        if row.series and row.position is not None:
            series.setdefault(row.series, []).append((row.position, row.figures[column]))
    points = [point for line in series.values() for point in line]
    fixed = {row.name: row.figures[column] for row in found.rows if not row.series and column in row.figures}
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    heights = [y for _, y in points]
    room = 2 * (max(heights) - min(heights)) or 1.0
    fixed = {name: y for name, y in fixed.items() if min(heights) - room <= y <= max(heights) + room}
    ticks = _choose_ticks(min([*heights, *fixed.values()]), max([*heights, *fixed.values()]))
    right = right if right > left else left + 1

    def place(point: Point) -> Point:
        x = _LEFT + (point[0] - left) / (right - left) * (_WIDTH - _LEFT - 20)
        return x, _HEIGHT - _BOTTOM - (point[1] - ticks[0]) / (ticks[-1] - ticks[0]) * (_HEIGHT - _BOTTOM - _TOP)

    height = _HEIGHT + 18 * (len(series) + len(fixed))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(found.axes[0])}</text>',
        f'<text x="{_LEFT}" y="14">{escape(found.axes[1])}</text>',
    ]
    for value in ticks:
        y = place((left, value))[1]
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - 20}" stroke="#dddddd"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.0f}" text-anchor="end">{value:.4g}</text>')
    parts += _label_positions([place((x, ticks[0]))[0] for x in sorted({x for x, _ in points})], points)
    for number, (name, y) in enumerate(fixed.items()):
        height = place((left, y))[1]
        dashes = f'stroke="{_GRAY}" stroke-dasharray="{6 - 2 * (number % 3)} {3 + 2 * (number % 3)}"'
        parts.append(f'<path d="M{_LEFT} {height:.1f}H{_WIDTH - 20}" {dashes}/>')
        below = _HEIGHT + 18 * (len(series) + number) + 8
        parts.append(f'<path d="M{_LEFT - 8} {below - 4}H{_LEFT + 6}" {dashes}/>')
        parts.append(f'<text x="{_LEFT + 10}" y="{below}">{escape(name)}: {y:.4g}</text>')
    for number, (name, line) in enumerate(series.items()):
        color, placed = _COLORS[number % len(_COLORS)], [place(point) for point in sorted(line)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}"/>' for x, y in placed]
        y = _HEIGHT + 18 * number + 8
        parts.append(f'<circle cx="{_LEFT}" cy="{y - 4}" r="4" fill="{color}"/>')
        parts.append(f'<text x="{_LEFT + 10}" y="{y}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _choose_ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers that cover a range, for the labels of an axis."""
    span = high - low or 1.0
    step = 10.0 ** math.floor(math.log10(span / 4))
    step = next(step * factor for factor in (1, 2, 2.5, 5, 10) if span / (step * factor) <= 5)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def _label_positions(places: list[float], points: list[Point]) -> list[str]:
    """Return the labels of the horizontal axis; a label that would cover the previous one is empty."""
    values = sorted({x for x, _ in points})
    kept = [True, *(after - before >= _CLOSE for before, after in pairwise(places))]
    return [
        f'<text x="{x:.0f}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{value:.3g}</text>'
        for x, value, shown in zip(places, values, kept, strict=True)
        if shown
    ]
