"""Skip and count bad rows in training data, and on request write them to a file for the data's owner."""

from collections import Counter
from pathlib import Path

from textveil_cli.files import RejectedRow, RejectedRowsFile

from textveil_training.errors import DataError, DataOptionError, MissingLabel, MissingText


class SkippedRows:
    """Collector of bad rows, which are skipped instead of raising an error.

    Args:
        rejected_rows: File for the bad rows, readable by its owner only; ``None`` to write no file.
        empty_alone: Whether to skip only rows without a text or a label, so that any other bad row is an error.

    Raises:
        DataOptionError: The file ``rejected_rows`` exists.

    Attributes:
        empty_alone: The argument ``empty_alone``.
        reasons: Number of skipped rows by reason.
    """

    def __init__(self, rejected_rows: Path | None = None, *, empty_alone: bool = True) -> None:
        if rejected_rows is not None and rejected_rows.exists():
            raise DataOptionError("--rejected-rows: the file exists: choose another name")
        self._rejected_rows, self.empty_alone = rejected_rows, empty_alone
        self._rows: list[tuple[str, RejectedRow]] = []
        self.reasons: Counter[str] = Counter()

    def add(self, error: DataError, number: int = 0, raw: str = "") -> None:
        """Count a bad row as skipped; if this collector does not skip errors of this type, raise the error.

        Args:
            error: The error of the row.
            number: Number of the row in the file.
            raw: The unchanged content of the row, decoded with the error handler ``surrogateescape``.
        """
        if self.empty_alone and not isinstance(error, MissingText | MissingLabel):
            raise error
        self.reasons[error.reason] += 1
        if self._rejected_rows is not None:
            file, line = ("", 0) if error.location is None else (error.location.file_name, error.location.line or 0)
            raw_bytes = raw.encode("utf-8", "surrogateescape")
            self._rows.append((file, RejectedRow(number=number, line=line, reason=error.reason, raw=raw_bytes)))

    def write_rejected_rows(self) -> None:
        """Write the skipped rows to the file ``rejected_rows``, in the format of ``textveil sanitize``.

        Raises:
            OutputError: The file cannot be written.
        """
        if self._rejected_rows is not None and self._rows:
            kept = RejectedRowsFile(self._rejected_rows, resume=False)
            try:
                for file, bad in self._rows:
                    kept.add_row(file, bad)
                kept.save_waiting_rows()
            finally:
                kept.close()

    def __str__(self) -> str:
        found = ", ".join(f"{count:,}: {reason}" for reason, count in self.reasons.most_common())
        return f"{self.reasons.total():,} rows skipped ({found})"
