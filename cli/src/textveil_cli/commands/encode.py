"""``textveil encode``: lines of text in, one noisy vector or one index for each out."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from textveil.bundle.atomic import atomic_output
from textveil.bundle.files import encoder_version
from textveil.bundle.index_bundle import INDEX_FORMAT_VERSION
from textveil.bundle.kept import Kept
from textveil.bundle.pins import Pins
from textveil.errors import OptionError
from textveil.release import Statement
from textveil.vector.encoder import Encoder, VectorRelease
from textveil.vector.index_encoder import IndexEncoder, IndexRelease

from textveil_cli.charging import Charging, ReceiptFile, charging
from textveil_cli.configuration import ConfigOption, say_configured
from textveil_cli.files import Reading, Selection, packed_as, read_cells, refuse_tables_by_name
from textveil_cli.io import Lines, Write, all_lines, opened, read_lines, say_unless, standard_output
from textveil_cli.options import (
    BudgetDeltaOption,
    BudgetOption,
    EncoderOption,
    LedgerKeyOption,
    LedgerOption,
    MemoKeyOption,
    MemoOption,
    ReceiptKeyOption,
    ReceiptOption,
    ScopeOption,
)
from textveil_cli.pins import pinned
from textveil_cli.progress import progress_bar
from textveil_cli.table_options import (
    CsvOption,
    DelimiterOption,
    EncodedColumnOption,
    EncodedKeyOption,
    EncodingOption,
    HeaderOption,
    JsonLinesOption,
    ParquetOption,
    PlainOption,
    TsvOption,
)
from textveil_cli.tables import columns_of, format_of, refusing_tables

Release = VectorRelease | IndexRelease

# About ten milliseconds of work for each line: a bar is worth its place long before that of ``sanitize``.
_BAR_FROM_BYTES = 20_000


@pinned()
def encode(
    context: typer.Context,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE...", help="Text files, one document per line; - is standard input."),
    ] = None,
    text: Annotated[str | None, typer.Option("--text", "-t", help="Encode this text instead; one document.")] = None,
    bundle: EncoderOption = None,
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", "-e", help="For the whole text, exactly as info lists it; the bundle's default."),
    ] = None,
    word_dropout: Annotated[
        str,
        typer.Option(
            help="How often each word is removed before the text is encoded, in [0, 1). Lowers the epsilon of one "
            "word; that of the whole text stays."
        ),
    ] = "0",
    channel: Annotated[
        str | None,
        typer.Option(help="Of a bundle that releases an index: counts or accuracy; the bundle's default if left out."),
    ] = None,
    csv: CsvOption = False,
    tsv: TsvOption = False,
    jsonl: JsonLinesOption = False,
    parquet: ParquetOption = False,
    plain: PlainOption = False,
    column: EncodedColumnOption = None,
    key: EncodedKeyOption = None,
    header: HeaderOption = True,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = "utf-8",
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object per document: what is released, and the statement.")
    ] = False,
    whole_statement: Annotated[
        bool, typer.Option("--statement", help="The whole privacy statement on standard error instead of one line.")
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
    """Turn each text into one index, or a short vector with noise.

    Each line is a document and gives one line, and so does each row of a table: an index with the first digits of the
    bundle's identity, epsilon and channel, or the numbers of a vector, separated by tabs. The privacy statement goes to
    standard error. It also tells you how many texts were cut: keep that to yourself. Every run draws afresh, so
    encoding the same text again is a second release, and the epsilons add up.
    """
    if text is not None and files:
        raise OptionError("--text and files exclude each other")
    format_name = format_of(csv, tsv, jsonl, parquet, plain)
    found = "lines" if format_name is None else format_name
    columns = columns_of(found, None if column is None else [column], None if key is None else [key])
    selection = Selection(found, columns, header=header, delimiter=delimiter, encoding=encoding)
    if text is not None and selection.columns:
        raise OptionError("--text and columns exclude each other")
    encoder, options, promised = _encoder(bundle, pins, epsilon, word_dropout, channel)  # before any file is touched
    said = str(promised) if whole_statement else promised.summary()

    paths = files or ["-"]
    kept = Kept(
        [*(paths if text is None else []), *([] if config is None else [config])],
        [("--memo-key", memo_key), ("--receipt-key", receipt_key)],
        ledger,
        ledger_key,
        encoder.bundle.path,
    )
    kept.refuse(("--output", output), ("--receipt", receipt))
    receipts = ReceiptFile(receipt, receipt_key, promised)
    charged = charging(ledger, ledger_key, scope, budget, budget_delta, memo, memo_key)
    with atomic_output(output) if output is not None else standard_output() as write_output:
        write = receipts.through(write_output)
        if text is not None:
            tally = _Tally()
            for release in _released(encoder, [text], options, charged):
                receipts.add([release])
                tally.write(release, write, as_json)
            receipts.write()
            say_unless(said, quiet)
            say_configured(context, quiet)
            tally.say_notes(quiet)
            if charged is not None:
                charged.say(quiet)
            return
        for number, path in enumerate(paths, 1):
            name = "standard input" if path == "-" else f"input {number} of {len(paths)}"
            tally, before = _Tally(), 0
            if format_name is None:
                refuse_tables_by_name(path, name)
            with (
                opened(path, name) as (descriptor, size),
                progress_bar("encoding", size, quiet, output is not None, _BAR_FROM_BYTES) as advance,
            ):
                read = _documents(descriptor, path, name, selection, looks=format_name is None)
                for lines, _, consumed in all_lines(read) if memo else read:
                    for done, release in enumerate(_released(encoder, lines, options, charged), 1):
                        receipts.add([release])
                        tally.write(release, write, as_json)
                        advance(before + (consumed - before) * done // len(lines))
                    before = consumed
            say_unless(f"{name}: {tally}{f'; {said}' if tally.documents else ''}", quiet)
            tally.say_notes(quiet)
        receipts.write()
    if charged is not None:
        charged.say(quiet)
    say_configured(context, quiet)


def _documents(descriptor: int, path: str, name: str, selection: Selection, *, looks: bool) -> Iterator[Lines]:
    """Yields the documents of one input: its lines, or the cells of a column."""
    if selection.format != "lines":
        for cells, consumed in read_cells(Reading(descriptor, name, packed_as(path)), selection, name):
            yield cells, True, consumed
        return
    look = refusing_tables(name)
    for lines, ended, consumed in read_lines(descriptor, name):
        if looks:
            look(lines)
        yield lines, ended, consumed


def _released(
    encoder: Encoder | IndexEncoder, texts: list[str], options: dict[str, Any], charged: Charging | None
) -> Iterable[Release]:
    """Encodes texts one after the other; with a ledger all before the first is given, in one transaction."""
    if charged is not None:
        return charged.encode(encoder, texts, options)
    return (encoder.encode(text, **options) for text in texts)


def _encoder(
    bundle: Path | None, pins: Pins, epsilon: str | None, word_dropout: str, channel: str | None
) -> tuple[Encoder | IndexEncoder, dict[str, Any], Statement]:
    """What encodes texts, its options, and what they promise."""
    if bundle is None or encoder_version(bundle) == INDEX_FORMAT_VERSION:
        if word_dropout != "0":
            raise OptionError("--word-dropout is for vectors: an index has one epsilon, for the whole text")
        index = IndexEncoder.load(bundle, **pins)
        return index, {"epsilon": epsilon, "channel": channel}, index.statement(epsilon=epsilon, channel=channel)
    if channel is not None:
        raise OptionError("--channel is for bundles that release an index")
    encoder = Encoder.load(bundle, **pins)
    promised = encoder.statement(epsilon=epsilon, word_dropout=word_dropout)
    return encoder, {"epsilon": epsilon, "word_dropout": word_dropout}, promised


class _Tally:
    """Writes the releases of one input and counts them."""

    def __init__(self) -> None:
        self.documents = self.truncated = self.fixed_points = 0

    def write(self, release: Release, write: Write, as_json: bool) -> None:
        self.documents += 1
        self.truncated += release.notes.truncated
        self.fixed_points += release.notes.fixed_point
        write((json.dumps(release.to_dict(), ensure_ascii=False) if as_json else release.line) + "\n")

    def say_notes(self, quiet: bool) -> None:
        """Says what happened on this device, to its owner, in a line of its own: it is no part of the statement."""
        said: list[str] = []
        if self.truncated:
            said.append(f"{self.truncated:,} longer than the model takes, the end left out")
        if self.fixed_points:
            said.append(
                f"{self.fixed_points:,} released as the fixed point: the model failed or gave no finite numbers"
            )
        if said:
            say_unless(f"for this device only: {'; '.join(said)}", quiet)

    def __str__(self) -> str:
        if not self.documents:
            return "no documents"
        return "1 document" if self.documents == 1 else f"{self.documents:,} documents"
