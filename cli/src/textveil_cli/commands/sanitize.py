"""``textveil sanitize``: lines of text in, sanitized lines out."""

from pathlib import Path
from typing import Annotated

import typer
from textveil.bundle.kept import Kept
from textveil.bundle.pins import Pins
from textveil.errors import OptionError
from textveil.text.options import Options
from textveil.text.sanitizer import Sanitizer

from textveil_cli.charging import ReceiptFile, charging
from textveil_cli.configuration import ConfigOption, configured, say_configured
from textveil_cli.files import RECORD, Selection
from textveil_cli.io import read_words
from textveil_cli.options import (
    BudgetDeltaOption,
    BudgetOption,
    BundleOption,
    CapOption,
    CaseOption,
    ConsistentOption,
    DenyOption,
    EpsilonOption,
    FluentOption,
    KindsOption,
    LedgerKeyOption,
    LedgerOption,
    LevelOption,
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
from textveil_cli.pins import pinned
from textveil_cli.plain import LanguageWarning, PlainRun, sanitize_plain
from textveil_cli.table_options import (
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
    ScopeColumnOption,
    TsvOption,
    WorkersOption,
    size_of,
)
from textveil_cli.tables import TableRun, columns_of, document_of, format_of, run_is_over_files, sanitize_tables


@pinned()
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
    scope_column: ScopeColumnOption = None,
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
    config: ConfigOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No statement on standard error.")] = False,
    *,
    pins: Pins,
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
    sanitizer = Sanitizer.load(bundle, **pins)
    promised = sanitizer.terms(**options).statement(0)  # options are checked before any file is touched
    paths = files or ["-"]
    kept = Kept(
        [*(paths if text is None else []), *(path for path in (deny, config) if path is not None)],
        [("--memo-key", memo_key), ("--receipt-key", receipt_key)],
        ledger,
        ledger_key,
        sanitizer.bundle.path,
    )
    if text is None and (tables or run_is_over_files(paths, output, column, key, quarantine, workers, resume)):
        if keep_mapping is not None:
            raise OptionError("--keep-mapping is for one document, and not for folders or tables")
        if memo:
            raise OptionError("--memo is for plain text: it gives a whole call again, and files are drawn in parts")
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
            scope_column,
        )
        run = TableRun(paths, output, selection, bundle, quarantine, workers, resume, plain, as_json, quiet)
        sources = run.find(receipt)
        written = [("--output", source.target) for source in sources.files]
        record = None if sources.folder is None else sources.folder / RECORD
        kept.refuse(*written, ("--output", record), ("--quarantine", quarantine), ("--receipt", receipt))
        receipts = ReceiptFile(receipt, receipt_key, promised, selection.described)
        charged = charging(ledger, ledger_key, scope, budget, budget_delta, scope_column=scope_column)
        warn = LanguageWarning(sanitizer, options)
        sanitize_tables(run, sources, sanitizer, options, warn, configured(context), charged, receipts)
        return
    if document_key is not None or scope_column is not None:
        raise OptionError(f"{'--scope-column' if document_key is None else '--document-key'} is for tables")
    run = PlainRun(paths, text, output, document, keep_mapping, memo, plain, as_json, quiet)
    run.require_mapping()
    kept.refuse(("--output", output), ("--keep-mapping", keep_mapping), ("--receipt", receipt))
    receipts = ReceiptFile(receipt, receipt_key, promised)
    charged = charging(ledger, ledger_key, scope, budget, budget_delta, memo, memo_key)
    sanitize_plain(run, sanitizer, options, receipts, charged)
    if charged is not None:
        charged.say(quiet)
    say_configured(context, quiet)
