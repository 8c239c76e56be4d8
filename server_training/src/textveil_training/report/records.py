"""Run records as a report reads them: found in files and folders, checked, and each run once.

The reader is strict about what a table or a plot needs and passes over what it does not know. A run that has not
finished is kept apart; of two records of the same run the later is taken, and the other is named on the page.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from textveil_training.errors import FileLocation, RecordError, ReportError
from textveil_training.report.fields import Fields, objects
from textveil_training.report.figures import figures_of, intervals_of
from textveil_training.report.laws import Law, law_of, told_together

FORMAT, VERSION = "textveil-run", 1
KINDS = ("finetune", "attack-text", "pretrain", "fairness")
GRID_KINDS = ("baselines", "baseline", "bounds", "cell", "checkpoint")
INCIDENTAL = ("seed", "threads", "workers", "device", "output", "cache", "resume")
"""Settings in which two runs may differ and still be averaged: the seed, and what changes no result."""
IDLE = (
    "epochs", "batch", "learning_rate", "head_learning_rate", "weight_decay", "warmup", "clip_norm", "dropout",
)  # fmt: skip
"""Settings that do nothing where features are frozen: the linear model on them is fitted to its optimum."""


@dataclass(frozen=True)
class Run:
    """One record.

    Attributes:
        kind: One of ``KINDS``.
        task: Format of the data, and ``class`` or ``score`` where the format has both.
        settings: All of them.
        law: Under which the text was sanitised, or None for raw text.
        start: Hashes of all it started from, with their names, as canonical JSON; empty where there are none.
        splits: By name: ``examples`` and ``sha256``.
        corpus: Of a pretraining, the data and the law that was measured, as canonical JSON; else empty.
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
    start: str
    splits: Mapping[str, Mapping[str, Any]]
    corpus: str
    figures: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    result: Mapping[str, Any]
    software: Mapping[str, Any]
    begun: str
    finished: str | None
    wall_s: float | None
    place: FileLocation

    @property
    def frozen(self) -> bool:
        """Whether a linear model was fitted to features that stay as they are: no seed changes its result."""
        return self.kind == "finetune" and self.settings.get("tuned") is False

    @property
    def seed(self) -> int | None:
        """Of the training; None where a run has none, or where it does nothing."""
        return None if self.frozen and self.law is None else self.settings.get("seed")

    @property
    def deciding(self) -> dict[str, Any]:
        """Settings that decide a result, the seed left out."""
        passed_over = (*INCIDENTAL, *(IDLE if self.frozen else ()))
        return {name: value for name, value in self.settings.items() if name not in passed_over}

    @property
    def constant(self) -> str:
        """The same as canonical JSON."""
        return canonical(self.deciding)

    @property
    def texts(self) -> str:
        """Hashes of the raw texts by split; empty for fine-tunings on sanitised ones, of which each has a copy."""
        return "" if self.kind == "finetune" and self.law is not None else self._hashes

    @property
    def repeat(self) -> int | str | None:
        """What tells runs apart that are averaged: the seed; with frozen features the sanitised copy."""
        return (self._hashes if self.frozen and self.law is not None else "") or self.seed

    @property
    def condition(self) -> tuple[object, ...]:
        """Equal for runs that are averaged."""
        sizes = canonical({name: part.get("examples") for name, part in self.splits.items()})
        law = self.law, self.law and self.law.case
        return self.kind, self.task, sizes, self.constant, law, self.start, self.texts, self.corpus

    @property
    def identity(self) -> tuple[object, ...]:
        """Equal for two records of the same run."""
        return self.condition, self.repeat

    @property
    def _hashes(self) -> str:
        known = {name: part["sha256"] for name, part in self.splits.items() if part.get("sha256")}
        return canonical(known) if known else ""


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


def _run(content: Any, place: FileLocation) -> Run | None:
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
        if settings.get("tuned") is not False:
            fields.needed("settings.seed", settings.get("seed"))
        fields.needed("data.format", format_name)
    return Run(
        kind=kind,
        task=" ".join(part for part in (format_name, target if target == "score" else None) if part),
        settings=settings,
        law=law_of(fields, needs_bundle=kind != "fairness"),
        start=_start(fields),
        splits=_splits(fields),
        corpus=_corpus(fields) if kind == "pretrain" else "",
        figures={} if finished is None else figures_of(kind, fields),
        intervals={} if finished is None or kind != "attack-text" else intervals_of(fields),
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


def _start(fields: Fields) -> str:
    start = fields.at("start")
    if isinstance(start, str):
        return canonical(start)
    hashes = {name: fields.text(f"start.{name}") for name in fields.part("start") if name.endswith("sha256")}
    known = {name: sha256 for name, sha256 in hashes.items() if sha256}
    return canonical(known) if known else ""


def _corpus(fields: Fields) -> str:
    law = {name: value for name, value in fields.part("measured_law").items() if name not in ("level", "bundle_name")}
    return canonical([fields.part("data"), law])


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
