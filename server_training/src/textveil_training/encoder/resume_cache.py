"""Store finished parts of a run beside the new bundle, so that an interrupted run can resume.

The folder ``bundle.unfinished/`` has these files:

- ``run.json``: hash of the settings and the data;
- ``static.safetensors`` and others: a finished part, with arrays, and further values in the header;
- ``minilm/``: the training of an encoder, with its own state file.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save
from textveil.storage import open_atomic_bytes, open_atomic_text
from textveil_cli.errors import ResumeError

from textveil_training.engine.run import hash_run_key

Arrays = dict[str, NDArray[Any]]
RUN = "run.json"


def get_unfinished_folder(output: Path) -> Path:
    """Return the folder that stores a bundle's finished parts until the bundle is complete."""
    return output.with_name(f"{output.name}.unfinished")


class ResumeCache:
    """Cache of the finished parts of a run, from which an interrupted run resumes.

    Args:
        folder: Folder of the parts, created with the first part.
        key: Settings and hashes of the data, as JSON values. Stored parts with another key are not used.
        resume: Whether to continue the run in that folder.
        replace: Whether the cache may delete a run in that folder.

    Raises:
        ResumeError: With ``resume``: the folder has no run, or one with another key. Without ``resume`` and
            ``replace``: the folder has an unfinished run.
    """

    def __init__(self, folder: Path, key: Sequence[object], *, resume: bool = False, replace: bool = False) -> None:
        self.folder = folder
        self._key = hash_run_key(key)
        if resume:
            self._check_key()
        elif folder.exists():
            if not replace:
                raise ResumeError(
                    "this bundle has an unfinished run: continue it with --resume, or start again with --force"
                )
            shutil.rmtree(folder)

    def create_folder(self) -> None:
        """Create the folder if it is missing.

        Raises:
            OutputError: The folder cannot be created.
        """
        if not (self.folder / RUN).is_file():
            self.folder.mkdir(exist_ok=True)
            with open_atomic_text(self.folder / RUN) as write:
                write(json.dumps({"key": self._key}) + "\n")

    def load_or_make(
        self, name: str, make: Callable[[], tuple[Arrays, Mapping[str, Any]]]
    ) -> tuple[Arrays, dict[str, Any]]:
        """Load a part of the result from the cache; compute and store the part if it is missing.

        Args:
            name: Name of the part.
            make: Function that computes the part: arrays by name, and a dictionary for JSON.

        Returns:
            The arrays and the dictionary.

        Raises:
            ResumeError: The stored part is damaged.
            OutputError: The part cannot be written.
        """
        path = self.folder / f"{name}.safetensors"
        if path.is_file():
            try:
                with safe_open(path, "np") as file:
                    facts = json.loads((file.metadata() or {})["facts"])
                    return {key: file.get_tensor(key) for key in file.keys()}, facts  # noqa: SIM118 (not a mapping)
            except (OSError, SafetensorError, KeyError, ValueError) as error:
                raise ResumeError("a file of the unfinished run is damaged: start again with --force") from error
        arrays, facts = make()
        self.create_folder()
        with open_atomic_bytes(path) as file:
            whole = {key: np.ascontiguousarray(array) for key, array in arrays.items()}
            file.write(save(whole, {"facts": json.dumps(facts)}))
        return arrays, dict(facts)

    def remove(self) -> None:
        """Delete the cache's folder. Call this method only after the bundle is completely written."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _check_key(self) -> None:
        try:
            found = json.loads((self.folder / RUN).read_text("utf-8"))["key"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ResumeError("this bundle has no unfinished run: omit --resume") from error
        if found != self._key:
            raise ResumeError(
                "the unfinished run of this bundle has other data or other settings: repeat its command, or start "
                "again with --force"
            )
