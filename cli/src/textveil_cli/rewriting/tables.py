"""``textveil sanitize`` for files with columns, for folders, and for packed files."""

import gc
import json
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textveil.errors import OptionError
from textveil.release import counted
from textveil.text import Options, Sanitizer

from textveil_cli.console import bytes_bar, say_unless
from textveil_cli.files import (
    Drawer,
    Finished,
    Quarantine,
    Record,
    Selection,
    Sources,
    find_sources,
    refuse_tables_by_name,
    refusing_tables,
    sanitize_files,
    settings_of,
)
from textveil_cli.options import OutputOptions, RunOptions
from textveil_cli.rewriting.ledgers import ReceiptFile, RunLedger
from textveil_cli.rewriting.plain import LanguageWarning

if TYPE_CHECKING:
    from textveil.text import Terms

#: Inputs of fewer bytes are done before a bar could be read.
_BAR_FROM_BYTES = 1_000_000


@dataclass(frozen=True, kw_only=True)
class TableRun:
    """A run over files, as a command line describes it.

    Attributes:
        inputs: Files, folders and patterns.
        output: Where it goes, and what is said.
        selection: What is rewritten.
        run: Bad rows, processes, and whether an output folder is gone on with.
        plain: Whether it is plain text, though it looks like a table.
        bundle: Folder of the bundle; ``None`` is the built-in one.
        sanitizer: The sanitizer.
        options: Options of the draws.
        changed: Options that are from a configuration file.
    """

    inputs: list[str]
    output: OutputOptions
    selection: Selection
    run: RunOptions
    plain: bool
    bundle: Path | None
    sanitizer: Sanitizer
    options: Options
    changed: list[str]

    def find(self, receipt: Path | None) -> Sources:
        """Finds the files of the run, and the places of their outputs.

        Args:
            receipt: Where a receipt goes.

        Raises:
            TextveilError: See ``files.find_sources``; or an option does not go with what was found.
        """
        if self.output.as_json and self.output.output is None:
            raise OptionError("--json is the statement of the run here: it needs -o, since rows are on standard output")
        sources = find_sources(self.inputs, self.selection.format, self.output.output)
        if self.run.resume and sources.folder is None:
            raise OptionError("--resume is for an output folder")
        if sources.folder is not None and receipt is not None:
            raise OptionError("--receipt is of one output: a folder has several")
        return sources


def sanitize_tables(run: TableRun, sources: Sources, charged: RunLedger | None, receipts: ReceiptFile) -> None:
    """Sanitizes files as the command line says, and states what was promised.

    Args:
        run: The run.
        sources: Its files.
        charged: Charges what is drawn; ``None`` without a ledger.
        receipts: Looks on.

    Raises:
        TextveilError: See ``files.sanitize_files``.
    """
    quiet = run.output.quiet
    finished, about = _written(run, sources, charged, receipts)
    receipts.write()
    if run.output.as_json:
        print(json.dumps(about, ensure_ascii=False))
    else:
        say_unless(_statement(run, finished), quiet)
    _say_notes(sources, finished, quiet)
    if charged is not None:
        charged.say(quiet)


def _written(
    run: TableRun, sources: Sources, charged: RunLedger | None, receipts: ReceiptFile
) -> tuple[Finished, dict[str, object]]:
    """Writes the files; returns what was done, and what is said of it."""
    terms = run.sanitizer.terms(**run.options)
    warn = LanguageWarning(run.sanitizer, run.options)

    def look(name: str, texts: list[str]) -> None:
        if run.selection.format == "lines" and not run.plain:
            refuse_tables_by_name(name, name)
            refusing_tables(name)(texts)
        if not run.output.quiet:
            warn(texts)

    size, to_file = sum(source.size for source in sources.files), run.output.output is not None
    gc.freeze()  # what is loaded stays: to look through it again and again takes a fifth of the time of short cells
    with ExitStack() as stack:
        record = quarantine = charges = None
        if sources.folder is not None:
            account = None if charged is None else charged.account
            settings = settings_of(run.selection, terms, run.options, account)
            record = Record(sources.folder, settings, resume=run.run.resume)
            stack.callback(record.close)
        if run.run.quarantine is not None:
            quarantine = Quarantine(run.run.quarantine, resume=run.run.resume)
            stack.callback(quarantine.close)
        if charged is not None:
            charges = stack.enter_context(charged.over_files(run.sanitizer, run.options))
        with bytes_bar("sanitizing", size, _BAR_FROM_BYTES, quiet=run.output.quiet, to_file=to_file) as advance:
            finished = sanitize_files(
                sources,
                run.selection,
                Drawer(run.sanitizer, run.bundle, run.options, run.run.workers),
                record=record,
                quarantine=quarantine,
                report=advance,
                look=look,
                charges=charges,
                seal=receipts.seal(terms.statement),
            )
        about = _about(run, finished, terms)
        if record is not None:
            record.finish(about)
    return finished, about


def _about(run: TableRun, finished: Finished, terms: "Terms") -> dict[str, object]:
    """What ``--json`` says of a run, and the record of an output folder."""
    selection = run.selection
    return {
        "format": selection.format,
        "rewritten": list(selection.columns),
        "document": selection.document,
        **asdict(finished.counts),
        "files": {name: asdict(counts) for name, counts in finished.files.items()},
        "from_configuration": run.changed,
        "statement": terms.statement(finished.counts.tokens).to_dict(),
    }


def _statement(run: TableRun, finished: Finished) -> str:
    """The statement of a run, for a person."""
    counts, terms = finished.counts, run.sanitizer.terms(**run.options)
    unit = terms.unit
    said = [counted(len(finished.files), "file")]
    if run.selection.format != "lines":
        said.append(counted(counts.rows, "row"))
    said.append(f"{counted(counts.documents, 'document')} of at most {counted(counts.most_tokens, unit)}")
    copied = ""
    if run.selection.format != "lines":
        what = "key" if run.selection.format == "jsonl" else "column"
        copied = f" {counted(len(run.selection.columns), what)} rewritten; all else is copied as it is, unprotected."
    of_file = f" From the configuration file: {', '.join(run.changed)}." if run.changed else ""
    return f"{', '.join(said)}. {run.output.said(terms.statement(counts.tokens))}{copied}{of_file}"


def _say_notes(sources: Sources, finished: Finished, quiet: bool) -> None:
    """Says to the owner of this device what is not part of the statement."""
    said: list[str] = []
    if finished.skipped:
        said.append(f"{counted(finished.skipped, 'file')} finished before, not drawn again")
    if finished.counts.quarantined:
        said.append(f"{counted(finished.counts.quarantined, 'bad row')} in the quarantine, as private as the input")
    if sources.left_out:
        said.append(f"{counted(sources.left_out, 'file')} of other formats left out")
    if said:
        say_unless(f"for this device only: {'; '.join(said)}", quiet)
