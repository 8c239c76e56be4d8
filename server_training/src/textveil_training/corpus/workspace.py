"""The folder a corpus goes to, and what an unfinished run leaves in it.

While a run is unfinished, ``.unfinished`` holds the finished shards and ``run.json``, which says what they belong to.
That takes hashes of the input and of the denied words, from which who can guess them can confirm the guess: they stay
there, readable by the owner alone, and go when the run is finished. The record that remains has none of them.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from textveil.bundle import atomic_output
from textveil.errors import OutputError

from textveil_training.corpus.shards import Counts, Shard, read_shard
from textveil_training.engine.tensor_files import sha256
from textveil_training.errors import CorpusError, ResumeError

RECORD = "record.json"
UNFINISHED = ".unfinished"
_RUN = "run.json"
_FORMAT = "textveil-corpus-run"


class Workspace:
    """An output folder.

    Args:
        folder: The folder; it need not exist.
        copies: Number of independent outputs; with more than one, each has a folder of its own in it.
    """

    def __init__(self, folder: Path, copies: int) -> None:
        self._folder = folder
        self._copies = copies
        self._work = folder / UNFINISHED

    def require(self, *, resume: bool) -> None:
        """Checks that the folder is what a run needs, before any work is done.

        Raises:
            OutputError: There is something in it already.
            ResumeError: There is, or is not, an unfinished run in it.
        """
        if resume:
            if not (self._work / _RUN).is_file():
                raise ResumeError("there is no unfinished run in the output folder")
            return
        try:
            if (self._work / _RUN).exists():
                raise ResumeError(
                    "an unfinished run is in the output folder: go on with --resume, or remove the folder"
                )
            if self._folder.exists() and any(entry.name != UNFINISHED for entry in self._folder.iterdir()):
                raise OutputError("the output folder is not empty; nothing was written")
        except OSError as error:
            raise OutputError(f"the output folder cannot be used: {_reason(error)}") from None

    @contextmanager
    def opened(self, key: dict[str, str], *, resume: bool) -> Iterator[dict[str, Any]]:
        """Begins a run or takes it up again, and keeps every other process out until it ends.

        Args:
            key: What the shards depend on: by a name for errors, a hash.
            resume: Whether there is a run to take up.

        Yields:
            The state of the run: what is put in is written at the end, when the run ends early.

        Raises:
            ResumeError: The run was begun with something else, or is damaged.
            CorpusError: Another process is at work on it.
            OutputError: The folder cannot be written to.
        """
        try:
            self._work.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"the output folder cannot be made: {_reason(error)}") from None
        with _locked(self._work):
            state = self._taken_up(key) if resume else {"format": _FORMAT, "key": key}
            if not resume:
                self._write(state)
            try:
                yield state
            except BaseException:
                with suppress(OutputError):  # what ended the run is what to tell
                    self._write(state)
                raise
            try:
                shutil.rmtree(self._work)
            except OSError as error:
                raise OutputError(f"all is written, but {UNFINISHED} cannot be removed: {_reason(error)}") from None

    def shard_path(self, shard: Shard, copy: int) -> Path:
        """Returns where a finished shard of a copy is."""
        return self._work / f"{shard.source}-{copy}-{shard.number:06}"

    def output_path(self, name: str, copy: int) -> Path:
        """Returns where a finished file of a copy goes."""
        return self._folder / name if self._copies == 1 else self._folder / f"copy-{copy + 1}" / name

    def join(self, shards: Sequence[Shard], name: str, copy: int) -> tuple[Counts, str]:
        """Puts the shards of a file together.

        Returns:
            Their counts, and the SHA-256 of the file.

        Raises:
            ResumeError: A shard is damaged.
            OutputError: The file cannot be written, or another one is in its place.
        """
        counts, digest = Counts(), hashlib.sha256()
        joined, target = self._work / "joined", self.output_path(name, copy)
        with atomic_output(joined) as write:
            for shard in shards:
                text, of_shard = read_shard(self.shard_path(shard, copy), shard)
                write(text)
                digest.update(text.encode("utf-8"))
                counts += of_shard
        try:
            target.parent.mkdir(exist_ok=True)
            if target.exists() and sha256(target) != digest.hexdigest():  # it is ours after an interruption here
                raise OutputError("another file is in the place of an output")
            # Not written in its place at once: a run that is killed here must leave its file among what is unfinished.
            os.replace(joined, target)
        except OSError as error:
            raise OutputError(f"an output file cannot be written: {_reason(error)}") from None
        return counts, digest.hexdigest()

    def write_record(self, record: dict[str, Any]) -> None:
        """Writes the record of a finished run.

        Raises:
            OutputError: It cannot be written.
        """
        with atomic_output(self._folder / RECORD) as write:
            write(json.dumps(record, indent=2, ensure_ascii=False) + "\n")

    def _write(self, state: dict[str, Any]) -> None:
        with atomic_output(self._work / _RUN) as write:
            write(json.dumps(state, indent=2) + "\n")

    def _taken_up(self, key: dict[str, str]) -> dict[str, Any]:
        try:
            state = json.loads((self._work / _RUN).read_bytes())
            before = state["key"]
            other = [name for name in key if key[name] != before.get(name)]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise ResumeError("the description of the unfinished run is damaged: remove the output folder") from None
        if other:
            raise ResumeError(f"the unfinished run was started with another {' and another '.join(other)}")
        return state


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Holds a lock that ends with this process, where the system has such locks."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CorpusError("another process is at work in this output folder") from None
        yield
    finally:
        os.close(descriptor)


def _reason(error: OSError) -> str:
    return os.strerror(error.errno or 0)
