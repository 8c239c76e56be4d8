"""``textveil sanitize``: lines of text in, sanitized lines out."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Unpack

import typer

from textveil.bundle.atomic import atomic_output
from textveil.bundle.files import MAX_BUNDLE_BYTES
from textveil.cli.charging import ReceiptFile, charging, refuse_shared
from textveil.cli.configuration import ConfigOption, configured, say_configured
from textveil.cli.console import say
from textveil.cli.io import (
    Lines,
    all_lines,
    opened,
    read_lines,
    read_words,
    refuse_overwriting,
    say_unless,
    standard_output,
)
from textveil.cli.looking import looking
from textveil.cli.options import (
    BudgetDeltaOption,
    BudgetOption,
    BundleOption,
    CapOption,
    CaseOption,
    ConsistentOption,
    DenyOption,
    EpsilonOption,
    ExpectId,
    FluentOption,
    KindsOption,
    LedgerKeyOption,
    LedgerOption,
    LevelOption,
    Maker,
    MaxBundleBytes,
    MechanismOption,
    MemoKeyOption,
    MemoOption,
    PunctuationOption,
    ReceiptKeyOption,
    ReceiptOption,
    ReplacementOption,
    ScopeOption,
    SplitOption,
    StrictOption,
    TailOption,
    VisibleOption,
    staircase_options,
)
from textveil.cli.progress import progress_bar
from textveil.cli.show_text import Tally
from textveil.cli.table_options import (
    AllowMissingOption,
    ColumnOption,
    CsvOption,
    DelimiterOption,
    DocumentKeyOption,
    EncodingOption,
    HeaderOption,
    JsonLinesOption,
    KeyOption,
    MaxFieldOption,
    ParquetOption,
    PlainOption,
    QuarantineOption,
    ResumeOption,
    TsvOption,
    WorkersOption,
    size_of,
)
from textveil.cli.tables import (
    TableRun,
    columns_of,
    document_of,
    format_of,
    run_is_over_files,
    sanitize_tables,
)
from textveil.errors import OptionError, OutputError
from textveil.files import Selection, refuse_tables_by_name
from textveil.text.mention_statement import MentionTerms
from textveil.text.options import Options
from textveil.text.result import Result
from textveil.text.sanitizer import Sanitizer

#: Characters of an input that are looked at to tell whether its language is the bundle's.
_LOOKED_AT = 20_000
_ONE_DOCUMENT = "--keep-mapping is for one document: give one line, one --text, or --document file"
#: Characters that are written at once.
_PIECE = 1 << 20


def sanitize(
    context: typer.Context,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="Text files, one document per line; - is standard input. Also folders, patterns, .gz and .zst files.",
        ),
    ] = None,
    text: Annotated[str | None, typer.Option("--text", "-t", help="Sanitize this text instead; one document.")] = None,
    bundle: BundleOption = None,
    mechanism: MechanismOption = None,
    epsilon: EpsilonOption = None,
    level: LevelOption = None,
    tail: TailOption = None,
    replacement_probability: ReplacementOption = None,
    visible: VisibleOption = None,
    kinds: KindsOption = None,
    consistent: ConsistentOption = False,
    consistent_cap: CapOption = None,
    split: SplitOption = False,
    fluent: FluentOption = False,
    document: Annotated[
        str | None,
        typer.Option(
            help="line: each line is a document (the default); file: each file is one. Of tables: cell (the default), "
            "or row. Say it with --consistent."
        ),
    ] = None,
    keep_mapping: Annotated[
        Path | None,
        typer.Option(
            help="With --consistent and one document: write what restores its words here, for its owner alone "
            "(textveil restore)."
        ),
    ] = None,
    deny: DenyOption = None,
    case: CaseOption = "carry",
    sanitize_punctuation: PunctuationOption = False,
    _strict: StrictOption = False,
    csv: CsvOption = False,
    tsv: TsvOption = False,
    jsonl: JsonLinesOption = False,
    parquet: ParquetOption = False,
    plain: PlainOption = False,
    column: ColumnOption = None,
    key: KeyOption = None,
    document_key: DocumentKeyOption = None,
    header: HeaderOption = True,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = "utf-8",
    allow_missing: AllowMissingOption = False,
    max_field: MaxFieldOption = "16M",
    quarantine: QuarantineOption = None,
    workers: WorkersOption = 1,
    resume: ResumeOption = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="One JSON object per document: text and statement. Of files with columns: the statement of the run.",
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here, whole or not at all, instead of standard output."),
    ] = None,
    ledger: LedgerOption = None,
    ledger_key: LedgerKeyOption = None,
    scope: ScopeOption = None,
    budget: BudgetOption = None,
    budget_delta: BudgetDeltaOption = None,
    memo: MemoOption = False,
    memo_key: MemoKeyOption = None,
    receipt: ReceiptOption = None,
    receipt_key: ReceiptKeyOption = None,
    expect_id: ExpectId = None,
    maker: Maker = None,
    max_bundle_bytes: MaxBundleBytes = MAX_BUNDLE_BYTES,
    config: ConfigOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No statement on standard error.")] = False,
) -> None:
    """Rewrite a text with words drawn at random.

    Function words, punctuation, case and kinds of names stay visible: textveil preview shows them. Each line is a
    document of plain text. Of CSV, TSV, JSON lines and Parquet, say which columns or keys to rewrite: the others are
    copied as they are. The privacy statement goes to standard error. It is about one word, for someone who knows every
    other word; the text as a whole is not protected. Every run draws afresh, so sanitizing the same text again is a
    second release and weakens the promise.
    """
    if text is not None and files:
        raise OptionError("--text and files exclude each other")
    format_name = format_of(csv, tsv, jsonl, parquet, plain)
    tables = format_name not in (None, "lines")
    if document not in (None, "cell", "row") if tables else document not in (None, "line", "file"):
        raise OptionError("--document is cell or row" if tables else "--document is line or file")
    if keep_mapping is not None and not consistent:
        raise OptionError("--keep-mapping goes with --consistent")
    if keep_mapping is not None and output is not None and os.path.realpath(keep_mapping) == os.path.realpath(output):
        raise OptionError("--keep-mapping and --output are one file: the mapping would go where the text is to go")
    if keep_mapping is not None and memo:
        raise OptionError("--keep-mapping and --memo exclude each other: a memo stores no mapping")
    options = Options(
        mechanism=mechanism,
        epsilon=epsilon,
        level=level,
        tail=tail,
        replacement_probability=replacement_probability,
        deny=read_words(deny, "--deny"),
        case=case,
        sanitize_punctuation=sanitize_punctuation,
        **staircase_options(visible, kinds, consistent, consistent_cap, split, fluent),
    )
    sanitizer = Sanitizer.load(bundle, expect_id=expect_id, maker=maker, max_bytes=max_bundle_bytes)
    promised = sanitizer.terms(**options).statement(0)  # options are checked before any file is touched
    paths = files or ["-"]
    if text is None and (tables or run_is_over_files(paths, output, column, key, quarantine, workers, resume)):
        if keep_mapping is not None:
            raise OptionError("--keep-mapping is for one document, and not for folders or tables")
        if any(given is not None for given in (ledger, receipt)):
            raise OptionError("--ledger and --receipt are for plain text, and not yet for folders or tables")
        found = "lines" if format_name is None else format_name
        selection = Selection(
            found,
            columns_of(found, column, key),
            document_of(found, document, document_key, consistent),
            document_key,
            header,
            delimiter,
            encoding,
            allow_missing,
            size_of(max_field),
        )
        run = TableRun(paths, output, selection, bundle, quarantine, workers, resume, plain, as_json, quiet)
        warn = _LanguageWarning(sanitizer, options)
        sanitize_tables(run, sanitizer, options, warn, configured(context))
        return
    if document_key is not None:
        raise OptionError("--document-key is for tables")
    if keep_mapping is not None and len(paths) > 1:
        raise OptionError(_ONE_DOCUMENT)
    for written in (output, keep_mapping, receipt):
        if written is not None:
            refuse_overwriting(paths if text is None else [], written)
    if keep_mapping is not None and not os.access(Path(os.path.realpath(keep_mapping)).parent, os.W_OK):
        raise OutputError("--keep-mapping: no folder there that can be written")  # known before a text is released
    refuse_shared(output, keep_mapping, receipt, ledger, ledger_key, memo_key, receipt_key)
    receipts = ReceiptFile(receipt, receipt_key, promised)
    charged = charging(ledger, ledger_key, scope, budget, budget_delta, memo, memo_key)

    def draw(texts: list[str]) -> list[Result]:
        drawn = (
            sanitizer.sanitize_batch(texts, **options)
            if charged is None
            else charged.sanitize(sanitizer, texts, options)
        )
        receipts.add(drawn)
        if keep_mapping is not None:  # first: a text without its mapping could only be had back by a second release
            _write_mapping(keep_mapping, drawn)
        return drawn

    with atomic_output(output) if output is not None else standard_output() as write_output:
        write = receipts.through(write_output)
        if text is not None:
            (result,) = draw([text])
            if not quiet:
                _LanguageWarning(sanitizer, options)([text])
            for piece in _rendered([result], as_json, ended=True):
                write(piece)
            receipts.write()
            say_unless(result.statement.summary(), quiet)
            if charged is not None:
                charged.say(quiet)
            say_configured(context, quiet)
            return
        ended = True
        for number, path in enumerate(paths, 1):
            if not ended:  # the last line of one input and the first of the next are two documents
                write("\n")
            name = "standard input" if path == "-" else f"input {number} of {len(paths)}"
            if not plain:
                refuse_tables_by_name(path, name)
            tally = Tally()
            with (
                opened(path, name) as (descriptor, size),
                progress_bar("sanitizing", size, quiet, output is not None) as advance,
            ):
                warn = None if quiet else _LanguageWarning(sanitizer, options)
                look = warn if plain else looking(name, warn)
                look = look if keep_mapping is None else _refusing_several(look)
                whole = memo or keep_mapping is not None
                documents = sanitize_lines(
                    sanitizer, descriptor, name, document=document, whole=whole, look=look, draw=draw, **options
                )
                for results, ended, consumed in documents:
                    for piece in _rendered(results, as_json, ended=ended):
                        write(piece)
                    tally.add(results)
                    advance(consumed)
            say_unless(f"{name}: {tally}", quiet)
        receipts.write()
    if charged is not None:
        charged.say(quiet)
    say_configured(context, quiet)


def _refusing_several(look: Callable[[list[str]], None] | None) -> Callable[[list[str]], None]:
    """Looks at documents before they are drawn, and charged: there may be one for ``--keep-mapping``."""

    def one(documents: list[str]) -> None:
        if len(documents) > 1:
            raise OptionError(_ONE_DOCUMENT)
        if look is not None:
            look(documents)

    return one


def _write_mapping(path: Path, results: list[Result]) -> None:
    """Writes the mapping of the one document, readable by its owner alone."""
    for result in results:
        if result.mapping is not None:
            with atomic_output(path, private=True) as write:
                write(result.mapping.to_json())


def _documents(descriptor: int, name: str, document: str | None, consistent: bool) -> Iterator[Lines]:
    """Yields the documents of one input: its lines, or all of it."""
    if document == "file":
        found = list(read_lines(descriptor, name))
        text = "".join("\n".join(lines) + ("\n" if ended else "") for lines, ended, _ in found)
        if text:
            yield [text.removesuffix("\n")], text.endswith("\n"), found[-1][2]
        return
    seen = 0
    for lines, ended, consumed in read_lines(descriptor, name):
        seen += len(lines)
        if consistent and document is None and seen > 1:
            raise OptionError("--consistent on several lines: say --document line or --document file")
        yield lines, ended, consumed


class _LanguageWarning:
    """Says, on this device alone, that most of the first lines of an input are unknown words."""

    def __init__(self, sanitizer: Sanitizer, options: Options) -> None:
        self._sanitizer, self._options, self._said = sanitizer, options, False

    def __call__(self, lines: list[str]) -> None:
        if self._said or not isinstance(self._sanitizer.terms(**self._options), MentionTerms):
            return
        self._said = True
        if self._sanitizer.unknown_share("\n".join(lines)[:_LOOKED_AT], **self._options) > 1 / 2:
            say("textveil: over half of the drawn words are unknown: is this bundle for the language of the text?")


def sanitize_lines(
    sanitizer: Sanitizer,
    descriptor: int,
    name: str,
    *,
    document: str | None = None,
    whole: bool = False,
    look: Callable[[list[str]], None] | None = None,
    draw: Callable[[list[str]], list[Result]] | None = None,
    **options: Unpack[Options],
) -> Iterator[tuple[list[Result], bool, int]]:
    """Sanitizes everything that can be read from a file descriptor, line by line or as one document.

    Args:
        sanitizer: The sanitizer.
        descriptor: An open file descriptor; read until its end, not closed.
        name: What errors call the input ("input 1").
        document: ``"line"`` or ``"file"``; ``None`` for lines, and for one line only with consistent draws.
        whole: Whether all lines are read before the first is sanitized: they are one request to a memo.
        look: Called with the documents before they are sanitized.
        draw: What sanitizes documents in place of the sanitizer: with a ledger, say.
        options: As in ``Sanitizer.sanitize``.

    Yields:
        Results of the lines that had arrived, whether the last of them ended with a line feed, and bytes consumed.

    Raises:
        InputError: As ``read_lines``.
        OptionError: Draws are consistent, there are several lines, and it is not said what a document is.
    """
    documents = _documents(descriptor, name, document, bool(options.get("consistent")))
    for lines, ended, consumed in all_lines(documents) if whole else documents:
        if look is not None:
            look(lines)
        yield sanitizer.sanitize_batch(lines, **options) if draw is None else draw(lines), ended, consumed


def _rendered(results: list[Result], as_json: bool, *, ended: bool) -> Iterator[str]:
    """What is written, a long text in pieces: all of it at once would be held three times."""
    if as_json or len(results) != 1 or len(results[0].text) < _PIECE:
        yield _render(results, as_json, ended=ended)
        return
    text = results[0].text
    yield from (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
    if ended:
        yield "\n"


def _render(results: list[Result], as_json: bool, *, ended: bool) -> str:
    if as_json:
        lines = [
            json.dumps({"text": result.text, "statement": result.statement.to_dict()}, ensure_ascii=False)
            for result in results
        ]
        return "\n".join(lines) + "\n"
    return "\n".join([result.text for result in results]) + ("\n" if ended else "")
