"""All errors that a user can meet: one class tree, stable codes, messages of one line.

Privacy:
    No message contains a character of the protected text, nor a word of a query: a position ("token 17 of 40", "byte
    512") describes the place, the code describes the problem. A message contains the last part of a file's path only
    if the file exists, has the extension of a text file, or is the value of an option; the name of a bundle or ledger
    only if it looks like a file name; names of columns, also those of the header, only if they look like headings; a
    level only if it is a short number.
"""

import re
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from decimal import Decimal

__all__ = [
    "BadRow",
    "BudgetError",
    "BundleDamaged",
    "BundleError",
    "BundleNotFound",
    "BundleTooLarge",
    "BundleVersion",
    "ClusterError",
    "ColumnError",
    "ContentHashMismatch",
    "ConversationChanged",
    "CryptoUnavailable",
    "DetectorFailed",
    "DocumentTooLong",
    "EncoderFailed",
    "EncoderUnavailable",
    "EngineFailed",
    "EntropyFailed",
    "ExtraMissing",
    "FieldTooLong",
    "FileChanged",
    "InputError",
    "KeyFileError",
    "LedgerBusy",
    "LedgerDamaged",
    "LedgerError",
    "LooksStructured",
    "MixedLossTypes",
    "ModelNotExpected",
    "ModelRefused",
    "OptionError",
    "OutputError",
    "ReceiptError",
    "ReleaseError",
    "RestoredNotJson",
    "ResumeError",
    "ServeError",
    "TextveilError",
    "TracingRefused",
    "UnknownLevel",
    "UnknownMechanism",
    "WorkStopped",
    "WorkerFailed",
    "WrongBundle",
    "WrongSigner",
]


class TextveilError(Exception):
    """Base of all named errors. ``code`` is stable across versions and safe to log."""

    code: ClassVar[str] = "textveil"

    def __init_subclass__(cls, code: str | None = None) -> None:
        """Set the code of an error class: ``class Damaged(BundleError, code="damaged")``."""
        super().__init_subclass__()
        if code is not None:
            cls.code = code


class BundleError(TextveilError, code="bundle"):
    """A bundle cannot be used."""


class BundleNotFound(BundleError, code="bundle-not-found"):
    """There is no bundle at the given path."""


class BundleDamaged(BundleError, code="bundle-damaged"):
    """A file of the bundle is missing, truncated, altered or malformed."""


class BundleTooLarge(BundleError, code="bundle-too-large"):
    """A file of the bundle, or all files, exceed the caller's limit or the limit of a reader."""


class BundleVersion(BundleError, code="bundle-version"):
    """The bundle has a format version that this release does not read."""


class WrongBundle(BundleError, code="bundle-type"):
    """The bundle has another type than necessary: text, vectors or class labels."""


class ModelRefused(BundleError, code="model-refused"):
    """The model of an encoder bundle needs a feature that this package does not run."""


class ModelNotExpected(BundleError, code="model-not-expected"):
    """A bundle runs a model, and the user gave neither its content hash nor its signer."""


class ContentHashMismatch(BundleError, code="bundle-content-hash"):
    """The bundle is valid, but it is not the expected bundle of the caller."""


class WrongSigner(BundleError, code="bundle-signer"):
    """The bundle has no signature of the signer whose key the caller gave."""


class OptionError(TextveilError, code="option"):
    """An option has a value that this bundle or mechanism does not support."""


class UnknownMechanism(OptionError, code="unknown-mechanism"):
    """No mechanism has this name."""


class UnknownLevel(OptionError, code="unknown-epsilon"):
    """The bundle has no such privacy level (epsilon)."""

    @classmethod
    def from_epsilon(cls, epsilon: object, available: str) -> "UnknownLevel":
        """Return the error with the available levels; it repeats only a short number as requested."""
        short = re.fullmatch(r"\d{1,3}(\.\d{1,3})?", str(epsilon))
        return cls(f"no such level{f': {epsilon}' if short else ''}; {available}")


class EncoderUnavailable(TextveilError, code="encoder-unavailable"):
    """The library that runs encoders is missing, or its version is not verified to stay offline."""


class EncoderFailed(TextveilError, code="encoder-failed"):
    """The model of an encoder bundle cannot start, or fails on an input."""


class DetectorFailed(TextveilError, code="detector-failed"):
    """An external detector raised an error, or returned positions outside the text."""


