"""Pipeline that sanitizes files: read, split into blocks of rows, sanitize the blocks in order, and write.

Each output file is written completely or not at all.
"""

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TypeVar, cast

from textveil.errors import OptionError, OutputError, TextveilError
from textveil.storage import open_atomic_bytes
from textveil.text import KeptWords, Options, Sanitizer

from textveil_cli.columns import ColumnSelection
from textveil_cli.files.block_reader import read_blocks
from textveil_cli.files.blocks import (
    NO_TEXTS,
    DocumentBlock,
    RewrittenDocuments,
    RowLayout,
    RunCounts,
    TextBlock,
    WithheldDocument,
    sanitize_block,
)
from textveil_cli.files.delimited import DelimitedLayout
from textveil_cli.files.json_lines import JsonLinesLayout
from textveil_cli.files.parquet import ParquetBlock, ParquetTable
from textveil_cli.files.plain_lines import LinesLayout
from textveil_cli.files.rejected_rows import RejectedRowsFile
from textveil_cli.files.run_manifest import RunManifest
from textveil_cli.files.sources import InputStream, SourceFile, SourceFiles, get_packed_ending, open_packer, open_stream

if TYPE_CHECKING:  # importing the ledger takes time for its database
    from textveil.text.restore import Restorer

    from textveil_cli.files.ledger_writer import BlockLedger

Step = TypeVar("Step")

#: Layout of each line-based format.
LAYOUTS = {"csv": DelimitedLayout, "tsv": DelimitedLayout, "jsonl": JsonLinesLayout, "lines": LinesLayout}

#: Constructor of a layout from the selection and the name of the file.
LayoutFactory = Callable[[ColumnSelection, str], RowLayout]
#: Called with the number of finished bytes over all files, and of rows.
RunProgressReporter = Callable[[int, int], None]
#: Called with the name of a file and the texts of its first block, before they are rewritten.
TextCheck = Callable[[str, list[str]], None]
#: Called with the names of the copied columns of a file, after its first rows are read.
CopiedColumnsCheck = Callable[[Sequence[str]], None]
#: Called with the name of a file, a block of it and its rewritten texts, before they are written.
ReviewedBlock = TextBlock | ParquetBlock
BlockReview = Callable[[str, ReviewedBlock, RewrittenDocuments], None]


class FinishedFileRecorder(Protocol):
    """Protocol of objects that record which output files are finished, such as ``RunManifest``."""

    def add_file(self, source: SourceFile, status: os.stat_result, size: int, counts: RunCounts) -> None:
        """Record a file as finished, just before its temporary output is renamed to the final path.

        Args:
            source: The input file.
            status: Result of ``os.stat`` for the input file.
            size: Bytes of the output.
            counts: Numbers of rows, documents and words in the output.
        """
        ...


class ReceiptSink(Protocol):
    """Protocol of objects that collect the data for a signed receipt of a run, such as ``ReceiptFile``."""

    def update(self, part: bytes) -> None:
        """Include the next part of the run's output in the hash for the receipt."""
        ...

    def add_token_counts(self, tokens: list[int]) -> None:
        """Add the token counts of further documents to the receipt.

        Args:
            tokens: For each document the number of randomized tokens, each of which spends epsilon.
        """
        ...


@dataclass(kw_only=True)
class RunStep:
    """One step of a run: the start of a file, a block of rows, the end of a file, or an error that ends the run.

    Attributes:
        file: The input file; set only in the first step of a file.
        table: The Parquet table; set only in the first step of a Parquet file.
        block: The block to sanitize; ``None`` in all other steps.
        consumed: Number of bytes of the file that were read so far.
        error: The error that ends the run; ``None`` in all other steps.
    """

    file: InputStream | None = None
    table: ParquetTable | None = None
    block: TextBlock | ParquetBlock | None = None
    consumed: int = 0
    error: Exception | None = None


