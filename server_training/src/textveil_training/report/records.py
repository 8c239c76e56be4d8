"""Run records as a report reads them: found in files and folders, checked, and each run once.

The reader is strict about what a table or a plot needs and passes over what it does not know. A run that has not
finished is kept apart; of two records of the same run the later is taken, and the other is named on the page.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from textveil_training.errors import Place, RecordError, ReportError
from textveil_training.report.fields import Fields, objects
from textveil_training.report.laws import Law, law_of, told_together

FORMAT, VERSION = "textveil-run", 1
KINDS = ("finetune", "attack-text", "pretrain", "fairness")
GRID_KINDS = ("baselines", "baseline", "bounds", "cell", "checkpoint")
INCIDENTAL = ("seed", "threads", "workers", "device", "output", "cache", "resume")
"""Settings in which two runs may differ and still be averaged: the seed, and what changes no result."""

_INF = math.inf
_FINETUNE = {
    "examples": (1, _INF), "accuracy": (0, 1), "standard_error": (0, 1), "majority": (0, 1),
    "pearson": (-1, 1), "spearman": (-1, 1), "mse": (0, _INF),
}  # fmt: skip
_PRETRAIN = {"steps": (0, _INF), "clean_top1": (0, 1), "sanitized_top1": (0, 1)}
_ATTACK = {
    "tokens": (0, _INF), "statistics.outputs_median": (0, _INF), "statistics.inputs_median": (0, _INF),
} | dict.fromkeys(
    (
        "unchanged", "sensitive.unchanged", "mask.defence", "mask.standard_error", "mask.top1", "mask.clean_top1",
        "mask.sensitive.defence", "nearest.top1", "nearest.top10", "nearest.sensitive.top1", "bayes.closed_form",
        "bayes.simulated", "bayes.on_text.top1", "bayes.text_prior.closed_form", "bayes.text_prior.on_text.top1",
        "contextual.top1", "contextual.top10", "contextual.prior_top1", "contextual.context_free_top1",
        "contextual.sensitive.top1", "contextual.text_prior.top1", "contextual.text_prior.top10",
        "contextual.text_prior.prior_top1", "contextual.text_prior.context_free_top1", "statistics.unchanged_median",
    ),
    (0, 1),
)  # fmt: skip


@dataclass(frozen=True)
class Start:
    """What a run started from.

    Attributes:
        kind: ``pretrain`` where a record says so, else empty.
        sha256: Of the encoder's weights or of the start's description, or empty.
    """

    kind: str
    sha256: str


@dataclass(frozen=True)
class Run:
    """One record.

    Attributes:
        kind: One of ``KINDS``.
        task: Format of the data, and ``class`` or ``score`` where the format has both.
        settings: All of them.
        law: Under which the text was sanitised, or None for raw text.
        start: What it started from, or None.
        splits: By name: ``examples`` and ``sha256``.
        figures: What it measured, by dotted name, as numbers that were checked.
        intervals: 95 % intervals by the name of their figure.
        result: The same as the record has it.
        software: Versions.
        begun: ISO 8601.
        finished: ISO 8601, or None.
        wall_s: Seconds, or None.
        place: Where it was read.
    """

    kind: str
    task: str
    settings: Mapping[str, Any]
    law: Law | None
    start: Start | None
    splits: Mapping[str, Mapping[str, Any]]
    figures: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    result: Mapping[str, Any]
    software: Mapping[str, Any]
    begun: str
    finished: str | None
    wall_s: float | None
    place: Place

    @property
    def seed(self) -> int | None:
        """Of the training; None where a run has none."""
        return self.settings.get("seed")

    @property
    def constant(self) -> str:
        """Settings that decide a result, the seed left out, as canonical JSON."""
        return canonical({name: value for name, value in self.settings.items() if name not in INCIDENTAL})

    @property
    def identity(self) -> tuple[object, ...]:
        """Equal for two records of the same run."""
        sizes = canonical({name: part.get("examples") for name, part in self.splits.items()})
        return self.kind, self.task, sizes, self.constant, self.seed, self.law, self.law and self.law.case, self.start


@dataclass
class Reading:
    """What was found.

    Attributes:
        runs: Finished runs, each once.
        unfinished: Runs that have not finished, and are averaged nowhere.
        replaced: Records of runs of which there is a later one.
        copies: Records that were read twice.
        passed_over: JSON that is no such record, in folders.
        grids: Files of ``textveil-train grid``.
    """

    runs: list[Run] = field(default_factory=list)
    unfinished: list[Run] = field(default_factory=list)
    replaced: list[Run] = field(default_factory=list)
    copies: int = 0
    passed_over: int = 0
    grids: list[Path] = field(default_factory=list)

    def of(self, kind: str) -> list[Run]:
        """Finished runs of a kind, in the order they were read."""
        return [run for run in self.runs if run.kind == kind]


def read(paths: Sequence[Path], report: Callable[[str, int, int], None] = lambda *_: None) -> Reading:
    """Reads files, and all ``*.json`` and ``*.jsonl`` in folders.

    Args:
        paths: Files and folders. Hidden files and folders inside a folder are passed over.
        report: Called with the files done.

    Raises:
        RecordError: A path is not there; a file is malformed JSON; a record has an unknown version or lacks what is
            needed; a file that was named holds no record; two records of one run have the same time and differ.
        ReportError: There is no record at all.
    """
    reading, found = Reading(), []
    files = [(file, named) for path in paths for file, named in _files(path)]
    for number, (path, named) in enumerate(files, 1):
        report("records", number - 1, len(files))
        for place, content in objects(path):
            if isinstance(content, Mapping) and "key" in content and content.get("kind") in GRID_KINDS:
                if path not in reading.grids:
                    reading.grids.append(path)
            elif (run := _run(content, place)) is not None:
                found.append(run)
            elif named:
                raise RecordError("this is no record of a run that can be reported", place)
            else:
                reading.passed_over += 1
        report("records", number, len(files))
    _sort_out(found, reading)
    if not (reading.runs or reading.unfinished or reading.grids):
        raise ReportError("there is no run record to report")
    return reading


def _files(path: Path) -> list[tuple[Path, bool]]:
    """Files to read, and whether each was named itself."""
    if not path.is_dir():
        if not path.exists():
            raise RecordError("a file or folder of records does not exist")
        return [(path, True)]
    inside = [file for kind in ("*.json", "*.jsonl") for file in path.rglob(kind) if file.is_file()]
    shown = [file for file in inside if not any(part.startswith(".") for part in file.relative_to(path).parts)]
    return [(file, False) for file in sorted(shown)]


def _run(content: Any, place: Place) -> Run | None:
    """The record, or None where it is something else or of a kind that this report does not know."""
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        return None
    fields = Fields(content, place)
    version = content.get("format_version")
    if version != VERSION or isinstance(version, bool):
        raise RecordError(f"the format_version is not {VERSION}", place)
    kind = fields.text("kind")
    if kind not in KINDS:
        return None
    settings = fields.part("settings")
    for name in ("seed", "train_examples"):
        value = settings.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise RecordError(f"settings.{name} is not a whole number", place)
    finished = fields.text("finished")
    format_name = fields.text("data.format")
    target = fields.text("data.target")
    if kind == "finetune":
        fields.needed("settings", settings or None)
        fields.needed("settings.seed", settings.get("seed"))
        fields.needed("data.format", format_name)
    return Run(
        kind=kind,
        task=" ".join(part for part in (format_name, target if target == "score" else None) if part),
        settings=settings,
        law=law_of(fields, needs_bundle=kind != "fairness"),
        start=_start(fields),
        splits=_splits(fields),
        figures={} if finished is None else _figures(kind, fields),
        intervals={} if finished is None or kind != "attack-text" else _intervals(fields),
        result=fields.part("result"),
        software=fields.part("software"),
        begun=fields.text("begun") or "",
        finished=finished,
        wall_s=fields.number("wall_s", 0),
        place=place,
    )


def _splits(fields: Fields) -> dict[str, dict[str, Any]]:
    found = {}
    for name, part in fields.part("data.splits").items():
        if not isinstance(part, Mapping):
            raise RecordError("a split of data.splits is not an object", fields.place)
        inside = Fields(part, fields.place)
        examples = inside.number("examples", 0, 2**53)
        found[name] = {"examples": None if examples is None else int(examples), "sha256": inside.text("sha256")}
    return found


def _start(fields: Fields) -> Start | None:
    start = fields.at("start")
    if start is None or isinstance(start, str):
        return None if start is None else Start("", start)
    hashes = [fields.text(f"start.{name}") for name in ("encoder_sha256", "weights_sha256", "sha256")]
    return Start(fields.text("start.kind") or "", next((sha256 for sha256 in hashes if sha256), ""))


def _figures(kind: str, fields: Fields) -> dict[str, float]:
    """Checked numbers of a finished run."""
    prefix = "result.test." if kind == "finetune" else "result."
    ranges = {"finetune": _FINETUNE, "attack-text": _ATTACK, "pretrain": _PRETRAIN}.get(kind, {})
    read = {name: fields.number(prefix + name, *ends) for name, ends in ranges.items()}
    found = {name: value for name, value in read.items() if value is not None}
    if kind == "finetune" and not {"accuracy", "pearson"} & set(found):
        raise RecordError("result.test has neither accuracy nor pearson", fields.place)
    if kind == "attack-text":
        fields.needed("law", fields.at("law"))
        for count in fields.part("result.repeated"):
            if not (count.isascii() and count.isdigit()):
                raise RecordError("result.repeated has a key that is no number of releases", fields.place)
            for part in ("", "text_prior.", "sensitive."):
                rate = fields.number(f"result.repeated.{count}.{part}rate", 0, 1)
                if rate is not None:
                    found[f"repeated.{part}{int(count)}"] = rate
    return found


def _intervals(fields: Fields) -> dict[str, tuple[float, float]]:
    wanted = {"bayes.simulated": "result.bayes.interval"}
    wanted |= {f"repeated.{count}": f"result.repeated.{count}.interval" for count in fields.part("result.repeated")}
    found = {figure: fields.pair(path) for figure, path in wanted.items()}
    return {figure: ends for figure, ends in found.items() if ends is not None}


def _sort_out(found: Iterable[Run], reading: Reading) -> None:
    """Each run once: a finished record before one that has not finished, then the later."""
    kept: dict[tuple[object, ...], Run] = {}
    for run in found:
        other = kept.setdefault(run.identity, run)
        if other is run:
            continue
        if _content(other) == _content(run):
            reading.copies += 1
            continue
        order = [(one.finished is not None, one.finished or "", one.begun) for one in (other, run)]
        if order[0] == order[1]:
            raise RecordError("another record of the same run says something else and is no older", run.place)
        earlier, later = (other, run) if order[0] < order[1] else (run, other)
        kept[run.identity] = later
        reading.replaced.append(earlier)
    together = told_together(run.law for run in kept.values() if run.law is not None)
    for identity, run in kept.items():
        if run.law is not None:
            kept[identity] = replace(run, law=replace(together[run.law], case=run.law.case))
    reading.runs = [run for run in kept.values() if run.finished is not None]
    reading.unfinished = [run for run in kept.values() if run.finished is None]


def _content(run: Run) -> str:
    return canonical([run.begun, run.finished, run.result])


def canonical(value: object) -> str:
    """JSON that is equal where values are."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
