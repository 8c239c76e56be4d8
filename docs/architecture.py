"""Draw the pictures of docs/architecture.md: packages as boxes in layers, with an arrow for each import.

    python docs/architecture.py            draw both pictures (make docs)
    python docs/architecture.py --check    draw nothing; fail if a picture differs from the code (make docs-check)

Everything is read from the repository: packages and imports with grimp, layers from the contracts of import-linter in
pyproject.toml, and descriptions from the first sentence of each package's docstring. A package is a folder; single
modules have no box, but an import through a module counts. An arrow is left out if others imply it: if A imports B and
B imports C, there is no arrow from A to C.
"""

import ast
import re
import sys
import tomllib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from textwrap import wrap
from typing import Any
from xml.sax.saxutils import escape

import grimp

ROOT = Path(__file__).resolve().parents[1]
#: Folder of the source of each distribution, by name of its top package.
SOURCES = {
    "textveil": "runtime",
    "textveil_cli": "cli",
    "textveil_export": "export",
    "textveil_training": "server_training",
}
#: What each picture shows: a part of the list of all top packages, highest first.
PICTURES = {
    "docs/architecture-device.svg": slice(2, 4),
    "docs/architecture-server.svg": slice(0, 2),
}

WIDTH, MARGIN, PADDING = 1000, 16, 14
TITLE_HEIGHT, ROW_GAP, BAND_GAP, COLUMN_GAP = 50, 32, 44, 16
BOX_WIDTH, WIDE_BOX_WIDTH, PASSAGE_WIDTH, PORT_GAP = 222, 700, 12, 20
NAME_SIZE, TEXT_SIZE, LINE_HEIGHT = 15, 13, 17
#: Average width of a character in units of the font size, for a sans-serif font.
CHARACTER_WIDTH = 0.54
STYLE = """
svg { font-family: -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; }
.page { fill: #ffffff; } .band { fill: #f2f6f7; stroke: #c9d6d9; } .box { fill: #ffffff; stroke: #00796b; }
text { fill: #1c2b2e; } .description { fill: #45585c; } .arrow { fill: none; stroke: #6b8288; stroke-width: 1.6; }
.head { fill: #6b8288; }
@media (prefers-color-scheme: dark) {
.page { fill: #14191b; } .band { fill: #1c2426; stroke: #38484c; } .box { fill: #243033; stroke: #4db6ac; }
text { fill: #e8f0f1; } .description { fill: #b4c4c7; } .arrow { stroke: #8ba3a9; } .head { fill: #8ba3a9; } }
"""

Edges = set[tuple[str, str]]


@dataclass
class Item:
    """A box, or a passage for an arrow that crosses a row.

    Attributes:
        name: Full name of the package; of a passage, a unique name.
        width, height: Size in pixels; a passage has the height 0.
        lines: Lines of the description.
        x, y: The upper left corner.
    """

    name: str
    width: float
    height: float
    lines: list[str]
    x: float = 0
    y: float = 0

    @property
    def center(self) -> float:
        """Horizontal center."""
        return self.x + self.width / 2


def read_description(package: str) -> str:
    """Return the first sentence of a package's docstring, without the mark-up of code."""
    top, *below = package.split(".")
    file = ROOT / SOURCES[top] / "src" / Path(top, *below) / "__init__.py"
    first = (ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "").partition("\n")[0]
    sentence = re.match(r".*?(?:\.(?=\s|$)|$)", first.replace("``", ""))
    return (sentence[0] if sentence else "").rstrip(".")


