"""Record the spent epsilon of one command run, print a summary, and sign a receipt of the output."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textveil.formatting import format_count
from textveil.ledger import Budget, Ledger, ReceiptWriter, RecordedRelease
from textveil.release import ReleaseStatement

from textveil_cli.console import TextWriter, open_output, print_unless_quiet

if TYPE_CHECKING:
    from textveil.text import Options, Result, Sanitizer
    from textveil.vector import Encoder, TextLabelEncoder

    from textveil_cli.files.ledger_writer import BlockLedger


class RunLedger:
    """Wrapper around a privacy ledger (record of spent epsilon) that counts what one command run spends.

    Args:
        ledger: The open ledger.
        privacy_unit: Name of the privacy unit (person or group for whom the ledger adds up epsilon) from
            ``--privacy-unit``.
        budget: Budget of every privacy unit of the run; ``None`` to apply only the budgets that the ledger already has.
        unit_named_by: ``"row"`` or ``"request"`` if each row or request names its own privacy unit; ``None`` if the
            whole run has one unit.
    """

    def __init__(
        self, ledger: Ledger, privacy_unit: str, budget: Budget | None, unit_named_by: str | None = None
    ) -> None:
        self._ledger, self._privacy_unit, self._budget, self._unit_named_by = (
            ledger,
            privacy_unit,
            budget,
            unit_named_by,
        )
        self._spent_documents = self._released_before = self._replayed_documents = 0

    @property
    def privacy_unit(self) -> str:
        """Return the argument of ``--privacy-unit``: the person or group for whom the ledger adds up epsilon."""
        return self._privacy_unit

    def sanitize(
        self, sanitizer: "Sanitizer", texts: Sequence[str], options: "Options", privacy_unit: str | None = None
    ) -> "list[Result]":
        """Sanitize documents, and record their spent epsilon in the privacy ledger.

        Args:
            sanitizer: The sanitizer.
            texts: The documents.
            options: Options of ``Sanitizer.sanitize``.
            privacy_unit: Person or group for whom the epsilon is recorded; ``None`` for the one of ``--privacy-unit``.

        Returns:
            One result for each document, in the order of ``texts``.
        """
        privacy_unit = self._privacy_unit if privacy_unit is None else privacy_unit
        issued_results = self._ledger.sanitize_batch(
            sanitizer, texts, privacy_unit=privacy_unit, budget=self._budget, **options
        )
        return [self._count_issued(issued) for issued in issued_results]

    def encode(
        self,
        encoder: "Encoder | TextLabelEncoder",
        texts: Sequence[str],
        options: dict[str, Any],
        privacy_unit: str | None = None,
    ) -> list[Any]:
        """Encode documents as noisy vectors or randomized class labels, and record their spent epsilon in the ledger.

        Args:
            encoder: The encoder.
            texts: The documents.
            options: Keyword arguments for ``encoder.encode``.
            privacy_unit: Person or group for whom the epsilon is recorded; ``None`` for the one of ``--privacy-unit``.

        Returns:
            One noisy vector or randomized class label for each document, in the order of ``texts``.
        """
        privacy_unit = self._privacy_unit if privacy_unit is None else privacy_unit
        issued_releases = self._ledger.encode_batch(
            encoder, texts, privacy_unit=privacy_unit, budget=self._budget, **options
        )
        return [self._count_issued(issued) for issued in issued_releases]

    @contextmanager
    def open_block_ledger(self, sanitizer: "Sanitizer", options: "Options") -> "Iterator[BlockLedger]":
        """Yield a ``BlockLedger``, which records the spent epsilon of files block by block, for one run.

        If a column names privacy units (persons or groups), the epsilon of each row is recorded for the unit of the
        row. On exit, the counts of the ``BlockLedger`` are copied to this object.
        """
        from textveil_cli.files.ledger_writer import BlockLedger

        block_ledger = BlockLedger(
            self._ledger, sanitizer, options, privacy_unit=self._privacy_unit, budget=self._budget
        )
        yield block_ledger
        self._spent_documents, self._released_before = block_ledger.documents, block_ledger.released_before

    def print_summary(self, quiet: bool) -> None:
        """Print, on standard error and for the owner of the device, the epsilon that this run spent."""
        if self._ledger.was_created:
            print_unless_quiet(
                f"created a new ledger with the key {self._ledger.key_path.name}: without the key its contents are "
                "lost",
                quiet,
            )
        total = f"total of this privacy unit: {self._ledger.get_account(self._privacy_unit)}"
        units_named = f"each in the privacy unit that its {self._unit_named_by} names"
        documents = format_count(self._spent_documents, "document")
        remarks = [f"{documents} spent epsilon, {total if self._unit_named_by is None else units_named}"]
        if self._replayed_documents:
            remarks.append(
                f"{format_count(self._replayed_documents, 'document')} answered from the replay cache, without spending"
            )
        if self._released_before:
            remarks.append(
                f"{format_count(self._released_before, 'document')} released before: each is one more release"
            )
        print_unless_quiet(f"ledger: {'; '.join(remarks)}", quiet)

    def _count_issued(self, issued: RecordedRelease[Any]) -> Any:
        self._spent_documents += not issued.is_replayed
        self._replayed_documents += issued.is_replayed
        self._released_before += issued.earlier_releases > 0
        return issued.release


class ReceiptFile:
    """Writer of the file of ``--receipt``, which has a signed hash of the output and the privacy statement.

    Args:
        path: Path of the receipt.
        key: File of the private key that signs the receipt.
        make_statement: Function that returns the privacy statement of a document with the given number of tokens.
        table: Description of the table and its sanitized columns; ``None`` for plain text.
    """

    def __init__(
        self,
        path: Path,
        key: Path,
        make_statement: Callable[[int], ReleaseStatement],
        table: Mapping[str, object] | None = None,
    ) -> None:
        self._path, self._make_statement = path, make_statement
        self._writer = ReceiptWriter(key, make_statement(0), table)

    def add_releases(self, releases: Sequence[Any]) -> None:
        """Add the privacy statements of further documents (what each sanitized text reveals) to the receipt."""
        self._writer.add_statements(release.statement for release in releases)

    def add_token_counts(self, tokens: list[int]) -> None:
        """Add sanitized documents to the receipt, given their numbers of randomized tokens.

        Args:
            tokens: For each document the number of randomized tokens, each of which spends epsilon.
        """
        for tokens_spent, documents in Counter(tokens).items():
            self._writer.add_statements([self._make_statement(tokens_spent)], documents)

    def update(self, part: str | bytes) -> None:
        """Include the next part of the output in the hash of the output."""
        self._writer.update(part)

    def wrap_writer(self, write: TextWriter) -> TextWriter:
        """Return a function that hashes each part of the output and then passes it to ``write``."""

        def hash_and_write(text: str) -> None:
            self.update(text)
            write(text)

        return hash_and_write

    def write(self) -> None:
        """Sign the receipt, and write it to the file of ``--receipt``."""
        with open_output(self._path) as write:
            write(self._writer.format_signed())
