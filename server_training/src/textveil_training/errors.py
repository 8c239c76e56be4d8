"""The errors of this package: a tree under ``TextveilError``; each class has a stable code and one-line messages.

A message names the place (file name, line number, byte) and the fault. It never contains a character of a file's
content or an argument of the caller: a file is named only after it has been opened.
"""

from dataclasses import dataclass

from textveil.errors import TextveilError


@dataclass(frozen=True, slots=True)
class FileLocation:
    """A file and a line that an error message names.

    Attributes:
        file_name: Last part of the file's path, made printable (see ``make_printable``).
        line: Line number from 1, or None for the file as a whole.
    """

    file_name: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file_name if self.line is None else f"{self.file_name}, line {self.line}"


def make_printable(text: str) -> str:
    """Replace every character that could break a line or control a terminal by U+FFFD."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


class DataError(TextveilError):
    """Base class of errors in data files.

    Attributes:
        location: File and line of the fault, or None if no file had been opened yet.
        reason: The message without file and line.

    Example:
        >>> str(DataError("the row has no label", FileLocation("train.tsv", 3)))
        'train.tsv, line 3: the row has no label'
    """

    code = "data"

    def __init__(self, reason: str, location: FileLocation | None = None) -> None:
        super().__init__(reason if location is None else f"{location}: {reason}")
        self.location, self.reason = location, reason


class DataOptionError(DataError):
    """The caller chose an option that the format does not support."""

    code = "data-option"


class UnknownFormat(DataOptionError):
    """No format has this name."""

    code = "data-format"


class UnreadableFile(DataError):
    """The file or folder does not exist or cannot be read."""

    code = "data-file"


class EmptyData(DataError):
    """The file has no example."""

    code = "data-empty"


class MissingSplit(DataError):
    """A split that the format names is missing from the data, or empty."""

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
    """The header is not that of the format, or rows follow where the format ends."""

    code = "data-layout"


class WrongColumnCount(DataError):
    """A row has too many or too few columns."""

    code = "data-columns"


class MissingColumn(DataError):
    """A table has no column with this name or number, or has two."""

    code = "data-column"


class MissingText(DataError):
    """A row has no text."""

    code = "data-text"


class MissingLabel(DataError):
    """A row has no label."""

    code = "data-no-label"


class UnknownLabel(DataError):
    """A row has a label that neither the format nor the caller lists."""

    code = "data-label"


class InvalidScore(DataError):
    """A score is not a number, or is out of range."""

    code = "data-score"


class InvalidAttributes(DataError):
    """The private attributes of a row are not ascending indices in range."""

    code = "data-attributes"


class InvalidJson(DataError):
    """A line is not a JSON object with the expected keys."""

    code = "data-json"


class ReleaseMismatch(DataError):
    """Sanitized text does not match the record beside it."""

    code = "data-release"


class UnfinishedCorpus(DataError):
    """The run that sanitizes a corpus has not ended."""

    code = "data-unfinished"


class TrainingError(TextveilError):
    """Base class of errors that stop a training run."""

    code = "training"


class MissingExtra(TrainingError):
    """A command needs a package that an extra installs."""

    code = "extra"


class RecipeError(TrainingError):
    """A recipe is not TOML, lacks a key, has an unknown key, or has an invalid value."""

    code = "recipe"


class CheckpointError(TrainingError):
    """A checkpoint is missing, damaged, or of another architecture."""

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
    """The staircase mechanism cannot be applied to single words.

    With this mechanism, the treatment of a word depends on the text around it. To train on its outputs, write a corpus
    with ``sanitize-corpus``.
    """

    code = "training-staircase"


class EncoderMismatch(TrainingError):
    """An encoder is cased, and sanitized words are in lower case."""

    code = "encoder-mismatch"


class EmptyClass(TrainingError):
    """A training class has no example, or another split has a class without training examples."""

    code = "class-empty"


class InvalidClasses(TrainingError):
    """The labels do not define a task.

    There is one class, or too many; a class has too few texts, or occurs in the test part only.
    """

    code = "classes"


class InvalidRandomizer(TrainingError):
    """A confusion matrix, an epsilon or a delta does not define a randomizer of classes."""

    code = "randomizer"


class RewriterError(TrainingError):
    """A mechanism under audit cannot be run, or its outputs cannot be read.

    No message contains an input or an output.
    """

    code = "rewriter"


class ClaimRefuted(TrainingError):
    """An audit refuted the claim of a mechanism, or could not test it since its draws repeat."""

    code = "claim"


class SamplerFault(TrainingError):
    """The installed sampler of a bundle fails its statistical test."""

    code = "sampler"
