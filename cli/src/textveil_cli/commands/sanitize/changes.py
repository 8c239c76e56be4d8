"""Options ``--diff``, ``--report`` and ``--overview`` of ``textveil sanitize``, which describe what changed."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textveil.formatting import format_count
from textveil.text import Options, Result, Sanitizer
from textveil.text.marked_html import PRIVATE_NOTICE

from textveil_cli.changes import (
    ReportFacts,
    RunReview,
    TerminalStyle,
    TextExplainer,
    format_text_diff,
    write_overview,
    write_report,
)
from textveil_cli.console import get_safe_file_name, open_output
from textveil_cli.options import ChangeOptions

if TYPE_CHECKING:
    from textveil_cli.columns import ColumnSelection
    from textveil_cli.commands.sanitize import SanitizeArguments
    from textveil_cli.files import ReviewedBlock, RewrittenDocuments

#: Number of rows of a table that ``--diff`` prints, and maximum number of rows of a report.
_DIFF_ROWS, _REPORT_ROWS = 20, 1_000


#: Options whose values are words of the user, of which a description has the number.
_WORD_OPTIONS = ("deny", "allow", "randomize", "known")


def describe_run_options(arguments: "SanitizeArguments", sanitizer: Sanitizer, options: Options) -> str:
    """Return the options of a run as one line for its report, such as ``protect names, style tag``.

    The line has the options that the user gave and the most important defaults, but no secret key and no word of the
    user's lists; see ``format_options``.
    """
    terms = sanitizer.terms(**options)
    shown: dict[str, Any] = {"protect": terms.mechanism if terms.mechanism == "names" else terms.protect}
    if terms.mechanism == "names":
        shown |= {"style": "surrogate", "facts": sanitizer.names_plan(**options).facts_level}
    shown |= options
    shown |= {"language": arguments.bundle.language, "bundle": arguments.bundle.bundle}
    shown |= {"column": arguments.table.columns, "document": arguments.documents.document}
    shown |= {"document-key": arguments.documents.document_key, "drop-column": arguments.documents.drop_column}
    shown |= {"drop-other-columns": arguments.documents.drop_other_columns}
    shown |= {"allow-missing": arguments.documents.allow_missing, "no-header": not arguments.table.header}
    shown |= {"delimiter": arguments.table.delimiter}
    shown |= {"encoding": arguments.table.encoding if arguments.table.encoding != "utf-8" else None}
    files = {"rejected-rows": arguments.run.rejected_rows, "save-mapping": arguments.save_mapping}
    files |= {"ledger": arguments.ledger.ledger, "receipt": arguments.receipt.receipt}
    shown |= {name: get_safe_file_name(path) or True for name, path in files.items() if path is not None}
    return format_options(shown)


def list_run_notes(
    arguments: "SanitizeArguments", selection: "ColumnSelection | None", is_consistent: bool
) -> list[str]:
    """Return what a run did with columns, documents and the mapping, without a name of a column or a file.

    Args:
        arguments: The arguments of the command.
        selection: The columns and documents of a table; ``None`` for plain text.
        is_consistent: Whether equal names of a document get equal replacements.
    """
    notes: list[str] = []
    if selection is not None:
        if selection.without:
            notes.append(f"{format_count(len(selection.without), 'column')} removed")
        if selection.only:
            notes.append("all columns that are not rewritten were removed")
        if selection.document == "file" and is_consistent:
            notes.append("equal names of all rows have equal replacements, so that readers can link the rows")
    if arguments.save_mapping is not None:
        notes.append("the run saved a mapping, a file that turns the replacements into the originals again")
    return notes


def format_options(options: Mapping[str, Any]) -> str:
    """Format options as one line for a report, without secret keys and without words of the user's lists."""
    parts = list[str]()
    for name, value in options.items():
        if not value or isinstance(value, bytes):
            continue
        if name in _WORD_OPTIONS:
            parts.append(f"{name} ({format_count(len(value), 'word')})")
        elif isinstance(value, Collection) and not isinstance(value, str):
            parts.append(f"{name} {' '.join(map(str, value))}")
        else:
            parts.append(name if value is True else f"{name} {value}")
    return ", ".join(parts)


