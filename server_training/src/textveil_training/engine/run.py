"""Manage the common parts of every training run: folder, device, seed, state file and record.

A ``train`` module creates a ``TrainingRun``, builds the networks on its device, calls ``begin`` to create the record,
``train`` to run the stages, and ``finish`` to store the result. The record states the settings, the data, the software,
the metrics of each epoch and the result. It contains no text.
"""

import hashlib
import json
import math
import platform
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
from textveil.storage import open_atomic_text
from textveil_cli.errors import ResumeError

from textveil_training.engine.loop import TrainingLoop, TrainingPosition
from textveil_training.engine.processes import SingleProcess
from textveil_training.engine.stage import TrainingStage
from textveil_training.errors import CheckpointError
from textveil_training.progress import ProgressCallback, ignore_progress

FORMAT = "textveil-run"
VERSION = 2
_SOFTWARE = ("textveil", "textveil-training", "torch", "transformers", "numpy", "safetensors")


class RunRecord:
    """Record of a training run (settings, data, metrics, result); every change rewrites its JSON file.

    Args:
        path: JSON file of the record; ``None`` to write no file.
        subject: Entries about the recipe, the data and the start of this run. The record adds entries such as the time,
            the software and the results.
        device: Device on which the run computes.
    """

    def __init__(self, path: Path | None, subject: Mapping[str, object], device: torch.device) -> None:
        self._path = path
        self.content: dict[str, Any] = {
            "format": FORMAT,
            "format_version": VERSION,
            **subject,
            "software": list_software(),
            "machine": {
                "device": device.type if device.type == "cpu" else torch.cuda.get_device_name(device),
                "processor": platform.machine(),
                "threads": torch.get_num_threads(),
            },
            "begun": datetime.now(UTC).isoformat(timespec="seconds"),
            "trained": None,
            "finished": None,
            "epochs": [],
            "result": None,
        }

    def update(self, position: TrainingPosition) -> None:
        """Update the record with the metrics of the finished epochs and the time spent."""
        self.content |= {
            "epochs": position.history,
            "wall_s": round(position.wall_s, 1),
            "cpu_s": round(position.cpu_s, 1),
            "resumed": position.resumed,
        }
        self.write()

    def mark_trained(self) -> None:
        """Store in the record that the training has ended; the model can then be exported before it is measured."""
        self.content["trained"] = datetime.now(UTC).isoformat(timespec="seconds")

    def finish(self, result: dict[str, Any]) -> None:
        """Store the result of the run in the record."""
        self.content |= {"result": result, "finished": datetime.now(UTC).isoformat(timespec="seconds")}
        self.write()

    def write(self) -> None:
        """Write the record to its file, with null for numbers that are not finite.

        Raises:
            OutputError: The file cannot be written.
        """
        try:
            text = json.dumps(self.content, indent=2, allow_nan=False)
        except ValueError:
            self.content |= _replace_nonfinite(self.content)
            text = json.dumps(self.content, indent=2, allow_nan=False)
        if self._path is not None:
            with open_atomic_text(self._path) as write:
                write(text + "\n")


def list_software() -> dict[str, str | None]:
    """Return the version of each package that affects results, by name; ``None`` for missing packages."""
    return {name: _find_version(name) for name in _SOFTWARE} | {"python": platform.python_version()}


def _replace_nonfinite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _replace_nonfinite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_nonfinite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _find_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


STATE = "unfinished.safetensors"
"""File of an unfinished run in its output folder."""
RECORD = "record.json"


@dataclass(frozen=True)
class RunOptions:
    """Output folder and device of a run.

    Attributes:
        output: Folder to which the run writes.
        resume: Whether to continue the unfinished run in that folder.
        device: ``cpu`` or a CUDA device.
    """

    output: Path
    resume: bool = False
    device: str = "cpu"


