"""Split a large file into shards (ranges of rows) that many machines can sanitize independently.

The process that splits a file passes only byte positions to the machines, never text of the file.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from textveil.errors import OptionError

from textveil_cli.columns import ColumnSelection
from textveil_cli.errors import FileChanged
from textveil_cli.files.block_reader import read_blocks, remove_byte_order_mark, split_lines
from textveil_cli.files.blocks import RejectedRow, RowLayout, RunCounts, TextBlock
from textveil_cli.files.parquet import ParquetTable
from textveil_cli.files.pipeline import LAYOUTS, BlockSanitizer, FinishedFileRecorder, RunStep, write_file
from textveil_cli.files.rejected_rows import RejectedRowsFile
from textveil_cli.files.sources import InputStream, SourceFile, get_file_version, get_packed_ending, open_stream

#: Default for the approximate bytes of a shard, which take some seconds to rewrite.
SHARD_BYTES = 16_000_000


@dataclass(frozen=True, kw_only=True)
class FileShard:
    """Consecutive rows of a file, given by their position in the file.

    Positions are byte offsets; for Parquet they are indices of row groups.

    Attributes:
        number: Number of the shard in the file, from 0.
        start: Position of its first byte or row group.
        stop: Position after its last byte or row group.
        rows: Number of rows before the shard in the file, including rejected ones.
        lines: Number of lines before the shard in the file, including the heading; for Parquet the number of rows.
        head: Number of bytes before the first row of the file (byte order mark and heading). The output of every shard
            begins with these bytes.
        head_lines: Number of lines in the head.
        size: Number of bytes of the file that belong to this shard; approximate for Parquet.
    """

    number: int
    start: int
    stop: int
    rows: int
    lines: int
    head: int
    head_lines: int
    size: int


def check_can_split(selection: ColumnSelection) -> None:
    """Raise ``OptionError`` for options that prevent sanitizing the shards (parts) of a file independently."""
    if selection.document in ("key", "file") or selection.allow_missing or not selection.header:
        raise OptionError(
            "files cannot be split into shards with --no-header, --allow-missing, --document-key or --document file"
        )


def split_file(source: SourceFile, selection: ColumnSelection, size: int = SHARD_BYTES) -> Iterator[FileShard]:
    """Yield the shards (parts) of a file while reading it: each shard before the function reads the next one.

    A compressed file is one shard. Parquet is split between the row groups of the file.

    Args:
        source: The file; not standard input.
        selection: Format and options of the file.
        size: Approximate bytes of a shard. Every shard ends at the end of a row, or of a row group of Parquet.

    Raises:
        TextveilError: The file cannot be read, or is malformed. A rejected row alone raises no error.
    """
    check_can_split(selection)
    with open_stream(source.path, source.name) as file:
        if selection.format == "parquet":
            yield from _split_row_groups(source, file, selection, size)
        elif get_packed_ending(source.name):
            yield FileShard(number=0, start=0, stop=0, rows=0, lines=0, head=0, head_lines=0, size=source.size)
        else:
            yield from _split_lines(source, file, selection, size)


def sanitize_shard(
    source: SourceFile,
    shard: FileShard,
    version: list[int],
    selection: ColumnSelection,
    block_sanitizer: BlockSanitizer,
    *,
    recorder: FinishedFileRecorder | None = None,
    rejected_rows: RejectedRowsFile | None = None,
) -> RunCounts:
    """Sanitize one shard (part of a file), and write the output completely or not at all.

    Args:
        source: The input file, with the path of the output of this shard as ``target``.
        shard: The shard.
        version: Result of ``get_file_version`` for the file at the start of the run.
        selection: Format of the files, columns to sanitize, and which texts form one document.
        block_sanitizer: Sanitizer of the texts, which runs in this process.
        recorder: Object that records the output as finished, just before the temporary output file is renamed.
        rejected_rows: Writer for rows that cannot be sanitized; ``None`` to raise an error for the first such row.

    Raises:
        FileChanged: The file has changed since the start of the run.
        TextveilError: The file cannot be read or written, or is malformed.

    Privacy:
        Every document of the shard is sanitized once, with the guarantee of ``Sanitizer.sanitize``.
    """
    steps = block_sanitizer.sanitize_blocks(
        (step, step.block) for step in _iterate_shard_steps(source, shard, version, selection)
    )
    return write_file(source, steps, recorder, rejected_rows, lambda consumed, rows: None)


def get_shard_path(folder: Path, name: str, number: int) -> Path:
    """Return the path of the output of a shard (part of a file) in ``folder``.

    Shard 0 of ``a/notes.csv`` becomes ``a/notes-00000.csv``.
    """
    path = folder / name
    packed = get_packed_ending(path.name)
    unpacked_name = Path(path.name.removesuffix(packed) if packed else path.name)
    return path.with_name(f"{unpacked_name.stem}-{number:05}{unpacked_name.suffix}{packed}")


def _iterate_shard_steps(
    source: SourceFile, shard: FileShard, version: list[int], selection: ColumnSelection
) -> Iterator[RunStep]:
    with open_stream(source.path, source.name) as file:
        if get_file_version(file.opened_status) != version:
            raise FileChanged(f"{source.name}: the file changed since the run began: start a new run")
        if selection.format == "parquet":
            with open(file.descriptor, "rb", closefd=False) as binary_file:
                table = ParquetTable(binary_file, source.name, selection, range(shard.start, shard.stop))
                yield RunStep(file=file, table=table)
                for block in table.read_blocks():
                    yield RunStep(block=block)
        else:
            yield RunStep(file=file)
            yield from (RunStep(block=block) for block in _read_shard_blocks(source, file, shard, selection))
        file.require_unchanged()
    yield RunStep()


def _read_shard_blocks(
    source: SourceFile, file: InputStream, shard: FileShard, selection: ColumnSelection
) -> Iterator[TextBlock]:
    layout = LAYOUTS[selection.format](selection, source.name)
    if get_packed_ending(source.name):
        return read_blocks(layout, file.read_chunks(), selection, source.name)
    layout.set_position(shard.rows, shard.lines - shard.head_lines)
    return read_blocks(layout, file.read_window(shard.head, shard.start, shard.stop), selection, source.name)


def _split_row_groups(
    source: SourceFile, file: InputStream, selection: ColumnSelection, size: int
) -> Iterator[FileShard]:
    with open(file.descriptor, "rb", closefd=False) as binary_file:
        groups = ParquetTable(binary_file, source.name, selection).row_groups
    unpacked_bytes = max(1, sum(size for _, size in groups))
    begin = rows_before = number = 0
    for end in range(1, len(groups) + 1):
        shard_bytes = sum(size for _, size in groups[begin:end])
        if shard_bytes >= size or end == len(groups):
            yield FileShard(
                number=number,
                start=begin,
                stop=end,
                rows=rows_before,
                lines=rows_before,
                head=0,
                head_lines=0,
                size=source.size * shard_bytes // unpacked_bytes,
            )
            rows_before += sum(rows for rows, _ in groups[begin:end])
            begin, number = end, number + 1
    if not groups:
        yield FileShard(number=0, start=0, stop=0, rows=0, lines=0, head=0, head_lines=0, size=source.size)


def _split_lines(source: SourceFile, file: InputStream, selection: ColumnSelection, size: int) -> Iterator[FileShard]:
    """Yield the shards (parts) of a file of lines or of a delimited file.

    A line end inside quotes does not end a row of a delimited file, so the function parses the file to find its rows.
    """
    layout = LAYOUTS[selection.format](selection, source.name)
    position = rows = lines = 0
    shard = FileShard(number=0, start=0, stop=0, rows=0, lines=0, head=0, head_lines=0, size=0)
    has_head = selection.format not in ("csv", "tsv")
    for complete_lines, last in split_lines(file.read_chunks(), selection.max_row, source.name):
        if not position and complete_lines:
            position = sum(len(mark.parts[0]) for mark in remove_byte_order_mark(complete_lines, source.name))
            shard = replace(shard, start=position, head=position)
        for raw, is_row in _iterate_raw_rows(layout, complete_lines, selection, last=last):
            position, rows, lines = position + len(raw), rows + is_row, lines + raw.count(b"\n")
            if not has_head and not is_row and raw.strip():
                has_head = True
                shard = replace(shard, start=position, head=position, lines=lines, head_lines=lines)
            elif position - shard.start >= size:
                yield replace(shard, stop=position, size=position - shard.start)
                shard = replace(shard, number=shard.number + 1, start=position, rows=rows, lines=lines)
    if position > shard.start or not shard.number:
        yield replace(shard, stop=position, size=position - shard.start)


def _iterate_raw_rows(
    layout: RowLayout, complete_lines: list[bytes], selection: ColumnSelection, *, last: bool
) -> Iterator[tuple[bytes, bool]]:
    """Yield the bytes of each row, each with a flag that is false for headings and blank lines."""
    if selection.format in ("csv", "tsv"):
        for row in layout.split_rows(complete_lines, last=last):
            yield (
                row.raw if isinstance(row, RejectedRow) else layout.separator.join(row.parts) + row.end,
                row.number > 0,
            )
        return
    for line in complete_lines:
        yield line, selection.format == "lines" or bool(line.strip())
