"""``textveil sanitize`` for plain text: each line, or each whole input, is a document."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from textveil.errors import OptionError
from textveil.formatting import format_count
from textveil.text import Options, Result, Sanitizer

from textveil_cli.commands.sanitize import SanitizeArguments
from textveil_cli.console import (
    LineBatch,
    TextWriter,
    get_safe_file_name,
    merge_line_batches,
    name_inputs,
    open_input,
    open_output,
    print_message,
    print_unless_quiet,
    read_lines,
)

if TYPE_CHECKING:
    from textveil.text import PrivacyTerms

    from textveil_cli.changes import ReportFacts
    from textveil_cli.console import KeptWordsTally

_ONE_DOCUMENT_ERROR = "--save-mapping needs one document: pass one line, one --text, or --document file"
_ENCODING_ADVICE, _REJECTED_ROWS_ADVICE = "save it as UTF-8", "; --rejected-rows FILE skips rejected lines"
#: Maximum number of characters in one write of a long text.
_MAX_WRITE_CHARACTERS = 1 << 20
#: End of the first tag of each type in a document, such as ``[city 1]``.
_FIRST_TAG = " 1]"
#: Smallest input for which a progress bar is shown.
_BAR_FROM_BYTES = 20_000_000

SanitizeLines = Callable[[list[str]], list[Result]]
LineCheck = Callable[[list[str]], None]


def sanitize_plain_text(arguments: SanitizeArguments, sanitizer: Sanitizer, options: Options) -> None:
    """Sanitize plain text, write the output, and print the privacy statement.

    Args:
        arguments: All arguments of the command.
        sanitizer: The sanitizer.
        options: Options of ``Sanitizer.sanitize``.

    Raises:
        TextveilError: An input cannot be read, an output cannot be written, or the epsilon of a text exceeds the rest
            of the budget in the privacy ledger.
    """
    mapping, output = arguments.save_mapping, arguments.output.output
    _check_outputs(arguments, sanitizer)
    views = None
    if arguments.changes.has_any:
        from textveil_cli.commands.sanitize.changes import ChangeViews  # lazy: most calls show no originals

        views = ChangeViews(arguments.changes, sanitizer, options, is_over_files=False)
    receipt = arguments.receipt.open_receipt(sanitizer.terms(**options).statement)
    run_ledger = arguments.ledger.open_ledger()
    check_language, tally = (
        (_skip_warning, None) if arguments.output.quiet else _make_language_checks(sanitizer, options)
    )

    def sanitize_lines(texts: list[str]) -> list[Result]:
        if run_ledger is None:
            results = sanitizer.sanitize_batch(texts, **options)
        else:
            results = run_ledger.sanitize(sanitizer, texts, options)
        if tally is not None:
            tally.add_results(results)
        if receipt is not None:
            receipt.add_releases(results)
        if mapping is not None:  # before the output: if the mapping were lost, only a second release could replace it
            for result in results:
                if result.mapping is not None:
                    arguments.save_one_mapping(result.mapping)
        if views is not None:
            views.add_results(texts, results)
        return results

    with _skip_output() if arguments.changes.diff and output is None else open_output(output) as write:
        write = write if receipt is None else receipt.wrap_writer(write)
        if arguments.inputs.text is not None:
            statement = _sanitize_text(arguments, arguments.inputs.text, sanitize_lines, check_language, write)
        else:
            begin_input = (lambda name: None) if views is None else views.begin_input
            statement = _sanitize_inputs(arguments, sanitize_lines, check_language, write, begin_input)
        if receipt is not None:
            receipt.write()
    if views is not None:
        views.finish(_make_report_facts(arguments, sanitizer, options, statement))
    if tally is not None:
        hint = tally.describe_language(is_english=sanitizer.bundle.is_builtin, option="--language")
        if hint:
            print_message(f"textveil: {hint}")
    if run_ledger is not None:
        run_ledger.print_summary(arguments.output.quiet)


def _make_report_facts(
    arguments: SanitizeArguments, sanitizer: Sanitizer, options: Options, statement: str
) -> "ReportFacts":
    """Return inputs, output, options and privacy statement of the run, for the heading of its HTML report."""
    from textveil_cli.changes import ReportFacts
    from textveil_cli.commands.sanitize.changes import describe_run_options, list_run_notes

    output = arguments.output.output
    return ReportFacts(
        inputs=[name for _, name in name_inputs(arguments.inputs.paths)] or ["--text"],
        statement=statement,
        output="" if output is None else get_safe_file_name(output),
        options=describe_run_options(arguments, sanitizer, options),
        bundle=sanitizer.bundle.content_hash,
        notes=list_run_notes(arguments, None, is_consistent=False),
    )


def _check_outputs(arguments: SanitizeArguments, sanitizer: Sanitizer) -> None:
    """Raise an error for an output that would overwrite an input or has the ending of another format."""
    mapping, output = arguments.save_mapping, arguments.output.output
    if mapping is not None and len(arguments.inputs.paths) > 1:
        raise OptionError(_ONE_DOCUMENT_ERROR)
    arguments.refuse_overwriting(sanitizer.bundle.path, ("--output", output), ("--save-mapping", mapping))
    arguments.check_mapping_file()
    if output is not None:
        from textveil_cli.files import check_output_ending

        formats = ("jsonl", "json") if arguments.output.as_json else ("lines",)
        check_output_ending(output, formats, arguments.inputs.paths)


@contextmanager
def _skip_output() -> Iterator[TextWriter]:
    """Yield a function that writes nothing, since ``--diff`` prints differences in place of the output."""
    yield lambda text: None


def _skip_warning(lines: list[str]) -> None:
    """Do nothing. With ``--quiet``, this function replaces the one that warns about the language of texts."""


def _make_language_checks(sanitizer: Sanitizer, options: Options) -> "tuple[LineCheck, KeptWordsTally]":
    """Return two objects that detect texts in another language than the word lists.

    The first object is a function. The caller passes texts to it before they are sanitized, and it warns about unknown
    words. The second object counts replaced words. After the run the caller prints its warning about many replaced
    words.
    """
    from textveil_cli.console import KeptWordsTally, UnknownWordsWarning

    return UnknownWordsWarning(sanitizer, options), KeptWordsTally()


def _sanitize_text(
    arguments: SanitizeArguments, text: str, sanitize_lines: SanitizeLines, check_language: LineCheck, write: TextWriter
) -> str:
    """Sanitize the text that the user gave as ``--text``, write it, and return the privacy statement as one line.

    Args:
        arguments: All arguments of the command.
        text: The text.
        sanitize_lines: Function that sanitizes a list of texts.
        check_language: Function that warns if texts may be in another language.
        write: Function that writes the output.
    """
    (result,) = sanitize_lines([text])
    check_language([text])
    for chunk in _iterate_output([result], arguments.output.as_json, ended=True):
        write(chunk)
    print_unless_quiet(arguments.output.format_statement(result.statement), arguments.output.quiet)
    return result.statement.format_line()


def _sanitize_inputs(
    arguments: SanitizeArguments,
    sanitize_lines: SanitizeLines,
    check_language: LineCheck,
    write: TextWriter,
    begin_input: Callable[[str], None],
) -> str:
    """Sanitize all inputs, write the output, and return the privacy statement of the last input as one line.

    Args:
        arguments: All arguments of the command.
        sanitize_lines: Function that sanitizes a list of texts.
        check_language: Function that warns if texts may be in another language.
        write: Function that writes the output.
        begin_input: Called with the name of each input.
    """
    from textveil_cli.console import show_byte_progress
    from textveil_cli.files import make_table_refusal, refuse_tables_by_name

    ended, quiet, is_one_document = True, arguments.output.quiet, arguments.save_mapping is not None
    line, has_several = "", False
    for path, name in name_inputs(arguments.inputs.paths):
        if not ended:  # the last line of one input and the first of the next are two documents
            write("\n")
            ended = True
        refuse_table = make_table_refusal(name)
        if not arguments.table.plain:
            refuse_tables_by_name(path, name)
        begin_input(name)
        tally, to_file = _StatementTally(), arguments.output.output is not None
        with (
            open_input(path, name) as (descriptor, size),
            show_byte_progress("sanitizing", size, _BAR_FROM_BYTES, quiet=quiet, to_file=to_file) as advance,
        ):
            documents = _read_documents(descriptor, name, arguments)
            for lines, ended, consumed in (
                merge_line_batches(documents) if is_one_document or arguments.ledger.replay_cache else documents
            ):
                if is_one_document and len(lines) > 1:
                    raise OptionError(_ONE_DOCUMENT_ERROR)
                if not arguments.table.plain:
                    refuse_table(lines)
                check_language(lines)
                results = sanitize_lines(lines)
                for chunk in _iterate_output(results, arguments.output.as_json, ended=ended):
                    write(chunk)
                tally.add_results(results)
                advance(consumed)
        print_unless_quiet(f"{name}: {tally.describe(arguments)}", quiet)
        line, has_several = tally.format_line() or line, has_several or tally.tagged_documents > 1
    if has_several and (hint := arguments.describe_tag_numbers()):
        print_unless_quiet(hint, quiet)
    return line


class _StatementTally:
    """Sum of the privacy statements (what the output reveals) over all documents of one input."""

    def __init__(self) -> None:
        self.documents = self.tagged_documents = 0
        self.tokens = self.randomized = 0
        self.terms: PrivacyTerms | None = None

    def add_results(self, results: Sequence[Result]) -> None:
        """Add the results of ``Sanitizer.sanitize`` for some documents to the sum; all must have the same options."""
        self.documents += len(results)
        self.tagged_documents += sum(_FIRST_TAG in result.text for result in results)
        self.tokens += sum(result.tokens for result in results)
        self.randomized += sum(result.randomized_words for result in results)
        self.terms = results[0].terms if results else self.terms

    def format_line(self) -> str:
        """Return the privacy statement (what the output reveals) as one line; empty if no document was added."""
        terms = self.terms
        return "" if terms is None else terms.statement(self.tokens, self.randomized).format_line()

    def describe(self, arguments: SanitizeArguments) -> str:
        """Return a text with the number of documents and one privacy statement (what the output reveals) for all."""
        if self.terms is None:
            return "no documents"
        statement = arguments.output.format_statement(self.terms.statement(self.tokens, self.randomized))
        return f"{format_count(self.documents, 'document')}. {statement}"


def _read_documents(descriptor: int, name: str, arguments: SanitizeArguments) -> Iterator[LineBatch]:
    """Yield the documents of one input in batches: its lines, or the whole input as one document."""
    if arguments.documents.document == "file":
        batches = list(read_lines(descriptor, name))
        text = "".join("\n".join(lines) + ("\n" if ended else "") for lines, ended, _ in batches)
        if text:
            yield [text.removesuffix("\n")], text.endswith("\n"), batches[-1][2]
        return
    lines_read, is_one_document = (
        0,
        arguments.save_mapping is not None or arguments.ledger.replay_cache,
    )  # plain text has no --rejected-rows
    for lines, ended, consumed in read_lines(
        descriptor, name, _ENCODING_ADVICE if is_one_document else _ENCODING_ADVICE + _REJECTED_ROWS_ADVICE
    ):
        lines_read += len(lines)
        if arguments.text_options.is_consistent and arguments.documents.document is None and lines_read > 1:
            raise OptionError("--consistent on several lines needs --document line or --document file")
        yield lines, ended, consumed


def _iterate_output(results: list[Result], as_json: bool, *, ended: bool) -> Iterator[str]:
    """Yield the sanitized texts of results as output, with a line end after each result.

    A long text is yielded in several parts, since one string would need too much memory.

    Args:
        results: The results.
        as_json: Whether each result becomes a JSON object.
        ended: Whether a line end follows the last result.
    """
    if all(len(result.text) < _MAX_WRITE_CHARACTERS for result in results):
        yield _format_output(results, as_json, ended=ended)
        return
    for number, result in enumerate(results, 1):
        chunks = (
            result.text[start : start + _MAX_WRITE_CHARACTERS]
            for start in range(0, len(result.text), _MAX_WRITE_CHARACTERS)
        )
        if as_json:
            before, after = _format_json(result, "").split('""', 1)
            yield before + '"'
            yield from (json.dumps(piece, ensure_ascii=False)[1:-1] for piece in chunks)
            yield '"' + after + "\n"
        else:
            yield from chunks
            if ended or number < len(results):
                yield "\n"


def _format_output(results: list[Result], as_json: bool, *, ended: bool) -> str:
    if as_json:
        return "\n".join(_format_json(result, result.text) for result in results) + "\n"
    return "\n".join([result.text for result in results]) + ("\n" if ended else "")


def _format_json(result: Result, text: str) -> str:
    return json.dumps({**result.to_dict(), "text": text}, ensure_ascii=False)
