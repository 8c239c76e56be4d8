"""``textveil encode``: documents to vectors or indices, one line for each."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from textveil.release import counted
from textveil.vector import Encoder, IndexEncoder, IndexRelease, VectorRelease

from textveil_cli.console import Lines, Write, all_lines, bytes_bar, named, opened, output_to, read_lines, say_unless
from textveil_cli.files import (
    Reading,
    Selection,
    packed_as,
    read_cells,
    refuse_tables_by_name,
    refusing_tables,
)
from textveil_cli.options import InputOptions, OutputOptions
from textveil_cli.rewriting.ledgers import ReceiptFile, RunLedger

Release = VectorRelease | IndexRelease
# About ten milliseconds of work for each line: a bar is worth its place long before that of ``sanitize``.
_BAR_FROM_BYTES = 20_000


@dataclass(frozen=True, kw_only=True)
class EncodeRun:
    """A run of ``textveil encode``, as its command line describes it.

    Attributes:
        inputs: What is read.
        output: Where it goes, and what is said.
        selection: What of a table is encoded; lines of plain text.
        refuses_tables: Whether plain text that looks like a table is refused.
        whole: Whether all lines of an input are one request to a memo.
        said: What is said of the promise.
    """

    inputs: InputOptions
    output: OutputOptions
    selection: Selection
    refuses_tables: bool
    whole: bool
    said: str


def encode_all(
    run: EncodeRun,
    encoder: Encoder | IndexEncoder,
    options: dict[str, Any],
    receipts: ReceiptFile,
    charged: RunLedger | None,
) -> None:
    """Encodes all documents of a run, and says what was promised.

    Args:
        run: The run.
        encoder: What encodes.
        options: Its options.
        receipts: Looks on.
        charged: Charges what is drawn; ``None`` without a ledger.

    Raises:
        TextveilError: An input cannot be read, an output not written, or a draw is refused.
    """

    def released(texts: list[str]) -> Iterable[Release]:
        """One after the other; with a ledger all before the first is given, in one transaction."""
        if charged is not None:
            return charged.encode(encoder, texts, options)
        return (encoder.encode(text, **options) for text in texts)

    quiet, to_file = run.output.quiet, run.output.output is not None
    with output_to(run.output.output) as write_output:
        write = receipts.through(write_output)
        if run.inputs.text is not None:
            tally = _Tally()
            for release in released([run.inputs.text]):
                receipts.add([release])
                tally.write(release, write, run.output.as_json)
            say_unless(run.said, quiet)
            tally.say_notes(quiet)
        for path, name in named(run.inputs.paths):
            tally, before = _Tally(), 0
            if run.refuses_tables:
                refuse_tables_by_name(path, name)
            with (
                opened(path, name) as (descriptor, size),
                bytes_bar("encoding", size, _BAR_FROM_BYTES, quiet=quiet, to_file=to_file) as advance,
            ):
                read = _documents(run, descriptor, path, name)
                for lines, _, consumed in all_lines(read) if run.whole else read:
                    for done, release in enumerate(released(lines), 1):
                        receipts.add([release])
                        tally.write(release, write, run.output.as_json)
                        advance(before + (consumed - before) * done // len(lines))
                    before = consumed
            say_unless(f"{name}: {tally}{f'; {run.said}' if tally.documents else ''}", quiet)
            tally.say_notes(quiet)
        receipts.write()


def _documents(run: EncodeRun, descriptor: int, path: str, name: str) -> Iterator[Lines]:
    """Yields the documents of one input: its lines, or the cells of a column."""
    if run.selection.format != "lines":
        for cells, consumed in read_cells(Reading(descriptor, name, packed_as(path)), run.selection, name):
            yield cells, True, consumed
        return
    look = refusing_tables(name)
    for lines, ended, consumed in read_lines(descriptor, name):
        if run.refuses_tables:
            look(lines)
        yield lines, ended, consumed


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
        """Says what happened on this device, to its owner, in a line of its own: it is not part of the statement."""
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
        return counted(self.documents, "document") if self.documents else "no documents"
