"""``textveil sanitize`` for tables, folders, and compressed files."""

import gc
import json
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textveil.errors import OptionError
from textveil.formatting import format_count
from textveil.text import KeptWords, Options, PrivacyTerms, Sanitizer

from textveil_cli.columns import find_name_columns, find_personal_columns, list_columns
from textveil_cli.commands.sanitize import SanitizeArguments
from textveil_cli.console import (
    UnknownWordsWarning,
    get_safe_file_name,
    print_unless_quiet,
    show_byte_progress,
    warn_about_language,
)
from textveil_cli.files import (
    BlockSanitizer,
    ColumnSelection,
    RejectedRowsFile,
    RunCounts,
    RunManifest,
    RunResult,
    SourceFiles,
    check_output_ending,
    find_source_files,
    get_manifest_path,
    hash_settings,
    make_table_refusal,
    refuse_tables_by_name,
    sanitize_files,
)

if TYPE_CHECKING:
    from textveil_cli.changes import ReportFacts
    from textveil_cli.commands.sanitize.changes import ChangeViews
    from textveil_cli.run_ledger import ReceiptFile, RunLedger

#: Smallest input for which a progress bar is shown.
_BAR_FROM_BYTES = 1_000_000


def sanitize_tables(arguments: SanitizeArguments, sanitizer: Sanitizer, options: Options) -> None:
    """Sanitize whole files, write the outputs, and print the privacy statement.

    Args:
        arguments: All arguments of the command.
        sanitizer: The sanitizer.
        options: Options of ``Sanitizer.sanitize``.

    Raises:
        TextveilError: An option does not fit the files, or ``files.sanitize_files`` raises an error.
    """
    quiet, terms = arguments.output.quiet, sanitizer.terms(**options)
    selection = arguments.table.make_selection(arguments.documents, consistent=arguments.text_options.is_consistent)
    sources = _find_files(arguments, selection)
    manifest_path = None if sources.folder is None else get_manifest_path(sources.folder)
    written_paths = [("--output", path) for path in (*(source.target for source in sources.files), manifest_path)]
    private_paths = [("--rejected-rows", arguments.run.rejected_rows), ("--save-mapping", arguments.save_mapping)]
    arguments.refuse_overwriting(sanitizer.bundle.path, *written_paths, *private_paths)
    arguments.check_mapping_file()
    packs, into_folder = selection.format != "parquet", sources.folder is not None
    check_output_ending(
        arguments.output.output, [selection.format], arguments.inputs.paths, can_pack=packs, into_folder=into_folder
    )
    arguments.changes.refuse_inside(sources.folder)
    views = None
    if arguments.changes.has_any:
        from textveil_cli.commands.sanitize.changes import ChangeViews  # lazy: most calls show no originals

        views = ChangeViews(arguments.changes, sanitizer, options, is_over_files=True)
    receipt = arguments.receipt.open_receipt(terms.statement, selection.receipt_description)
    run_ledger = arguments.ledger.open_ledger(privacy_unit_column=arguments.rows.privacy_unit_column)
    run = _TableRun(
        sources=sources,
        arguments=arguments,
        sanitizer=sanitizer,
        options=options,
        selection=selection,
        terms=terms,
        views=views,
    )
    result, description = run.write_files(run_ledger, receipt)
    if receipt is not None:
        receipt.write()
    if views is not None:
        views.finish(run.make_report_facts(result))
    if arguments.output.as_json:
        print(json.dumps(description, ensure_ascii=False))
    else:
        print_unless_quiet(run.format_statement(result), quiet)
    _print_notes(sources, result, quiet)
    if result.counts.documents > len(result.files) and (hint := arguments.describe_tag_numbers()):
        print_unless_quiet(hint, quiet)
    if not quiet:
        run.print_language_warning(result)
        run.print_name_columns_hint()
    if run_ledger is not None:
        run_ledger.print_summary(quiet)


