"""The run of ``textveil encode``: convert each document to one output line, a vector or a class label."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textveil.formatting import format_count
from textveil.vector import Encoder, LabelRelease, TextLabelEncoder, VectorRelease

from textveil_cli.console import (
    LineBatch,
    TextWriter,
    merge_line_batches,
    name_inputs,
    open_input,
    open_output,
    print_unless_quiet,
    read_lines,
    show_byte_progress,
)
from textveil_cli.files import (
    ColumnSelection,
    InputStream,
    get_packed_ending,
    make_table_refusal,
    read_cells,
    refuse_tables_by_name,
)
from textveil_cli.options import InputOptions, OutputOptions

if TYPE_CHECKING:
    from textveil_cli.run_ledger import ReceiptFile, RunLedger

EncoderRelease = VectorRelease | LabelRelease
# A line takes about ten milliseconds, so a bar is useful for much smaller inputs than with ``sanitize``.
_BAR_FROM_BYTES = 20_000
#: Prefix of a line that is a comment on the output and no release.
COMMENT_PREFIX = "# "


@dataclass(frozen=True, kw_only=True)
class EncoderRun:
    """Encoder of texts for one run of ``textveil encode``. It also records the run in the receipt and the ledger.

    Attributes:
        encoder: Object that encodes texts as noisy vectors or randomized class labels.
        options: Keyword arguments for ``encoder.encode``.
        receipt: The signed receipt with a hash of the output; ``None`` without ``--receipt``.
        run_ledger: The privacy ledger, which records the spent epsilon of each text; ``None`` without a ledger.
        heading: Text of a comment in the first line of the output; empty for an output without a comment.
    """

    encoder: Encoder | TextLabelEncoder
    options: dict[str, Any]
    receipt: "ReceiptFile | None"
    run_ledger: "RunLedger | None"
    heading: str = ""

    def encode_texts(self, texts: list[str]) -> Iterator[EncoderRelease]:
        """Encode texts, and yield one noisy vector or randomized class label for each text, in order.

        With a privacy ledger, one transaction records the spent epsilon of all texts before the first result is
        yielded.
        """
        releases: Iterable[EncoderRelease] = (self.encoder.encode(text, **self.options) for text in texts)
        if self.run_ledger is not None:
            releases = self.run_ledger.encode(self.encoder, texts, self.options)
        for release in releases:
            if self.receipt is not None:
                self.receipt.add_releases([release])
            yield release


def encode_inputs(
    run: EncoderRun,
    inputs: InputOptions,
    selection: ColumnSelection,
    output: OutputOptions,
    *,
    statement_text: str,
    refuses_tables: bool,
    one_request: bool,
) -> None:
    """Encode all documents of a run, write one output line for each, and print the privacy statement.

    Args:
        run: The encoder, with the privacy ledger and the receipt.
        inputs: The input files, or the text of ``--text``.
        selection: The column or key of a table; the format ``lines`` for plain text.
        output: The output file, its format, and whether to suppress messages.
        statement_text: Text of the privacy statement.
        refuses_tables: Whether plain text that looks like a table is an error.
        one_request: Whether to encode all lines of an input together. The replay cache (which repeats stored outputs
            for equal inputs) then compares whole inputs. Otherwise lines are encoded as they arrive.

    Raises:
        TextveilError: An input cannot be read, an output cannot be written, or the epsilon of a text exceeds the rest
            of the budget in the privacy ledger.
    """
    quiet, receipt = output.quiet, run.receipt
    with open_output(output.output) as write:
        write = write if receipt is None else receipt.wrap_writer(write)
        if run.heading and not output.as_json:
            write(f"{COMMENT_PREFIX}{run.heading}\n")
        if inputs.text is not None:
            tally = _ReleaseTally()
            for release in run.encode_texts([inputs.text]):
                tally.write_release(release, write, output.as_json)
            print_unless_quiet(statement_text, quiet)
            tally.print_notes(quiet)
        for path, name in name_inputs(inputs.paths):
            tally, before = _ReleaseTally(), 0
            if refuses_tables:
                refuse_tables_by_name(path, name)
            with (
                open_input(path, name) as (descriptor, size),
                show_byte_progress(
                    "encoding", size, _BAR_FROM_BYTES, quiet=quiet, to_file=output.output is not None
                ) as advance,
            ):
                if selection.format == "lines":
                    batches = _read_checked_lines(descriptor, name, refuses_tables)
                else:
                    batches = read_cells(InputStream(descriptor, name, get_packed_ending(path)), selection, name)
                for lines, _, consumed in merge_line_batches(batches) if one_request else batches:
                    for done, release in enumerate(run.encode_texts(lines), 1):
                        tally.write_release(release, write, output.as_json)
                        advance(before + (consumed - before) * done // len(lines))
                    before = consumed
            print_unless_quiet(f"{name}: {tally}{f'; {statement_text}' if tally.documents else ''}", quiet)
            tally.print_notes(quiet)
        if receipt is not None:
            receipt.write()


def _read_checked_lines(descriptor: int, name: str, refuses_tables: bool) -> Iterator[LineBatch]:
    check_lines = make_table_refusal(name)
    for batch in read_lines(descriptor, name):
        if refuses_tables:
            check_lines(batch[0])
        yield batch


class _ReleaseTally:
    """Writer of the output lines for one input. It counts the lines and the texts that exceeded the length limit."""

    def __init__(self) -> None:
        self.documents = self.truncated = self.fixed_points = 0

    def write_release(self, release: EncoderRelease, write: TextWriter, as_json: bool) -> None:
        self.documents += 1
        self.truncated += release.notes.is_truncated
        self.fixed_points += release.notes.is_zero_vector
        write((json.dumps(release.to_dict(), ensure_ascii=False) if as_json else release.line) + "\n")

    def print_notes(self, quiet: bool) -> None:
        """Print notes for the owner of this device, such as the number of truncated documents.

        The notes depend on private input, so they are no part of the privacy statement.
        """
        remarks: list[str] = []
        if self.truncated:
            remarks.append(f"{self.truncated:,} truncated to the model's maximum length")
        if self.fixed_points:
            remarks.append(
                f"{self.fixed_points:,} released as the bundle's fixed point, since the model failed or "
                "returned non-finite numbers"
            )
        if remarks:
            print_unless_quiet(f"private, for this device only: {'; '.join(remarks)}", quiet)

    def __str__(self) -> str:
        return format_count(self.documents, "document") if self.documents else "no documents"
