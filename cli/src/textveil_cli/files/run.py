"""Sanitizing of files: read, split into blocks, rewrite in order, write.

Each output is written completely or not at all.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from textveil.errors import OptionError, TextveilError
from textveil.release import KeptWords

from textveil_cli.files.blocks import Block, blocks
from textveil_cli.files.delimited import DelimitedLayout
from textveil_cli.files.json_lines import JsonLinesLayout
from textveil_cli.files.outputs import Seal, output_of, writer
from textveil_cli.files.parquet import ParquetBlock, ParquetTable
from textveil_cli.files.plain_lines import LinesLayout
from textveil_cli.files.quarantine import Quarantine
from textveil_cli.files.record import Counts, Record
from textveil_cli.files.rows import Drawn, Layout, Withheld
from textveil_cli.files.selection import Selection
from textveil_cli.files.sources import Source, Sources
from textveil_cli.files.streams import Reading, reading
from textveil_cli.files.workers import Drawer

if TYPE_CHECKING:  # importing the ledger takes time for its database
    from textveil_cli.files.posted import BlockLedger

#: Layout of each line-based format.
LAYOUTS = {"csv": DelimitedLayout, "tsv": DelimitedLayout, "jsonl": JsonLinesLayout, "lines": LinesLayout}

#: Constructor of a layout from the selection and the name of the file.
LayoutMaker = Callable[[Selection, str], Layout]
#: Called with the number of finished bytes over all files, and of rows.
Report = Callable[[int, int], None]
#: Called with the name of a file and the texts of its first block, before they are rewritten.
Look = Callable[[str, list[str]], None]
#: Called with the names of the copied columns of a file, after its first rows are read.
LookAtCopied = Callable[[Sequence[str]], None]


class Recorder(Protocol):
    """Receiver of finished files, such as the run manifest."""

    def add(self, source: Source, status: os.stat_result, size: int, counts: Counts) -> None:
        """Add a file whose output of ``size`` bytes is about to be renamed into place."""
        ...


@dataclass(kw_only=True)
class Step:
    """A step of a run: start of a file, a block, end of a file, or an error that ends the run.

    Attributes:
        file: The input file; set in the first step of a file.
        table: The Parquet table, if any; set in the first step of a file.
        block: Rows.
        consumed: Bytes of the file read so far.
        error: The error that ends the run.
    """

    file: Reading | None = None
    table: ParquetTable | None = None
    block: Block | ParquetBlock | None = None
    consumed: int = 0
    error: Exception | None = None


@dataclass(frozen=True)
class Finished:
    """Result of a run.

    Attributes:
        counts: Counts over all files.
        files: Counts of each file.
        skipped: Number of files that an earlier run had finished.
    """

    counts: Counts
    files: dict[str, Counts] = field(repr=False)
    skipped: int


def sanitize_files(
    sources: Sources,
    selection: Selection,
    drawer: Drawer,
    *,
    record: Record | None = None,
    quarantine: Quarantine | None = None,
    report: Report = lambda consumed, rows: None,
    look: Look = lambda name, texts: None,
    look_at_copied: LookAtCopied = lambda names: None,
    charges: "BlockLedger | None" = None,
    seal: Seal | None = None,
    layout: LayoutMaker | None = None,
) -> Finished:
    """Sanitize files one after the other.

    Each output appears complete or not at all; finished outputs remain after an error.

    Args:
        sources: The files and the paths of their outputs.
        selection: Format, columns and documents.
        drawer: Rewrites the texts.
        record: The run manifest of the output folder, if any.
        quarantine: File of rejected rows; without it the first rejected row is an error.
        report: Receives the progress of the run.
        look: Receives the first texts of each file.
        look_at_copied: Receives the names of the copied columns of each file.
        charges: Spends the epsilon of every block before it is written; without it no ledger is involved.
        seal: Receives the written bytes, for a receipt.
        layout: Constructor of the layout, where it is not the one of the selection's format.

    Raises:
        TextveilError: A file cannot be read or written, or is malformed.
        KeyboardInterrupt: Ctrl-C.

    Privacy:
        One release of every document, with the guarantee of ``Sanitizer.sanitize``. Columns outside the selection, and
        the number and order of rows, are copied unchanged.
    """
    done: dict[str, Counts] = {}
    before = 0
    left: list[Source] = []
    for source in sources.files:
        known = record.finished(source, source.target) if record is not None and source.target is not None else None
        if known is None:
            left.append(source)
        else:
            done[source.name] = known
            before += source.size
            report(before, 0)
    rows = 0

    def tell(consumed: int, added: int) -> None:
        nonlocal rows
        rows += added
        report(before + consumed, rows)

    with closing(
        drawer.draw_all((step, step.block) for step in _steps(left, selection, look, look_at_copied, layout))
    ) as steps:
        for source in left:
            done[source.name] = write_file(source, steps, record, quarantine, tell, charges, seal)
            before += source.size
    return Finished(sum(done.values(), Counts()), done, len(sources.files) - len(left))


def _steps(
    sources: Sequence[Source],
    selection: Selection,
    look: Look,
    look_at_copied: LookAtCopied = lambda names: None,
    layout: LayoutMaker | None = None,
) -> Iterator[Step]:
    """Yield the steps of all files; an error is the last step.

    The rows before the error are thus written first.
    """
    try:
        for source in sources:
            with reading(source.path, source.name) as file:
                yield from _steps_of(source, file, selection, look, look_at_copied, layout)
                file.require_unchanged()
            yield Step()
    except (TextveilError, MemoryError) as error:
        yield Step(error=error)


def _steps_of(
    source: Source,
    file: Reading,
    selection: Selection,
    look: Look,
    look_at_copied: LookAtCopied,
    maker: LayoutMaker | None,
) -> Iterator[Step]:
    if selection.format == "parquet":
        if source.path is None:
            raise OptionError("--parquet reads files: what it needs first stands at their end")
        with open(file.descriptor, "rb", closefd=False) as whole:
            table = ParquetTable(whole, source.name, selection)
            found = table.blocks()
            look_at_copied(table.copied)
            yield Step(file=file, table=table)
            for number, block in enumerate(found):
                if not number:
                    look(source.name, block.texts)
                yield Step(block=block, consumed=source.size * table.done // max(1, table.rows))
        return
    layout = (maker or LAYOUTS[selection.format])(selection, source.name)
    yield Step(file=file)
    looked = False
    for block in blocks(layout, file.chunks(), selection, source.name):
        if not looked and block.sizes:
            look(source.name, block.texts)
            look_at_copied(getattr(layout, "copied", ()))
            looked = True
        yield Step(block=block, consumed=file.consumed)


def write_file(
    source: Source,
    steps: "Iterator[tuple[Step, Drawn]]",
    record: "Recorder | None",
    quarantine: Quarantine | None,
    tell: Report,
    charges: "BlockLedger | None" = None,
    seal: Seal | None = None,
) -> Counts:
    """Write one file, from its first step to its last.

    Args:
        source: The file, and the path of its output.
        steps: Its steps, each with its rewritten texts.
        record: Receives the output that is about to be renamed into place.
        quarantine: File of rejected rows; without it the first rejected row is an error.
        tell: Called with the bytes read so far and the number of rows added to the output.
        charges: Spends the epsilon of every block before it is written; without it no ledger is involved.
        seal: Receives the written bytes, for a receipt.

    Raises:
        TextveilError: A step is an error, a row is rejected, or the output cannot be written.
    """
    first, _ = next(steps)
    _raise(first)
    counts = Counts()
    assert first.file is not None
    with output_of(source, seal) as file:
        with writer(file, source, first.table) as write:
            for step, drawn in steps:
                _raise(step)
                if step.block is None:
                    break
                stops = quarantine is None and charges is not None  # at a rejected row, before its block spends epsilon
                if stops:
                    _refuse_bad(source, step.block)
                if charges is not None:
                    drawn = charges.charge(step.block, drawn, whole=stops)
                finished = step.block.finish(drawn)
                if stops:
                    _refuse_bad(source, step.block)
                write(finished)
                added = _counts(step.block, drawn)
                if seal is not None:
                    seal.count(_released(drawn))
                if quarantine is None:
                    _refuse_bad(source, step.block)
                else:
                    for bad in step.block.bad:
                        quarantine.add(source.name, bad)
                counts += added
                tell(step.consumed, added.rows)
        if quarantine is not None:
            quarantine.keep()
        if record is not None:
            record.add(source, first.file.before, file.tell(), counts)
    return counts


def _raise(step: Step) -> None:
    if step.error is not None:
        raise step.error


def _refuse_bad(source: Source, block: Block | ParquetBlock) -> None:
    """Raise the error of the first rejected row of a block, if any."""
    for bad in block.bad[:1]:
        line = f" (line {bad.line:,})" if bad.line else ""
        every = bad.reason.endswith("no budget covers it")  # applies to all rows: none would remain
        other = "--encoding latin-1 or cp1252 may read it; " if bad.reason == "a cell is not utf-8" else ""
        more = "" if every else f" ({other}--quarantine FILE leaves bad rows out)"
        raise bad.error(f"{source.name}, row {bad.number:,}{line}: {bad.reason}{more}")


def _released(drawn: Drawn) -> list[int]:
    return [tokens for tokens in drawn.tokens if not isinstance(tokens, Withheld)]


def _counts(block: Block | ParquetBlock, drawn: Drawn) -> Counts:
    tokens = _released(drawn)
    return Counts(
        rows=block.count,
        documents=len(tokens),
        tokens=sum(tokens),
        most_tokens=max(tokens, default=0),
        quarantined=len(block.bad),
        drawn=sum(drawn.words),
        replaced_words=sum(drawn.replaced),
        mostly_replaced=sum(words.may_be_foreign for words in map(KeptWords, tokens, drawn.replaced)),
    )
