"""Named errors of the data readers: one tree, stable codes, one line each.

A message says where (file name, line number, byte) and what is wrong. It never holds a character of the
file's content, and never an argument of the caller: a file is named only once it has been opened.
"""

from dataclasses import dataclass

from textveil.errors import TextveilError


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the data something is wrong.

    Attributes:
        file_name: Last part of the file's path, made printable (see ``printable``).
        line: Line number from 1, or None when the file as a whole is meant.
    """

    file_name: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file_name if self.line is None else f"{self.file_name}, line {self.line}"


def printable(text: str) -> str:
    """Replaces every character that could break a line or steer a terminal by U+FFFD."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


class DataError(TextveilError):
    """Data cannot be used. Base of the errors below.

    Attributes:
        place: Where, or None when no file had been opened.
    """

    code = "data"

    def __init__(self, reason: str, place: Place | None = None) -> None:
        super().__init__(reason if place is None else f"{place}: {reason}")
        self.place = place


class DataOptionError(DataError):
    """The caller asked for something the format does not have."""

    code = "data-option"


class UnknownFormat(DataOptionError):
    """No format has that name."""

    code = "data-format"


class UnreadableFile(DataError):
    """The file or folder does not exist or cannot be read."""

    code = "data-file"


class EmptyData(DataError):
    """The file holds no example."""

    code = "data-empty"


class MissingSplit(DataError):
    """A split that the format names is not in the data, or holds no example."""

    code = "data-split"


class InvalidUtf8(DataError):
    """A line is not UTF-8.

    Attributes:
        byte: Offset of the first invalid byte from the beginning of the file.
    """

    code = "data-encoding"

    def __init__(self, reason: str, place: Place | None = None, *, byte: int | None = None) -> None:
        super().__init__(reason, place)
        self.byte = byte


class WrongLayout(DataError):
    """The header is another one, or there are rows where the format has none."""

    code = "data-layout"


class WrongColumnCount(DataError):
    """A row has too many or too few columns."""

    code = "data-columns"


class MissingText(DataError):
    """A row has no text."""

    code = "data-text"


class MissingLabel(DataError):
    """A row has no label."""

    code = "data-no-label"


class UnknownLabel(DataError):
    """A row has a label that the format, or the caller, does not list."""

    code = "data-label"


class InvalidScore(DataError):
    """A score is not a number, or out of range."""

    code = "data-score"


class InvalidAttributes(DataError):
    """A list of private attributes is not a list of ascending indices in range."""

    code = "data-attributes"


class InvalidJson(DataError):
    """A line is not a JSON object with the wanted keys."""

    code = "data-json"


class UnknownLaw(DataError):
    """Sanitised text is not what the record beside it is of."""

    code = "data-law"


class TrainingError(TextveilError):
    """A training cannot be started or gone on with. Base of the errors below."""

    code = "training"


class RecipeError(TrainingError):
    """A recipe is not TOML, lacks a key, has one too many, or a value that makes no sense."""

    code = "recipe"


class CheckpointError(TrainingError):
    """A checkpoint is missing, damaged, or has another architecture than was asked for."""

    code = "checkpoint"


class ResumeError(TrainingError):
    """A run cannot be continued: nothing to continue, or it was started with another recipe or other data."""

    code = "resume"


class DeviceError(TrainingError):
    """The device that was asked for is not there."""

    code = "device"


class SettingError(TrainingError):
    """A setting of a training is out of range."""

    code = "setting"


class LossError(TrainingError):
    """The loss of a step, or its gradient, is not a finite number."""

    code = "loss"


class EncoderMismatch(TrainingError):
    """A bundle and an encoder do not read text alike."""

    code = "encoder-mismatch"


class EmptyClass(TrainingError):
    """A class of the training data has no example, or another split has a class that training has not."""

    code = "class-empty"


class SubgroupError(TrainingError):
    """Accuracy by subgroup cannot be told: no attributes, too few texts, or models and data that do not belong."""

    code = "subgroup"


class ReleaseError(TrainingError):
    """A released vector that was received does not fit the classifier."""

    code = "release"


class CorpusError(TextveilError):
    """A corpus cannot be sanitised as asked."""

    code = "corpus"


class WorkerFailed(CorpusError):
    """A process that sanitised a part of a corpus failed, or was ended."""

    code = "corpus-worker"
