"""Charges what a command draws to its ledger, says what was charged, and writes the receipt of its output."""

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
    """Charges what a command draws, and counts what the ledger says of it."""

    def __init__(self, ledger: Ledger, scope: str, budget: Budget | None, named_by: str | None = None) -> None:
        self._ledger, self._scope, self._budget, self._named_by = ledger, scope, budget, named_by
        self._charged = self._before = self._stored = 0

    @property
    def account(self) -> str:
        """What of a run decides which account is charged, for the record of an output folder."""
        return self._scope

    def sanitize(
        self, sanitizer: "Sanitizer", texts: Sequence[str], options: "Options", scope: str | None = None
    ) -> "list[Result]":
        """Sanitizes documents, charged to a scope, or to that of the command line."""
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
        """Encodes documents, charged as ``sanitize`` does."""
        scope = self._scope if scope is None else scope
        given = self._ledger.encode_batch(encoder, texts, scope=scope, budget=self._budget, **options)
        return [self._counted(charged) for charged in given]

    @contextmanager
    def over_files(self, sanitizer: "Sanitizer", options: "Options") -> "Iterator[BlockLedger]":
        """Charges the blocks of a run over files, in the scope of each row where a column names it."""
        from textveil_cli.files.posted import BlockLedger

        charges = BlockLedger(self._ledger, sanitizer, options, scope=self._scope, budget=self._budget)
        yield charges
        self._charged, self._before = charges.documents, charges.before

    def say(self, quiet: bool) -> None:
        """Says what was charged, to the owner of the device."""
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
    """The file that ``--receipt`` names. It looks on while an output is drawn and written.

    Args:
        path: The file.
        key: File of the key that signs it.
        statement_of: What is promised of a document of so many tokens.
        table: What of a table is rewritten.
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
        """Adds the releases of some documents."""
        self._writer.add(release.statement for release in releases)

    def count(self, tokens: list[int]) -> None:
        """Adds documents, by the tokens that each is charged."""
        for charged, times in Counter(tokens).items():
            self._writer.add([self._statement_of(charged)], times)

    def update(self, part: str | bytes) -> None:
        """Adds what is written of the output."""
        self._writer.update(part)

    def through(self, write: Write) -> Write:
        """Returns what writes the output, with the receipt looking on."""

        def written(text: str) -> None:
            self.update(text)
            write(text)

        return written

    def write(self) -> None:
        """Writes the receipt."""
        with output_to(self._path) as write:
            write(self._writer.signed())