class BlockSanitizer:
    """Sanitizer of blocks of documents, in this process or in several worker processes.

    Args:
        sanitizer: The sanitizer of this process.
        bundle: Folder from which worker processes load the bundle; ``None`` for the built-in bundle.
        options: Options of ``Sanitizer.sanitize``.
        workers: Number of processes; 1 for this process alone.
        save_mapping: Called with the mapping (from surrogates to originals) of each document, before the document is
            written; ``None`` to discard mappings. It requires one process.
    """

    def __init__(
        self,
        sanitizer: Sanitizer,
        bundle: Path | None,
        options: Options,
        workers: int,
        save_mapping: "Callable[[Restorer], None] | None" = None,
    ) -> None:
        self._sanitizer, self._bundle, self._options, self._workers = sanitizer, bundle, options, workers
        self._save_mapping = save_mapping

    def sanitize_blocks(
        self, steps: Iterable[tuple[Step, DocumentBlock | None]]
    ) -> Generator[tuple[Step, RewrittenDocuments], None, None]:
        """Sanitize the block of each step, and yield the step with the sanitized texts, in order.

        Worker processes sanitize blocks ahead of the output, at most two per process.

        Args:
            steps: Steps of the run, each with its block; ``None`` for a step without a block.

        Raises:
            TextveilError: The first error of a block, in the order of ``steps``.
            WorkerFailed: A worker process was killed, or raised an error that is not a ``TextveilError``.
        """
        if self._workers == 1:
            for step, work in steps:
                yield (
                    step,
                    NO_TEXTS
                    if work is None
                    else sanitize_block(
                        self._sanitizer, work.texts, work.document_sizes, self._options, self._save_mapping
                    ),
                )
            return
        from textveil_cli.files.workers import sanitize_in_processes  # lazy: one process needs no pool

        job = (self._bundle, self._sanitizer.bundle.expected_bundle, self._options)
        yield from sanitize_in_processes(steps, job, self._workers)


@dataclass(frozen=True)
class RunResult:
    """Counts of a finished run over files.

    Attributes:
        counts: Counts over all files.
        files: Counts of each file.
        finished_before: Number of files that an earlier, interrupted run had already finished.
    """

    counts: RunCounts
    files: dict[str, RunCounts] = field(repr=False)
    finished_before: int


def sanitize_files(
    sources: SourceFiles,
    selection: ColumnSelection,
    block_sanitizer: BlockSanitizer,
    *,
    manifest: RunManifest | None = None,
    rejected_rows: RejectedRowsFile | None = None,
    report: RunProgressReporter = lambda consumed, rows: None,
    check_texts: TextCheck = lambda name, texts: None,
    check_copied_columns: CopiedColumnsCheck = lambda names: None,
    block_ledger: "BlockLedger | None" = None,
    receipt: ReceiptSink | None = None,
    layout: LayoutFactory | None = None,
    review_block: BlockReview | None = None,
) -> RunResult:
    """Sanitize files one after the other.

    Each output file is written completely or not at all. After an error, the outputs of finished files remain.

    Args:
        sources: The input files and the paths of their outputs.
        selection: Format of the files, columns to sanitize, and which texts form one document.
        block_sanitizer: Sanitizer of the texts.
        manifest: The list of finished files of the output folder, for ``--resume``; ``None`` without one.
        rejected_rows: Writer for rows that cannot be sanitized; ``None`` to raise an error for the first such row.
        report: Called with the bytes and rows that are finished, to show progress.
        check_texts: Called with the name and the first texts of each file.
        check_copied_columns: Called with the names of the columns that are copied unchanged from each file.
        block_ledger: Writer that records the spent epsilon of every block before the block is written; ``None`` without
            a privacy ledger.
        receipt: Object that receives the written bytes, for the signed receipt.
        layout: Constructor of the ``RowLayout``; ``None`` for that of the selection's format.
        review_block: Called with each block and its sanitized texts, to show changes to the owner of the device.

    Raises:
        TextveilError: A file cannot be read or written, or is malformed.
        KeyboardInterrupt: The user pressed Ctrl-C.

    Privacy:
        Every document is sanitized once, with the guarantee of ``Sanitizer.sanitize``. All other columns, and the
        number and order of rows, are copied unchanged.
    """
    done: dict[str, RunCounts] = {}
    finished_bytes = 0
    remaining: list[SourceFile] = []
    for source in sources.files:
        finished_counts = (
            manifest.find_finished_counts(source, source.target)
            if manifest is not None and source.target is not None
            else None
        )
        if finished_counts is None:
            remaining.append(source)
        else:
            done[source.name] = finished_counts
            finished_bytes += source.size
            report(finished_bytes, 0)
    rows = 0

    def report_rows(consumed: int, added: int) -> None:
        nonlocal rows
        rows += added
        report(finished_bytes + consumed, rows)

    with closing(
        block_sanitizer.sanitize_blocks(
            (step, step.block)
            for step in _iterate_steps(remaining, selection, check_texts, check_copied_columns, layout)
        )
    ) as steps:
        for source in remaining:
            done[source.name] = write_file(
                source, steps, manifest, rejected_rows, report_rows, block_ledger, receipt, review_block
            )
            finished_bytes += source.size
    return RunResult(sum(done.values(), RunCounts()), done, len(sources.files) - len(remaining))