class ChangeViews:
    """Collector of the texts of a run. It prints ``--diff``, and writes ``--report`` and ``--overview``.

    Args:
        options: The options ``--diff``, ``--report`` and ``--overview``.
        sanitizer: The sanitizer of the run.
        text_options: Options of ``Sanitizer.sanitize``.
        is_over_files: Whether the run sanitizes whole files, such as tables. ``--diff`` then prints a sample of rows at
            the end; otherwise it prints each text at once.
    """

    def __init__(
        self, options: ChangeOptions, sanitizer: Sanitizer, text_options: Options, *, is_over_files: bool
    ) -> None:
        self._options, self._explainer = options, TextExplainer(sanitizer, text_options)
        self._sanitizer, self._text_options = sanitizer, text_options
        self._prints_each_text = options.diff and not is_over_files
        has_report, has_overview = options.report is not None, options.overview is not None
        self.review: RunReview | None = None
        if has_report or has_overview or is_over_files:
            diff_rows = _DIFF_ROWS if options.diff else 0
            self.review = RunReview(
                self._explainer,
                _REPORT_ROWS if has_report else diff_rows,
                counts_words=has_report or has_overview,
                counts_reasons=has_overview,
            )
        self._style = TerminalStyle.detect()
        self._name, self._row = "", 0
        self._has_begun = False

    def begin_input(self, name: str) -> None:
        """Begin to collect the changes of the next file of plain text.

        Args:
            name: Name of the file in the report.
        """
        self._name, self._row = name, 0

    def add_results(self, texts: Sequence[str], results: Sequence[Result]) -> None:
        """Add texts of the current input with their sanitized results, and print the differences."""
        for text, result in zip(texts, results, strict=True):
            self._row += 1
            if self.review is not None:
                self.review.add_text(self._name, self._row, "", text, result.text)
            if self._prints_each_text:
                self._print(format_text_diff(self._explainer.align_result(text, result), self._style))

    def review_block(self, name: str, block: "ReviewedBlock", rewritten: "RewrittenDocuments") -> None:
        """Add the original and sanitized texts of a block of rows to the changes to show.

        This method implements the protocol ``files.BlockReview``.
        """
        if self.review is not None:
            self.review.review_block(name, block, rewritten)

    def add_copied_columns(self, names: Sequence[str]) -> None:
        """Add the names of the columns that are copied unchanged from a file."""
        if self.review is not None:
            self.review.copied |= dict.fromkeys(names)

    def finish(self, facts: ReportFacts) -> None:
        """Print the sample of rows of a table, and write the HTML files; call this after the output is complete.

        Args:
            facts: Inputs, output, options and privacy statement of the run, for the heading of the report.

        Raises:
            OutputError: The report or the overview cannot be written.
        """
        if self._options.diff and not self._prints_each_text and self.review is not None:
            self._print_sample(self.review, facts)
        if self._options.report is not None and self.review is not None:
            write_report(self._options.report, self.review, facts)
        if self._options.overview is not None and self.review is not None:
            write_overview(self._options.overview, self.review, facts, self._sanitizer, self._text_options)

    def _print_sample(self, review: RunReview, facts: ReportFacts) -> None:
        step = -(-len(review.sample) // _DIFF_ROWS) or 1
        rows = review.sample[::step]
        for row in rows:
            for cell in row.cells:
                place = f"{row.file}, {facts.unit} {row.number:,}" + (f", {cell.column}" if cell.column else "")
                self._print(format_text_diff(self._explainer.align(cell.original, cell.output), self._style, place))
        if len(rows) < review.rows:
            self._print(f"({len(rows):,} of {review.rows:,} {facts.unit}s; --report FILE.html counts all)\n")

    def _print(self, text: str) -> None:
        with open_output(None) as write:
            if not self._has_begun:
                write(f"{PRIVATE_NOTICE}\n\n")
                self._has_begun = True
            write(text)
