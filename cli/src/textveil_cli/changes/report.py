"""HTML report about one run of a command, for the owner of the device.

The report lists the unchanged words with reasons, the types of the replaced words (such as ``person``), counts for each
column, and a sample of rows.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from textveil import __version__
from textveil.formatting import format_count
from textveil.storage import open_atomic_text
from textveil.text.marked_html import KEPT_TEXT, HtmlFragment, escape_html, iterate_page, mark_originals, mark_pieces

from textveil_cli.changes.explain import describe_reason
from textveil_cli.changes.run_review import ColumnCounts, ReviewedRow, RunReview
from textveil_cli.columns import find_personal_columns

_MAX_LISTED_WORDS, _MAX_LISTED_COLUMNS = 15, 50
#: Maximum number of words that a list shows when the reader opens it.
_MAX_OPENED_WORDS = 500


def _format_time() -> str:
    """Return the current local time to the minute, with its offset from UTC, for the heading of the report."""
    return datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %z")


@dataclass(frozen=True, kw_only=True)
class ReportFacts:
    """Data about a run for the heading of its HTML report.

    Attributes:
        inputs: Names of the inputs.
        statement: The privacy statement of the run: one line about what the output still reveals.
        column_option: The option that selects a column: ``--column`` or ``--key``; empty for plain text.
        unit: Word for a row in the report: ``row`` or ``line``.
        output: Name of the output; empty if there is none.
        options: The options of the run, one line, without words of the user's lists.
        bundle: Hash of the bundle (folder with word lists and settings) that the run used.
        finished_before: Number of inputs that an earlier run finished (option ``--resume``). Their texts do not count.
        notes: What the run did with columns, documents and the mapping, without a name of a column or a file.
        written: Date and time of the report.
    """

    inputs: Sequence[str]
    statement: str
    column_option: str = ""
    unit: str = "line"
    output: str = ""
    options: str = ""
    bundle: str = ""
    finished_before: int = 0
    notes: Sequence[str] = ()
    written: str = field(default_factory=_format_time)


def write_report(path: Path, review: RunReview, facts: ReportFacts) -> None:
    """Write the report to a file that only its owner may read, completely or not at all.

    Args:
        path: The file.
        review: Counts of words and rows, and a sample of rows, of the run.
        facts: Inputs, output, options and privacy statement of the run, for the heading.

    Raises:
        OutputError: The file cannot be written.

    Privacy:
        The report contains original text, and its first line states this.
    """
    with open_atomic_text(path, private=True) as write:
        for part in iterate_page("What textveil changed", _iterate_sections(review, facts)):
            write(part)


def _iterate_sections(review: RunReview, facts: ReportFacts) -> Iterator[str]:
    texts = sum(counts.texts for counts in review.columns.values())
    changed = sum(counts.changed for counts in review.columns.values())
    names = ", ".join(facts.inputs[:5]) + (f" and {len(facts.inputs) - 5:,} more" if len(facts.inputs) > 5 else "")
    size = format_count(review.total_rows, facts.unit)
    counted = format_count(texts, "text") + (f" in {size}" if facts.column_option else "")
    yield f'<p class="soft">{escape_html(names)}: {counted}, {changed:,} of them changed</p>\n'
    yield f'<p class="soft">{escape_html(_describe_run(facts))}</p>\n'
    yield from iterate_missing_parts(review, facts)
    yield f"<p>{escape_html(facts.statement)}</p>\n"
    yield from _iterate_copied_columns(review, facts)
    if facts.column_option:
        yield from _iterate_columns(review.columns)
    align = review.explainer.align
    rows = [(row, [(cell, align(cell.original, cell.output)) for cell in row.cells]) for row in review.sample]
    shown = len(rows)
    shown_rows = "" if shown == review.rows else f", in the sample of {format_count(shown, facts.unit)} below"
    yield from _iterate_reasons(review, rows, shown_rows)
    total = review.total_rows
    yield f"<h2>{'All' if shown == total else f'{shown:,} of {total:,}'} {facts.unit}s</h2>\n"
    if shown < total:
        yield f'<p class="soft">{_explain_missing_rows(review, shown, facts.unit)}</p>\n'
    yield (
        '<p class="soft">Your text with replaced parts crossed out, and the output with their replacements marked. '
        "Dotted: kept by an option or as a public fact.</p>\n"
    )
    for row, cells in rows:
        yield from _iterate_row(row, cells, facts)


def iterate_missing_parts(review: RunReview, facts: ReportFacts) -> Iterator[str]:
    """Yield warnings about inputs and rows that the counts of a page lack, as HTML; nothing if there are none.

    Args:
        review: Counts of words and rows of the run.
        facts: Data about the run for the heading.
    """
    if facts.finished_before:
        were, they = ("was", "it is") if facts.finished_before == 1 else ("were", "they are")
        earlier = (
            f"{format_count(facts.finished_before, 'input')} {were} finished by an earlier run: {they} not counted"
        )
        yield f'<p class="warning" role="note"><strong>Warning:</strong> {earlier}</p>\n'
    if review.rejected_rows:
        were, they = ("was", "it is") if review.rejected_rows == 1 else ("were", "they are")
        rejected = f"{format_count(review.rejected_rows, facts.unit)} {were} rejected: {they} not in the output"
        yield f'<p class="warning" role="note"><strong>Warning:</strong> {rejected}</p>\n'


def _describe_run(facts: ReportFacts) -> str:
    """Return one line for the report with the date, the version, the output and the options of the run."""
    parts = [f"{facts.written}, textveil {__version__}" + (f", bundle {facts.bundle[:12]}" if facts.bundle else "")]
    parts += [f"output: {facts.output}"] if facts.output else []
    parts += [f"options: {facts.options}"] if facts.options else []
    return "; ".join(parts)


def _explain_missing_rows(review: RunReview, shown: int, unit: str) -> str:
    """Return a sentence for the report: why the report shows fewer rows than the run had.

    Args:
        review: Counts of words and rows, and a sample of rows, of the run.
        shown: Number of rows in the report.
        unit: Word for a row in the report: ``row`` or ``line``.
    """
    empty, reasons = review.total_rows - review.rows, []
    if empty:
        have = "has" if empty == 1 else "have"
        where = "the rewritten columns" if len(review.columns) > 1 else "the rewritten column"
        reasons.append(f"{format_count(empty, unit)} {have} no text in {where}.")
    if shown < review.rows:
        of = f"the {review.rows:,} {unit}s with text" if empty else f"all {review.rows:,}"
        reasons.append(f"The {shown:,} below are a random sample of {of}: more would make the page too large.")
    return " ".join(reasons)


def _iterate_copied_columns(review: RunReview, facts: ReportFacts) -> Iterator[str]:
    if not review.copied:
        return
    personal = find_personal_columns(review.copied)
    if personal:
        listed = ", ".join(map(escape_html, personal[:_MAX_LISTED_COLUMNS]))
        are = "look personal and were" if len(personal) > 1 else "looks personal and was"
        yield (
            f'<p class="warning" role="note"><strong>Warning:</strong> {listed} {are} copied unchanged: rewrite with '
            f"<code>{facts.column_option}</code> or remove with <code>--drop-column</code></p>\n"
        )
    others = [name for name in review.copied if name not in personal]
    if others:
        more = f" and {len(others) - _MAX_LISTED_COLUMNS:,} more" if len(others) > _MAX_LISTED_COLUMNS else ""
        listed = ", ".join(map(escape_html, others[:_MAX_LISTED_COLUMNS]))
        yield f'<p class="soft">Also copied unchanged: {listed}{more}</p>\n'


def _iterate_columns(columns: dict[str, ColumnCounts]) -> Iterator[str]:
    rows = [
        (
            name,
            f"{counts.texts:,}",
            f"{counts.changed:,}",
            f"{counts.kept_total:,}",
            f"{counts.replaced.total():,}",
            _list_counts(counts.replaced),
        )
        for name, counts in columns.items()
    ]
    yield "<h2>Rewritten columns</h2>\n"
    yield from iterate_table(("column", "texts", "changed", "kept words", "replaced", "types"), rows, range(1, 5))


def _iterate_reasons(review: RunReview, rows: Iterable[tuple[ReviewedRow, list]], shown_rows: str) -> Iterator[str]:
    kept, replaced = Counter[str](), Counter[str]()
    for counts in review.columns.values():
        kept.update(counts.kept)
        replaced.update(counts.replaced)
    total = sum(counts.kept_total for counts in review.columns.values())
    by_reason: dict[tuple[bool, str], tuple[Counter[str], Counter[str]]] = {}
    for row, _ in rows:
        for cell in row.cells:
            for token, state, reason in review.explainer.iterate_reasons(cell.original):
                is_kept = state == KEPT_TEXT
                types, words = by_reason.setdefault((is_kept, reason), (Counter(), Counter()))
                types[state] += 1
                words[token.lower() if is_kept else token] += 1
    for is_kept, title, counted in ((True, "Kept", kept), (False, "Replaced", replaced)):
        size = total if is_kept else replaced.total()
        yield f"<h2>{title}, and why</h2>\n<p>{format_count(size, 'word' if is_kept else 'part')} in all rows.</p>\n"
        yield f"<div>Most frequent: {_list_counts(counted) or 'none'}</div>\n"
        reasons = sorted(
            ((reason, *counts) for (kept_here, reason), counts in by_reason.items() if kept_here == is_kept),
            key=lambda entry: -entry[1].total(),
        )
        if reasons:
            table_rows = [
                (
                    describe_reason(reason),
                    f"{words.total():,}",
                    *([] if is_kept else [_list_counts(types)]),
                    _list_counts(words),
                )
                for reason, types, words in reasons
            ]
            heads = (f"reason{shown_rows}", "times", *([] if is_kept else ["types"]), "words")
            yield from iterate_table(heads, table_rows, range(1, 2))


def _iterate_row(row: ReviewedRow, cells: list, facts: ReportFacts) -> Iterator[str]:
    place = f"{escape_html(row.file)}, " if len(facts.inputs) > 1 else ""
    yield '<section class="card">'
    for cell, pieces in cells:
        column = f", {escape_html(cell.column)}" if cell.column else ""
        yield f"<h3>{place}{facts.unit} {row.number:,}{column}</h3>"
        if all(piece.treatment == KEPT_TEXT for piece in pieces):
            yield f'<div><h4 class="always">unchanged</h4>{mark_originals(pieces)}</div>'
        else:
            yield f'<div class="pair"><div><h4>your text</h4>{mark_originals(pieces)}</div>'
            yield f"<div><h4>output</h4>{mark_pieces(pieces)}</div></div>"
    yield "</section>\n"


def iterate_table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: range) -> Iterator[str]:
    """Yield the lines of an HTML table.

    Args:
        heads: Headings of the columns.
        rows: The cells of each row: plain texts, or HTML as an ``HtmlFragment``.
        numbers: Positions of the columns that contain numbers.
    """

    def make_cells(name: str, cells: Sequence[str]) -> str:
        classes = (' class="number"' if place in numbers else "" for place in range(len(cells)))
        contents = (cell if isinstance(cell, HtmlFragment) else escape_html(cell) for cell in cells)
        return "".join(f"<{name}{kind}>{cell}</{name}>" for kind, cell in zip(classes, contents, strict=True))

    yield f'<div class="scroll"><table><thead><tr>{make_cells("th", heads)}</tr></thead><tbody>\n'
    for row in rows:
        yield f"<tr>{make_cells('td', row)}</tr>\n"
    yield "</tbody></table></div>\n"


def _list_counts(counts: Counter[str]) -> HtmlFragment:
    """Return the most frequent words with their counts as HTML; a click in the report shows the others."""
    most = _MAX_LISTED_WORDS
    most += len(counts) == most + 1  # the last one needs no more space than its number
    frequent = counts.most_common(most + _MAX_OPENED_WORDS)
    entries = [f"{name} \u00d7{count:,}" if count > 1 else name for name, count in frequent]
    listed, opened = (escape_html(", ".join(part)) for part in (entries[:most], entries[most:]))
    if not opened:
        return HtmlFragment(listed)
    unlisted = len(counts) - len(entries)
    opened += f"; and {unlisted:,} more" if unlisted else ""
    return HtmlFragment(f"{listed}<details><summary>{len(counts) - most:,} more</summary>{opened}</details>")
