"""Errors of the command line, the local services and the integrations.

The errors of the library ``textveil`` itself are in ``textveil.errors``. Every error is a
``textveil.errors.TextveilError`` with a stable code and a message of one line::

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
    """Error for an active tracing tool, which would record the text that the user wants to protect."""


class ExtraMissing(TextveilError, code="extra-missing"):
    """Error for a missing library that belongs to an optional dependency group (extra) of this package."""

    @classmethod
    def from_extra(cls, extra: str, package: str) -> "ExtraMissing":
        """Return the error whose message names the missing ``package`` and the ``extra`` that installs it."""
        return cls(
            f"this needs {package}: pip install 'textveil-cli[{extra}]' (in a clone: pip install './cli[{extra}]')"
        )


class ServeError(TextveilError, code="service"):
    """Error for settings with which the local service or the gateway cannot start."""


class ReleaseError(TextveilError, code="release"):
    """Error for a received vector or label that does not fit the classifier or the bundle of the server."""


class BadRow(InputError, code="bad-row"):
    """Error for a row of a table that is malformed, or whose texts cannot be decoded."""


class ColumnError(InputError, code="column"):
    """Error for a selected column or key that is missing, duplicate or without texts."""


class FieldTooLong(InputError, code="field-too-long"):
    """Error for a field of a table that is longer than the limit."""


class FileChanged(InputError, code="file-changed"):
    """Error for an input file that another program changed while it was read, or after it was sanitized."""


class LooksStructured(InputError, code="looks-structured"):
    """Error for an input that the user declared as plain text, but that looks like a table."""


class WorkerFailed(TextveilError, code="worker"):
    """Error for a worker process that was killed, or in which a library raised an unexpected error."""


class ResumeError(OutputError, code="resume"):
    """Error for an output folder in which ``--resume`` cannot continue an earlier run, e.g. because options differ."""
