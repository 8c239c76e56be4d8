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
    Counts,
    Drawer,
    Finished,
    Quarantine,
    Record,
    Selection,
    Sources,
    find_sources,
    record_path,
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

#: Smaller inputs finish before anyone could read a bar.
_BAR_FROM_BYTES = 1_000_000


def sanitize_tables(asked: Asked, sanitizer: Sanitizer, options: Options) -> None:
    """Sanitize files by the arguments, and print the privacy statement.

    Args:
        asked: The arguments.
        sanitizer: The sanitizer.
        options: Options of ``Sanitizer.sanitize``.

    Raises:
        TextveilError: See ``files.sanitize_files``; or an option does not fit the files.
    """
    quiet, terms = asked.output.quiet, sanitizer.terms(**options)
    selection = asked.table.selection(asked.documents, consistent=asked.how.consistent)
    sources = _find(asked, selection)
    record = None if sources.folder is None else record_path(sources.folder)
    written = [("--output", path) for path in (*(source.target for source in sources.files), record)]
    asked.refuse_overwriting(sanitizer.bundle.path, *written, ("--quarantine", asked.run.quarantine))
    packs, into_folder = selection.format != "parquet", sources.folder is not None
    require_fitting_ending(
        asked.output.output, [selection.format], asked.inputs.paths, packs=packs, into_folder=into_folder
    )
    receipt = asked.receipt.opened(terms.statement, selection.described)
    charged = asked.ledger.opened(scope_column=asked.rows.scope_column)
    run = _Run(sources=sources, asked=asked, sanitizer=sanitizer, options=options, selection=selection, terms=terms)
    finished, about = run.written(charged, receipt)
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
    """Find the files of the run, and the paths of their outputs."""
    if asked.output.as_json and asked.output.output is None:
        raise OptionError("--json prints the statement of the run here, so the rows need -o")
    sources = find_sources(asked.inputs.paths, selection.format, asked.output.output)
    if asked.run.resume and sources.folder is None:
        raise OptionError("--resume needs -o FOLDER, the output folder of the run that was interrupted")
    if sources.folder is not None and asked.receipt.receipt is not None:
        raise OptionError("--receipt is of one output: a folder has several")
    return sources


#: Unit of a document in messages. An empty cell is no document.
_DOCUMENTS = {"cell": "text", "row": "filled row", "key": "document", "file": "text"}


@dataclass(frozen=True, kw_only=True)
class _Run:
    """A run over files."""

    sources: Sources
    asked: Asked
    sanitizer: Sanitizer
    options: Options
    selection: Selection
    terms: Terms

    def written(self, charged: "RunLedger | None", receipt: "ReceiptFile | None") -> tuple[Finished, dict[str, object]]:
        """Write the files; return the result of the run and its description."""
        asked, sources = self.asked, self.sources
        size, to_file = sum(source.size for source in sources.files), asked.output.output is not None
        gc.freeze()  # excludes the loaded data from garbage collection, which takes a fifth of the time of short cells
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
        """Return a function that checks the first texts of each file before they are rewritten."""
        warn = UnknownWordsWarning(self.sanitizer, self.options)

        def look(name: str, texts: list[str]) -> None:
            if self.selection.format == "lines" and not self.asked.table.plain:
                refuse_tables_by_name(name, name)
                refusing_tables(name)(texts)
            if not self.asked.output.quiet:
                warn(texts)

        return look

    def warn_of_copied(self) -> Callable[[Sequence[str]], None]:
        """Return a function that warns once of copied columns whose headings concern people."""
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
        """Return the numbers of kept and replaced words of all documents.

        Outside the mode ``names`` both are 0.
        """
        return KeptWords(counts.tokens, counts.replaced_words) if self.terms.mechanism == "names" else KeptWords()

    def warn_of_language(self, finished: Finished) -> None:
        """Print a warning, once for the run, if few words are kept."""
        counts = finished.counts
        warn_of_language(
            self.sanitizer,
            self.kept_words(counts),
            documents=counts.documents,
            mostly_replaced=counts.mostly_replaced,
        )

    def about(self, finished: Finished) -> dict[str, object]:
        """Return the description of a run, for ``--json`` and the run manifest."""
        return {
            "format": self.selection.format,
            "rewritten": list(self.selection.columns),
            "copied": self.copied(),
            "left_out": "all others" if self.selection.only else list(self.selection.without),
            "document": self.selection.document,
            **asdict(finished.counts),
            "kept_share": self.kept_words(finished.counts).share,
            "files": {name: asdict(counts) for name, counts in finished.files.items()},
            "statement": self.terms.statement(finished.counts.tokens, finished.counts.drawn).to_dict(),
        }

    @property
    def in_folder(self) -> bool:
        """Return whether the outputs have the names of the inputs, in a folder."""
        return self.sources.folder is not None

    def copied(self) -> list[str]:
        """Return a description of the unprotected parts that are copied from the inputs."""
        selection = self.selection
        found = ["file and folder names"] if self.in_folder else []
        if selection.format != "lines":
            found += ["key names" if selection.format == "jsonl" else "column names"] if selection.header else []
            found += [] if selection.only else ["all that is not rewritten"]
        return found

    def statement(self, finished: Finished) -> str:
        """Return the privacy statement of a run, for a person."""
        counts, selection = finished.counts, self.selection
        of = "line" if (selection.format, selection.document) == ("lines", "cell") else _DOCUMENTS[selection.document]
        most = f"{counted(counts.documents, of)} with at most {counted(counts.most_tokens, self.terms.unit)}"
        most += "" if counts.documents == 1 else " each"
        files = counted(len(finished.files), "file")
        said = self.asked.output.said(self.terms.statement(counts.tokens, counts.drawn))
        names = " File and folder names are copied as they are, unprotected." if self.in_folder else ""
        if selection.format == "lines":
            return f"{files}, {most}. {said}{names}"
        columns = counted(len(selection.columns), "key" if selection.format == "jsonl" else "column")
        rows = counted(counts.rows, "row")
        named = "key names" if selection.format == "jsonl" else "column names" if selection.header else ""
        rest = "all else is copied as it is, unprotected"
        if named:
            rest = f"{named} and all else are copied as they are, unprotected"
        if selection.only:
            rest = f"the output has no other; {named} are copied as they are" if named else "the output has no other"
        elif selection.without:
            rest = f"{len(selection.without)} left out; {rest}"
        return f"{files}, {rows}, {most}. {said} {columns} rewritten; {rest}.{names}"


def _say_notes(sources: Sources, finished: Finished, quiet: bool) -> None:
    """Print notes for the owner of this device, separate from the privacy statement."""
    said: list[str] = []
    if finished.skipped:
        said.append(f"{counted(finished.skipped, 'file')} finished before, not drawn again")
    if finished.counts.quarantined:
        said.append(f"{counted(finished.counts.quarantined, 'bad row')} in the quarantine, as private as the input")
    if sources.left_out:
        said.append(f"{counted(sources.left_out, 'file')} of other formats left out")
    if said:
        say_unless(f"for this device only: {'; '.join(said)}", quiet)
