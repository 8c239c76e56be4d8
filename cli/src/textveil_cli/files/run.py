"""Sanitizes files: read, cut into blocks, drawn in order, written whole or not at all."""

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

if TYPE_CHECKING:  # who has no ledger does not wait for its database
    from textveil_cli.files.posted import BlockLedger

#: What cuts the rows of a format that is lines.
LAYOUTS = {"csv": DelimitedLayout, "tsv": DelimitedLayout, "jsonl": JsonLinesLayout, "lines": LinesLayout}

#: Makes what cuts the rows of a file, of the selection and the file's name.
LayoutMaker = Callable[[Selection, str], Layout]
#: Called with bytes of all files that are done, and rows.
Report = Callable[[int, int], None]
#: Called with the name of a file and the texts of its first block, before they are drawn.
Look = Callable[[str, list[str]], None]
#: Called with the names of the columns of a file that are copied, when its first rows are read.
LookAtCopied = Callable[[Sequence[str]], None]


class Recorder(Protocol):
    """Keeps a record of what is finished."""

    def add(self, source: Source, status: os.stat_result, size: int, counts: Counts) -> None:
        """Adds a file whose output is about to be renamed into place, of so many bytes."""
        ...


@dataclass(kw_only=True)
class Step:
    """A step of a run: a file begins, a block of it, the file ends, or an error that ends the run.

    Attributes:
        file: The file that is read.
        table: What writes a file of its format; of the first step of a file.
        block: Rows.
        consumed: Bytes of the file that were read.
        error: Why the run ends.
    """

    file: Reading | None = None
    table: ParquetTable | None = None
    block: Block | ParquetBlock | None = None
    consumed: int = 0
    error: Exception | None = None


@dataclass(frozen=True)
class Finished:
    """What a run did.

    Attributes:
        counts: Of all files.
        files: Counts of each file.
        skipped: How many files were finished before.
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
    """Sanitizes files one after the other. Each output appears whole or not at all; finished ones stay after an error.

    Args:
        sources: The files and the places of their outputs.
        selection: What of them is rewritten.
        drawer: Draws.
        record: The record of the output folder, if there is one.
        quarantine: Where bad rows go; without one the first is an error.
        report: Told how far the run is.
        look: Shown the first texts of each file.
        look_at_copied: Shown the names of the columns of each file that are copied.
        charges: Charges every block before it is written; without it nothing is charged.
        seal: Looks on at what is written, for a receipt.
        layout: Cuts the rows of a file, where they are none of the selection's format.

    Raises:
        TextveilError: A file cannot be read or written, or is not as it should be.
        KeyboardInterrupt: Ctrl-C.

    Privacy:
        One release of every document, with the promise of ``Sanitizer.sanitize``. Columns that are not rewritten, and
        the number and order of rows, are copied as they are.
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
    """Reads files one after the other. An error is the last step: what was read before it is written first."""
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
    """Writes one file, from its first step to its last.

    Args:
        source: The file, and the place of its output.
        steps: Its steps, each with what was drawn.
        record: Told what is about to be renamed into place.
        quarantine: Where bad rows go; without one the first is an error.
        tell: Called with bytes that were read, and rows that came out.
        charges: Charges every block before it is written; without it nothing is charged.
        seal: Looks on at what is written, for a receipt.

    Raises:
        TextveilError: A step is an error, a row is bad, or the output cannot be written.
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
                stops = quarantine is None and charges is not None  # at a bad row, before its block is charged
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
    """Raises the error that the first bad row of a block is."""
    for bad in block.bad[:1]:
        line = f" (line {bad.line:,})" if bad.line else ""
        every = bad.reason.endswith("no budget covers it")  # of all rows: none would be left
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
