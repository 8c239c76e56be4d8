"""Compare a reader's verdicts with known verdicts, and record how many outputs of each tool a model can answer.

    python benchmarks/prompts/score.py --known VERDICTS [--sheets FOLDER --verdicts FILE --reader NAME] [-o RECORD]

FILE has one line of JSON for each sheet of ``make_sheets.py``: `sheet`, `verdict` (2, 1 or 0), `reason`, `causes`. A
run counts only if its weighted kappa with the known verdicts is at least .6. The weights are linear: 2 instead of 0 is
twice as wrong as 2 instead of 1. Kappa with quadratic weights, which is usually higher, is also printed. Without a run,
only the known verdicts are recorded, by tool and data set.

The record has the counts of verdicts and of causes, but no prompts and no reasons.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from prompts.draw import KNOWN
from prompts.measure import write_record
from prompts.prompts import read_lines

ROOT = Path(__file__).resolve().parents[2]
VERDICTS = (0, 1, 2)
LEAST_KAPPA = 0.6
#: Verdicts of 0, 1 and 2 by data set.
Counts = dict[str, list[int]]


class VerdictError(Exception):
    """The verdicts do not match the sheets."""


def weighted_kappa(pairs: Sequence[tuple[int, int]], power: int = 1) -> float:
    """Return Cohen's weighted kappa of two readers.

    Args:
        pairs: Verdicts by both readers for the same outputs.
        power: 1 for linear weights of a disagreement, 2 for quadratic weights.

    Returns:
        1 for equal verdicts, 0 for an agreement as by chance. If both readers gave a single verdict and it is the same,
        1.
    """
    first, second = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    found = sum(abs(a - b) ** power for a, b in pairs) / len(pairs)
    chance = sum(first[a] * second[b] * abs(a - b) ** power for a in VERDICTS for b in VERDICTS) / len(pairs) ** 2
    return 1.0 if chance == 0 else 1 - found / chance


def wilson_interval(hits: float, total: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share.

    Raises:
        ValueError: The total is 0.
    """
    if total == 0:
        raise ValueError("the total must be above 0")
    share, scale = hits / total, 1 + z * z / total
    middle = (share + z * z / (2 * total)) / scale
    half = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total)) / scale
    return max(0.0, middle - half), min(1.0, middle + half)


def read_verdicts(path: Path, sheets: Iterable[int]) -> dict[int, dict[str, Any]]:
    """Read the line of each sheet.

    Raises:
        VerdictError: A sheet has no line or two lines, or a line has an unknown sheet or verdict.
    """
    found: dict[int, dict[str, Any]] = {}
    expected = set(sheets)
    for row in read_lines(path):
        number, verdict = row.get("sheet"), row.get("verdict")
        if not isinstance(number, int) or number not in expected or number in found:
            raise VerdictError(f"sheet {number} is not a sheet of this folder, or has two lines")
        if isinstance(verdict, bool) or verdict not in VERDICTS:
            raise VerdictError(f"sheet {number} has no verdict of 0, 1 or 2")
        found[number] = row
    if missing := sorted(expected - set(found)):
        raise VerdictError(f"{len(missing)} sheets have no verdict, the first is {missing[0]}")
    return found


def count_by_tool(rows: Iterable[tuple[str, str, int]]) -> dict[str, Counts]:
    """Count verdicts by tool and data set.

    Args:
        rows: Tool, id of the prompt, and verdict.
    """
    found: dict[str, Counts] = {}
    for tool, one, verdict in rows:
        found.setdefault(tool, {}).setdefault(one.partition("-")[0], [0, 0, 0])[verdict] += 1
    return found


def score_run(folder: Path, verdicts: Path, known: Mapping[tuple[str, str], int], reader: str) -> dict[str, Any]:
    """Score one run of a reader.

    Args:
        folder: Folder of ``make_sheets.py``.
        verdicts: The reader's file.
        known: Known verdicts by tool and id.
        reader: Name of the reader in the record.

    Returns:
        ``reader``; ``kappa`` (linear weights), ``kappa_quadratic``, ``known`` (number of compared outputs), ``counts``
        (whether the run counts); ``tools``: verdicts by tool and data set; ``outputs``: hash of the outputs of each
        tool, by which runs over the same outputs are found; ``causes``: number of times that each cause occurs, by
        tool.

    Raises:
        VerdictError: The verdicts do not match the sheets, or no sheet has a known output.
    """
    key = {row["sheet"]: row for row in read_lines(folder / "key.jsonl")}
    found = read_verdicts(verdicts, key)
    pairs, rows = [], []
    causes: dict[str, Counter[str]] = {}
    for number, row in found.items():
        tool, one, verdict = key[number]["tool"], key[number]["id"], row["verdict"]
        if tool in KNOWN:
            pairs.append((known[tool, one], verdict))
        else:
            rows.append((tool, one, verdict))
            causes.setdefault(tool, Counter()).update(row.get("causes") or ())
    if not pairs:
        raise VerdictError("no sheet has a known output")
    kappa = weighted_kappa(pairs)
    return {
        "reader": reader,
        "kappa": round(kappa, 3),
        "kappa_quadratic": round(weighted_kappa(pairs, 2), 3),
        "known": len(pairs),
        "counts": kappa >= LEAST_KAPPA,
        "tools": count_by_tool(rows),
        "outputs": hash_outputs(folder, key),
        "causes": {tool: dict(of.most_common()) for tool, of in causes.items()},
    }


