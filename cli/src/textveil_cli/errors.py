"""Errors of the command line, its services and its integrations, beside those of the device in ``textveil.errors``.

Every error is a ``textveil.errors.TextveilError`` with a stable code and a message of one line::

    TextveilError
    |-- ExtraMissing          extra-missing
    |-- ReleaseError          release
    |-- ServeError            service
    |-- TracingRefused        tracing
    |-- WorkerFailed          worker
    |-- InputError
    |   |-- BadRow            bad-row
    |   |-- ColumnError       column
    |   |-- FieldTooLong      field-too-long
    |   |-- FileChanged       file-changed
    |   `-- LooksStructured   looks-structured
    `-- OutputError
        `-- ResumeError       resume

Privacy:
    As in ``textveil.errors``, no message contains a character of the protected text.
"""

from textveil.errors import InputError, OutputError, TextveilError

__all__ = [
    "BadRow",
    "ColumnError",
    "ExtraMissing",
    "FieldTooLong",
    "FileChanged",
    "LooksStructured",
    "ReleaseError",
    "ResumeError",
    "ServeError",
    "TracingRefused",
    "WorkerFailed",
]


class TracingRefused(TextveilError, code="tracing"):
    """Sanitizing is refused because a tracing tool would record the text."""


class ExtraMissing(TextveilError, code="extra-missing"):
    """A library from an optional dependency group (extra) of this package is not installed."""

    @classmethod
    def from_extra(cls, extra: str, package: str) -> "ExtraMissing":
        """Return the error with the extra that installs a package."""
        return cls(
            f"this needs {package}: pip install 'textveil-cli[{extra}]' (in a clone: pip install './cli[{extra}]')"
        )


class ServeError(TextveilError, code="service"):
    """The local service, or the gateway, cannot start with the given settings."""


class ReleaseError(TextveilError, code="release"):
    """A received vector release does not fit the classifier."""


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
    """A worker process was killed, or raised an error of another library."""


class ResumeError(OutputError, code="resume"):
    """An output folder cannot be resumed."""
