"""Tables of a grid: every accuracy beside its ceiling and its reference, every attacker beside one who sees a label.

Reads the lines that ``textveil_training.dpnr.grid`` wrote. Figures of several seeds are means, with the standard
deviation over seeds behind the sign; where there is one seed no deviation stands.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from textveil_training.dpnr.grid import read_lines
from textveil_training.errors import ReportError

Line = dict[str, Any]

LABELS = {"label_response": "its label, randomised response", "label_channel": "its label, best channel"}
"""Attackers who see a label, as a grid's lines name them, and what they are called in a table."""


@dataclass(frozen=True)
class Kind:
    """Heads that differ in their seed only.

    Attributes:
        name: Mode, dimension, and whether one head serves all levels; or the name of a checkpoint.
        mode: ``l1``, ``l2`` or ``box``.
        delta: Of ``l2``, else empty.
        word_dropout: Decimal string.
    """

    name: str
    mode: str
    delta: str
    word_dropout: str


@dataclass(frozen=True)
class Runs:
    """What a grid measured, in order.

    Attributes:
        baselines: The line of the clean model and of the majority class.
        others: Other models without privacy.
        bounds: By mode, delta, word dropout and level.
        figures: By kind and level, one entry for each seed.
    """

    baselines: Line
    others: list[Line]
    bounds: dict[tuple[str, str, str, str], Line]
    figures: dict[Kind, dict[str, list[Line]]]

    def bound(self, kind: Kind, level: str) -> Line:
        """The bounds that stand beside a kind at a level.

        Raises:
            ReportError: The grid has no such line.
        """
        found = self.bounds.get((kind.mode, kind.delta, kind.word_dropout, level))
        if found is None:
            raise ReportError("an accuracy has no ceiling and no reference beside it")
        return found

    def kinds(self, *, with_gaps: bool = False) -> list[Kind]:
        """Kinds without word dropout, or those with it."""
        return [kind for kind in self.figures if (kind.word_dropout != "0") == with_gaps]

    def levels(self, kinds: Iterable[Kind]) -> list[str]:
        """All levels of some kinds, ascending."""
        return sorted({level for kind in kinds for level in self.figures[kind]}, key=float)


def read_runs(paths: Sequence[Path]) -> Runs:
    """Reads the lines of grids on the same data and the same clean model.

    Raises:
        ReportError: There is no line, no baselines, different baselines, or an accuracy that exceeds its ceiling by
            more than four standard errors: a fault in the noise or in the accounting, and no result.
    """
    baselines: list[Line] = []
    others: list[Line] = []
    bounds: dict[tuple[str, str, str, str], Line] = {}
    figures: dict[Kind, dict[str, list[Line]]] = {}
    for path in paths:
        for line in read_lines(path).values():
            if line["kind"] == "baselines":
                baselines.append(line)
            elif line["kind"] == "bounds":
                bounds[line["mode"], line["delta"], line["word_dropout"], line["level"]] = line
            elif line["kind"] == "baseline":
                others.append(line)
            else:
                for level, found in line["levels"].items():
                    if found["exceeds_ceiling"]:
                        raise ReportError("an accuracy exceeds its ceiling: the noise or the accounting is faulty")
                    figures.setdefault(_kind(line), {}).setdefault(level, []).append(found)
    if not baselines or not figures:
        raise ReportError("there is nothing to report")
    if any(_origin(line) != _origin(baselines[0]) for line in baselines):
        raise ReportError("the grids are of different data or of different clean models")
    return Runs(baselines[0], others, bounds, figures)


def _origin(line: Line) -> tuple[Any, Any]:
    return line["data"], line["clean"]["confusion"]


def _kind(line: Line) -> Kind:
    described = line["description"]
    name = line.get("name") or f"{described['mode']}, k = {described['dimension']}"
    if line["kind"] == "cell":
        name += ", one head for all" if len(described["levels"]) > 1 else ""
    return Kind(name, described["mode"], described["delta"] or "", described["word_dropout"])


def tables(runs: Runs, attributes: Sequence[str] = ()) -> str:
    """All tables as Markdown.

    Args:
        runs: What was measured.
        attributes: Names of the private attributes.
    """
    parts = [_accuracy(runs)]
    if runs.kinds(with_gaps=True):
        parts.append(_dropout(runs))
    if any("attack" in found for levels in runs.figures.values() for seeds in levels.values() for found in seeds):
        parts.append(_attacks(runs))
    if runs.baselines["clean"]["by_attribute"]:
        parts.append(_presence(runs, attributes))
    return "\n".join(parts)


def _accuracy(runs: Runs) -> str:
    kinds = runs.kinds()
    clean, majority = runs.baselines["clean"], runs.baselines["majority"]
    rows = [["epsilon", "mode", "accuracy", "of the best codes", "best codes", "reference", "ceiling", "label RR"]]
    for level in runs.levels(kinds):
        for kind in kinds:
            seeds = runs.figures[kind].get(level)
            if seeds:
                bound = runs.bound(kind, level)
                best = bound["placed"]["accuracies"][0]
                share = mean(found["accuracy"] for found in seeds) / best
                others = (best, bound["reference"], bound["ceiling"], bound["label_randomised_response"])
                rows.append([level, kind.name, spread(seeds, "accuracy"), f"{share:.1%}", *map(_points, others)])
    said = (
        f"Test accuracy, per cent, by whole-text epsilon. Without privacy {_points(clean['accuracy'])}, majority class "
        f"{_points(majority['accuracy'])}"
        + "".join(f", {line['name']} {_points(line['accuracy'])}" for line in runs.others)
        + f"; standard error over texts about {100 * clean['standard_error']:.1f}.\n"
    )
    return f"## Accuracy\n\n{said}\n{markdown(rows)}"


