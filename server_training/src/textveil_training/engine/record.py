"""The record of a run: what was trained, on what, with which software, how it went, what it gave. No text is in it."""

import json
import math
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
from textveil.bundle import atomic_output

from textveil_training.engine.loop import Position

FORMAT = "textveil-run"
VERSION = 2
_SOFTWARE = ("textveil", "textveil-training", "torch", "transformers", "numpy", "safetensors")


class RunRecord:
    """Grows with the run and is written as it goes, whole each time.

    Args:
        path: JSON file of the record; None to write none.
        subject: Keys that say what is run, on what and from which start, beside those that every run has.
        device: Device that the run computes on.
    """

    def __init__(self, path: Path | None, subject: Mapping[str, object], device: torch.device) -> None:
        self._path = path
        self.content: dict[str, Any] = {
            "format": FORMAT,
            "format_version": VERSION,
            **subject,
            "software": software(),
            "machine": {
                "device": device.type if device.type == "cpu" else torch.cuda.get_device_name(device),
                "processor": platform.machine(),
                "threads": torch.get_num_threads(),
            },
            "begun": datetime.now(UTC).isoformat(timespec="seconds"),
            "finished": None,
            "epochs": [],
            "result": None,
        }

    def update(self, position: Position) -> None:
        """Takes over the epochs that are done and the time spent."""
        self.content |= {
            "epochs": position.history,
            "wall_s": round(position.wall_s, 1),
            "cpu_s": round(position.cpu_s, 1),
            "resumed": position.resumed,
        }
        self.write()

    def finish(self, result: dict[str, Any]) -> None:
        """Adds the result of the run."""
        self.content |= {"result": result, "finished": datetime.now(UTC).isoformat(timespec="seconds")}
        self.write()

    def write(self) -> None:
        """Writes the file. A number that is not finite becomes null, here too: JSON has no name for it.

        Raises:
            OutputError: It cannot be written.
        """
        try:
            text = json.dumps(self.content, indent=2, allow_nan=False)
        except ValueError:
            self.content |= _finite(self.content)
            text = json.dumps(self.content, indent=2, allow_nan=False)
        if self._path is not None:
            with atomic_output(self._path) as write:
                write(text + "\n")


def software() -> dict[str, str | None]:
    """Returns the versions of the software that results depend on."""
    return {name: _version(name) for name in _SOFTWARE} | {"python": platform.python_version()}


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
