"""``textveil sanitize``: lines of text in, sanitized lines out."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from textveil.errors import OptionError

from textveil_cli.options import (
    BundleOptions,
    InputOptions,
    LedgerOptions,
    OutputOptions,
    ReceiptOptions,
    RowOptions,
    RunOptions,
    TableOptions,
    TextOptions,
    refuse_overwriting,
)
from textveil_cli.rewriting.ledgers import ReceiptFile, run_ledger

if TYPE_CHECKING:
    from textveil.text import Options, Sanitizer

Refuse = Callable[..., None]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Everything that the command line says."""

    inputs: InputOptions
    bundle: BundleOptions
    how: TextOptions
    rows: RowOptions
    keep_mapping: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=RowOptions.heading,
            help="With --consistent and one document: write what restores its words here, for its owner alone "
            "(textveil restore).",
        ),
    ] = None
    table: TableOptions
    run: RunOptions
    output: OutputOptions
    ledger: LedgerOptions
    receipt: ReceiptOptions

    @property
    def is_table(self) -> bool:
        """Whether the files have columns."""
        return self.table.format not in (None, "lines")

    @property
    def is_over_files(self) -> bool:
        """Whether files are rewritten one by one: tables, packed ones, those of folders, and runs with such options."""
        if self.inputs.text is not None:
            return False
        if self.is_table or self.table.columns or self.run.given:
            return True
        from textveil_cli.files import packed_as

        paths, output = self.inputs.paths, self.output.output
        folders = (os.path.isdir(path) or (has_magic(path) and not os.path.lexists(path)) for path in paths)
        return any(map(packed_as, paths)) or (output is not None and any(folders))

    def check(self) -> None:
        """Raises ``OptionError`` for options that do not go together."""
        known = (None, "cell", "row") if self.is_table else (None, "line", "file")
        if self.rows.document not in known:
            raise OptionError(f"--document is {known[1]} or {known[2]}")
        if self.keep_mapping is not None and not self.how.draw.consistent:
            raise OptionError("--keep-mapping goes with --consistent")
        if self.keep_mapping is not None and self.ledger.memo:
            raise OptionError("--keep-mapping and --memo exclude each other: a memo stores no mapping")
        if self.is_over_files and self.keep_mapping is not None:
            raise OptionError("--keep-mapping is for one document, and not for folders or tables")
        if self.is_over_files and self.ledger.memo:
            raise OptionError("--memo is for plain text: it gives a whole call again, and files are drawn in parts")
        for option, value in (("--document-key", self.rows.document_key), ("--scope-column", self.rows.scope_column)):
            if value is not None and not self.is_over_files:
                raise OptionError(f"{option} is for tables")


def sanitize(asked: Asked) -> None:
    """Rewrite a text with words drawn at random.

    Function words, punctuation, case and kinds of names stay visible: textveil preview shows them. Each line is a
    document of plain text. Of CSV, TSV, JSON lines and Parquet, say which columns or keys to rewrite: the others are
    copied as they are. Files may also be folders, patterns, and packed as .gz or .zst. The privacy statement goes to
    standard error. It is about one word, for someone who knows every other word; the text as a whole is not protected.
    Every run draws afresh, so sanitizing the same text again is a second release and weakens the promise.
    """
    reads = [*asked.inputs.paths, asked.how.shown.deny]
    asked.check()
    options, sanitizer = asked.how.options(), asked.bundle.sanitizer()
    sanitizer.terms(**options)  # options are checked before any file is touched
    refuse = partial(refuse_overwriting, reads, asked.ledger, asked.receipt, sanitizer.bundle.path)
    if asked.is_over_files:
        _sanitize_files(asked, sanitizer, options, refuse)
    else:
        _sanitize_plain(asked, sanitizer, options, refuse)


def _sanitize_files(asked: Asked, sanitizer: "Sanitizer", options: "Options", refuse: Refuse) -> None:
    from textveil_cli.files import RECORD
    from textveil_cli.rewriting.tables import TableRun, sanitize_tables

    run = TableRun(
        inputs=asked.inputs.paths,
        output=asked.output,
        selection=asked.table.selection(asked.rows, consistent=asked.how.draw.consistent),
        run=asked.run,
        plain=asked.table.plain,
        bundle=asked.bundle.bundle,
        sanitizer=sanitizer,
        options=options,
    )
    sources = run.find(asked.receipt.receipt)
    record = None if sources.folder is None else sources.folder / RECORD
    written = [("--output", path) for path in (*(source.target for source in sources.files), record)]
    refuse(*written, ("--quarantine", asked.run.quarantine))
    promised = sanitizer.terms(**options).statement(0)
    receipts = ReceiptFile(asked.receipt, promised, run.selection.described)
    charged = run_ledger(asked.ledger, scope_column=asked.rows.scope_column)
    sanitize_tables(run, sources, charged, receipts)


def _sanitize_plain(asked: Asked, sanitizer: "Sanitizer", options: "Options", refuse: Refuse) -> None:
    from textveil_cli.rewriting.plain import PlainRun, sanitize_plain

    run = PlainRun(
        inputs=asked.inputs,
        output=asked.output,
        document=asked.rows.document,
        keep_mapping=asked.keep_mapping,
        whole=asked.ledger.memo,
        plain=asked.table.plain,
        sanitizer=sanitizer,
        options=options,
    )
    run.require_mapping()
    refuse(("--output", asked.output.output), ("--keep-mapping", asked.keep_mapping))
    receipts = ReceiptFile(asked.receipt, sanitizer.terms(**options).statement(0))
    charged = run_ledger(asked.ledger)
    sanitize_plain(run, receipts, charged)
    if charged is not None:
        charged.say(asked.output.quiet)
