"""Tabulate the perplexities of ``benchmarks/readability.py`` for docs/results/names.md and text.md."""

import json
from pathlib import Path
from typing import Any

from report.pages import table

Record = dict[str, Any]
_CORPORA = {"ag": "AG News", "sst2": "SST-2", "made-up": "made-up sentences"}
CALLED = {
    "raw": "raw text",
    "surrogates": "`names`, surrogates",
    "tags": "`names`, tags",
    "presidio": "Presidio's replacement",
    "patch": "hidden words as x",
    **{f"{mode}-{level}": f"`{mode}` at {level}" for mode in ("words", "all") for level in (12, 10, 8, 6, 4)},
    **{f"krr-{level}": f"k-RR at {level}, function words and kinds visible" for level in (10, 8)},
    "santext-plus": "SanText+, certified 10",
    **{f"static-{level}": f"an index at {level}, as a sentence" for level in (8, 6, 4)},
    "delete": "the rest deleted",
    "blank": 'the rest "_"',
}
_OF_NAMES = ("surrogates", "tags", "patch", "presidio")


def _read_records(results: Path) -> Record:
    return json.loads((results / "names" / "readability.json").read_text("utf-8"))


def of_names(results: Path) -> str:
    """Tabulate the ratios of the mode ``names`` on all corpora."""
    record = _read_records(results)
    rows = [["raw", *(f"1 ({record['raw'][name]['raw']:,.0f} a word)" for name in _CORPORA)]]
    rows += [
        [CALLED[name], *(_ratio(record[name].get(corpus)) for corpus in _CORPORA)]
        for name in _OF_NAMES
        if name in record
    ]
    return table(["rewriting", *_CORPORA.values()], rows)


def of_pools(results: Path) -> str:
    """Tabulate the ratios of the mode ``names`` on news, with pools cut to the most frequent surrogates."""
    record = json.loads((results / "names" / "pool_sizes.json").read_text("utf-8"))
    return table(["members", f"{record['texts']} news"], [[name, _ratio(one)] for name, one in record["sizes"].items()])


def of_all(results: Path) -> str:
    """Tabulate all ratios on news and on whole sentences of reviews, and the perplexities per word of the output."""
    record, rows = _read_records(results), []
    for level in (8, 6, 4):
        record[f"static-{level}"] = record.get(f"ag-static-{level}", {}) | record.get(f"sst2-static-{level}", {})
    for name, label in CALLED.items():
        cells = [record.get(name, {}).get(corpus) for corpus in ("ag", "sst2")]
        if name != "patch" and any(cells):
            rows.append([label, *(cell for one in cells for cell in (_ratio(one), _own(one)))])
    heads = (head for name in ("AG News", "SST-2") for head in (f"{name}, over raw", "a word that came out"))
    return table(["text", *heads], rows)


def _ratio(one: Record | None) -> str:
    if one is None:
        return ""
    low, high = one["interval"]
    told = f"{one['ratio']:.3g} ({low:.3g}-{high:.3g})"
    draws = one.get("draws", ())
    return f"{told}, {len(draws)} draws {min(draws):.3g}-{max(draws):.3g}" if len(draws) > 1 else told


def _own(one: Record | None) -> str:
    return "" if one is None else f"{one.get('own', one['rewritten']):,.0f}"