def hash_outputs(folder: Path, key: Mapping[int, Mapping[str, str]]) -> dict[str, str]:
    """Return the first 16 hexadecimal digits of a hash of the outputs of each tool, known outputs left out."""
    outputs: dict[str, list[tuple[str, str]]] = {}
    for row in read_lines(folder / "reader" / "sheets.jsonl"):
        tool, one = key[row["sheet"]]["tool"], key[row["sheet"]]["id"]
        if tool not in KNOWN:
            outputs.setdefault(tool, []).append((one, row["rewritten"]))
    return {tool: sha256(json.dumps(sorted(of)).encode()).hexdigest()[:16] for tool, of in outputs.items()}


def read_known(path: Path) -> dict[tuple[str, str], int]:
    """Read known verdicts: `tool`, `id`, `verdict`."""
    return {(row["tool"], row["id"]): row["verdict"] for row in read_lines(path)}


def total(counts: Counts, data_sets: Iterable[str] | None = None) -> list[int]:
    """Return the numbers of verdicts 0, 1 and 2 in the named data sets; without names, in all data sets."""
    of = counts.values() if data_sets is None else [counts[name] for name in data_sets if name in counts]
    return [sum(each[verdict] for each in of) for verdict in VERDICTS]


def others(counts: Counts) -> list[str]:
    """Return the data sets other than the private prompts."""
    return [name for name in counts if name != "pupa"]


def print_counts(tool: str, counts: Counts) -> list[str]:
    """Return lines with a tool's shares of verdict 2 (*as well*), 1 or 2 (*usable*) and 0 (*another question*)."""
    groups = {"all": None, "pupa": ["pupa"], "others": others(counts)} | {name: [name] for name in others(counts)}
    lines = []
    for name, data_sets in groups.items():
        found = total(counts, data_sets)
        if size := sum(found):
            low, high = wilson_interval(found[2], size)
            lines.append(
                f"{tool}, {name}: {100 * found[2] / size:.0f} % as well ({100 * low:.0f} to {100 * high:.0f}), "
                f"{100 * (found[1] + found[2]) / size:.0f} % usable, {100 * found[0] / size:.0f} % another question, "
                f"of {size}"
            )
    return lines


def main() -> None:
    """Parse the command line, score a run, and write the record.

    Raises:
        SystemExit: The verdicts do not match the sheets.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--known", type=Path, required=True, help="verdicts.jsonl")
    parser.add_argument("--sheets", type=Path, help="folder of make_sheets.py")
    parser.add_argument("--verdicts", type=Path, help="file with the reader's verdicts")
    parser.add_argument("--reader", default="reader", help="name of the run in the record")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "benchmarks/results/prompts/verdicts.json")
    a = parser.parse_args()
    known = read_known(a.known)
    record: dict[str, Any] = json.loads(a.output.read_text("utf-8")) if a.output.is_file() else {"runs": []}
    record["known"] = count_by_tool((tool, one, verdict) for (tool, one), verdict in known.items())
    if a.sheets and a.verdicts:
        try:
            run = score_run(a.sheets, a.verdicts, known, a.reader)
        except VerdictError as error:
            sys.exit(str(error))
        record["runs"] = [each for each in record["runs"] if each["reader"] != a.reader] + [run]
        print(f"kappa {run['kappa']} linear, {run['kappa_quadratic']} quadratic, of {run['known']} known outputs")
        print("the run counts" if run["counts"] else f"the run does not count: kappa is below {LEAST_KAPPA}")
        print("\n".join(line for tool, counts in run["tools"].items() for line in print_counts(tool, counts)))
    else:
        print("\n".join(line for tool, counts in record["known"].items() for line in print_counts(tool, counts)))
    a.output.parent.mkdir(parents=True, exist_ok=True)
    write_record(a.output, record)


if __name__ == "__main__":
    main()