def _dropout(runs: Runs) -> str:
    kinds = runs.kinds(with_gaps=True)
    rows = [
        ["epsilon, whole text", "word dropout", "epsilon, one word", "mode", "accuracy", "best codes", "clean model"]
    ]
    for level in runs.levels(kinds):
        for kind in sorted(
            (kind for kind in kinds if level in runs.figures[kind]), key=lambda k: float(k.word_dropout)
        ):
            seeds, bound = runs.figures[kind][level], runs.bound(kind, level)
            word = f"{math.ceil(seeds[0]['epsilon_per_word'] * 1000) / 1000:.3f}"  # never below what holds
            best = _points(bound["placed"]["accuracies"][0])
            accuracy = spread(seeds, "accuracy")
            rows.append([level, kind.word_dropout, word, kind.name, accuracy, best, _points(bound["clean"])])
    said = (
        "Words removed before the encoder reads. The whole-text epsilon stays what it is; the epsilon of one word is "
        "lower.\n"
    )
    return f"## Word dropout\n\n{said}\n{markdown(rows)}"


def _attacks(runs: Runs) -> str:
    rows = [["epsilon", "what the attacker sees", "1-F at .5", "1-X", "F, tuned", "AUC", "vectors beyond it: AUC", "F"]]
    for name, said in (("majority", "nothing"), ("clean", "the clean model's vectors")):
        if "attack" in runs.baselines[name]:
            rows.append(["-", said, *_leak([runs.baselines[name]["attack"]]), "", ""])
    for line in runs.others:
        if "attack" in line:
            rows.append(["-", f"vectors without privacy: {line['name']}", *_leak([line["attack"]]), "", ""])
    kinds = list(runs.figures)
    for level in runs.levels(kinds):
        for kind in kinds:
            seeds = [found["attack"] for found in runs.figures[kind].get(level, []) if "attack" in found]
            if seeds:
                gaps = f", word dropout {kind.word_dropout}" if kind.word_dropout != "0" else ""
                vectors = [found["vectors"] for found in seeds]
                rows.append([level, f"released vectors: {kind.name}{gaps}", *_leak(vectors), "", ""])
                for name, said in LABELS.items():
                    label, more = ([found[key] for found in seeds] for key in (name, f"over_{name}"))
                    beyond = [_difference(more, figure) for figure in ("auc", "f_tuned")]
                    rows.append([level, f"{said}: {kind.name}{gaps}", *_leak(label), *beyond])
    said = (
        "What attackers infer of private attributes, per cent. 1-F and 1-X are the published figures (higher is more "
        "private; F over all binary variables with scores cut at .5, X the mean accuracy); an attacker who tunes the "
        "cut is measured by F (mean over attributes; lower is more private) and AUC (50 is nothing). The label is the "
        "decision that the same vectors tell without noise, released at the same whole-text epsilon: by randomised "
        "response over all classes, or by the most accurate private channel, that of the reference. The last columns "
        "say how much more the attacker with the vectors finds, on the same texts, with the standard error over "
        "texts.\n"
    )
    return f"## Attackers\n\n{said}\n{markdown(rows)}"


def _difference(seeds: Sequence[Line], figure: str) -> str:
    error = "auc_standard_error" if figure == "auc" else "f_standard_error"
    return f"{100 * mean(more[figure] for more in seeds):+.1f} ± {100 * mean(more[error] for more in seeds):.1f}"


def _presence(runs: Runs, attributes: Sequence[str]) -> str:
    clean = runs.baselines["clean"]["by_attribute"]
    names = list(attributes) or [f"attribute {number}" for number in range(len(clean))]
    rows = [["epsilon", "mode", *names]]
    rows.append(["-", "clean model", *(_with_and_without([part]) for part in clean)])
    kinds = runs.kinds()
    for level in runs.levels(kinds):
        for kind in kinds:
            seeds = runs.figures[kind].get(level)
            if seeds:
                columns = zip(*(found["by_attribute"] for found in seeds), strict=True)
                rows.append([level, kind.name, *(_with_and_without(column) for column in columns)])
    said = "Accuracy of the main task on texts with / without each attribute, per cent.\n"
    return f"## With and without each attribute\n\n{said}\n{markdown(rows)}"


def spread(seeds: Sequence[Line], key: str) -> str:
    """Mean over seeds in per cent, with the standard deviation over seeds where there are several."""
    values = [100 * found[key] for found in seeds]
    return f"{mean(values):.1f}" + (f" ± {stdev(values):.1f}" if len(values) > 1 else "")


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """A table: the first row is the head."""
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "".join("| " + " | ".join(row) + " |\n" for row in lines)


def _leak(seeds: Sequence[Line]) -> list[str]:
    return [spread(seeds, key) for key in ("privacy", "demographic_privacy", "f_tuned", "auc")]


def _with_and_without(parts: Iterable[Line]) -> str:
    parts = list(parts)
    return " / ".join(f"{100 * mean(part[key] for part in parts):.1f}" for key in ("present", "absent"))


def _points(share: float) -> str:
    return f"{100 * share:.1f}"
