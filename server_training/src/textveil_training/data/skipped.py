"""Rows that are left out of training, because they cannot be used: counted, and kept for their owner where asked."""

import json
from collections import Counter
from pathlib import Path

from textveil.bundle import atomic_output

from textveil_training.errors import DataError, DataOptionError, MissingLabel, MissingText


class Skipped:
    """Takes the place of an error where a row is bad.

    Args:
        quarantine: Where bad rows are kept, for their owner alone; ``None`` to leave them out without a copy.
        empty_alone: Whether rows without a text or a label are left out, and others that are bad stay errors.

    Raises:
        DataOptionError: There is a file already.

    Attributes:
        reasons: How many rows were left out, by why.
    """

    def __init__(self, quarantine: Path | None = None, *, empty_alone: bool = True) -> None:
        if quarantine is not None and quarantine.exists():
            raise DataOptionError("--quarantine: there is a file already")
        self._quarantine, self._empty_alone = quarantine, empty_alone
        self._rows: list[dict[str, object]] = []
        self.reasons: Counter[str] = Counter()

    def add(self, error: DataError, row: object) -> None:
        """Leaves a row out; raises its error where that is to stay one."""
        if self._empty_alone and not isinstance(error, MissingText | MissingLabel):
            raise error
        location = error.location
        self.reasons[error.reason] += 1
        if self._quarantine is not None:
            file, line = (None, None) if location is None else (location.file_name, location.line)
            self._rows.append({"file": file, "line": line, "reason": error.reason, "row": row})

    def keep(self) -> None:
        """Writes the quarantine, whole; none without bad rows.

        Raises:
            OutputError: It cannot be written.
        """
        if self._quarantine is not None and self._rows:
            with atomic_output(self._quarantine, private=True) as write:
                for row in self._rows:
                    write(json.dumps(row, ensure_ascii=False) + "\n")

    def __str__(self) -> str:
        found = ", ".join(f"{count:,}: {reason}" for reason, count in self.reasons.most_common())
        return f"{self.reasons.total():,} rows left out ({found})"
