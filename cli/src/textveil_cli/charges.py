"""Privacy spending of one command run: ledger, summary line, and receipt of the output."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textveil.ledger import Budget, Issued, Ledger, ReceiptWriter
from textveil.release import Statement, counted

from textveil_cli.console import Write, output_to, say_unless

if TYPE_CHECKING:
    from textveil.text import Options, Result, Sanitizer
    from textveil.vector import Encoder, IndexEncoder

    from textveil_cli.files.posted import BlockLedger


class RunLedger:
    """Privacy spending of one command run, with counts for its summary.

    Args:
        ledger: The open ledger.
        scope: Name of the privacy unit of the command line (``--scope``).
        budget: Limit of every privacy unit of the run; ``None`` sets no limit of its own.
        named_by: ``"row"`` or ``"request"`` if each of these names its own privacy unit; ``None`` if the run has one
            unit.
    """

    def __init__(self, ledger: Ledger, scope: str, budget: Budget | None, named_by: str | None = None) -> None:
        self._ledger, self._scope, self._budget, self._named_by = ledger, scope, budget, named_by
        self._charged = self._before = self._stored = 0

    @property
    def account(self) -> str:
        """Return the privacy unit of this run, for the manifest of an output folder."""
        return self._scope

    def sanitize(
        self, sanitizer: "Sanitizer", texts: Sequence[str], options: "Options", scope: str | None = None
    ) -> "list[Result]":
        """Sanitize documents and spend their epsilon in ``scope``.

        ``None`` is the privacy unit of the command line.

        Returns:
            One result for each text, in their order.
        """
        scope = self._scope if scope is None else scope
        given = self._ledger.sanitize_batch(sanitizer, texts, scope=scope, budget=self._budget, **options)
        return [self._counted(charged) for charged in given]

    def encode(
        self,
        encoder: "Encoder | IndexEncoder",
        texts: Sequence[str],
        options: dict[str, Any],
        scope: str | None = None,
    ) -> list[Any]:
        """Encode documents and spend their epsilon, as ``sanitize`` does."""
        scope = self._scope if scope is None else scope
        given = self._ledger.encode_batch(encoder, texts, scope=scope, budget=self._budget, **options)
        return [self._counted(charged) for charged in given]

    @contextmanager
    def over_files(self, sanitizer: "Sanitizer", options: "Options") -> "Iterator[BlockLedger]":
        """Yield the ledger for the blocks of a run over files.

        Where a column names the privacy unit of a row, the row's epsilon is spent there. On exit the counts of the
        blocks become the counts of this run.
        """
        from textveil_cli.files.posted import BlockLedger

        charges = BlockLedger(self._ledger, sanitizer, options, scope=self._scope, budget=self._budget)
        yield charges
        self._charged, self._before = charges.documents, charges.before

    def say(self, quiet: bool) -> None:
        """Print how much this run spent, on standard error, for the owner of the device."""
        if self._ledger.created:
            say_unless(f"a new ledger; its key is {self._ledger.key_path.name}: without it all is forgotten", quiet)
        spent = f"{self._ledger.account(self._scope)} spent in this scope"
        named = f"each in the scope that its {self._named_by} names"
        charged = counted(self._charged, "document")
        said = [f"{charged} charged, {spent if self._named_by is None else named}"]
        if self._stored:
            said.append(f"{counted(self._stored, 'document')} given again from the memo, at no charge")
        if self._before:
            said.append(f"{counted(self._before, 'document')} released before: each draw is one more release")
        say_unless(f"ledger: {'; '.join(said)}", quiet)

    def _counted(self, charged: Issued[Any]) -> Any:
        self._charged += not charged.stored
        self._stored += charged.stored
        self._before += charged.before > 0
        return charged.release


class ReceiptFile:
    """The file that ``--receipt`` names; it hashes the output as the command writes it.

    Args:
        path: The file.
        key: File of the key that signs the receipt.
        statement_of: Function from a number of tokens to the privacy statement of a document of that length.
        table: The columns or keys of a table that the command rewrites; ``None`` for plain text.
    """

    def __init__(
        self,
        path: Path,
        key: Path,
        statement_of: Callable[[int], Statement],
        table: Mapping[str, object] | None = None,
    ) -> None:
        self._path, self._statement_of = path, statement_of
        self._writer = ReceiptWriter(key, statement_of(0), table)

    def add(self, releases: Sequence[Any]) -> None:
        """Add the privacy statements of released documents."""
        self._writer.add(release.statement for release in releases)

    def count(self, tokens: list[int]) -> None:
        """Add documents; each number is the count of tokens whose epsilon a document spends."""
        for charged, times in Counter(tokens).items():
            self._writer.add([self._statement_of(charged)], times)

    def update(self, part: str | bytes) -> None:
        """Add a part of the output to the hash."""
        self._writer.update(part)

    def through(self, write: Write) -> Write:
        """Return a function that hashes each part of the output and then passes it to ``write``."""

        def written(text: str) -> None:
            self.update(text)
            write(text)

        return written

    def write(self) -> None:
        """Sign the receipt and write it to its file."""
        with output_to(self._path) as write:
            write(self._writer.signed())