class TrainingRun:
    """One training run: its folder, device, seed, state file and record.

    The constructor checks the output folder and seeds PyTorch, so build the networks after the call of the constructor.

    Args:
        options: Output folder and device of the run.
        seed: Seed of all random choices in training.
        report: Called after each step with the stage, the finished steps and the total.
        process: This process among the processes that train together; ``None`` for a single process on the device.
        finished: Names of files that only a finished run writes. If names are given, a new run refuses a folder with
            one of these files or with an unfinished run, and accepts other files. Without names the folder must be
            empty.

    Attributes:
        output: Folder to which the run writes.
        device: Device to which the networks must be moved.

    Raises:
        DeviceError: The device does not exist.
        CheckpointError: The run would overwrite a file in the folder, or the folder cannot be read.
        ResumeError: The folder has no unfinished run to resume.
    """

    def __init__(
        self,
        options: RunOptions,
        seed: int,
        report: ProgressCallback = ignore_progress,
        *,
        process: SingleProcess | None = None,
        finished: Collection[str] = (),
    ) -> None:
        self._process = process or SingleProcess(options.device)
        self.device, self.output = self._process.device, options.output
        self._resume, self._seed, self._report = options.resume, seed, report
        self._main = self._process.rank == 0
        _check_folder(options, finished)
        torch.manual_seed(seed)

    def begin(self, subject: Mapping[str, object]) -> None:
        """Create the output folder, and the record in memory.

        The record's file is written after the first epoch.

        Args:
            subject: Entries of the record about the settings, the data and the start of this run.

        Raises:
            CheckpointError: The folder cannot be made.
        """
        self._process.wait()  # no process writes before all processes have checked the folder
        try:
            self.output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError("the output folder cannot be created: check its path and its permissions") from error
        self._record = RunRecord(self.output / RECORD, subject, self.device)

    def train(self, stages: Sequence[TrainingStage], key: Sequence[object], on_epoch: Callable[[bool], None]) -> None:
        """Run the stages from the beginning, or from the saved state if the run is resumed.

        Args:
            stages: Stages in their order.
            key: Settings and hashes of the data, as JSON values. A state file with another key is refused.
            on_epoch: Called after each epoch with a boolean: whether the metric on the dev split is the best so far.

        Raises:
            ResumeError: The state file is damaged or belongs to another run.
            LossError: A loss is not a number.
            OutputError: A file cannot be written.
            KeyboardInterrupt: Ctrl-C was pressed; the run can be resumed.
        """

        def done(position: TrainingPosition, best: bool) -> None:
            on_epoch(best)
            self._update(position)

        self._loop = TrainingLoop(
            stages,
            seed=self._seed,
            state=self.output / STATE,
            run_key=hash_run_key(key),
            on_epoch=done,
            report=self._report if self._main else ignore_progress,
            writes=self._main,
            agree=self._process.any,
        )
        if self._resume:
            self._loop.resume()
        self._loop.run()
        self._record.mark_trained()
        self._update(self._loop.position)

    @property
    def position(self) -> TrainingPosition:
        """Current stage, epoch and batch of the training, with its metrics and time so far."""
        return self._loop.position

    def record_time(self, wall_s: float, cpu_s: float) -> None:
        """Record the time of a training that has no stages.

        Args:
            wall_s: Wall-clock seconds.
            cpu_s: Processor seconds.
        """
        self._update(TrainingPosition(wall_s=wall_s, cpu_s=cpu_s))

    def finish(self, result: dict[str, Any]) -> dict[str, Any]:
        """Store the result in the record, remove the state file and return the record.

        If several processes train together, only the first one (rank 0) writes, and only its record has the result.
        """
        if self._main:
            self._record.finish(result)
            (self.output / STATE).unlink(missing_ok=True)
        self._process.wait()
        return self._record.content

    def _update(self, position: TrainingPosition) -> None:
        if self._main:
            self._record.update(position)


def hash_run_key(parts: Sequence[object]) -> str:
    """Compute the SHA-256 of the settings and data of a run, and of PyTorch's version."""
    return hashlib.sha256(json.dumps([*parts, torch.__version__], sort_keys=True).encode()).hexdigest()


def _check_folder(options: RunOptions, finished: Collection[str]) -> None:
    """Check that the run would overwrite no file in its output folder; the folder may be missing."""
    folder = options.output
    try:
        names = {path.name for path in folder.iterdir()} if folder.exists() else set[str]()
    except OSError as error:
        raise CheckpointError(
            "the output folder cannot be used: choose a folder that you can read and write"
        ) from error
    if options.resume:
        if STATE not in names:
            raise ResumeError("the output folder has no unfinished run: omit --resume, or pass the folder of the run")
    elif finished and names & {STATE, *finished}:
        raise CheckpointError(
            "the output folder has a checkpoint or an unfinished run: choose another folder, or continue with --resume"
        )
    elif names and not finished:
        unfinished = ": it has an unfinished run (continue it with --resume)" if STATE in names else ""
        raise CheckpointError(f"the output folder is not empty{unfinished}: choose a new one")
