"""Write the tables and the picture of docs/results/prompts.md from ``benchmarks/results/prompts``."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from prompts.score import Counts, others, total, wilson_interval
from prompts.tools import FACTS, STYLES, name_setting
from report.charts import BLUE, GRAY, SMALL, STYLE, apart, make_figure, percent
from report.pages import points, table

Record = dict[str, Any]
_CALLED = {"presidio": "Presidio", "rampart": "Rampart"}
_DATA_SETS = {
    "pupa": "PUPA",
    "arena": "Arena",
    "instruct": "self-instruct",
    "mtbench": "MT-bench",
    "ifeval": "IFEval",
    "banking": "Banking77",
}
_VERDICT_COLUMNS = ["tool", "reader", "prompts", "as well", "PUPA", "others", "usable", "another question"]
_LEAK_COLUMNS = ["tool", "units whole", "their words", "made-up: words", "persons", "persons whole", "posts: words"]
_LEAK_COLUMNS += ["persons", "persons whole"]
_DAMAGE_COLUMNS = ["tool", *_DATA_SETS.values(), "numbers of PUPA", "PUPA untouched", "Arena untouched"]
_TYPES = {"gpe": "place", "nrp": "nationality, faith, party", "date time": "date or time"}
_MARKED = {"made-up": "made-up sentences", "posts": "posts"}
#: Tools of the known verdicts: their names on the page, and the record with the private units that stay.
_KNOWN = {
    "textveil names, surrogate": ("`names` before, surrogates", "before/names-none-surrogate"),
    "textveil names, tag": ("`names` before, tags", "before/names-none-tag"),
    "presidio default": ("Presidio", "presidio"),
}
#: Figures of PAPILLON's authors: quality of the replies, and share of private units that stay.
PAPILLON = (0.855, 0.075)


@dataclass(frozen=True)
class Point:
    """A tool in the picture.

    Attributes:
        label: Name of the tool in the picture.
        ours: Whether the tool is the mode ``names``.
        answerable: Number of verdicts 2, which may be a mean of several readers, and of all verdicts.
        units: Number of private units that stay complete, and of all units.
        outputs: Hash of the judged outputs, if the record has one.
    """

    label: str
    ours: bool
    answerable: tuple[float, int]
    units: tuple[int, int]
    outputs: str = ""

    @property
    def place(self) -> tuple[float, float]:
        """Return the share of units that stay complete and the share of answerable outputs."""
        return self.answerable[0] / self.answerable[1], self.units[0] / self.units[1]


def name_tool(tool: str) -> str:
    """Return the name of a tool on the page."""
    for facts in FACTS:
        for style in STYLES:
            if tool == name_setting(facts, style):
                return f"`names`, facts `{facts}`, {style}s"
    return _CALLED[tool]


def read_records(results: Path) -> dict[str, Record]:
    """Return the records of measured tools by their names on the page, the earlier commit first."""
    found: dict[str, Record] = {}
    for called, name in _KNOWN.values():
        if name.startswith("before/"):
            found |= _read_record(results, name, called)
    for name in [*(name_setting(facts, style) for facts in FACTS for style in STYLES), *_CALLED]:
        found |= _read_record(results, name, name_tool(name))
    return found


def _read_record(results: Path, name: str, called: str) -> dict[str, Record]:
    path = results / "prompts" / f"{name}.json"
    return {called: json.loads(path.read_text("utf-8"))} if path.is_file() else {}


def tables(results: Path) -> dict[str, str]:
    """Return the generated parts of the page by name."""
    records = read_records(results)
    settings = _join_styles(records)
    verdicts = json.loads((results / "prompts" / "verdicts.json").read_text("utf-8"))
    return {
        "answerable": table(_VERDICT_COLUMNS, _rows_of_verdicts(verdicts)),
        "leak": table(_LEAK_COLUMNS, map(_leak, settings, settings.values())),
        "damage": table(_DAMAGE_COLUMNS, map(_damage, settings, settings.values())),
        "types": _types(settings),
        "speed": table(["tool", "words/s", "of Presidio's", "MB"], _iterate_speed_rows(records)),
    }


_STYLE = re.compile(f", (?:{'|'.join(STYLES)})s$")


def _join_styles(records: dict[str, Record]) -> dict[str, Record]:
    """Join settings that differ only in the style and have equal counts, under one name without the style."""
    joined: dict[str, Record] = {}
    for called, record in records.items():
        name = _STYLE.sub("", called)
        same = [each for other, each in records.items() if _STYLE.sub("", other) == name]
        equal = all(each[part] == record[part] for each in same for part in ("prompts", "marked"))
        joined[name if equal else called] = record
    return joined


def _share(counts: Record, part: str, whole: str) -> str:
    return points(counts[part] / counts[whole]) if counts[whole] else ""


def _leak(called: str, record: Record) -> list[str]:
    pupa = record["prompts"]["pupa"]
    cells = [_interval(pupa["units_whole"], pupa["units"]), _share(pupa, "unit_words_stay", "unit_words")]
    for name in _MARKED:
        types = record["marked"][name]["types"]
        persons = next(of for kind, of in types.items() if kind.lower() == "person")
        stay, words = (sum(of[key] for of in types.values()) for key in ("words_stay", "words"))
        cells += [points(stay / words), _share(persons, "words_stay", "words")]
        cells.append(f"{persons['spans_whole']} of {persons['spans']}")
    return [called, *cells]


def _damage(called: str, record: Record) -> list[str]:
    of = record["prompts"]
    return [
        called,
        *(_share(of[name], "words_changed", "words") for name in _DATA_SETS),
        _share(of["pupa"], "numbers_changed", "numbers"),
        _share(of["pupa"], "untouched", "prompts"),
        _share(of["arena"], "untouched", "prompts"),
    ]


def _types(records: dict[str, Record]) -> str:
    """Tabulate the personal words that stay by type."""
    rows = []
    for name, texts in _MARKED.items():
        kinds = sorted({kind for record in records.values() for kind in record["marked"][name]["types"]})
        for kind in kinds:
            found = [record["marked"][name]["types"].get(kind) for record in records.values()]
            words = next(str(of["words"]) for of in found if of is not None)
            cells = ["" if of is None else _share(of, "words_stay", "words") for of in found]
            called = kind.lower().replace("_", " ")
            rows.append([texts, _TYPES.get(called, called), words, *cells])
    return table(["texts", "type", "words", *records], rows)


def _iterate_speed_rows(records: dict[str, Record]) -> Iterator[list[str]]:
    """Yield the rows of one run, without the earlier commit, which was measured at another time."""
    of_presidio = records.get("Presidio", {}).get("speed")
    for called, record in records.items():
        if " before" not in called:
            speed = record["speed"]["words_per_second"]
            ratio = f"{speed / of_presidio['words_per_second']:.3g}" if of_presidio else ""
            yield [called, f"{speed:,}", ratio, str(record["peak_memory_mb"])]


def _interval(part: int, whole: int) -> str:
    low, high = wilson_interval(part, whole)
    return f"{100 * part / whole:.1f} ({100 * low:.1f}-{100 * high:.1f})"


def _rows_of_verdicts(verdicts: Record) -> Iterator[list[str]]:
    for tool, counts in verdicts["known"].items():
        yield _row_of_verdicts(_KNOWN[tool][0], "first", counts)
    for run in verdicts["runs"]:
        reader = f"{run['reader']}, kappa {run['kappa']:.2f}"
        reader += "" if run["counts"] else ": does not count"
        for tool, counts in run["tools"].items():
            yield _row_of_verdicts(name_tool(tool), reader, counts)


def _row_of_verdicts(called: str, reader: str, counts: Counts) -> list[str]:
    groups: Iterable[Iterable[str] | None] = (None, ("pupa",), others(counts))
    all_of = total(counts)
    cells = [_interval(found[2], sum(found)) if sum(found := total(counts, group)) else "" for group in groups]
    size = sum(all_of)
    return [called, reader, str(size), *cells, points((size - all_of[0]) / size), points(all_of[0] / size)]


def find_points(results: Path) -> list[Point]:
    """Return the tools with measured private units, and verdicts of a reader who agrees with known verdicts."""
    verdicts = json.loads((results / "prompts" / "verdicts.json").read_text("utf-8"))
    named = [(*_KNOWN[tool], counts, "") for tool, counts in verdicts["known"].items()]
    named += [
        (name_tool(tool), tool, counts, run.get("outputs", {}).get(tool, ""))
        for run in verdicts["runs"]
        if run["counts"]
        for tool, counts in run["tools"].items()
    ]
    found = []
    for called, name, counts, outputs in named:
        for record in _read_record(results, name, called).values():
            pupa, verdict = record["prompts"]["pupa"], total(counts)
            found.append(
                Point(
                    called.replace("`", ""),
                    "names" in name,
                    (verdict[2], sum(verdict)),
                    (pupa["units_whole"], pupa["units"]),
                    outputs,
                )
            )
    return found


def average_readers(points: Iterable[Point]) -> list[Point]:
    """Return one point for each tool, with the mean of the readers who judged the same outputs as the last reader."""
    by_label: dict[str, list[Point]] = {}
    for point in points:
        by_label.setdefault(point.label, []).append(point)
    averaged = []
    for found in by_label.values():
        size = found[-1].answerable[1]  # the first reader judged other prompts, of another number
        same = [point for point in found if point.answerable[1] == size and point.outputs == found[-1].outputs]
        hits = [point.answerable[0] for point in same]
        averaged.append(replace(found[-1], answerable=(sum(hits) / len(hits), size)))
    return averaged


def pictures(results: Path) -> dict[str, Figure]:
    """Return the picture of the page. If several readers judged a setting, its point is their mean."""
    drawn = average_readers(find_points(results))
    with rc_context(STYLE):
        figure = make_figure(_title(drawn), (9.5, 5.6))
        axes = figure.subplots()
        ours = sorted((point for point in drawn if point.ours), key=lambda point: point.place)
        for point, x in zip(ours, apart([point.place[0] for point in ours], 0.11), strict=True):
            _draw(axes, point, "o", BLUE)
            label = point.label.removeprefix("names ").removeprefix("names, ")
            _label(axes, label, point.place, BLUE, (x + 0.01, point.place[1] + 0.015), rotation=32)
        for point in drawn:
            if not point.ours:
                _draw(axes, point, "s", GRAY)
                _label(axes, point.label, point.place, GRAY, (point.place[0] + 0.015, point.place[1] + 0.006))
        axes.plot(*PAPILLON, marker="D", color=GRAY, markerfacecolor="none", linestyle="none")
        _label(axes, "PAPILLON, as published:\nanother measure", PAPILLON, GRAY, (PAPILLON[0] - 0.05, 0.043))
        axes.text(0.01, 0.305, "circles: the mode names", color=BLUE, fontsize=SMALL)
        axes.set_xlim(0, 1)
        axes.set_ylim(-0.01, 0.32)
        percent(axes.xaxis, axes.yaxis)
        axes.set_xlabel("prompts that can be answered as well as the original")
        axes.set_ylabel("private units of PUPA that stay whole")
        return {"prompts.png": figure}


def _draw(axes: Any, point: Point, marker: str, color: str) -> None:
    bars = [_bars(*shares) for shares in (point.units, point.answerable)]
    axes.errorbar(*point.place, *bars, marker=marker, color=color, elinewidth=0.8, linestyle="none")


def _bars(part: float, whole: int) -> list[list[float]]:
    low, high = wilson_interval(part, whole)
    return [[part / whole - low], [high - part / whole]]


def _label(
    axes: Any, text: str, place: tuple[float, float], color: str, at: tuple[float, float], rotation: int = 0
) -> None:
    """Write the label of a point. A rotated label gets a thin line to its point."""
    line = {"arrowstyle": "-", "color": color, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 4} if rotation else None
    axes.annotate(
        text, place, at, color=color, fontsize=SMALL, rotation=rotation, rotation_mode="anchor", arrowprops=line
    )


def _title(drawn: list[Point]) -> str:
    """Return the title, which compares the most answerable setting of the mode ``names`` with Presidio."""
    ours = max((one for one in drawn if one.ours), key=lambda one: one.place[0])
    theirs = next((one for one in drawn if one.label == "Presidio"), None)
    compared = [one for one in (ours, theirs) if one is not None]
    return "\n".join(
        f"{one.label}: {100 * one.place[0]:.0f} % of {one.answerable[1]} prompts can be answered as well, "
        f"{100 * one.place[1]:.1f} % of private units stay whole"
        for one in compared
    )
