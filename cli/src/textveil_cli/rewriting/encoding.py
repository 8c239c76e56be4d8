"""``textveil encode``: documents to vectors or indices, one line for each."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from textveil_cli.charges import ReceiptFile, RunLedger

Release = VectorRelease | IndexRelease
# A line takes about ten milliseconds, so a bar is useful for much smaller inputs than with ``sanitize``.
_BAR_FROM_BYTES = 20_000
#: Prefix of a line that is a comment on the output and no release.
COMMENT = "# "


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """The encoder of a run with its options, ledger and receipt.

    Attributes:
        encoder: The encoder.
        options: Its options.
        receipt: The receipt of the output; ``None`` without one.
        charged: Spends the epsilon of the releases; ``None`` without a ledger.
        heading: Text of the comment in the first line of the output; empty without such a line.
    """

    encoder: Encoder | IndexEncoder
    options: dict[str, Any]
    receipt: "ReceiptFile | None"
    charged: "RunLedger | None"
    heading: str = ""

    def of(self, texts: list[str]) -> Iterator[Release]:
        """Yield one release for each text, in order.

        With a ledger, all of them are spent in one transaction before the first is yielded.
        """
        releases: Iterable[Release] = (self.encoder.encode(text, **self.options) for text in texts)
        if self.charged is not None:
            releases = self.charged.encode(self.encoder, texts, self.options)
        for release in releases:
            if self.receipt is not None:
                self.receipt.add([release])
            yield release


def encode_all(
    encoding: Encoding,
    inputs: InputOptions,
    selection: Selection,
    output: OutputOptions,
    *,
    said: str,
    refuses_tables: bool,
    whole: bool,
) -> None:
    """Encode all documents of a run, and print the privacy statement.

    Args:
        encoding: The encoder, with ledger and receipt.
        inputs: The inputs.
        selection: The column or key of a table; lines for plain text.
        output: The output, and the choice of messages.
        said: Text of the privacy statement.
        refuses_tables: Whether plain text that looks like a table is an error.
        whole: Whether all lines of an input are one request to the replay cache.

    Raises:
        TextveilError: An input cannot be read, an output cannot be written, or a release is refused.
    """
    quiet, receipt = output.quiet, encoding.receipt
    with output_to(output.output) as write:
        write = write if receipt is None else receipt.through(write)
        if encoding.heading and not output.as_json:
            write(f"{COMMENT}{encoding.heading}\n")
        if inputs.text is not None:
            tally = _Tally()
            for release in encoding.of([inputs.text]):
                tally.write(release, write, output.as_json)
            say_unless(said, quiet)
            tally.say_notes(quiet)
        for path, name in named(inputs.paths):
            tally, before = _Tally(), 0
            if refuses_tables:
                refuse_tables_by_name(path, name)
            with (
                opened(path, name) as (descriptor, size),
                bytes_bar("encoding", size, _BAR_FROM_BYTES, quiet=quiet, to_file=output.output is not None) as advance,
            ):
                if selection.format == "lines":
                    read = _lines(descriptor, name, refuses_tables)
                else:
                    read = read_cells(Reading(descriptor, name, packed_as(path)), selection, name)
                for lines, _, consumed in all_lines(read) if whole else read:
                    for done, release in enumerate(encoding.of(lines), 1):
                        tally.write(release, write, output.as_json)
                        advance(before + (consumed - before) * done // len(lines))
                    before = consumed
            say_unless(f"{name}: {tally}{f'; {said}' if tally.documents else ''}", quiet)
            tally.say_notes(quiet)
        if receipt is not None:
            receipt.write()


def _lines(descriptor: int, name: str, refuses_tables: bool) -> Iterator[Lines]:
    look = refusing_tables(name)
    for found in read_lines(descriptor, name):
        if refuses_tables:
            look(found[0])
        yield found


class _Tally:
    """Writer and counter of the releases of one input."""

    def __init__(self) -> None:
        self.documents = self.truncated = self.fixed_points = 0

    def write(self, release: Release, write: Write, as_json: bool) -> None:
        self.documents += 1
        self.truncated += release.notes.truncated
        self.fixed_points += release.notes.fixed_point
        write((json.dumps(release.to_dict(), ensure_ascii=False) if as_json else release.line) + "\n")

    def say_notes(self, quiet: bool) -> None:
        """Print notes for the owner of this device, separate from the privacy statement."""
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
