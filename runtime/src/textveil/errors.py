"""Error classes of the library on a device.

Every error message has one line. Every class has a code, which is stable across versions and safe to log::

    TextveilError                     textveil
    |-- BundleError                   bundle
    |   |-- BundleNotFound            bundle-not-found
    |   |-- BundleDamaged             bundle-damaged
    |   |-- BundleTooLarge            bundle-too-large
    |   |-- BundleVersion             bundle-version
    |   |-- WrongBundle               bundle-type
    |   |-- ModelRefused              model-refused
    |   |-- ModelNotExpected          model-not-expected
    |   |-- ContentHashMismatch       bundle-content-hash
    |   `-- WrongSigner               bundle-signer
    |-- OptionError                   option
    |   |-- UnknownMechanism          unknown-mechanism
    |   `-- UnknownLevel              unknown-epsilon
    |-- EncoderUnavailable            encoder-unavailable
    |-- EncoderFailed                 encoder-failed
    |-- DetectorFailed                detector-failed
    |-- InputError                    input
    |   `-- DocumentTooLong           document-too-long
    |-- EntropyFailed                 entropy
    |-- EngineFailed                  engine
    |-- OutputError                   output
    |   `-- ConversationChanged       conversation-changed
    |-- WorkStopped                   timeout
    |-- LedgerError                   ledger
    |   |-- LedgerBusy                ledger-busy
    |   |-- LedgerDamaged             ledger-damaged
    |   `-- BudgetError               budget
    |-- KeyFileError                  key
    |-- CryptoUnavailable             crypto-unavailable
    |-- ReceiptError                  receipt
    `-- RestoredNotJson               restored-not-json

``MixedLossTypes`` is a ``TypeError``, which reports a mistake in a program. ``LanguageWarning`` is a warning. The
module ``textveil_cli.errors`` has further errors of the command line, its services and its integrations.
"""

import re
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from decimal import Decimal

__all__ = [
    "BudgetError",
    "BundleDamaged",
    "BundleError",
    "BundleNotFound",
    "BundleTooLarge",
    "BundleVersion",
    "ContentHashMismatch",
    "ConversationChanged",
    "CryptoUnavailable",
    "DetectorFailed",
    "DocumentTooLong",
    "EncoderFailed",
    "EncoderUnavailable",
    "EngineFailed",
    "EntropyFailed",
    "InputError",
    "KeyFileError",
    "LanguageWarning",
    "LedgerBusy",
    "LedgerDamaged",
    "LedgerError",
    "MixedLossTypes",
    "ModelNotExpected",
    "ModelRefused",
    "OptionError",
    "OutputError",
    "ReceiptError",
    "RestoredNotJson",
    "TextveilError",
    "UnknownLevel",
    "UnknownMechanism",
    "WorkStopped",
    "WrongBundle",
    "WrongSigner",
]


class TextveilError(Exception):
    """Base class of all errors of this package. The attribute ``code`` is stable across versions and safe to log.

    >>> from textveil import Sanitizer
    >>> try:
    ...     Sanitizer.load("no-such-folder")
    ... except TextveilError as error:
    ...     print(error.code)
    bundle-not-found
    """

    code: ClassVar[str] = "textveil"

    def __init_subclass__(cls, code: str | None = None) -> None:
        """Set the code of a new error class, as in ``class Damaged(BundleError, code="damaged")``."""
        super().__init_subclass__()
        if code is not None:
            cls.code = code


class BundleError(TextveilError, code="bundle"):
    """Base class of the errors for bundles (folders with word lists, tables or a model) that cannot be used.

    >>> issubclass(BundleNotFound, BundleError), BundleNotFound.code
    (True, 'bundle-not-found')
    """


class BundleNotFound(BundleError, code="bundle-not-found"):
    """The given folder is missing or is not a bundle (data folder), or a language pack is not installed.

    >>> from textveil import Sanitizer
    >>> Sanitizer.load("no-such-folder")
    Traceback (most recent call last):
    textveil.errors.BundleNotFound: there is no folder 'no-such-folder': a bundle is a folder with a manifest.json
    """


