"""Parts of files: a fixed number of lines each, sanitized on their own and written whole or not at all.

Every token of every text is drawn on its own from the operating system's entropy, so how a corpus is cut, who works
on a part, and in what order, changes nothing about the output distribution.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from textveil import Sanitizer
from textveil.bundle import atomic_output
from textveil.text import Options

from textveil_training.corpus.layouts import Layout, cut_block
from textveil_training.errors import FileLocation, ResumeError, UnreadableFile

SHARD_LINES = 4096
SHARD_BYTES = 8 << 20
"""A shard ends earlier when it has so many bytes: what a process holds in memory at once is bounded by this."""


@dataclass(frozen=True)
class Source:
    """A file to sanitize.

    Attributes:
        path: Where it is.
        name: Last part of the path: the output has the same.
    """

    path: Path
    name: str


@dataclass(frozen=True)
class Shard:
    """Consecutive lines of a file.

    Attributes:
        source: Number of the file.
        number: Number of the shard in the file.
        start: Offset of its first byte.
        end: Offset after its last byte.
        first_line: Number of its first line, from 1.
        lines: How many lines.
        sha256: Of its bytes.
    """

    source: int
    number: int
    start: int
    end: int
    first_line: int
    lines: int
    sha256: str


@dataclass(frozen=True)
class Counts:
    """Counts of what was sanitized; a function of what comes out.

    Attributes:
        lines: Lines of all kinds.
        rows: Lines with texts.
        texts: Texts; a pair has two.
        tokens: Tokens of the texts; each was drawn.
        most_tokens: Tokens of the row that has most.
    """

    lines: int = 0
    rows: int = 0
    texts: int = 0
    tokens: int = 0
    most_tokens: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.lines + other.lines,
            self.rows + other.rows,
            self.texts + other.texts,
            self.tokens + other.tokens,
            max(self.most_tokens, other.most_tokens),
        )


def cut_source(source: Source, number: int, layout: Layout, shard_lines: int = SHARD_LINES) -> Iterator[Shard]:
    """Cuts a file into shards, and each line of it, so that a line that cannot be cut is met before anything is drawn.

    Args:
        source: The file.
        number: Its number.
        layout: Layout of its format.
        shard_lines: Lines of each shard but the last.

    Raises:
        DataError: The file cannot be read, or a line is no row of the format.
    """
    start, first_line, index = 0, 1, 0
    for lines in _groups(source, shard_lines, quoted=layout.quoted):
        block = b"".join(lines)
        cut_block(block, layout, source.name, first_line)
        digest = hashlib.sha256(block).hexdigest()
        yield Shard(number, index, start, start + len(block), first_line, len(lines), digest)
        start, first_line, index = start + len(block), first_line + len(lines), index + 1


def sanitize_shard(
    shard: Shard, source: Source, layout: Layout, sanitizer: Sanitizer, options: Options
) -> tuple[str, Counts]:
    """Reads a shard and sanitizes its texts.

    Args:
        shard: The lines to read.
        source: The file they are in.
        layout: Layout of its format.
        sanitizer: Sanitizer of the bundle.
        options: Options of the sanitizer.

    Returns:
        The lines with other texts, and counts.

    Raises:
        UnreadableFile: The file cannot be read, or is not what it was when it was cut.

    Privacy:
        Every call draws afresh: it is a release of the shard's texts, with the guarantee of ``Sanitizer.sanitize``.
    """
    block = _read(source, shard.start, shard.end)
    if hashlib.sha256(block).hexdigest() != shard.sha256:
        raise UnreadableFile("the file was changed while it was read", FileLocation(source.name))
    lines = cut_block(block, layout, source.name, shard.first_line)
    results = iter(sanitizer.sanitize_batch([text for parts in lines for text in parts[1::2]], **options))
    rows = texts = tokens = most_tokens = 0
    for parts in lines:
        of_row = 0
        for place in range(1, len(parts), 2):
            result = next(results)
            parts[place] = layout.encode(result.text)
            of_row += result.tokens
        rows += len(parts) > 1
        texts += len(parts) // 2
        tokens += of_row
        most_tokens = max(most_tokens, of_row)
    counts = Counts(len(lines), rows, texts, tokens, most_tokens)
    return "".join(part for parts in lines for part in parts), counts


def write_shard(path: Path, text: str, counts: Counts, source_sha256: str) -> None:
    """Writes a finished shard: a line of JSON about it, then its lines.

    Raises:
        OutputError: It cannot be written.
    """
    about = asdict(counts) | {"source": source_sha256, "sha256": hashlib.sha256(text.encode("utf-8")).hexdigest()}
    with atomic_output(path) as write:
        write(json.dumps(about) + "\n")
        write(text)


def read_shard(path: Path, shard: Shard) -> tuple[str, Counts]:
    """Reads the lines and the counts of a finished shard.

    Raises:
        ResumeError: It is damaged, or was made from something else.
    """
    try:
        about, _, text = path.read_bytes().decode("utf-8").partition("\n")
        facts = json.loads(about)
        sound = facts.pop("sha256") == hashlib.sha256(text.encode("utf-8")).hexdigest()
        if sound and facts.pop("source") == shard.sha256:
            return text, Counts(**facts)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        pass
    raise ResumeError("a finished part of the unfinished run is damaged: remove the output folder and begin again")


def _groups(source: Source, shard_lines: int, *, quoted: bool) -> Iterator[list[bytes]]:
    """Lines of a file with their ends, as many as a shard has; more while a quote is open."""
    reason = None
    lines: list[bytes] = []
    size = quotes = 0
    try:
        with source.path.open("rb") as file:
            for line in file:
                lines.append(line)
                size += len(line)
                quotes += line.count(b'"') if quoted else 0
                if (len(lines) >= shard_lines or size >= SHARD_BYTES) and quotes % 2 == 0:
                    yield lines
                    lines, size = [], 0
    except OSError as error:
        reason = error.strerror
    if reason is not None:
        raise UnreadableFile(f"the file cannot be read ({reason})", FileLocation(source.name))
    if lines:
        yield lines


def _read(source: Source, start: int, end: int) -> bytes:
    try:
        with source.path.open("rb") as file:
            file.seek(start)
            return file.read(end - start)
    except OSError as error:
        reason = error.strerror
    raise UnreadableFile(f"the file cannot be read ({reason})", FileLocation(source.name))
