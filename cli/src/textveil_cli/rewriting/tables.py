"""``textveil sanitize`` for files with columns, for folders, and for packed files."""

import gc
import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from textveil.errors import OptionError
from textveil.release import KeptWords, counted
from textveil.text import Options, Sanitizer, Terms

from textveil_cli.columns import find_identifying, list_columns
from textveil_cli.console import bytes_bar, say_unless
from textveil_cli.files import (
    RECORD,
    Counts,
    Drawer,
    Finished,
    Quarantine,
    Record,
    Selection,
    Sources,
    find_sources,
    refuse_tables_by_name,
    refusing_tables,
    require_fitting_ending,
    sanitize_files,
    settings_of,
)
from textveil_cli.rewriting.asked import Asked
from textveil_cli.rewriting.language import UnknownWordsWarning, warn_of_language

if TYPE_CHECKING:
    from textveil_cli.charges import ReceiptFile, RunLedger

#: Inputs of fewer bytes are done before a bar could be read.
_BAR_FROM_BYTES = 1_000_000


def sanitize_tables(asked: Asked, sanitizer: Sanitizer, options: Options) -> None:
    """Sanitizes files as the command line says, and states what was promised.

    Args:
        asked: The command line.
        sanitizer: The sanitizer.
        options: Options of the draws.

    Raises:
        TextveilError: See ``files.sanitize_files``; or an option does not go with what was found.
    """
    quiet, terms = asked.output.quiet, sanitizer.terms(**options)
    selection = asked.table.selection(asked.documents, consistent=asked.how.consistent)
    sources = _find(asked, selection)
    record = None if sources.folder is None else sources.folder / RECORD
    written = [("--output", path) for path in (*(source.target for source in sources.files), record)]
    asked.refuse_overwriting(sanitizer.bundle.path, *written, ("--quarantine", asked.run.quarantine))
    packs, into_folder = selection.format != "parquet", sources.folder is not None
    require_fitting_ending(
        asked.output.output, [selection.format], asked.inputs.paths, packs=packs, into_folder=into_folder
    )
    receipt = asked.receipt.opened(terms.statement, selection.described)
    charged = asked.ledger.opened(scope_column=asked.rows.scope_column)
    run = _Run(asked=asked, sanitizer=sanitizer, options=options, selection=selection, terms=terms)
    finished, about = run.written(sources, charged, receipt)
    if receipt is not None:
        receipt.write()
    if asked.output.as_json:
        print(json.dumps(about, ensure_ascii=False))
    else:
        say_unless(run.statement(finished), quiet)
    _say_notes(sources, finished, quiet)
    if not quiet:
        run.warn_of_language(finished)
    if charged is not None:
        charged.say(quiet)


def _find(asked: Asked, selection: Selection) -> Sources:
    """Finds the files of the run, and the places of their outputs."""
    if asked.output.as_json and asked.output.output is None:
        raise OptionError("--json prints the statement of the run here, so the rows need -o")
    sources = find_sources(asked.inputs.paths, selection.format, asked.output.output)
    if asked.run.resume and sources.folder is None:
        raise OptionError("--resume needs -o FOLDER, the output folder of the run that was interrupted")
    if sources.folder is not None and asked.receipt.receipt is not None:
        raise OptionError("--receipt is of one output: a folder has several")
    return sources


#: What a document is, for a person. An empty cell is none.
_DOCUMENTS = {"cell": "text", "row": "filled row", "key": "document", "file": "text"}