class BundleDamaged(BundleError, code="bundle-damaged"):
    """A file of a bundle (folder with word lists, tables or a model) is missing, truncated, altered or malformed.

    >>> from textveil.bundle import parse_tensors
    >>> parse_tensors(b"", "weights")
    Traceback (most recent call last):
    textveil.errors.BundleDamaged: weights: the header is truncated or malformed
    """


class BundleTooLarge(BundleError, code="bundle-too-large"):
    """A file of a bundle (data folder) is too large, or all files together exceed the limit ``max_bytes``.

    >>> from textveil import Sanitizer
    >>> Sanitizer.load(max_bytes=1000)
    Traceback (most recent call last):
    textveil.errors.BundleTooLarge: the files of this bundle have more than 1,000 bytes: ... raise max_bytes
    """


class BundleVersion(BundleError, code="bundle-version"):
    """The bundle (data folder) has a format version that this version of the package does not read.

    >>> issubclass(BundleVersion, BundleError), BundleVersion.code
    (True, 'bundle-version')
    """


class WrongBundle(BundleError, code="bundle-type"):
    """The bundle (data folder) is for another output (text, vectors or class labels) than the caller needs.

    >>> from textveil import Encoder
    >>> from textveil.bundle import DEFAULT_BUNDLE
    >>> Encoder.load(DEFAULT_BUNDLE)
    Traceback (most recent call last):
    textveil.errors.WrongBundle: ...
    """


class ModelRefused(BundleError, code="model-refused"):
    """The model of a bundle (data folder) contains something that this package does not run.

    >>> issubclass(ModelRefused, BundleError), ModelRefused.code
    (True, 'model-refused')
    """


class ModelNotExpected(BundleError, code="model-not-expected"):
    """The bundle (data folder) has a model, but the caller passed neither its expected hash nor its signer.

    Pass ``expect_id`` or ``signer``: a model runs only if the caller trusts its author.

    >>> from textveil import Encoder
    >>> from textveil.bundle import find_artifact
    >>> Encoder.load(find_artifact("support-vectors"))
    Traceback (most recent call last):
    textveil.errors.ModelNotExpected: ...
    """


class ContentHashMismatch(BundleError, code="bundle-content-hash"):
    """The hash of the bundle (data folder) differs from the expected hash ``expect_id``. The bundle may still be valid.

    >>> from textveil import Sanitizer
    >>> Sanitizer.load(expect_id=64 * "0")
    Traceback (most recent call last):
    textveil.errors.ContentHashMismatch: ...
    """


class WrongSigner(BundleError, code="bundle-signer"):
    """The bundle (data folder) has no valid signature by the key that the caller passed.

    >>> issubclass(WrongSigner, BundleError), WrongSigner.code
    (True, 'bundle-signer')
    """


class OptionError(TextveilError, code="option"):
    """An option is unknown, or its value is not supported.

    >>> from textveil import Sanitizer
    >>> Sanitizer.load().sanitize("Hello", protect="sentences")
    Traceback (most recent call last):
    textveil.errors.OptionError: protect must be one of names, words, all
    """


class UnknownMechanism(OptionError, code="unknown-mechanism"):
    """The mechanism (method of randomizing) is unknown, or the bundle (data folder) lacks its tables.

    >>> from textveil import Sanitizer
    >>> Sanitizer.load().sanitize("Hello", mechanism="santext")
    Traceback (most recent call last):
    textveil.errors.UnknownMechanism: ...
    """


