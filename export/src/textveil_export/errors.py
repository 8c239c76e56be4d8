"""Named errors of the export commands; branches of the runtime's tree."""

from textveil.errors import TextveilError


class ExportError(TextveilError):
    """A bundle cannot be built or written."""

    code = "export"


class SourceError(ExportError):
    """An encoder, a word list or a vectors file cannot be used."""

    code = "source"


class WriteError(ExportError):
    """The bundle cannot be written; nothing was left behind."""

    code = "write"


class CertificationError(ExportError):
    """The table cannot be certified."""

    code = "certification"