class ExtraMissing(TextveilError, code="extra-missing"):
    """A library from an optional dependency group (extra) of this package is not installed."""

    @classmethod
    def from_extra(cls, extra: str, package: str) -> "ExtraMissing":
        """Return the error with the extra that installs a package."""
        return cls(
            f"this needs {package}: pip install 'textveil-cli[{extra}]' (in a clone: pip install './cli[{extra}]')"
        )


class TracingRefused(TextveilError, code="tracing"):
    """Sanitizing is refused because a tracing tool would record the text."""


class ServeError(TextveilError, code="service"):
    """The local service, or the gateway, cannot start with the given settings."""


class ReleaseError(TextveilError, code="release"):
    """A received vector release does not fit the classifier."""


class InputError(TextveilError, code="input"):
    """The input cannot be read as text."""


class DocumentTooLong(InputError, code="document-too-long"):
    """A document has more randomized words, names and numbers than consistent sampling allows."""


class BadRow(InputError, code="bad-row"):
    """A row of a table does not fit the table, or its texts cannot be read."""


class ColumnError(InputError, code="column"):
    """A requested column or key is missing, duplicate or has no texts, or none is requested."""


class FieldTooLong(InputError, code="field-too-long"):
    """A field of a table is longer than the limit."""


class FileChanged(InputError, code="file-changed"):
    """A file was changed during reading, or after it was sanitized."""


class LooksStructured(InputError, code="looks-structured"):
    """A file given as plain text looks like a table."""


class WorkerFailed(TextveilError, code="worker"):
    """A worker process was ended from outside, or raised an error of another library."""


class ClusterError(TextveilError, code="cluster"):
    """There is no usable Ray cluster, or it would reveal its work to others."""


class EntropyFailed(TextveilError, code="entropy"):
    """The operating system returned no usable random bytes, or too few. Nothing was released."""


class EngineFailed(TextveilError, code="engine"):
    """The regular expressions of Python, or of the package regex, split a test text wrongly.

    Nothing was read.
    """


class OutputError(TextveilError, code="output"):
    """The output cannot be written."""


class WorkStopped(TextveilError, code="timeout"):
    """A time limit or a canceled request stopped rewriting or restoring. Nothing was released."""


class LedgerError(TextveilError, code="ledger"):
    """The ledger cannot be opened, read or written; nothing was released."""


class LedgerBusy(LedgerError, code="ledger-busy"):
    """Another process kept the ledger locked for too long; nothing was released."""


class LedgerDamaged(LedgerError, code="ledger-damaged"):
    """The file is not a ledger, or its contents contradict each other."""


class BudgetError(LedgerError, code="budget"):
    """A release would exceed the budget of its privacy unit; nothing was released.

    Attributes:
        spent: Exact epsilon that the privacy unit had spent; ``None`` if the error is not from a ledger.
        budget: Exact epsilon of its budget, or ``None`` likewise.
        spent_delta: Exact delta that it had spent, or ``None`` likewise.
        budget_delta: Exact delta of its budget, or ``None`` likewise.
        privacy_unit: The caller's name of the privacy unit. It is as private as the caller intends, and not in the
            message.
    """

    def __init__(
        self,
        message: str = "",
        *,
        spent: "Decimal | None" = None,
        budget: "Decimal | None" = None,
        spent_delta: "Decimal | None" = None,
        budget_delta: "Decimal | None" = None,
        privacy_unit: str | None = None,
    ) -> None:
        super().__init__(message)
        self.spent: Decimal | None = spent
        self.budget: Decimal | None = budget
        self.spent_delta: Decimal | None = spent_delta
        self.budget_delta: Decimal | None = budget_delta
        self.privacy_unit: str | None = privacy_unit

    def with_message(self, message: str) -> "BudgetError":
        """Return the same error with another message."""
        return BudgetError(message, **vars(self))


class KeyFileError(TextveilError, code="key"):
    """A key file is missing, readable by others, in a forbidden place, or belongs to other data."""


class CryptoUnavailable(TextveilError, code="crypto-unavailable"):
    """The library for encryption and signatures is not installed."""


class ReceiptError(TextveilError, code="receipt"):
    """A receipt is malformed or altered, or belongs to another output."""


class RestoredNotJson(TextveilError, TypeError, code="restored-not-json"):
    """A restored reply object was passed to a JSON encoder; use its ``.text`` or ``.to_dict()``."""


class ConversationChanged(OutputError, code="conversation-changed"):
    """The file of a conversation is not the version that was last read or written."""


class ResumeError(OutputError, code="resume"):
    """An output folder cannot be resumed."""


class MixedLossTypes(TypeError):
    """A program compared or mixed two types of privacy loss.

    It is a mistake in the program, never in its input.
    """