class UnknownLevel(OptionError, code="unknown-epsilon"):
    """The bundle (data folder) has no parameters for the requested epsilon.

    >>> from textveil import Sanitizer
    >>> Sanitizer.load().sanitize("Hello", protect="words", epsilon=10.5)
    Traceback (most recent call last):
    textveil.errors.UnknownLevel: ...
    """

    @classmethod
    def from_epsilon(cls, epsilon: object, available: str) -> "UnknownLevel":
        """Create the error for a requested epsilon that a bundle (data folder) does not support.

        Args:
            epsilon: The requested epsilon. The message repeats it only if it is a short number.
            available: The supported epsilons, as a part of the message.
        """
        short = re.fullmatch(r"\d{1,3}(\.\d{1,3})?", str(epsilon))
        return cls(f"no such level{f': {epsilon}' if short else ''}; {available}")


class EncoderUnavailable(TextveilError, code="encoder-unavailable"):
    """The package onnxruntime is not installed, or its version may use the network.

    >>> issubclass(EncoderUnavailable, TextveilError), EncoderUnavailable.code
    (True, 'encoder-unavailable')
    """


class EncoderFailed(TextveilError, code="encoder-failed"):
    """The model of a bundle (data folder) cannot be loaded, or fails for an input.

    >>> issubclass(EncoderFailed, TextveilError), EncoderFailed.code
    (True, 'encoder-failed')
    """


class DetectorFailed(TextveilError, code="detector-failed"):
    """The caller's detector (function that finds names) raised an error, or returned positions outside the text.

    >>> from textveil import Sanitizer
    >>> bundle = Sanitizer.load().bundle
    >>> Sanitizer(bundle, detector=lambda text: 1 / 0).sanitize("Hello", protect="names")
    Traceback (most recent call last):
    textveil.errors.DetectorFailed: the external detector raised ZeroDivisionError; nothing was released
    """


class InputError(TextveilError, code="input"):
    """The input is not a text, or has an unsupported format.

    >>> from textveil import Sanitizer
    >>> Sanitizer.load().sanitize(88213)
    Traceback (most recent call last):
    textveil.errors.InputError: the text must be a string: for a list of texts use sanitize_batch
    """


class DocumentTooLong(InputError, code="document-too-long"):
    """A document has too many words to replace with the option ``consistent``.

    The option gives equal words of a document equal replacements. ``consistent_cap`` is the maximum number of replaced
    words, names and numbers.

    >>> from textveil import Sanitizer
    >>> Sanitizer.load().sanitize("red blue green", protect="words", consistent=True, consistent_cap=2)
    Traceback (most recent call last):
    textveil.errors.DocumentTooLong: ...
    """


class EntropyFailed(TextveilError, code="entropy"):
    """The operating system returned no random bytes, or bytes that are not random. No output was returned.

    >>> issubclass(EntropyFailed, TextveilError), EntropyFailed.code
    (True, 'entropy')
    """


class EngineFailed(TextveilError, code="engine"):
    """The installed Python or package ``regex`` splits a test text into the wrong words: install another version.

    The error is raised before any text of the user is read.

    >>> issubclass(EngineFailed, TextveilError), EngineFailed.code
    (True, 'engine')
    """


class OutputError(TextveilError, code="output"):
    """An output file or folder cannot be written, or must not be overwritten.

    >>> from pathlib import Path
    >>> from textveil.storage import open_atomic_text
    >>> with open_atomic_text(Path("no-such-folder/sent.txt")) as write:
    ...     write("Hello")
    Traceback (most recent call last):
    textveil.errors.OutputError: 'sent.txt' cannot be written: its folder does not exist: make it first
    """


class WorkStopped(TextveilError, code="timeout"):
    """A time limit or a canceled request stopped the work on a text. No output was returned.

    >>> issubclass(WorkStopped, TextveilError), WorkStopped.code
    (True, 'timeout')
    """


class LedgerError(TextveilError, code="ledger"):
    """The privacy ledger (file that records epsilons) cannot be opened, read or written. No output was returned.

    >>> issubclass(LedgerBusy, LedgerError), LedgerBusy.code
    (True, 'ledger-busy')
    """


class LedgerBusy(LedgerError, code="ledger-busy"):
    """Another process kept the privacy ledger (file that records epsilons) locked for too long. No output was returned.

    >>> issubclass(LedgerBusy, LedgerError), LedgerBusy.code
    (True, 'ledger-busy')
    """


