"""``textveil sanitize`` for files with columns, for folders, and for packed files."""

import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from glob import has_magic
from pathlib import Path

from textveil.errors import OptionError
from textveil.release import counted
from textveil.text.mention_statement import MentionTerms
from textveil.text.options import Options
from textveil.text.result import AnyTerms
from textveil.text.sanitizer import Sanitizer

from textveil_cli.charging import Charging, ReceiptFile
from textveil_cli.files import (
    LOOKED_AT,
    Drawer,
    Finished,
    Quarantine,
    Record,
    Selection,
    Sources,
    find_sources,
    packed_as,
    refuse_tables,
    refuse_tables_by_name,
    sanitize_files,
    settings_of,
)
from textveil_cli.io import say_unless
from textveil_cli.progress import progress_bar

#: Inputs of fewer bytes are done before a bar could be read.
_BAR_FROM_BYTES = 1_000_000


@dataclass(frozen=True)
class TableRun:
    """A run over files, as a command line describes it.

    Attributes:
        inputs: Files, folders and patterns.
        output: Where it goes; ``None`` is standard output.
        selection: What is rewritten.
        bundle: Folder of the bundle; ``None`` is the built-in one.
        quarantine: Where bad rows go.
        workers: Processes that draw.
        resume: Whether an output folder is gone on with.
        plain: Whether it is plain text, though it looks like a table.
        as_json: Whether the statement is JSON, on standard output.
        quiet: Whether there is no statement.
    """

    inputs: list[str]
    output: Path | None
    selection: Selection
    bundle: Path | None
    quarantine: Path | None
    workers: int
    resume: bool
    plain: bool
    as_json: bool
    quiet: bool

    def find(self, receipt: Path | None) -> Sources:
        """Finds the files of the run, and the places of their outputs.

        Args:
            receipt: Where a receipt goes.

        Raises:
            TextveilError: See ``files.find_sources``; or an option does not go with what was found.
        """
        if self.as_json and self.output is None:
            raise OptionError("--json is the statement of the run here: it needs -o, since rows are on standard output")
        sources = find_sources(self.inputs, self.selection.format, self.output)
        if self.resume and sources.folder is None:
            raise OptionError("--resume is for an output folder")
        if sources.folder is not None and receipt is not None:
            raise OptionError("--receipt is of one output: a folder has several")
        return sources


def format_of(csv: bool, tsv: bool, jsonl: bool, parquet: bool, plain: bool) -> str | None:
    """Returns the format that is asked for, ``None`` if none is.

    Raises:
        OptionError: Several are.
    """
    flags = {"csv": csv, "tsv": tsv, "jsonl": jsonl, "parquet": parquet, "lines": plain}
    given = [name for name, flag in flags.items() if flag]
    if len(given) > 1:
        raise OptionError("--csv, --tsv, --jsonl, --parquet and --plain exclude each other")
    return given[0] if given else None


def columns_of(format_name: str, column: list[str] | None, key: list[str] | None) -> tuple[str, ...]:
    """Returns what is rewritten: keys of JSON lines, columns of other formats.

    Raises:
        OptionError: One is given where the other belongs.
    """
    if format_name == "jsonl" and column:
        raise OptionError("--column is for --csv, --tsv and --parquet; of JSON lines say --key")
    if format_name not in ("jsonl", "lines") and key:
        raise OptionError("--key is for --jsonl; of other tables say --column")
    return (*(column or ()), *(key or ()))


def run_is_over_files(
    inputs: list[str],
    output: Path | None,
    column: list[str] | None,
    key: list[str] | None,
    quarantine: Path | None,
    workers: int,
    resume: bool,
) -> bool:
    """Returns whether plain text is in folders and goes to one, is packed, or has an option of such runs."""
    if column or key or quarantine is not None or workers > 1 or resume or any(map(packed_as, inputs)):
        return True
    return output is not None and any(
        os.path.isdir(path) or (has_magic(path) and not os.path.lexists(path)) for path in inputs
    )


def refusing_tables(name: str, look: Callable[[list[str]], None] | None = None) -> Callable[[list[str]], None]:
    """Returns what looks at texts before they are drawn, and refuses those whose first lines look like a table.

    Args:
        name: What errors call the input.
        look: Shown the same texts afterwards.
    """
    seen: list[str] = []

    def looking(lines: list[str]) -> None:
        if len(seen) < LOOKED_AT:
            seen.extend(lines[:LOOKED_AT])
            refuse_tables(seen, name)
        if look is not None:
            look(lines)

    return looking