def read_contracts() -> list[dict[str, Any]]:
    """Return the contracts on imports in pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]


def read_top_packages() -> list[str]:
    """Return the top packages, highest first: the one contract on layers that names no container."""
    (contract,) = (each for each in read_contracts() if each["type"] == "layers" and "containers" not in each)
    return contract["layers"]


def read_layers(top: str) -> list[list[str]]:
    """Return the layers of a top package that pyproject.toml requires, highest first; names without brackets."""
    for contract in read_contracts():
        if contract.get("containers") == [top]:
            return [[f"{top}.{name.strip(' ()')}" for name in layer.split("|")] for layer in contract["layers"]]
    raise ValueError(f"pyproject.toml has no layers of {top}")


def find_imports(graph: grimp.ImportGraph, top: str) -> tuple[list[str], Edges]:
    """Return the packages of a top package, and which of them import which: directly, or through single modules.

    Only the fewest imports are returned from which the others follow.
    """
    folder = ROOT / SOURCES[top] / "src" / top
    packages = sorted(f"{top}.{file.parent.name}" for file in folder.glob("*/__init__.py"))
    children = {name: set[str]() for name in graph.find_children(top)}
    for name in children:
        for imported in graph.find_children(top) - {name}:
            if graph.direct_import_exists(importer=name, imported=imported, as_packages=True):
                children[name].add(imported)
    reached = {name: _find_reachable(children, name) for name in children}
    edges = {(name, other) for name in packages for other in reached[name] if other in packages}
    implied = {(a, c) for a, b in edges for b2, c in edges if b == b2}
    return packages, edges - implied


def _find_reachable(children: dict[str, set[str]], start: str) -> set[str]:
    found, open_names = set[str](), [start]
    while open_names:
        for name in children[open_names.pop()] - found:
            found.add(name)
            open_names.append(name)
    return found


def rank_packages(packages: list[str], edges: Edges, layers: list[list[str]]) -> dict[str, int]:
    """Return the row of each package, 0 for the highest: below all that import it, and not above a higher layer."""
    present = [[name for name in layer if name in packages] for layer in layers]
    ordered = [layer for layer in present if layer]
    steps = dict.fromkeys(((high, low) for upper, lower in pairwise(ordered) for high in upper for low in lower), 0)
    steps |= dict.fromkeys(edges, 1)
    ranks = dict.fromkeys(packages, 0)
    for _ in packages:
        for (high, low), step in steps.items():
            ranks[low] = max(ranks[low], ranks[high] + step)
    return ranks


def place_rows(packages: list[str], edges: Edges, layers: list[list[str]]) -> tuple[list[list[Item]], Edges]:
    """Return the rows of boxes, with passages for arrows that cross a row, and the arrows from row to row."""
    ranks = rank_packages(packages, edges, layers)
    rows: list[list[Item]] = [[] for _ in range(max(ranks.values()) + 1)]
    sizes = [sum(rank == number for rank in ranks.values()) for number in range(len(rows))]
    for name in packages:
        width = WIDE_BOX_WIDTH if max(sizes) == 1 else BOX_WIDTH
        lines = wrap(read_description(name), int((width - 2 * PADDING) / (CHARACTER_WIDTH * TEXT_SIZE)))
        height = 2 * PADDING + NAME_SIZE + LINE_HEIGHT * len(lines)
        rows[ranks[name]].append(Item(name, width, height, lines))
    arrows: Edges = set()
    for high, low in sorted(edges):
        before = high
        for number in range(ranks[high] + 1, ranks[low]):
            passage = f"{high} > {low} {number}"
            rows[number].append(Item(passage, PASSAGE_WIDTH, 0, []))
            arrows.add((before, passage))
            before = passage
        arrows.add((before, low))
    _order_rows(rows, arrows)
    return rows, arrows


def _order_rows(rows: list[list[Item]], arrows: Edges) -> None:
    """Sort each row by the mean position of its neighbors above and below: few arrows cross then."""
    for _ in range(8):
        for other in (-1, 1):
            numbers = range(1, len(rows)) if other < 0 else range(len(rows) - 2, -1, -1)
            for number in numbers:
                places = {item.name: place / max(1, len(rows[number + other]) - 1)
                          for place, item in enumerate(rows[number + other])}  # fmt: skip
                rows[number].sort(key=lambda item, places=places: _get_mean_place(item.name, arrows, places))


def _get_mean_place(name: str, arrows: Edges, places: dict[str, float]) -> float:
    joined = [places[b if a == name else a] for a, b in arrows if name in (a, b) and (b if a == name else a) in places]
    return sum(joined) / len(joined) if joined else 1.0


def draw_band(graph: grimp.ImportGraph, top: str, y: float) -> tuple[list[str], float]:
    """Return the SVG of a top package with its packages, and the y below it."""
    rows, arrows = place_rows(*find_imports(graph, top), read_layers(top))
    start, items = y, {item.name: item for row in rows for item in row}
    y += TITLE_HEIGHT
    for row in rows:
        height = max(item.height for item in row)
        free = WIDTH - 2 * MARGIN - 2 * PADDING - sum(item.width for item in row)
        gap = min(3 * COLUMN_GAP, free / max(1, len(row) - 1))
        x = (WIDTH - sum(item.width for item in row) - gap * (len(row) - 1)) / 2
        for item in row:
            item.x, item.y = x, y
            item.height = height  # boxes of a row are equally high; an arrow crosses the whole row
            x += item.width + gap
        y += height + ROW_GAP
    y += PADDING - ROW_GAP
    band = [_draw_rectangle("band", MARGIN, start, WIDTH - 2 * MARGIN, y - start)]
    title = f"{top}: {_lower_first(read_description(top), top)}"
    band.append(_draw_text(title, MARGIN + PADDING, start + 29, 17, bold=len(top)))
    band += [_draw_arrow(items[a], items[b], arrows, items) for a, b in sorted(arrows)]
    band += [line for row in rows for item in row if item.lines for line in _draw_box(item)]
    return band, y


def _lower_first(description: str, top: str) -> str:
    description = description.removeprefix(f"{top}: ")
    return description[:1].lower() + description[1:]


def _draw_rectangle(kind: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"/>'


def _draw_text(text: str, x: float, y: float, size: int, *, bold: int = 0, kind: str = "") -> str:
    start, rest = escape(text[:bold]), escape(text[bold:])
    start = f'<tspan font-weight="600">{start}</tspan>' if start else ""
    kind = f' class="{kind}"' if kind else ""
    return f'<text{kind} x="{x:g}" y="{y:g}" font-size="{size}">{start}{rest}</text>'


def _draw_box(item: Item) -> list[str]:
    name = item.name.rpartition(".")[2]
    x, y = item.x + PADDING, item.y + PADDING + NAME_SIZE - 2
    lines = [_draw_rectangle("box", item.x, item.y, item.width, item.height)]
    lines.append(_draw_text(name, x, y, NAME_SIZE, bold=len(name)))
    for number, line in enumerate(item.lines, 1):
        lines.append(_draw_text(line, x, y + 3 + LINE_HEIGHT * number, TEXT_SIZE, kind="description"))
    return lines


def _draw_arrow(high: Item, low: Item, arrows: Edges, items: dict[str, Item]) -> str:
    """Return a curve from the lower edge of one item to the upper edge of another; it has a head at a box only."""
    x1 = _find_port(high, low, [items[b] for a, b in arrows if a == high.name])
    x2 = _find_port(low, high, [items[a] for a, b in arrows if b == low.name])
    y1, y2 = high.y + high.height, low.y - (7 if low.lines else 0)
    middle = (y1 + y2) / 2
    head, through = (' marker-end="url(#head)"', "") if low.lines else ("", f" V {low.y + low.height:g}")
    curve = f"M {x1:g} {y1:g} C {x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}{through}"
    return f'<path class="arrow"{head} d="{curve}"/>'


def _find_port(item: Item, other: Item, joined: list[Item]) -> float:
    """Return the x at which an arrow joins an item: arrows on one side are apart, in the order of their other ends."""
    order = sorted(joined, key=lambda each: each.center)
    return item.center + PORT_GAP * (order.index(other) - (len(order) - 1) / 2)


def draw_picture(graph: grimp.ImportGraph, tops: list[str], below: list[str]) -> str:
    """Return the SVG of some top packages, each with its packages; of those below only the names."""
    y, parts = float(MARGIN), list[str]()
    for number, top in enumerate([*tops, *below]):
        if number:
            line = f"M {WIDTH / 2:g} {y:g} V {y + BAND_GAP - 7:g}"
            parts.append(f'<path class="arrow" marker-end="url(#head)" d="{line}"/>')
            y += BAND_GAP
        if top in tops:
            band, y = draw_band(graph, top, y)
        else:
            band = [_draw_rectangle("band", MARGIN, y, WIDTH - 2 * MARGIN, TITLE_HEIGHT - PADDING)]
            band.append(
                _draw_text(f"{top}: its packages are in the other picture", MARGIN + PADDING, y + 24, 17, bold=len(top))
            )
            y += TITLE_HEIGHT - PADDING
        parts += band
    height = y + MARGIN
    marker = '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="1" refY="4" orient="auto" '
    marker += 'markerUnits="userSpaceOnUse"><path class="head" d="M 0 0 L 8 4 L 0 8 z"/></marker></defs>'
    title = f"Packages of {' and '.join(tops)}, and which imports which"
    return "\n".join((
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" '
        f'height="{height:g}" role="img">',
        f"<title>{title}</title>", f"<style>{STYLE}</style>", marker,
        f'<rect class="page" width="{WIDTH}" height="{height:g}"/>', *parts, "</svg>\n",
    ))  # fmt: skip


def main(arguments: list[str]) -> None:
    """Draw or check the pictures; end with status 1 if one is not what would be drawn."""
    graph = grimp.build_graph(*SOURCES, cache_dir=None)
    tops, wrong = read_top_packages(), []
    for name, shown in PICTURES.items():
        drawn, path = draw_picture(graph, tops[shown], tops[shown.stop :]), ROOT / name
        if not path.is_file() or path.read_text("utf-8") != drawn:
            wrong.append(name)
            if arguments != ["--check"]:
                path.write_text(drawn, "utf-8")
    if arguments == ["--check"] and wrong:
        sys.exit(f"{', '.join(wrong)}: differs from the code: run python docs/architecture.py")
    for name in wrong:
        print(name)


if __name__ == "__main__":
    main(sys.argv[1:])
