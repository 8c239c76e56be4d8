"""The errors of this wheel: one tree under ``TextveilError``, each class with a stable code, messages of one line.

A message says where (file name, line number, byte) and what is wrong. It never holds a character of a file's content,
and never an argument of the caller: a file is named only after it has been opened.
"""

from dataclasses import dataclass

from textveil.errors import TextveilError


@dataclass(frozen=True, slots=True)
class FileLocation:
    """A file, and a line in it, that an error message names.

    Attributes:
        file_name: Last part of the file's path, made printable (see ``printable``).
        line: Line number from 1, or None for the file as a whole.
    """

    file_name: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file_name if self.line is None else f"{self.file_name}, line {self.line}"


def make_printable(text: str) -> str:
    """Replaces every character that could break a line or control a terminal by U+FFFD."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


class DataError(TextveilError):
    """Data cannot be used. Base class of the data errors.

    Attributes:
        location: File and line of the fault, or None if no file had been opened yet.
        reason: The message without them.
    """

    code = "data"

    def __init__(self, reason: str, location: FileLocation | None = None) -> None:
        super().__init__(reason if location is None else f"{location}: {reason}")
        self.location, self.reason = location, reason


class DataOptionError(DataError):
    """The caller asked for something that the format does not have."""

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
        byte: Offset of the first invalid byte, from the beginning of the file.
    """

    code = "data-encoding"

    def __init__(self, reason: str, location: FileLocation | None = None, *, byte: int | None = None) -> None:
        super().__init__(reason, location)
        self.byte = byte


class WrongLayout(DataError):
    """The header is not that of the format, or there are rows where the format has none."""

    code = "data-layout"


class WrongColumnCount(DataError):
    """A row has too many or too few columns."""

    code = "data-columns"


class MissingColumn(DataError):
    """A table has no column, or two, of the name or number that was asked for."""

    code = "data-column"


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
    """The private attributes of a row are not ascending indices in range."""

    code = "data-attributes"


class InvalidJson(DataError):
    """A line is not a JSON object with the expected keys."""

    code = "data-json"


class ReleaseMismatch(DataError):
    """Sanitized text does not match the record that lies beside it."""

    code = "data-release"


class TrainingError(TextveilError):
    """A training run cannot be started or continued. Base class of the training errors."""

    code = "training"


class MissingExtra(TrainingError):
    """A command needs a package that an extra of this wheel installs."""

    code = "extra"


class RecipeError(TrainingError):
    """A recipe is not TOML, lacks a key, has an unknown key, or has a value that makes no sense."""

    code = "recipe"


class CheckpointError(TrainingError):
    """A checkpoint is missing, damaged, or of another architecture than the one asked for."""

    code = "checkpoint"


class DeviceError(TrainingError):
    """The requested device does not exist."""

    code = "device"


class SettingError(TrainingError):
    """A setting is out of range."""

    code = "setting"


class LossError(TrainingError):
    """The loss of a step, or its gradient, is not a finite number."""

    code = "loss"


class StaircaseUnsupported(TrainingError):
    """Pretraining works token by token, and records of training cannot hold terms of the staircase."""

    code = "training-staircase"


class EncoderMismatch(TrainingError):
    """A bundle and an encoder do not split text into the same tokens."""

    code = "encoder-mismatch"


class EmptyClass(TrainingError):
    """A class of the training data has no example, or another split has a class that training has not."""

    code = "class-empty"


class InvalidClasses(TrainingError):
    """Labels do not make a task: one class, too many, one with too few texts, or one that the test part alone has."""

    code = "classes"


class InvalidRandomizer(TrainingError):
    """A prior, a confusion matrix, an epsilon or a delta that no channel on classes can be made from."""

    code = "channel"