def _find_files(arguments: SanitizeArguments, selection: ColumnSelection) -> SourceFiles:
    """Find the files of the run, and the paths of their outputs."""
    if arguments.output.as_json and arguments.output.output is None:
        raise OptionError("--json prints a description of the run on standard output: write the rows to a file with -o")
    output = arguments.output.output
    if arguments.changes.diff and output is None:  # the differences are printed in place of the rows
        output = Path(os.devnull)
    sources = find_source_files(arguments.inputs.paths, selection.format, output)
    if arguments.run.resume and sources.folder is None:
        raise OptionError("--resume needs -o FOLDER: the output folder of the interrupted run")
    if sources.folder is not None and arguments.receipt.receipt is not None:
        raise OptionError("--receipt needs a single output, not a folder")
    return sources


#: Unit of a document in messages. An empty cell is no document.
_DOCUMENT_NAMES = {"cell": "text", "row": "filled row", "key": "document", "file": "table"}
_PLAIN_DOCUMENT_NAMES = {"cell": "line", "file": "text"}


@dataclass(frozen=True, kw_only=True)
class _TableRun:
    """One run of ``textveil sanitize`` over whole files, such as tables and folders."""

    sources: SourceFiles
    arguments: SanitizeArguments
    sanitizer: Sanitizer
    options: Options
    selection: ColumnSelection
    terms: PrivacyTerms
    views: "ChangeViews | None" = None

    def write_files(
        self, run_ledger: "RunLedger | None", receipt: "ReceiptFile | None"
    ) -> tuple[RunResult, dict[str, object]]:
        """Write all output files.

        Args:
            run_ledger: The privacy ledger (record of spent epsilon); ``None`` without one.
            receipt: The signed receipt with a hash of the output; ``None`` without one.

        Returns:
            The result of the run, and a description of the run for ``--json`` and the run manifest.
        """
        arguments, sources = self.arguments, self.sources
        size, to_file = sum(source.size for source in sources.files), arguments.output.output is not None
        gc.freeze()  # without this, garbage collection of the loaded data takes a fifth of the time for short cells
        with ExitStack() as stack:
            manifest = rejected_rows = block_ledger = None
            if sources.folder is not None:
                account = None if run_ledger is None else run_ledger.privacy_unit
                settings = hash_settings(self.selection, self.terms, self.options, account)
                manifest = RunManifest(sources.folder, settings, resume=arguments.run.resume)
                stack.callback(manifest.close)
            if arguments.run.rejected_rows is not None:
                rejected_rows = RejectedRowsFile(arguments.run.rejected_rows, resume=arguments.run.resume)
                stack.callback(rejected_rows.close)
            if run_ledger is not None:
                block_ledger = stack.enter_context(run_ledger.open_block_ledger(self.sanitizer, self.options))
            with show_byte_progress(
                "sanitizing", size, _BAR_FROM_BYTES, quiet=arguments.output.quiet, to_file=to_file
            ) as advance:
                result = sanitize_files(
                    sources,
                    self.selection,
                    BlockSanitizer(
                        self.sanitizer,
                        arguments.bundle.bundle,
                        self.options,
                        arguments.run.workers,
                        None if arguments.save_mapping is None else arguments.save_one_mapping,
                    ),
                    manifest=manifest,
                    rejected_rows=rejected_rows,
                    report=advance,
                    check_texts=self.make_text_check(),
                    check_copied_columns=self.make_copied_columns_warning(),
                    block_ledger=block_ledger,
                    receipt=receipt,
                    review_block=None if self.views is None else self.views.review_block,
                )
            description = self.describe(result)
            if manifest is not None:
                manifest.add_statement(description)
        return result, description

    def make_text_check(self) -> Callable[[str, list[str]], None]:
        """Return a function that checks the first texts of a file before they are sanitized.

        The function takes the name of the file and the texts. It raises an error if a file of plain text looks like a
        table, and prints a warning if the texts have many unknown words.
        """
        warn_unknown_words = UnknownWordsWarning(self.sanitizer, self.options)

        def check_texts(name: str, texts: list[str]) -> None:
            if self.selection.format == "lines" and not self.arguments.table.plain:
                refuse_tables_by_name(name, name)
                make_table_refusal(name)(texts)
            if not self.arguments.output.quiet:
                warn_unknown_words(texts)

        return check_texts

    def make_copied_columns_warning(self) -> Callable[[Sequence[str]], None]:
        """Return a function that takes the headings of copied columns, and warns if some suggest personal data.

        The function prints the warning only once.
        """
        quiet, option = self.arguments.output.quiet, "--key" if self.selection.format == "jsonl" else "--column"

        def warn(names: Sequence[str]) -> None:
            nonlocal quiet
            if self.views is not None:
                self.views.add_copied_columns(names)
            personal = find_personal_columns(names)
            if personal and not quiet:
                quiet = True
                column = f"{option.strip('-')}{'s' if len(personal) > 1 else ''}"
                described_columns = (
                    f"{column} {list_columns(personal)}"
                    if list_columns(personal)
                    else format_count(len(personal), column)
                )
                are = "are copied unchanged" if len(personal) > 1 else "is copied unchanged"
                print_unless_quiet(
                    f"{described_columns} {are}: rewrite with {option} or remove with --drop-column", quiet=False
                )

        return warn

    def count_kept_words(self, counts: RunCounts) -> KeptWords:
        """Return the numbers of unchanged and of replaced words in all documents.

        The numbers are 0 in other modes than 'names'.
        """
        if self.terms.mechanism != "names":
            return KeptWords()
        return KeptWords(counts.tokens, counts.replaced_words, counts.foreign_words)

    def print_language_warning(self, result: RunResult) -> None:
        """Print a warning if the run replaced most words, since the texts may be in another language."""
        counts = result.counts
        warn_about_language(
            self.sanitizer,
            self.count_kept_words(counts),
            documents=counts.documents,
            mostly_replaced=counts.mostly_replaced_documents,
        )

    def print_name_columns_hint(self) -> None:
        """Print a hint if a rewritten column seems to contain names alone, since names that are common words stay.

        There is no hint if the user gave ``--deny``, which replaces such names.
        """
        columns = find_name_columns(self.selection.columns)
        if columns and self.terms.mechanism == "names" and not self.options.get("deny"):
            option = "--key" if self.selection.format == "jsonl" else "--column"
            contain = (
                f"{'s' if len(columns) > 1 else ''} {list_columns(columns)} contain{'' if len(columns) > 1 else 's'}"
            )
            print_unless_quiet(
                f"{option.strip('-')}{contain} names: a name that is a common word, such as Nice, can stay: list such "
                "names with --deny FILE, or remove the column with --drop-column",
                quiet=False,
            )

    def describe(self, result: RunResult) -> dict[str, object]:
        """Return the counts of the run and of each file, and the privacy statement, for ``--json`` and ``--resume``.

        The dictionary also names the sanitized, copied and removed columns.
        """
        return {
            "format": self.selection.format,
            "rewritten_columns": list(self.selection.columns),
            "unprotected": self.list_copied_parts(),
            "removed_columns": "all others" if self.selection.only else list(self.selection.without),
            "document_unit": self.selection.document,
            **asdict(result.counts),
            "kept_word_share": self.count_kept_words(result.counts).share,
            "files": {name: asdict(counts) for name, counts in result.files.items()},
            "statement": self.terms.statement(result.counts.tokens, result.counts.randomized_words).to_dict(),
        }

    @property
    def is_table(self) -> bool:
        """Return whether the input files are tables, with columns or keys to select."""
        return self.selection.format != "lines"

    @property
    def writes_folder(self) -> bool:
        """Return whether the outputs are written to a folder, with the same file names as the inputs."""
        return self.sources.folder is not None

    def list_copied_parts(self) -> list[str]:
        """Return the names of the input's parts that the outputs contain unprotected, such as "other columns"."""
        selection = self.selection
        parts = ["file and folder names"] if self.writes_folder else []
        if selection.format != "lines":
            parts += ["key names" if selection.format == "jsonl" else "column names"] if selection.header else []
            parts += [] if selection.only else ["other columns"]
        return parts

    def make_report_facts(self, result: RunResult) -> "ReportFacts":
        """Return inputs, output, options and privacy statement of the run, for the heading of its HTML report."""
        from textveil_cli.changes import ReportFacts
        from textveil_cli.commands.sanitize.changes import describe_run_options, list_run_notes

        output = self.arguments.output.output
        counts, is_table = result.counts, self.is_table
        return ReportFacts(
            inputs=[*result.files],
            statement=self.terms.statement(counts.tokens, counts.randomized_words).format_line(),
            column_option=("--key" if self.selection.format == "jsonl" else "--column") if is_table else "",
            unit="row" if is_table else "line",
            output="" if output is None else get_safe_file_name(output),
            options=describe_run_options(self.arguments, self.sanitizer, self.options),
            bundle=self.sanitizer.bundle.content_hash,
            finished_before=result.finished_before,
            notes=list_run_notes(self.arguments, self.selection if is_table else None, self.terms.consistent),
        )

    def format_statement(self, result: RunResult) -> str:
        """Return the privacy statement of the run, its counts, and the names of unprotected parts, as readable text."""
        counts, selection = result.counts, self.selection
        document_name = (_DOCUMENT_NAMES if self.is_table else _PLAIN_DOCUMENT_NAMES)[selection.document]
        described_documents = (
            f"{format_count(counts.documents, document_name)} with at most "
            f"{format_count(counts.max_tokens, self.terms.privacy_unit)}"
        )
        described_documents += "" if counts.documents == 1 else " each"
        linked = ""
        if self.is_table and selection.document == "file" and self.terms.consistent:
            linked = " Equal names of all rows have equal replacements, so that readers can link the rows."
        files = format_count(len(result.files), "file")
        statement_text = self.arguments.output.format_statement(
            self.terms.statement(counts.tokens, counts.randomized_words)
        )
        names = " File and folder names are copied unprotected." if self.writes_folder else ""
        if selection.format == "lines":
            return f"{files}, {described_documents}. {statement_text}{names}"
        columns = format_count(len(selection.columns), "key" if selection.format == "jsonl" else "column")
        rows = format_count(counts.rows, "row")
        copied_names = "key names" if selection.format == "jsonl" else "column names" if selection.header else ""
        other_columns = "all other keys" if selection.format == "jsonl" else "all other columns"
        copied_parts = f"{f'{copied_names} and ' if copied_names else ''}{other_columns} are copied unprotected"
        if selection.only:
            copied_parts = f"{other_columns} are removed"
            copied_parts += f"; {copied_names} are copied unprotected" if copied_names else ""
        elif selection.without:
            copied_parts = f"{len(selection.without)} removed; {copied_parts}"
        return (
            f"{files}, {rows}, {described_documents}. {statement_text} {columns} rewritten; {copied_parts}."
            f"{linked}{names}"
        )


def _print_notes(sources: SourceFiles, result: RunResult, quiet: bool) -> None:
    """Print notes for the owner of this device, such as the number of ignored files.

    The notes depend on private input, so they are no part of the privacy statement.
    """
    remarks: list[str] = []
    if result.finished_before:
        remarks.append(f"{format_count(result.finished_before, 'file')} finished by an earlier run, skipped")
    if result.counts.rejected_rows:
        remarks.append(
            f"{format_count(result.counts.rejected_rows, 'rejected row')}, in a file as private as the input"
        )
    if sources.ignored_files:
        remarks.append(f"{format_count(sources.ignored_files, 'file')} of other formats ignored")
    if remarks:
        print_unless_quiet(f"private, for this device only: {'; '.join(remarks)}", quiet)
