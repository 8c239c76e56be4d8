"""Write the tables and the picture of docs/results/names.md from ``benchmarks/results/names``."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from report import readability
from report.charts import BLUE, GRAY, SMALL, STYLE, make_figure, percent
from report.pages import table

Record = dict[str, Any]
TOOLS = ("names", "patch", "capitals", "presidio", "spacy", "rampart", "scrubadub", "philter")
#: Tools that are measured on two data sets: tags, and a detector that hides further parts of the mode's output.
BESIDE = ("names-tags", "names-presidio", "names-spacy")
CALLED = {
    "names": "mode `names`",
    "names-tags": "mode `names`, tags",
    "names-presidio": "mode `names`, then Presidio",
    "names-spacy": "mode `names`, then spaCy",
    "patch": "baseline: listed words in lower case shown",
    "capitals": "baseline: capitals and digits hidden",
    "presidio": "Presidio",
    "spacy": "spaCy",
    "rampart": "Rampart",
    "scrubadub": "scrubadub",
    "philter": "Philter",
}
_TYPES = ("person", "place", "firm", "group", "product", "work")
SETS = ("made-up", "posts", "tweets", "web", "news", "wiki", "filings", "clinical", "court")
VARIANTS = ("as is", "lower", "capitals", "errors")
#: Columns of the tables about two data sets, with their headings.
MADE_UP = {
    "stays: without titles": "stays",
    "stays: person": "persons",
    "stays: address": "addresses",
    "stays: firm": "firms",
    "changed": "changed",
    "changed: no numbers": "without numbers",
    "changed: lower": "in lower case",
}
POSTS = {
    "stays": "stays",
    "stays: person": "persons",
    "stays: capitals": "with a capital",
    "changed": "changed",
    "changed: plain": "no addresses, numbers",
    "changed: lower": "in lower case",
}


def _records(results: Path, names: Sequence[str] = TOOLS) -> dict[str, Record]:
    return {name: json.loads((results / "names" / f"{name}.json").read_text("utf-8")) for name in names}


def _find_record(record: Record, data_set: str, variant: str) -> Record | None:
    return record["figures"].get(data_set, {}).get(variant)


def _share(found: Record | None, name: str, *, interval: bool = True) -> str:
    if found is None or (one := found["measures"].get(name)) is None:
        return ""
    ends = "-".join(f"{100 * end:.1f}" for end in one["interval"])
    return f"{100 * one['share']:.1f}" + (f" ({ends})" if interval else "")


def tables(results: Path) -> dict[str, str]:
    """Return the generated parts of the page by name."""
    records, beside = _records(results), _records(results, (TOOLS[0], *BESIDE, *TOOLS[1:]))
    utility, speed, restored = (
        json.loads((results / "names" / f"{name}.json").read_text("utf-8")) for name in ("utility", "speed", "restored")
    )
    return {
        "made-up": _of_set(beside, "made-up", MADE_UP),
        "posts": _of_set(beside, "posts", POSTS),
        "types": _of_set(records, "posts", {f"stays: {kind}": f"{kind}s" for kind in _TYPES}),
        "variants": _variants(records),
        "sets": _sets(records),
        "utility": _utility(utility),
        "readability": readability.of_names(results),
        "pools": readability.of_pools(results),
        "restored": _list_restored_rows(restored),
        "speed": _tabulate_speed(speed),
    }


def _of_set(records: dict[str, Record], data_set: str, columns: dict[str, str]) -> str:
    rows = []
    for name, record in records.items():
        if (found := _find_record(record, data_set, "as is")) is not None:
            rows.append([CALLED[name], *(_share(found, measure) for measure in columns)])
    return table(["tool", *columns.values()], rows)


def _variants(records: dict[str, Record]) -> str:
    rows = []
    for data_set in ("made-up", "posts"):
        for variant in VARIANTS:
            for measure, called in (("stays: without titles", "stays"), ("stays: person", "persons stay")):
                rows.append([data_set, variant, called, *_across(records, data_set, variant, measure)])
            rows.append([data_set, variant, "changed", *_across(records, data_set, variant, "changed: plain")])
    return table(["texts", "written", "", *(CALLED[name].removeprefix("baseline: ") for name in records)], rows)


def _across(records: dict[str, Record], data_set: str, variant: str, measure: str) -> list[str]:
    return [
        _share(_find_record(record, data_set, variant), measure, interval=name == "names") or "-"
        for name, record in records.items()
    ]


def _sets(records: dict[str, Record]) -> str:
    rows = []
    for data_set in SETS[2:]:
        for measure, called in (("stays", "stays"), ("stays: person", "persons stay"), ("changed: plain", "changed")):
            rows.append([data_set, called, *_across(records, data_set, "as is", measure)])
    return table(["texts", "", *(CALLED[name].removeprefix("baseline: ") for name in records)], rows)


_REWRITINGS = {
    "surrogates": "`names`, surrogates",
    "corpus": "`names`, one key for all texts",
    "tags": "`names`, tags",
    "words": "`words`",
}
_TASKS = {"ag": "AG News, topics", "sst2": "SST-2, polarity", "trec": "TREC, questions", "sick": "SICK, r x 100"}


def _utility(record: Record) -> str:
    rows = [["raw", *(f"{record['raw'][task]['raw']['score']:.1f}" for task in _TASKS)]]
    for name, called in _REWRITINGS.items():
        cells = []
        for task in _TASKS:
            one = record.get(name, {}).get(task)
            cells.append("" if one is None else f"{one['rewritten']['score']:.1f}: {_difference(one['difference'])}")
        rows.append([called, *cells])
    return table(["rewriting", *_TASKS.values()], rows)


def _difference(one: Record) -> str:
    low, high = one["interval"]
    return f"{one['score']:+.1f} ({low:+.1f} to {high:+.1f})"


def _list_restored_rows(record: Record) -> str:
    """Return the table rows of both styles. The written replies, restored in conversations, have one row."""
    rows = []
    for name, styles in record["texts"].items():
        for style, one in styles.items():
            linked, right = (one.get(key, one[other]) for key, other in _LINKED)
            share = f"{100 * right / linked:.1f}"
            rows.append(
                [name, f"{style}s", f"{one['mentions']:,}", f"{100 * one['placed'] / one['mentions']:.1f}", share]
            )
    return table(["texts", "written as", "mentions", "placed, per cent", "of kinds that are restored"], rows)


def _tabulate_speed(record: Record) -> str:
    """Return the table of words per second of each tool, and of the multiples of Presidio's."""
    corpora = record["corpora"]
    ways = next(iter(corpora.values()))["words_per_second"]
    rows = []
    for way in ways:
        cells: list[str] = []
        for found in corpora.values():
            each = found["words_per_second"]
            cells += [f"{each[way]:,}", f"{each[way] / each['presidio']:.3g}"]
        rows.append([CALLED.get(way, way), *cells])
    heads = (part for name in corpora for part in (f"{name}, words/s", "of Presidio's"))
    return table(["way", *heads], rows)


