"""Errors of this package, all subclasses of ``TextveilError``.

Each class has a stable code and one-line messages.

A message names the location (file name, line number, byte) and the fault. It never contains a character of a file's
content or an argument of the caller. A message contains a file's name only after the file has been opened.
"""

from dataclasses import dataclass

from textveil.errors import TextveilError


@dataclass(frozen=True, slots=True)
class FileLocation:
    """File and line that an error message names.

    Attributes:
        file_name: Last part of the file's path, made printable (see ``make_printable``).
        line: Line number from 1; ``None`` if the error concerns the whole file.
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
        location: File and line of the fault; ``None`` if no file had been opened.
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
    """Signal that the caller chose an option that the file format does not support."""

    code = "data-option"


class UnknownFormat(DataOptionError):
    """Signal that no file format has the requested name."""

    code = "data-format"


class UnreadableFile(DataError):
    """Signal that a file or folder does not exist or cannot be read."""

    code = "data-file"


class EmptyData(DataError):
    """Signal that a data file has no example."""

    code = "data-empty"


class MissingSplit(DataError):
    """Signal that a split (train, dev or test) of the format is missing from the data, or is empty."""

    code = "data-split"


class InvalidUtf8(DataError):
    """Signal that a line is not UTF-8.

    Attributes:
        byte: Offset of the first invalid byte, from the beginning of the file.
    """

    code = "data-encoding"

    def __init__(self, reason: str, location: FileLocation | None = None, *, byte: int | None = None) -> None:
        super().__init__(reason, location)
        self.byte = byte


class WrongLayout(DataError):
    """Signal that a file has another header than its format, or rows after the format's end."""

    code = "data-layout"


class WrongColumnCount(DataError):
    """Signal that a row has too many or too few columns."""

    code = "data-columns"


class MissingColumn(DataError):
    """Signal that a table has no column with the requested name or number, or has two."""

    code = "data-column"


class MissingText(DataError):
    """Signal that a row has no text."""

    code = "data-text"


class MissingLabel(DataError):
    """Signal that a row has no label."""

    code = "data-no-label"


class UnknownLabel(DataError):
    """Signal that a row has a label that neither the format nor the caller lists."""

    code = "data-label"


class InvalidScore(DataError):
    """Signal that a score is not a number, or is out of range."""

    code = "data-score"


class InvalidAttributes(DataError):
    """Signal that the private attributes of a row are not ascending indices in range."""

    code = "data-attributes"


class InvalidJson(DataError):
    """Signal that a line is not a JSON object with the expected keys."""

    code = "data-json"


class ReleaseMismatch(DataError):
    """Signal that sanitized texts do not match the record of ``sanitize-corpus`` in their folder."""

    code = "data-release"


class UnfinishedCorpus(DataError):
    """Signal that a corpus is incomplete, because the run of ``sanitize-corpus`` has not ended."""

    code = "data-unfinished"


class TrainingError(TextveilError):
    """Base class of errors that stop a training run."""

    code = "training"


class MissingExtra(TrainingError):
    """Signal that a command needs a package that is not installed.

    The message names the extra that installs the package.
    """

    code = "extra"


class RecipeError(TrainingError):
    """Signal that a recipe (file of training settings) is not TOML, or has a missing, unknown or invalid key."""

    code = "recipe"


class CheckpointError(TrainingError):
    """Signal that a checkpoint (folder of a trained model) is missing, damaged, or of another architecture."""

    code = "checkpoint"


class DeviceError(TrainingError):
    """Signal that the requested device (CPU or GPU) does not exist."""

    code = "device"


class SettingError(TrainingError):
    """Signal that a setting is out of range."""

    code = "setting"


class LossError(TrainingError):
    """Signal that the loss of a training step, or its gradient, is not a finite number."""

    code = "loss"


class StaircaseUnsupported(TrainingError):
    """Signal that a command needs a mechanism on single words, but the bundle has the staircase mechanism.

    The staircase mechanism randomizes a word differently depending on the text around it. To train a model on its
    outputs, rewrite the training texts first, with the command ``sanitize-corpus``.
    """

    code = "training-staircase"


class EncoderMismatch(TrainingError):
    """Signal that an encoder is cased, but sanitized words are in lower case."""

    code = "encoder-mismatch"


class EmptyClass(TrainingError):
    """Signal that a class has no training example."""

    code = "class-empty"


class InvalidClasses(TrainingError):
    """Signal that the labels of the data do not define a classification task.

    Either the number of classes is one or too large; or a class has too few texts, or occurs in the test part only.
    """

    code = "classes"


class InvalidRandomizer(TrainingError):
    """Signal that a confusion matrix, an epsilon or a delta does not define a randomizer of classes."""

    code = "randomizer"


class RewriterError(TrainingError):
    """Signal that a mechanism under audit cannot be run, or that its outputs cannot be read.

    No message contains an input or an output.
    """

    code = "rewriter"


class ClaimRefuted(TrainingError):
    """Signal that an audit refuted a mechanism's claimed epsilon, or that the mechanism repeats its outputs.

    If outputs repeat, the audit cannot test the claim.
    """

    code = "claim"


class SamplerFault(TrainingError):
    """Signal that samples of a bundle's mechanism differ from its exact probabilities in a statistical test."""

    code = "sampler"
