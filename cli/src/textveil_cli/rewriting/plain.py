"""``textveil sanitize`` for plain text: each line, or each input, is a document."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from textveil.errors import OptionError, OutputError
from textveil.release import counted
from textveil.text import Options, Result, Sanitizer

from textveil_cli.console import (
    Lines,
    Write,
    all_lines,
    named,
    opened,
    output_to,
    read_lines,
    say,
    say_unless,
)
from textveil_cli.options import InputOptions, OutputOptions

if TYPE_CHECKING:
    from textveil.text import Terms

    from textveil_cli.rewriting.ledgers import ReceiptFile, RunLedger

#: Characters of an input that are looked at to tell whether its language is the bundle's.
_LOOKED_AT = 20_000
_ONE_DOCUMENT = "--keep-mapping is for one document: give one line, one --text, or --document file"
#: Characters that are written at once.
_PIECE = 1 << 20
#: Inputs of fewer bytes are done before a bar could be read.
_BAR_FROM_BYTES = 20_000_000


@dataclass(frozen=True, kw_only=True)
class PlainRun:
    """A run over plain text, as a command line describes it.

    Attributes:
        inputs: What is read.
        output: Where it goes, and what is said.
        document: ``"line"`` or ``"file"``; ``None`` for lines, and for one line only with consistent draws.
        keep_mapping: Where the mapping of the one document goes.
        whole: Whether all lines of an input are one request to a memo.
        plain: Whether it is plain text, though it looks like a table.
        sanitizer: The sanitizer.
        options: Options of the draws.
    """

    inputs: InputOptions
    output: OutputOptions
    document: str | None
    keep_mapping: Path | None
    whole: bool
    plain: bool
    sanitizer: Sanitizer
    options: Options

    def require_mapping(self) -> None:
        """Raises ``OptionError`` if a mapping is to be of several inputs, ``OutputError`` if it cannot be written."""
        mapping = self.keep_mapping
        if mapping is not None and len(self.inputs.paths) > 1:
            raise OptionError(_ONE_DOCUMENT)
        if mapping is not None and not os.access(Path(os.path.realpath(mapping)).parent, os.W_OK):
            raise OutputError("--keep-mapping: no folder there that can be written")  # known before a text is released


Draw = Callable[[list[str]], list[Result]]


def sanitize_plain(run: PlainRun, receipts: "ReceiptFile", charged: "RunLedger | None") -> None:
    """Sanitizes plain text as the command line says, and states what was promised.

    Args:
        run: The run.
        receipts: Looks on.
        charged: Charges what is drawn; ``None`` without a ledger.

    Raises:
        TextveilError: An input cannot be read, an output not written, or a draw is refused.
    """

    def draw(texts: list[str]) -> list[Result]:
        if charged is None:
            drawn = run.sanitizer.sanitize_batch(texts, **run.options)
        else:
            drawn = charged.sanitize(run.sanitizer, texts, run.options)
        receipts.add(drawn)
        if run.keep_mapping is not None:  # first: a text without its mapping could only be had back by a second release
            _write_mapping(run.keep_mapping, drawn)
        return drawn

    with output_to(run.output.output) as write_output:
        write = receipts.through(write_output)
        if run.inputs.text is not None:
            _sanitize_text(run, run.inputs.text, draw, write)
        else:
            _sanitize_inputs(run, draw, write)
        receipts.write()


def _sanitize_text(run: PlainRun, text: str, draw: Draw, write: Write) -> None:
    (result,) = draw([text])
    if not run.output.quiet:
        LanguageWarning(run.sanitizer, run.options)([text])
    for piece in _rendered([result], run.output.as_json, ended=True):
        write(piece)
    say_unless(run.output.said(result.statement), run.output.quiet)


def _sanitize_inputs(run: PlainRun, draw: Draw, write: Write) -> None:
    from textveil_cli.console import bytes_bar
    from textveil_cli.files import refuse_tables_by_name

    ended, quiet = True, run.output.quiet
    for path, name in named(run.inputs.paths):
        if not ended:  # the last line of one input and the first of the next are two documents
            write("\n")
        if not run.plain:
            refuse_tables_by_name(path, name)
        tally = _Tally()
        with (
            opened(path, name) as (descriptor, size),
            bytes_bar(
                "sanitizing", size, _BAR_FROM_BYTES, quiet=quiet, to_file=run.output.output is not None
            ) as advance,
        ):
            documents = sanitize_lines(
                run.sanitizer,
                descriptor,
                name,
                document=run.document,
                whole=run.whole or run.keep_mapping is not None,
                look=_looking(run, name),
                draw=draw,
                **run.options,
            )
            for results, ended, consumed in documents:
                for piece in _rendered(results, run.output.as_json, ended=ended):
                    write(piece)
                tally.add(results)
                advance(consumed)
        say_unless(f"{name}: {tally.said(run.output)}", quiet)


class _Tally:
    """Adds up the statements of the documents of one input."""

    def __init__(self) -> None:
        self.documents = 0
        self.tokens = 0
        self.terms: Terms | None = None

    def add(self, results: Sequence[Result]) -> None:
        """Counts some results, all sanitized under the same terms."""
        self.documents += len(results)
        self.tokens += sum(result.tokens for result in results)
        self.terms = results[0].terms if results else self.terms

    def said(self, output: OutputOptions) -> str:
        """Returns how many documents there were, and the statement of all of them."""
        if self.terms is None:
            return "no documents"
        return f"{counted(self.documents, 'document')}. {output.said(self.terms.statement(self.tokens))}"


def _looking(run: PlainRun, name: str) -> Callable[[list[str]], None]:
    """Returns what looks at documents before they are drawn, and charged."""
    from textveil_cli.files import refusing_tables

    looks: list[Callable[[list[str]], None]] = []
    if run.keep_mapping is not None:
        looks.append(_refuse_several)
    if not run.plain:
        looks.append(refusing_tables(name))
    if not run.output.quiet:
        looks.append(LanguageWarning(run.sanitizer, run.options))

    def look(documents: list[str]) -> None:
        for one in looks:
            one(documents)

    return look


def _refuse_several(documents: list[str]) -> None:
    if len(documents) > 1:
        raise OptionError(_ONE_DOCUMENT)


def _write_mapping(path: Path, results: list[Result]) -> None:
    """Writes the mapping of the one document, readable by its owner alone."""
    for result in results:
        if result.mapping is not None:
            with output_to(path, private=True) as write:
                write(result.mapping.to_json())


def _documents(descriptor: int, name: str, document: str | None, consistent: bool) -> Iterator[Lines]:
    """Yields the documents of one input: its lines, or all of it."""
    if document == "file":
        found = list(read_lines(descriptor, name))
        text = "".join("\n".join(lines) + ("\n" if ended else "") for lines, ended, _ in found)
        if text:
            yield [text.removesuffix("\n")], text.endswith("\n"), found[-1][2]
        return
    seen = 0
    for lines, ended, consumed in read_lines(descriptor, name):
        seen += len(lines)
        if consistent and document is None and seen > 1:
            raise OptionError("--consistent on several lines: say --document line or --document file")
        yield lines, ended, consumed


class LanguageWarning:
    """Says, on this device alone, that most of the first lines of an input are unknown words."""

    def __init__(self, sanitizer: Sanitizer, options: Options) -> None:
        self._sanitizer, self._options, self._said = sanitizer, options, False

    def __call__(self, lines: list[str]) -> None:
        """Looks at the first lines; says it once."""
        if self._said or self._sanitizer.terms(**self._options).mechanism != "staircase":
            return
        self._said = True
        if self._sanitizer.unknown_share("\n".join(lines)[:_LOOKED_AT], **self._options) > 1 / 2:
            say("textveil: over half of the drawn words are unknown: is this bundle for the language of the text?")


def sanitize_lines(
    sanitizer: Sanitizer,
    descriptor: int,
    name: str,
    *,
    document: str | None = None,
    whole: bool = False,
    look: Callable[[list[str]], None] | None = None,
    draw: Callable[[list[str]], list[Result]] | None = None,
    **options: Unpack[Options],
) -> Iterator[tuple[list[Result], bool, int]]:
    """Sanitizes everything that can be read from a file descriptor, line by line or as one document.

    Args:
        sanitizer: The sanitizer.
        descriptor: An open file descriptor; read until its end, not closed.
        name: What errors call the input ("input 1").
        document: ``"line"`` or ``"file"``; ``None`` for lines, and for one line only with consistent draws.
        whole: Whether all lines are read before the first is sanitized: they are one request to a memo.
        look: Called with the documents before they are sanitized.
        draw: What sanitizes documents in place of the sanitizer: with a ledger, say.
        options: As in ``Sanitizer.sanitize``.

    Yields:
        Results of the lines that had arrived, whether the last of them ended with a line feed, and bytes consumed.

    Raises:
        InputError: As ``read_lines``.
        OptionError: Draws are consistent, there are several lines, and it is not said what a document is.
    """
    documents = _documents(descriptor, name, document, bool(options.get("consistent")))
    for lines, ended, consumed in all_lines(documents) if whole else documents:
        if look is not None:
            look(lines)
        yield sanitizer.sanitize_batch(lines, **options) if draw is None else draw(lines), ended, consumed


def _rendered(results: list[Result], as_json: bool, *, ended: bool) -> Iterator[str]:
    """What is written, a long text in pieces: all of it at once would be held three times."""
    if all(len(result.text) < _PIECE for result in results):
        yield _render(results, as_json, ended=ended)
        return
    for number, result in enumerate(results, 1):
        pieces = (result.text[start : start + _PIECE] for start in range(0, len(result.text), _PIECE))
        if as_json:
            before, after = _as_json(result, "").split('""', 1)
            yield before + '"'
            yield from (json.dumps(piece, ensure_ascii=False)[1:-1] for piece in pieces)
            yield '"' + after + "\n"
        else:
            yield from pieces
            if ended or number < len(results):
                yield "\n"


def _render(results: list[Result], as_json: bool, *, ended: bool) -> str:
    if as_json:
        return "\n".join(_as_json(result, result.text) for result in results) + "\n"
    return "\n".join([result.text for result in results]) + ("\n" if ended else "")


def _as_json(result: Result, text: str) -> str:
    return json.dumps({"text": text, "statement": result.statement.to_dict()}, ensure_ascii=False)