_LINKED = (("linked", "mentions"), ("linked_placed", "placed"))
_PANELS = (
    ("made-up", "as is", "stays: without titles", "changed: plain", "made-up sentences"),
    ("made-up", "lower", "stays: without titles", "changed: plain", "the same in lower case"),
    ("posts", "as is", "stays", "changed: plain", "posts"),
    ("posts", "lower", "stays", "changed: plain", "the same in lower case"),
)
#: Tools in the picture, and the offset of each label in points. Other tools are outside the picture, or change nothing.
_DRAWN = {
    "names": ("names", (7, -11)),
    "patch": ("listed words", (6, 5)),
    "presidio": ("Presidio", (6, -11)),
    "spacy": ("spaCy", (6, 5)),
    "rampart": ("Rampart", (6, -3)),
    "philter": ("Philter", (-14, -14)),
}


def pictures(results: Path) -> dict[str, Figure]:
    """Return the picture of the page."""
    records = _records(results)
    ours, others = (records[name]["figures"]["made-up"]["as is"]["measures"] for name in ("names", "presidio"))
    title = (
        "Of the words of personal data in made-up sentences "
        f"{_percent(ours, 'stays: without titles')} % stay under the mode names, "
        f"{_percent(others, 'stays: without titles')} % with Presidio;\nof all other words "
        f"{_percent(ours, 'changed: plain')} % are changed, and {_percent(others, 'changed: plain')} % with Presidio"
    )
    with rc_context(STYLE):
        figure = make_figure(title, (11, 7))
        for axes, (data_set, variant, x, y, name) in zip(figure.subplots(2, 2).flat, _PANELS, strict=True):
            _panel(axes, records, (data_set, variant), (x, y))
            axes.set_title(name)
            axes.set_xlim(-0.02, 1.05)
            axes.set_ylim(0, 0.26)
            percent(axes.xaxis, axes.yaxis)
            axes.set_xlabel("words of personal data that stay")
            axes.set_ylabel("other words changed")
        return {"names.png": figure}


def _percent(measures: Record, name: str) -> str:
    share = 100 * measures[name]["share"]
    return f"{share:.{0 if share >= 10 else 1}f}"


def _panel(axes: Any, records: dict[str, Record], which: tuple[str, str], measures: Sequence[str]) -> None:
    for name, (label, offset) in _DRAWN.items():
        found = _find_record(records[name], *which)
        if found is None:
            continue
        each = [found["measures"][measure] for measure in measures]
        (x, y), (x_bar, y_bar) = ([one["share"] for one in each], [_bars(one) for one in each])
        color, marker = (BLUE, "o") if name == "names" else (GRAY, "s")
        axes.errorbar(x, y, y_bar, x_bar, marker=marker, color=color, elinewidth=0.8, linestyle="none")
        axes.annotate(
            label, (x, y), offset, textcoords="offset points", color=color, fontsize=SMALL,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )  # fmt: skip


def _bars(one: Record) -> list[list[float]]:
    low, high = one["interval"]
    return [[one["share"] - low], [high - one["share"]]]
