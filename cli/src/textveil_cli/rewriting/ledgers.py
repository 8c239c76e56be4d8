"""Charges what a command draws to its ledger, says what was charged, and writes the receipt of its output."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from textveil.errors import OptionError
from textveil.release import Statement, counted

from textveil_cli.console import Write, output_to, say_unless

if TYPE_CHECKING:
    from textveil.ledger import Budget, Issued, Ledger, ReceiptWriter
    from textveil.text import Options, Result, Sanitizer
    from textveil.vector import Encoder, IndexEncoder

    from textveil_cli.files.posted import BlockLedger
    from textveil_cli.options import LedgerOptions, ReceiptOptions


class RunLedger:
    """Charges what a command draws, and counts what the ledger says of it."""

    def __init__(self, ledger: "Ledger", scope: str, budget: "Budget | None", named_by: str | None = None) -> None:
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

    def _counted(self, charged: "Issued[Any]") -> Any:
        self._charged += not charged.stored
        self._stored += charged.stored
        self._before += charged.before > 0
        return charged.release


def run_ledger(
    options: "LedgerOptions", *, scope_column: str | None = None, scope_per_request: bool = False
) -> RunLedger | None:
    """Opens the ledger of a command; ``None`` where none is named.

    Args:
        options: The ledger, its scope and its budget.
        scope_column: The column that names the scope of each row.
        scope_per_request: Whether a request may name its scope.

    Raises:
        OptionError: Options of a ledger without one, or a memo without a key.
        LedgerError, KeyFileError, CryptoUnavailable: The ledger cannot be used.
    """
    if options.ledger is None:
        given = (options.ledger_key, options.scope, options.budget, options.budget_delta, options.memo_key)
        if options.memo or scope_per_request or any(option is not None for option in (scope_column, *given)):
            raise OptionError("--ledger-key, all of --scope and --budget, --memo and --memo-key go with --ledger")
        return None
    if options.memo != (options.memo_key is not None):
        raise OptionError("--memo and --memo-key go together: outputs are stored encrypted with that key")
    if options.scope is not None and scope_column is not None:
        raise OptionError("--scope and --scope-column exclude each other")
    if options.budget is None and options.budget_delta is not None:
        raise OptionError("--budget-delta goes with --budget")
    from textveil.ledger import DEFAULT_SCOPE, Budget, Ledger

    limit = (
        None
        if options.budget is None
        else Budget(options.budget, delta="0" if options.budget_delta is None else options.budget_delta)
    )
    named_by = "request" if scope_per_request else None if scope_column is None else "row"
    opened = Ledger(options.ledger, key=options.ledger_key, memo_key=options.memo_key)
    return RunLedger(opened, DEFAULT_SCOPE if options.scope is None else options.scope, limit, named_by)


class ReceiptFile:
    """The file that ``--receipt`` names, or none.

    Args:
        options: Where it goes, and the key that signs it.
        promised: What is promised.
        table: What of a table is rewritten.

    Raises:
        OptionError: It has no key, or the key no receipt.
    """

    def __init__(
        self, options: "ReceiptOptions", promised: Statement, table: Mapping[str, object] | None = None
    ) -> None:
        self.path, key = options.receipt, options.receipt_key
        if (self.path is None) != (key is None):
            raise OptionError("--receipt and --receipt-key go together: a receipt is signed for its recipient")
        self._writer: ReceiptWriter | None = None
        if key is not None:
            from textveil import ledger

            self._writer = ledger.ReceiptWriter(key, promised, table)

    def through(self, write: Write) -> Write:
        """Returns what writes the output, with the receipt looking on."""
        writer = self._writer
        if writer is None:
            return write

        def written(text: str) -> None:
            writer.update(text)
            write(text)

        return written

    def add(self, releases: Sequence[Any]) -> None:
        """Adds the releases of some documents."""
        if self._writer is not None:
            self._writer.add(release.statement for release in releases)

    def seal(self, statement_of: Callable[[int], Statement]) -> "_Seal | None":
        """Returns what looks on at a table that is written; ``None`` without a receipt."""
        return None if self._writer is None else _Seal(self._writer, statement_of)

    def write(self) -> None:
        """Writes the receipt."""
        if self.path is not None and self._writer is not None:
            with output_to(self.path) as write:
                write(self._writer.signed())


class _Seal:
    """Looks on at a table that is written: see ``files.run.Seal``."""

    def __init__(self, writer: "ReceiptWriter", statement_of: Callable[[int], Statement]) -> None:
        self._writer, self._statement_of = writer, statement_of

    def update(self, part: bytes) -> None:
        self._writer.update(part)

    def count(self, tokens: list[int]) -> None:
        for charged, times in Counter(tokens).items():
            self._writer.add([self._statement_of(charged)], times)