def _iterate_steps(
    sources: Sequence[SourceFile],
    selection: ColumnSelection,
    check_texts: TextCheck,
    check_copied_columns: CopiedColumnsCheck = lambda names: None,
    layout: LayoutFactory | None = None,
) -> Iterator[RunStep]:
    """Yield the steps of the run over all files: the start of each file, its blocks of rows, and its end.

    If reading fails, the error is yielded as the last step instead of being raised, so that the rows before the error
    are still written.
    """
    try:
        for source in sources:
            with open_stream(source.path, source.name) as file:
                yield from _iterate_file_steps(source, file, selection, check_texts, check_copied_columns, layout)
                file.require_unchanged()
            yield RunStep()
    except (TextveilError, MemoryError) as error:
        yield RunStep(error=error)


def _iterate_file_steps(
    source: SourceFile,
    file: InputStream,
    selection: ColumnSelection,
    check_texts: TextCheck,
    check_copied_columns: CopiedColumnsCheck,
    make_layout: LayoutFactory | None,
) -> Iterator[RunStep]:
    if selection.format == "parquet":
        if source.path is None:
            raise OptionError("--parquet needs a file: Parquet cannot be read from standard input")
        with open(file.descriptor, "rb", closefd=False) as binary_file:
            table = ParquetTable(binary_file, source.name, selection)
            table_blocks = table.read_blocks()
            check_copied_columns(table.copied)
            yield RunStep(file=file, table=table)
            for number, block in enumerate(table_blocks):
                if not number:
                    check_texts(source.name, block.texts)
                yield RunStep(block=block, consumed=source.size * table.rows_read // max(1, table.rows))
        return
    layout = (make_layout or LAYOUTS[selection.format])(selection, source.name)
    yield RunStep(file=file)
    is_checked = False
    for block in read_blocks(layout, file.read_chunks(), selection, source.name):
        if not is_checked and block.document_sizes:
            check_texts(source.name, block.texts)
            check_copied_columns(getattr(layout, "copied", ()))
            is_checked = True
        yield RunStep(block=block, consumed=file.bytes_read)


def write_file(
    source: SourceFile,
    steps: "Iterator[tuple[RunStep, RewrittenDocuments]]",
    recorder: "FinishedFileRecorder | None",
    rejected_rows: RejectedRowsFile | None,
    report_rows: RunProgressReporter,
    block_ledger: "BlockLedger | None" = None,
    receipt: ReceiptSink | None = None,
    review_block: BlockReview | None = None,
) -> RunCounts:
    """Write the sanitized output of one input file, and record the file as finished.

    Args:
        source: The input file, with the path of the output.
        steps: Iterator over the steps of the run (such as blocks of rows), each with its sanitized texts; the function
            consumes the steps of this file.
        recorder: Object that records the output as finished, just before the temporary output file is renamed.
        rejected_rows: Writer for rows that cannot be sanitized; ``None`` to raise an error for the first such row,
            before its block of rows is written.
        report_rows: Called with the bytes read so far and the number of rows just written.
        block_ledger: Writer that records the spent epsilon of every block before the block is written; ``None`` without
            a privacy ledger.
        receipt: Object that receives the written bytes, for the signed receipt.
        review_block: Called with each block and its sanitized texts.

    Returns:
        The counts of the output.

    Raises:
        TextveilError: A step is an error, a row is rejected, or the output cannot be written.
    """
    first, _ = next(steps)
    _raise_step_error(first)
    counts = RunCounts()
    assert first.file is not None
    with open_output_file(source, receipt) as file:
        with open_block_writer(file, source, first.table) as write:
            for step, rewritten in steps:
                _raise_step_error(step)
                if step.block is None:
                    break
                if rejected_rows is None:  # before the block spends epsilon or is written
                    _raise_first_rejected(source, step.block)
                if block_ledger is not None:
                    rewritten = block_ledger.spend(step.block, rewritten, all_or_nothing=rejected_rows is None)
                if review_block is not None:
                    review_block(source.name, step.block, rewritten)
                output = step.block.insert_texts(rewritten)
                if rejected_rows is None:  # a withheld document is rejected only now
                    _raise_first_rejected(source, step.block)
                write(output)
                added = _count_block(step.block, rewritten)
                if receipt is not None:
                    receipt.add_token_counts(_list_released_tokens(rewritten))
                if rejected_rows is not None:
                    for rejected in step.block.rejected:
                        rejected_rows.add_row(source.name, rejected)
                counts += added
                report_rows(step.consumed, added.rows)
        if rejected_rows is not None:
            rejected_rows.save_waiting_rows()
        if recorder is not None:
            recorder.add_file(source, first.file.opened_status, file.tell(), counts)
    return counts


def _raise_step_error(step: RunStep) -> None:
    if step.error is not None:
        raise step.error


def _raise_first_rejected(source: SourceFile, block: TextBlock | ParquetBlock) -> None:
    """Raise the error of the first rejected row of a block; do nothing if no row is rejected."""
    end = "the output ends before this row; " if source.target is None else ""
    for rejected in sorted(block.rejected, key=lambda row: row.number)[:1]:
        line = f" (line {rejected.line:,})" if rejected.line else ""
        concerns_all_rows = rejected.reason.endswith(
            "no budget covers it"
        )  # the error applies to every row, so that no row would remain
        encoding_advice = "try --encoding latin-1 or cp1252; " if rejected.reason == "a cell is not utf-8" else ""
        advice = "" if concerns_all_rows else f" ({end}{encoding_advice}--rejected-rows FILE skips rejected rows)"
        raise rejected.error(f"{source.name}, row {rejected.number:,}{line}: {rejected.reason}{advice}")


def _list_released_tokens(rewritten: RewrittenDocuments) -> list[int]:
    return [tokens for tokens in rewritten.tokens if not isinstance(tokens, WithheldDocument)]


def _count_block(block: TextBlock | ParquetBlock, rewritten: RewrittenDocuments) -> RunCounts:
    tokens = _list_released_tokens(rewritten)
    return RunCounts(
        rows=block.row_count,
        documents=len(tokens),
        tokens=sum(tokens),
        max_tokens=max(tokens, default=0),
        rejected_rows=len(block.rejected),
        randomized_words=sum(rewritten.randomized_words),
        replaced_words=sum(rewritten.replaced_words),
        foreign_words=sum(rewritten.foreign_words),
        mostly_replaced_documents=sum(
            words.may_be_foreign for words in map(KeptWords, tokens, rewritten.replaced_words, rewritten.foreign_words)
        ),
    )


@contextmanager
def open_output_file(source: SourceFile, receipt: ReceiptSink | None = None) -> Iterator[BinaryIO]:
    """Open the output of a file: standard output, or a file that is written completely or not at all.

    Args:
        source: The input file, with the path of its output.
        receipt: Object that receives the written bytes, for the signed receipt.

    Raises:
        OutputError: The output cannot be written.
    """
    if source.target is None:
        if sys.stdout is None:
            raise OutputError("standard output is closed")
        yield _wrap_file(cast(BinaryIO, _FlushedStandardOutput()), receipt)
        return
    try:
        source.target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError("cannot create the folder of the output") from error
    with open_atomic_bytes(source.target) as file:
        yield _wrap_file(file, receipt)


def _wrap_file(file: BinaryIO, receipt: ReceiptSink | None) -> BinaryIO:
    return file if receipt is None else cast(BinaryIO, _HashedFile(file, receipt))


class _HashedFile:
    """Binary file for writing that includes each block of bytes in the hash of a receipt before writing the block."""

    closed = False

    def __init__(self, file: BinaryIO, receipt: ReceiptSink) -> None:
        self._file, self._receipt = file, receipt
        self.flush, self.tell = getattr(file, "flush", lambda: None), getattr(file, "tell", lambda: 0)

    def write(self, block: bytes) -> int:
        self._receipt.update(block)
        return self._file.write(block)


class _FlushedStandardOutput:
    """Standard output that is flushed after every write, so that its reader receives each row immediately."""

    def write(self, block: bytes) -> int:
        sys.stdout.buffer.write(block)
        sys.stdout.buffer.flush()
        return len(block)


@contextmanager
def open_block_writer(
    file: BinaryIO, source: SourceFile, table: ParquetTable | None
) -> Iterator[Callable[[Any], object]]:
    """Yield a function that writes sanitized blocks of rows in the format and compression of the output.

    Raises:
        OptionError: The format is Parquet and the output is standard output.
    """
    if table is not None:
        if source.target is None:
            raise OptionError("--parquet needs -o FILE: Parquet cannot be written to standard output")
        with table.open_batch_writer(file) as write:
            yield write
        return
    with open_packer(file, "" if source.target is None else get_packed_ending(source.target.name)) as packed:
        yield lambda parts: [packed.write(part) for part in parts]