@dataclass(frozen=True, kw_only=True)
class _Run:
    """A run over files."""

    asked: Asked
    sanitizer: Sanitizer
    options: Options
    selection: Selection
    terms: Terms

    def written(
        self, sources: Sources, charged: "RunLedger | None", receipt: "ReceiptFile | None"
    ) -> tuple[Finished, dict[str, object]]:
        """Writes the files; returns what was done, and what is said of it."""
        asked = self.asked
        size, to_file = sum(source.size for source in sources.files), asked.output.output is not None
        gc.freeze()  # what is loaded stays: to look through it again and again takes a fifth of the time of short cells
        with ExitStack() as stack:
            record = quarantine = charges = None
            if sources.folder is not None:
                account = None if charged is None else charged.account
                settings = settings_of(self.selection, self.terms, self.options, account)
                record = Record(sources.folder, settings, resume=asked.run.resume)
                stack.callback(record.close)
            if asked.run.quarantine is not None:
                quarantine = Quarantine(asked.run.quarantine, resume=asked.run.resume)
                stack.callback(quarantine.close)
            if charged is not None:
                charges = stack.enter_context(charged.over_files(self.sanitizer, self.options))
            with bytes_bar("sanitizing", size, _BAR_FROM_BYTES, quiet=asked.output.quiet, to_file=to_file) as advance:
                finished = sanitize_files(
                    sources,
                    self.selection,
                    Drawer(self.sanitizer, asked.bundle.bundle, self.options, asked.run.workers),
                    record=record,
                    quarantine=quarantine,
                    report=advance,
                    look=self.looking(),
                    look_at_copied=self.warn_of_copied(),
                    charges=charges,
                    seal=receipt,
                )
            about = self.about(finished)
            if record is not None:
                record.finish(about)
        return finished, about

    def looking(self) -> Callable[[str, list[str]], None]:
        """Returns what looks at the first texts of each file before they are drawn."""
        warn = UnknownWordsWarning(self.sanitizer, self.options)

        def look(name: str, texts: list[str]) -> None:
            if self.selection.format == "lines" and not self.asked.table.plain:
                refuse_tables_by_name(name, name)
                refusing_tables(name)(texts)
            if not self.asked.output.quiet:
                warn(texts)

        return look

    def warn_of_copied(self) -> Callable[[Sequence[str]], None]:
        """Return what warns, once for the run, of columns that are copied and whose headings tell of people."""
        quiet, option = self.asked.output.quiet, "--key" if self.selection.format == "jsonl" else "--column"

        def warn(names: Sequence[str]) -> None:
            nonlocal quiet
            found = find_identifying(names)
            if found and not quiet:
                quiet = True
                column = f"{option.strip('-')}{'s' if len(found) > 1 else ''}"
                these = f"{column} {list_columns(found)}" if list_columns(found) else counted(len(found), column)
                are = "are copied as they are" if len(found) > 1 else "is copied as it is"
                say_unless(f"{these} {are}: rewrite by {option}, or leave out by --without-column", quiet=False)

        return warn

    def kept_words(self, counts: Counts) -> KeptWords:
        """Return how many words of all documents are kept and replaced; none outside the mode ``names``."""
        return KeptWords(counts.tokens, counts.replaced_words) if self.terms.mechanism == "names" else KeptWords()

    def warn_of_language(self, finished: Finished) -> None:
        """Warn, once for the run, where few words are kept."""
        counts = finished.counts
        warn_of_language(
            self.sanitizer,
            self.kept_words(counts),
            documents=counts.documents,
            mostly_replaced=counts.mostly_replaced,
        )

    def about(self, finished: Finished) -> dict[str, object]:
        """What ``--json`` says of a run, and the record of an output folder."""
        return {
            "format": self.selection.format,
            "rewritten": list(self.selection.columns),
            "left_out": "all others" if self.selection.only else list(self.selection.without),
            "document": self.selection.document,
            **asdict(finished.counts),
            "kept_share": self.kept_words(finished.counts).share,
            "files": {name: asdict(counts) for name, counts in finished.files.items()},
            "statement": self.terms.statement(finished.counts.tokens, finished.counts.drawn).to_dict(),
        }

    def statement(self, finished: Finished) -> str:
        """The statement of a run, for a person."""
        counts, selection = finished.counts, self.selection
        of = "line" if (selection.format, selection.document) == ("lines", "cell") else _DOCUMENTS[selection.document]
        most = f"{counted(counts.documents, of)} with at most {counted(counts.most_tokens, self.terms.unit)}"
        most += "" if counts.documents == 1 else " each"
        files = counted(len(finished.files), "file")
        said = self.asked.output.said(self.terms.statement(counts.tokens, counts.drawn))
        if selection.format == "lines":
            return f"{files}, {most}. {said}"
        columns = counted(len(selection.columns), "key" if selection.format == "jsonl" else "column")
        rows = counted(counts.rows, "row")
        rest = "all else is copied as it is, unprotected"
        if selection.only:
            rest = "the output has no other"
        elif selection.without:
            rest = f"{len(selection.without)} left out; {rest}"
        return f"{files}, {rows}, {most}. {said} {columns} rewritten; {rest}."


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
