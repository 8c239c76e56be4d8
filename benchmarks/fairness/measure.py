"""Measure accuracy by subgroup for folders of models and data, and write the record."""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fairness.correctness import (
    CHECKPOINT,
    CLEAN,
    DRAWS,
    OPEN,
    Answers,
    check_alike,
    divide_by_attribute,
    list_attributes,
    of_checkpoint,
    of_model,
)
from fairness.subgroups import MINIMUM, SubgroupError
from textveil.errors import OutputError
from textveil_training.dpnr import ClassifiedSplit
from textveil_training.engine import RunRecord, get_device
from textveil_training.errors import CheckpointError
from textveil_training.file_hashes import hash_file
from textveil_training.progress import ProgressCallback, ignore_progress

KIND = "fairness"


@dataclass(frozen=True, kw_only=True)
class Request:
    """Models to measure, and the data on which to measure them.

    Attributes:
        data: File or folder of the texts; several copies of one sanitized corpus for ``model``.
        format_name: Format of the data; it must have private attributes.
        split: Split of the data; None for files that are one split.
        checkpoint: Folder of ``textveil-train dpnr``, or None.
        model: Folder of ``textveil-train finetune``, or None. Exactly one of ``checkpoint`` and ``model`` is given.
        clean: Folder of a model of the same kind that was trained without privacy, for comparison.
        clean_data: Raw texts for ``clean``; None for ``data``.
        levels: Whole-text epsilons of ``checkpoint``; its own if empty.
        draws: Releases of each text by ``checkpoint``.
        minimum: Smallest number of texts in a subgroup.
        device: ``cpu`` or a CUDA device.

    Raises:
        SubgroupError: The values contradict each other, or the format has no attributes.
    """

    data: Sequence[Path]
    format_name: str
    split: str | None = "test"
    checkpoint: Path | None = None
    model: Path | None = None
    clean: Path | None = None
    clean_data: Path | None = None
    levels: Sequence[str] = ()
    draws: int = DRAWS
    minimum: int = MINIMUM
    device: str = "cpu"

    def __post_init__(self) -> None:
        if (self.checkpoint is None) == (self.model is None):
            raise SubgroupError("pass either a checkpoint of dpnr or a model of finetune")
        if self.checkpoint is not None and (len(self.data) != 1 or self.clean_data is not None):
            raise SubgroupError("a checkpoint needs exactly one file or folder of raw texts")
        if self.model is not None and self.levels:
            raise SubgroupError("sanitized texts have the epsilon of their corpus: omit the epsilon")
        if self.clean_data is not None and self.clean is None:
            raise SubgroupError("raw texts are only for the clean model, but no clean model is given")
        list_attributes(self.format_name)


def measure(request: Request, output: Path | None = None, report: ProgressCallback = ignore_progress) -> dict[str, Any]:
    """Measure the models, and write a run record of kind ``fairness``.

    Args:
        request: Models and data.
        output: A new file for the record, or None. The record is marked as unfinished until the end. If the measurement
            ends early, the file is deleted, since such a run cannot be resumed.
        report: Called with progress.

    Returns:
        ``lines``, the clean model's first: each with its ``kind``, ``release``, ``draws`` and ``result``
        (``subgroups.Subgroups.to_dict``).

    Raises:
        CheckpointError: A folder cannot be used, or the clean model is a private one.
        DataError: The data cannot be read.
        EmptyClass: The data have a class unknown to a model.
        SubgroupError: No subgroup is large enough, the data contain different texts, or a model was trained on texts of
            another release.
        DeviceError: The device is missing.
        OptionError: An epsilon is invalid.
        OutputError: The record cannot be written, or the file exists.
    """
    if output is None:
        return {"lines": _measure_models(request, report)[1]}
    if os.path.lexists(output):
        raise OutputError("a file with this name already exists")
    begun = time.perf_counter(), time.process_time()
    record = RunRecord(output, _subject(request), get_device(request.device))
    record.write()  # to detect before the measurement that the file cannot be written
    try:
        split, lines = _measure_models(request, report)
        releases = [line["release"] for line in lines if line["release"] is not None]
        record.content |= {
            "data": _describe_data(request, split),
            "release": releases[0] if releases and all(other == releases[0] for other in releases) else None,
            "wall_s": round(time.perf_counter() - begun[0], 1),
            "cpu_s": round(time.process_time() - begun[1], 1),
        }
        record.finish({"lines": lines})
    except BaseException:
        with suppress(OSError):  # the error to report is the one that ended the measurement
            output.unlink()
        raise
    return {"lines": lines}


def _measure_models(request: Request, report: ProgressCallback) -> tuple[ClassifiedSplit, list[dict[str, Any]]]:
    split, answers = _answers(request, report)
    return split, _lines(request, split, answers)


def _answers(request: Request, report: ProgressCallback) -> tuple[ClassifiedSplit, list[Answers]]:
    """Return the answers of every model, those of the clean model first if there is one."""

    def of(folder: Path, data: Sequence[Path], levels: Sequence[str]) -> tuple[ClassifiedSplit, list[Answers]]:
        place = {"device": request.device, "report": report}
        if request.checkpoint is None:
            split, answers = of_model(folder, data, request.format_name, request.split, **place)
            return split, [answers]
        options = {"levels": levels, "draws": request.draws}
        return of_checkpoint(folder, data[0], request.format_name, request.split, **options, **place)

    folder = request.checkpoint or request.model
    assert folder is not None  # one of the two
    split, answers = of(folder, request.data, request.levels)
    if request.clean is None:
        return split, answers
    data = request.data if request.clean_data is None else [request.clean_data]
    other, clean = of(request.clean, data, ())
    if clean[0].kind != OPEN:
        raise CheckpointError("the clean model must be trained on raw texts without privacy")
    check_alike(split, other)
    return split, [replace(clean[0], kind=CLEAN), *answers]


def _lines(request: Request, split: ClassifiedSplit, answers: Sequence[Answers]) -> list[dict[str, Any]]:
    names = list_attributes(request.format_name)
    clean = answers[0] if answers[0].kind == CLEAN else None
    lines = []
    for one in answers:
        found = divide_by_attribute(one, split, names, None if one is clean else clean, minimum=request.minimum)
        lines.append({"kind": one.kind, "release": one.release, "draws": len(one.right), "result": found.to_dict()})
    return lines


def _subject(request: Request) -> dict[str, object]:
    folders = {"checkpoint": request.checkpoint, "model": request.model, "clean": request.clean}
    name = CHECKPOINT if request.checkpoint is not None else "finetuned.json"
    return {
        "kind": KIND,
        "settings": {
            "of": "representations" if request.checkpoint is not None else "texts",
            "split": request.split,
            "levels": list(request.levels) or None,
            "draws": request.draws if request.checkpoint is not None else len(request.data),
            "minimum": request.minimum,
        },
        "data": {"format": request.format_name},
        "release": None,
        "start": {
            f"{kind}_sha256": hash_file(folder / name)
            for kind, folder in folders.items()
            if folder is not None and (folder / name).is_file()
        },
    }


def _describe_data(request: Request, split: ClassifiedSplit) -> dict[str, object]:
    described = {"examples": len(split.texts), "sha256": split.sha256, "copies": len(request.data)}
    return {"format": request.format_name, "splits": {request.split or "all": described}}
