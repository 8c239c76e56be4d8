"""Every error a user can meet. One tree, stable codes, one line each.

No message holds a character of the text being protected, nor a word looked up, nor an argument of the command
line: a position ("token 17 of 40", "input 2", "byte 512") says where, the code says what. A table that was found and
opened is named by its file's name, and its rows by their numbers.
"""

from typing import TYPE_CHECKING

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
    "ConfigurationError",
    "CryptoUnavailable",
    "DocumentTooLong",
    "EncoderFailed",
    "EncoderUnavailable",
    "EngineFailed",
    "EntropyFailed",
    "ExtraMissing",
    "FieldTooLong",
    "FileChanged",
    "IdentityMismatch",
    "InputError",
    "KeyFileError",
    "LedgerBusy",
    "LedgerDamaged",
    "LedgerError",
    "LooksStructured",
    "MixedKinds",
    "ModelNotPinned",
    "ModelRefused",
    "NoStatistics",
    "NotTheMaker",
    "OptionError",
    "OutputError",
    "ReceiptError",
    "ReleaseError",
    "ResumeError",
    "ServeError",
    "TextveilError",
    "TracingRefused",
    "UnknownLevel",
    "UnknownMechanism",
    "WishNotMet",
    "WorkerFailed",
    "WrongBundle",
]


class TextveilError(Exception):
    """Base of all named errors. ``code`` is stable across versions and safe to log."""

    code = "textveil"


class BundleError(TextveilError):
    """A bundle cannot be used."""

    code = "bundle"


class BundleNotFound(BundleError):
    """There is no bundle at the given place."""

    code = "bundle-not-found"


class BundleDamaged(BundleError):
    """A file of the bundle is missing, truncated, altered or malformed."""

    code = "bundle-damaged"


class BundleTooLarge(BundleError):
    """A file of the bundle, or all of them, are larger than the caller allows, or than a reader can hold."""

    code = "bundle-too-large"


class BundleVersion(BundleError):
    """The bundle is of another version of the format than this release reads."""

    code = "bundle-version"


class WrongBundle(BundleError):
    """A bundle of another kind than is needed: for text, of vectors or of an index."""

    code = "bundle-kind"


class ModelRefused(BundleError):
    """The model of an encoder bundle holds, or asks for, something that this package does not run."""

    code = "model-refused"


class ModelNotPinned(BundleError):
    """A bundle runs a model, and its user named neither its identity nor its maker."""

    code = "model-not-pinned"


class NoStatistics(BundleError):
    """The bundle is sound, but does not tell what its levels do to words."""

    code = "no-statistics"


class IdentityMismatch(BundleError):
    """The bundle is sound, but not the one the caller asked for."""

    code = "bundle-identity"


class NotTheMaker(BundleError):
    """The bundle is not signed by the maker whose key the caller pinned."""

    code = "bundle-maker"


class OptionError(TextveilError):
    """An option has a value that this bundle or mechanism does not support."""

    code = "option"


class UnknownMechanism(OptionError):
    """No mechanism has that name."""

    code = "unknown-mechanism"


class UnknownLevel(OptionError):
    """The bundle has no such privacy level."""

    code = "unknown-level"


class WishNotMet(OptionError):
    """No level of the bundle does what was asked of it."""

    code = "wish-not-met"


class EncoderUnavailable(TextveilError):
    """The library that runs encoders is not installed, or is a version that is not known to stay offline."""

    code = "encoder-unavailable"


class EncoderFailed(TextveilError):
    """The model of an encoder bundle cannot be started, or fails on an input."""

    code = "encoder-failed"


class ExtraMissing(TextveilError):
    """A library that an extra of this package brings is not installed."""

    code = "extra-missing"

    @classmethod
    def of(cls, extra: str, package: str) -> "ExtraMissing":
        """Returns the error that says which extra brings a package."""
        return cls(
            f"this needs {package}: pip install 'textveil-cli[{extra}]' (in a clone: pip install './cli[{extra}]')"
        )


