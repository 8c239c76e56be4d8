"""The folder a run writes: empty at first, or with an unfinished run that is gone on with."""

from dataclasses import dataclass
from pathlib import Path

from textveil_training.errors import CheckpointError, ResumeError


@dataclass(frozen=True)
class Place:
    """Where a run goes.

    Attributes:
        output: The model's folder.
        resume: Whether to go on with an unfinished run.
        device: ``cpu`` or a CUDA device.
    """

    output: Path
    resume: bool = False
    device: str = "cpu"


def check_output(folder: Path, state: str, *, resume: bool) -> None:
    """Checks that nothing in a folder would be written over; it need not be there.

    Args:
        folder: The folder.
        state: Name of the file an unfinished run leaves there.
        resume: Whether the run goes on with it.

    Raises:
        CheckpointError: It is not empty, or cannot be read.
        ResumeError: There is no unfinished run to go on with.
    """
    try:
        there = {path.name for path in folder.iterdir()} if folder.exists() else set[str]()
    except OSError as error:
        raise CheckpointError("the output folder cannot be used") from error
    if resume and state not in there:
        raise ResumeError("there is no unfinished run in this folder")
    if there and not resume:
        unfinished = ": it holds an unfinished run (--resume goes on with it)" if state in there else ""
        raise CheckpointError(f"the output folder is not empty{unfinished}")


def make_output(folder: Path) -> None:
    """Makes the folder if it is not there.

    Raises:
        CheckpointError: It cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CheckpointError("the output folder cannot be made") from error
