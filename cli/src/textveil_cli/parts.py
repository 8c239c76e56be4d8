"""Shards of files: split at row ends while reading, each rewritten to a complete file.

For work on many machines. The splitting process passes on positions in a file, never content.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from textveil.errors import FileChanged, OptionError

from textveil_cli.files.blocks import Block, blocks, whole_lines, without_mark
from textveil_cli.files.parquet import ParquetTable
from textveil_cli.files.quarantine import Quarantine
from textveil_cli.files.record import Counts
from textveil_cli.files.rows import Bad, Layout
from textveil_cli.files.run import LAYOUTS, Recorder, Step, write_file
from textveil_cli.files.selection import Selection
from textveil_cli.files.sources import Source
from textveil_cli.files.streams import Reading, packed_as, reading, version_of
from textveil_cli.files.workers import Drawer

#: Approximate bytes of a shard: seconds of work.
PART_BYTES = 16_000_000


@dataclass(frozen=True, kw_only=True)
class Part:
    """Consecutive rows of a file.

    Attributes:
        number: Number of the shard in the file, from 0.
        start: Its first position: a byte of the file, or a row group of Parquet.
        stop: Its end position, exclusive.
        rows: Number of earlier rows in the file, rejected ones included.
        lines: Number of earlier lines in the file, heading included; for Parquet the number of earlier rows.
        head: Bytes before the first row, with which every shard begins: byte order mark and heading.
        head_lines: Number of lines in these bytes.
        size: Its share of the bytes of the file.
    """

    number: int
    start: int
    stop: int
    rows: int
    lines: int
    head: int
    head_lines: int
    size: int


def require_parts(selection: Selection) -> None:
    """Raise ``OptionError`` if rewriting a shard would depend on other shards."""
    if selection.document in ("key", "file") or selection.allow_missing or not selection.header:
        raise OptionError("files in parts have a heading, all keys in all rows, and no document of several rows")


def cut(source: Source, selection: Selection, size: int = PART_BYTES) -> Iterator[Part]:
    """Yield the shards of a file during reading: the first before the rest is read.

    A packed file is one shard. Parquet is split between row groups, by the metadata of the file.

    Args:
        source: The file; not standard input.
        selection: Its format.
        size: Approximate bytes of a shard; it ends with a row, and row groups are never split.

    Raises:
        TextveilError: The file cannot be read, or is malformed. A rejected row is no error here.
    """
    require_parts(selection)
    with reading(source.path, source.name) as file:
        if selection.format == "parquet":
            yield from _cut_groups(source, file, selection, size)
        elif packed_as(source.name):
            yield Part(number=0, start=0, stop=0, rows=0, lines=0, head=0, head_lines=0, size=source.size)
        else:
            yield from _cut_lines(source, file, selection, size)


def sanitize_part(
    source: Source,
    part: Part,
    version: list[int],
    selection: Selection,
    drawer: Drawer,
    *,
    record: Recorder | None = None,
    quarantine: Quarantine | None = None,
) -> Counts:
    """Sanitize one shard to the target of its source, completely or not at all.

    Args:
        source: The file, with the target of the shard.
        part: The shard.
        version: Result of ``version_of`` for the file at the start of the run.
        selection: Format, columns and documents.
        drawer: Rewrites the texts, in this process.
        record: Receives the output that is about to be renamed into place.
        quarantine: File of rejected rows; without it the first rejected row is an error.

    Raises:
        FileChanged: The file has changed since the start of the run.
        TextveilError: The file cannot be read or written, or is malformed.

    Privacy:
        One release of every document of the shard, with the guarantee of ``Sanitizer.sanitize``.
    """
    steps = drawer.draw_all((step, step.block) for step in _steps(source, part, version, selection))
    return write_file(source, steps, record, quarantine, lambda consumed, rows: None)


def part_target(folder: Path, name: str, number: int) -> Path:
    """Return the path of a shard: ``a/notes.csv`` becomes ``a/notes-00000.csv`` and so on."""
    path = folder / name
    packed = packed_as(path.name)
    plain = Path(path.name.removesuffix(packed) if packed else path.name)
    return path.with_name(f"{plain.stem}-{number:05}{plain.suffix}{packed}")


def _steps(source: Source, part: Part, version: list[int], selection: Selection) -> Iterator[Step]:
    with reading(source.path, source.name) as file:
        if version_of(file.before) != version:
            raise FileChanged(f"{source.name}: the file was changed since the run began")
        if selection.format == "parquet":
            with open(file.descriptor, "rb", closefd=False) as whole:
                table = ParquetTable(whole, source.name, selection, range(part.start, part.stop))
                yield Step(file=file, table=table)
                for block in table.blocks():
                    yield Step(block=block)
        else:
            yield Step(file=file)
            yield from (Step(block=block) for block in _blocks(source, file, part, selection))
        file.require_unchanged()
    yield Step()


def _blocks(source: Source, file: Reading, part: Part, selection: Selection) -> Iterator[Block]:
    layout = LAYOUTS[selection.format](selection, source.name)
    if packed_as(source.name):
        return blocks(layout, file.chunks(), selection, source.name)
    layout.go_on(part.rows, part.lines - part.head_lines)
    return blocks(layout, file.window(part.head, part.start, part.stop), selection, source.name)


def _cut_groups(source: Source, file: Reading, selection: Selection, size: int) -> Iterator[Part]:
    with open(file.descriptor, "rb", closefd=False) as whole:
        groups = ParquetTable(whole, source.name, selection).groups
    unpacked = max(1, sum(size for _, size in groups))
    begin = before = number = 0
    for end in range(1, len(groups) + 1):
        held = sum(size for _, size in groups[begin:end])
        if held >= size or end == len(groups):
            yield Part(
                number=number,
                start=begin,
                stop=end,
                rows=before,
                lines=before,
                head=0,
                head_lines=0,
                size=source.size * held // unpacked,
            )
            before += sum(rows for rows, _ in groups[begin:end])
            begin, number = end, number + 1
    if not groups:
        yield Part(number=0, start=0, stop=0, rows=0, lines=0, head=0, head_lines=0, size=source.size)


def _cut_lines(source: Source, file: Reading, selection: Selection, size: int) -> Iterator[Part]:
    """Split a file between rows.

    The layout of a delimited file finds its rows, since line ends may be inside quotes.
    """
    layout = LAYOUTS[selection.format](selection, source.name)
    position = rows = lines = 0
    part = Part(number=0, start=0, stop=0, rows=0, lines=0, head=0, head_lines=0, size=0)
    headed = selection.format not in ("csv", "tsv")
    for arrived, last in whole_lines(file.chunks(), selection.max_row, source.name):
        if not position and arrived:
            position = sum(len(mark.parts[0]) for mark in without_mark(arrived, source.name))
            part = replace(part, start=position, head=position)
        for raw, counted in _raw_rows(layout, arrived, selection, last=last):
            position, rows, lines = position + len(raw), rows + counted, lines + raw.count(b"\n")
            if not headed and not counted and raw.strip():
                headed = True
                part = replace(part, start=position, head=position, lines=lines, head_lines=lines)
            elif position - part.start >= size:
                yield replace(part, stop=position, size=position - part.start)
                part = replace(part, number=part.number + 1, start=position, rows=rows, lines=lines)
    if position > part.start or not part.number:
        yield replace(part, stop=position, size=position - part.start)


def _raw_rows(
    layout: Layout, arrived: list[bytes], selection: Selection, *, last: bool
) -> Iterator[tuple[bytes, bool]]:
    """Yield the bytes of rows, and whether they count: headings and blank lines do not."""
    if selection.format in ("csv", "tsv"):
        for row in layout.rows(arrived, last=last):
            yield row.raw if isinstance(row, Bad) else layout.glue.join(row.parts) + row.end, row.number > 0
        return
    for line in arrived:
        yield line, selection.format == "lines" or bool(line.strip())