class LedgerDamaged(LedgerError, code="ledger-damaged"):
    """The file is not a privacy ledger (record of epsilons) of this version, or its contents are inconsistent.

    >>> from pathlib import Path
    >>> from textveil import Ledger
    >>> _ = Path("notes.txt").write_text("Buy milk.")
    >>> Ledger("notes.txt")
    Traceback (most recent call last):
    textveil.errors.LedgerDamaged: this file is not a textveil ledger, or it is damaged; nothing was released
    """


class BudgetError(LedgerError, code="budget"):
    """An output would exceed the privacy budget of a person or of another privacy unit. No output was returned.

    The first four attributes are ``None`` if the error does not come from a ledger.

    Attributes:
        spent: Exact epsilon that the privacy unit has already spent.
        budget: Exact epsilon of the budget.
        spent_delta: Exact delta that the privacy unit has already spent.
        budget_delta: Exact delta of the budget.
        privacy_unit: Name of the privacy unit. The error message does not contain this name, because it may be private.

    >>> from textveil import Budget, Ledger, Sanitizer
    >>> try:
    ...     ledger = Ledger("budget.ledger")
    ...     ledger.sanitize(Sanitizer.load(), "blue sky", protect="words", epsilon=8, budget=Budget(5))
    ... except BudgetError as error:
    ...     print(error.spent, error.budget)
    0 5
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
        """Return a copy of this error with another message."""
        return BudgetError(message, **vars(self))


class KeyFileError(TextveilError, code="key"):
    """A key file cannot be used: it is missing, invalid, readable by other users, misplaced, or for other data.

    >>> from pathlib import Path
    >>> from textveil.storage import read_key
    >>> read_key(Path("no-such-file"), "the key", create=False)
    Traceback (most recent call last):
    textveil.errors.KeyFileError: the key: the file is missing or cannot be read
    """


class CryptoUnavailable(TextveilError, code="crypto-unavailable"):
    """The package ``cryptography``, for encryption and signatures, is not installed.

    >>> issubclass(CryptoUnavailable, TextveilError), CryptoUnavailable.code
    (True, 'crypto-unavailable')
    """


class ReceiptError(TextveilError, code="receipt"):
    """A receipt (signed privacy statement) is malformed, was altered, or belongs to another output or signer.

    >>> from textveil.ledger import read_receipt
    >>> read_receipt(b"{}")
    Traceback (most recent call last):
    textveil.errors.ReceiptError: this is not a receipt that textveil has written
    """


class RestoredNotJson(TextveilError, TypeError, code="restored-not-json"):
    """A result of ``restore`` was passed to a JSON encoder. Pass the result's ``.text`` or ``.to_dict()`` instead.

    >>> import json
    >>> from textveil import Sanitizer
    >>> result = Sanitizer.load().sanitize("Hello Anna", protect="names")
    >>> json.dumps(result.restore(result.text))
    Traceback (most recent call last):
    textveil.errors.RestoredNotJson: ...
    """


class ConversationChanged(OutputError, code="conversation-changed"):
    """Another process has changed the file of a conversation since this conversation last read or wrote the file.

    >>> issubclass(ConversationChanged, OutputError), ConversationChanged.code
    (True, 'conversation-changed')
    """


class LanguageWarning(UserWarning):
    """Warning that texts may be in another language than the word lists. The message contains no word of a text.

    >>> issubclass(LanguageWarning, UserWarning)
    True
    """


class MixedLossTypes(TypeError):
    """A program compared or mixed two types of privacy loss, such as an epsilon per word and one per text.

    This is a mistake in the program, never in its input.

    >>> from decimal import Decimal
    >>> from textveil.release import PerWord, WholeText
    >>> PerWord(Decimal(8)) < WholeText(Decimal(4))
    Traceback (most recent call last):
    textveil.errors.MixedLossTypes: privacy losses cannot be compared with < or >: use first.covers(second)
    """