class TracingRefused(TextveilError):
    """A text would be sanitized where something that records its input is looking on."""

    code = "tracing"


class ServeError(TextveilError):
    """The local service cannot be started as it was asked for."""

    code = "serve"


class ReleaseError(TextveilError):
    """A released vector that was received does not fit the classifier."""

    code = "release"


class InputError(TextveilError):
    """The input cannot be read as text."""

    code = "input"


class DocumentTooLong(InputError):
    """A document has more drawn words, names and numbers than consistent draws allow."""

    code = "document-too-long"


class BadRow(InputError):
    """A row of a table does not fit the table, or its texts cannot be read."""

    code = "bad-row"


class ColumnError(InputError):
    """A column or key that was asked for is not there, is there twice or has no texts, or none was asked for."""

    code = "column"


class FieldTooLong(InputError):
    """A field of a table is longer than the cap."""

    code = "field-too-long"


class FileChanged(InputError):
    """A file was changed while it was read, or since it was sanitized."""

    code = "file-changed"


class LooksStructured(InputError):
    """A file that was given as plain text looks like a table."""

    code = "looks-structured"


class ConfigurationError(OptionError):
    """A configuration file cannot be used."""

    code = "configuration"


class WorkerFailed(TextveilError):
    """A process that sanitizes was ended from outside, or met an error that is not one of ours."""

    code = "worker"


class ClusterError(TextveilError):
    """There is no Ray cluster to work on, or it would tell others what it does."""

    code = "cluster"


class EntropyFailed(TextveilError):
    """The operating system gives no random bytes, too few, or such that no draw comes of them. Nothing was released."""

    code = "entropy"


class EngineFailed(TextveilError):
    """The regular expressions of this Python, or of the package regex, cut a known text wrong. Nothing was read."""

    code = "engine"


class OutputError(TextveilError):
    """The output cannot be written."""

    code = "output"


class LedgerError(TextveilError):
    """The ledger cannot be opened, read or written; nothing was released."""

    code = "ledger"


class LedgerBusy(LedgerError):
    """Another process kept the ledger locked for too long; nothing was released."""

    code = "ledger-busy"


class LedgerDamaged(LedgerError):
    """The file is not a ledger, or its contents contradict each other."""

    code = "ledger-damaged"


class BudgetError(LedgerError):
    """A release would go beyond the budget of its scope; nothing was released.

    Attributes:
        spent: What the scope had spent, in nats, exactly; ``None`` where an error is not of a ledger.
        budget: Its budget, likewise.
        spent_delta: The delta that it had spent, likewise.
        budget_delta: The delta of its budget, likewise.
        scope: The scope, as the caller named it. It is as private as the caller means it, and not in the message.
    """

    code = "budget"

    def __init__(
        self,
        message: str = "",
        *,
        spent: "Decimal | None" = None,
        budget: "Decimal | None" = None,
        spent_delta: "Decimal | None" = None,
        budget_delta: "Decimal | None" = None,
        scope: str | None = None,
    ) -> None:
        super().__init__(message)
        self.spent, self.budget, self.scope = spent, budget, scope
        self.spent_delta, self.budget_delta = spent_delta, budget_delta

    def worded(self, message: str) -> "BudgetError":
        """Returns the same refusal with another message."""
        return BudgetError(message, **vars(self))


class KeyFileError(TextveilError):
    """A key file is missing, can be read by others, lies where it must not, or belongs to something else."""

    code = "key"


class CryptoUnavailable(TextveilError):
    """The library for encryption and signatures is not installed."""

    code = "crypto-unavailable"


class ReceiptError(TextveilError):
    """A receipt is malformed, was altered, or is of another output."""

    code = "receipt"


class ResumeError(OutputError):
    """An output folder cannot be gone on with."""

    code = "resume"


class MixedKinds(TypeError):
    """One kind of privacy loss was compared with, or used as, another: a mistake in a program, never in its input."""
