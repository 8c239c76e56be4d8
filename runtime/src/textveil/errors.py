"""Every error a user can meet. One tree, stable codes, one line each.

No message holds a character of the text being protected, nor a word looked up: a position ("token 17 of 40", "byte
512") says where, the code says what. A file is named by the last part of its path, if it is there, ends like a file of
texts, or is one that an option names; a bundle or ledger, if it is called like a file; columns, also those of the
header, if their names look like headings; a level, if it is a short number.
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
    "NotTheMaker",
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
]


class TextveilError(Exception):
    """Base of all named errors. ``code`` is stable across versions and safe to log."""

    code: ClassVar[str] = "textveil"

    def __init_subclass__(cls, code: str | None = None) -> None:
        """Takes the code of an error: ``class Damaged(BundleError, code="damaged")``."""
        super().__init_subclass__()
        if code is not None:
            cls.code = code


class BundleError(TextveilError, code="bundle"):
    """A bundle cannot be used."""


class BundleNotFound(BundleError, code="bundle-not-found"):
    """There is no bundle at the given place."""


class BundleDamaged(BundleError, code="bundle-damaged"):
    """A file of the bundle is missing, truncated, altered or malformed."""


class BundleTooLarge(BundleError, code="bundle-too-large"):
    """A file of the bundle, or all of them, are larger than the caller allows, or than a reader can hold."""


class BundleVersion(BundleError, code="bundle-version"):
    """The bundle is of another version of the format than this release reads."""


class WrongBundle(BundleError, code="bundle-kind"):
    """A bundle of another kind than is needed: for text, of vectors or of an index."""


class ModelRefused(BundleError, code="model-refused"):
    """The model of an encoder bundle holds, or asks for, something that this package does not run."""


class ModelNotPinned(BundleError, code="model-not-pinned"):
    """A bundle runs a model, and its user named neither its identity nor its maker."""


class IdentityMismatch(BundleError, code="bundle-identity"):
    """The bundle is sound, but not the one the caller asked for."""


class NotTheMaker(BundleError, code="bundle-maker"):
    """The bundle is not signed by the maker whose key the caller pinned."""


class OptionError(TextveilError, code="option"):
    """An option has a value that this bundle or mechanism does not support."""


class UnknownMechanism(OptionError, code="unknown-mechanism"):
    """No mechanism has that name."""


class UnknownLevel(OptionError, code="unknown-level"):
    """The bundle has no such privacy level."""

    @classmethod
    def of(cls, epsilon: object, there_are: str) -> "UnknownLevel":
        """Returns the error that says which levels there are, and which was asked for if that is a short number."""
        short = re.fullmatch(r"\d{1,3}(\.\d{1,3})?", str(epsilon))
        return cls(f"no such level{f': {epsilon}' if short else ''}; {there_are}")


class EncoderUnavailable(TextveilError, code="encoder-unavailable"):
    """The library that runs encoders is not installed, or is a version that is not known to stay offline."""


class EncoderFailed(TextveilError, code="encoder-failed"):
    """The model of an encoder bundle cannot be started, or fails on an input."""


class DetectorFailed(TextveilError, code="detector-failed"):
    """An outside detector raised an error, or returned places that the text does not have."""


class ExtraMissing(TextveilError, code="extra-missing"):
    """A library that an extra of this package brings is not installed."""

    @classmethod
    def of(cls, extra: str, package: str) -> "ExtraMissing":
        """Returns the error that says which extra brings a package."""
        return cls(
            f"this needs {package}: pip install 'textveil-cli[{extra}]' (in a clone: pip install './cli[{extra}]')"
        )


class TracingRefused(TextveilError, code="tracing"):
    """A text would be sanitized where something that records its input is looking on."""


class ServeError(TextveilError, code="service"):
    """The local service, or the gateway, cannot be started as it was asked for."""


class ReleaseError(TextveilError, code="release"):
    """A released vector that was received does not fit the classifier."""


class InputError(TextveilError, code="input"):
    """The input cannot be read as text."""


class DocumentTooLong(InputError, code="document-too-long"):
    """A document has more drawn words, names and numbers than consistent draws allow."""


class BadRow(InputError, code="bad-row"):
    """A row of a table does not fit the table, or its texts cannot be read."""


class ColumnError(InputError, code="column"):
    """A column or key that was asked for is not there, is there twice or has no texts, or none was asked for."""


class FieldTooLong(InputError, code="field-too-long"):
    """A field of a table is longer than the cap."""


class FileChanged(InputError, code="file-changed"):
    """A file was changed while it was read, or since it was sanitized."""


class LooksStructured(InputError, code="looks-structured"):
    """A file that was given as plain text looks like a table."""


class WorkerFailed(TextveilError, code="worker"):
    """A process that sanitizes was ended from outside, or met an error that is not one of ours."""


class ClusterError(TextveilError, code="cluster"):
    """There is no Ray cluster to work on, or it would tell others what it does."""


class EntropyFailed(TextveilError, code="entropy"):
    """The operating system gives no random bytes, too few, or such that no draw comes of them. Nothing was released."""


class EngineFailed(TextveilError, code="engine"):
    """The regular expressions of this Python, or of the package regex, cut a known text wrong. Nothing was read."""


class OutputError(TextveilError, code="output"):
    """The output cannot be written."""


class WorkStopped(TextveilError, code="timeout"):
    """Rewriting or restoring was stopped: its time was over, or nobody waits for it any more. Nothing was released."""


class LedgerError(TextveilError, code="ledger"):
    """The ledger cannot be opened, read or written; nothing was released."""


class LedgerBusy(LedgerError, code="ledger-busy"):
    """Another process kept the ledger locked for too long; nothing was released."""


class LedgerDamaged(LedgerError, code="ledger-damaged"):
    """The file is not a ledger, or its contents contradict each other."""


class BudgetError(LedgerError, code="budget"):
    """A release would go beyond the budget of its scope; nothing was released.

    Attributes:
        spent: What the scope had spent, in nats, exactly; ``None`` where an error is not of a ledger.
        budget: Its budget, likewise.
        spent_delta: The delta that it had spent, likewise.
        budget_delta: The delta of its budget, likewise.
        scope: The scope, as the caller named it. It is as private as the caller means it, and not in the message.
    """

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
        self.spent: Decimal | None = spent
        self.budget: Decimal | None = budget
        self.spent_delta: Decimal | None = spent_delta
        self.budget_delta: Decimal | None = budget_delta
        self.scope: str | None = scope

    def worded(self, message: str) -> "BudgetError":
        """Returns the same refusal with another message."""
        return BudgetError(message, **vars(self))


class KeyFileError(TextveilError, code="key"):
    """A key file is missing, can be read by others, lies where it must not, or belongs to something else."""


class CryptoUnavailable(TextveilError, code="crypto-unavailable"):
    """The library for encryption and signatures is not installed."""


class ReceiptError(TextveilError, code="receipt"):
    """A receipt is malformed, was altered, or is of another output."""


class RestoredNotJson(TextveilError, TypeError, code="restored-not-json"):
    """A restored reply was given to an encoder of JSON as it is; it has ``.text`` and ``.to_dict()`` for that."""


class ConversationChanged(OutputError, code="conversation-changed"):
    """The file of a conversation is not the one that this conversation was read from or wrote last."""


class ResumeError(OutputError, code="resume"):
    """An output folder cannot be gone on with."""


class MixedKinds(TypeError):
    """One kind of privacy loss was compared with, or used as, another: a mistake in a program, never in its input."""