def document_of(format_name: str, document: str | None, document_key: str | None, consistent: bool) -> str:
    """Returns what a document is, as ``Selection`` calls it.

    Raises:
        OptionError: It does not go with the other options.
    """
    if document_key is not None and document is not None:
        raise OptionError("--document and --document-key exclude each other")
    if (document_key is not None or document == "row") and not consistent:
        raise OptionError("--document row and --document-key are for --consistent: other draws look at no other cell")
    if consistent and document is None and document_key is None:
        known = "line or --document file" if format_name == "lines" else "cell, --document row or --document-key"
        raise OptionError(f"--consistent on several texts: say --document {known}")
    if document_key is not None:
        return "key"
    if format_name == "lines":
        return {None: "cell", "line": "cell", "file": "file"}.get(document, "")
    return document or "cell"


def sanitize_tables(
    run: TableRun,
    sources: Sources,
    sanitizer: Sanitizer,
    options: Options,
    warn: Callable[[list[str]], None],
    changed: list[str],
    charged: Charging | None,
    receipts: ReceiptFile,
) -> None:
    """Sanitizes files as the command line says, and states what was promised.

    Args:
        run: The run.
        sources: Its files.
        sanitizer: The sanitizer.
        options: Options of the draws.
        warn: Shown the first texts.
        changed: Options that are from a configuration file.
        charged: Charges what is drawn; ``None`` without a ledger.
        receipts: Looks on.

    Raises:
        TextveilError: See ``files.sanitize_files``.
    """
    refuses = run.selection.format == "lines" and not run.plain

    def look(name: str, texts: list[str]) -> None:
        if refuses:
            refuse_tables_by_name(name, name)
            refuse_tables(texts[:LOOKED_AT], name)
        if not run.quiet:
            warn(texts)

    terms = sanitizer.terms(**options)
    size = sum(source.size for source in sources.files)
    account = None if charged is None else charged.account
    with ExitStack() as stack:
        record = quarantine = charges = None
        if sources.folder is not None:
            record = Record(sources.folder, settings_of(run.selection, terms, options, account), resume=run.resume)
            stack.callback(record.close)
        if run.quarantine is not None:
            quarantine = Quarantine(run.quarantine, resume=run.resume)
            stack.callback(quarantine.close)
        if charged is not None:
            charges = stack.enter_context(charged.over_files(sanitizer, options))
        with progress_bar("sanitizing", size, run.quiet, run.output is not None, _BAR_FROM_BYTES) as advance:
            finished = sanitize_files(
                sources,
                run.selection,
                Drawer(sanitizer, run.bundle, options, run.workers),
                record=record,
                quarantine=quarantine,
                report=advance,
                look=look,
                charges=charges,
                seal=receipts.seal(terms.statement),
            )
        about = _about(run, finished, terms, changed)
        if record is not None:
            record.finish(about)
    receipts.write()
    if run.as_json:
        print(json.dumps(about, ensure_ascii=False))
    else:
        say_unless(_statement(run, finished, terms, changed), run.quiet)
    _say_notes(sources, finished, run.quiet)
    if charged is not None:
        charged.say(run.quiet)


def _about(run: TableRun, finished: Finished, terms: AnyTerms, changed: list[str]) -> dict[str, object]:
    """What ``--json`` says of a run, and the record of an output folder."""
    selection = run.selection
    return {
        "format": selection.format,
        "rewritten": list(selection.columns),
        "document": selection.document,
        **asdict(finished.counts),
        "files": {name: asdict(counts) for name, counts in finished.files.items()},
        "from_configuration": changed,
        "statement": terms.statement(finished.counts.tokens).to_dict(),
    }


def _statement(run: TableRun, finished: Finished, terms: AnyTerms, changed: list[str]) -> str:
    """The statement of a run, for a person."""
    counts = finished.counts
    unit = terms.unit if isinstance(terms, MentionTerms) else "token"
    said = [counted(len(finished.files), "file")]
    if run.selection.format != "lines":
        said.append(counted(counts.rows, "row"))
    said.append(f"{counted(counts.documents, 'document')} of at most {counted(counts.most_tokens, unit)}")
    copied = ""
    if run.selection.format != "lines":
        what = "key" if run.selection.format == "jsonl" else "column"
        copied = f" {counted(len(run.selection.columns), what)} rewritten; all else is copied as it is, unprotected."
    of_file = f" From the configuration file: {', '.join(changed)}." if changed else ""
    return f"{', '.join(said)}; {terms.statement(counts.tokens).summary()}{copied}{of_file}"


def _say_notes(sources: Sources, finished: Finished, quiet: bool) -> None:
    """Says to the owner of this device what is no part of the statement."""
    said: list[str] = []
    if finished.skipped:
        said.append(f"{counted(finished.skipped, 'file')} finished before, not drawn again")
    if finished.counts.quarantined:
        said.append(f"{counted(finished.counts.quarantined, 'bad row')} in the quarantine, as private as the input")
    if sources.left_out:
        said.append(f"{counted(sources.left_out, 'file')} of other formats left out")
    if said:
        say_unless(f"for this device only: {'; '.join(said)}", quiet)
