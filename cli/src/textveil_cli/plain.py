"""``textveil sanitize`` for plain text: each line, or each input, is a document."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from textveil.bundle.atomic import atomic_output
from textveil.errors import OptionError, OutputError
from textveil.text.options import Options
from textveil.text.result import Result
from textveil.text.sanitizer import Sanitizer

from textveil_cli.charging import Charging, ReceiptFile
from textveil_cli.console import say
from textveil_cli.files import refuse_tables_by_name
from textveil_cli.io import Lines, Write, all_lines, opened, read_lines, say_unless, standard_output
from textveil_cli.looking import looking
from textveil_cli.progress import progress_bar
from textveil_cli.show_text import Tally

#: Characters of an input that are looked at to tell whether its language is the bundle's.
_LOOKED_AT = 20_000
_ONE_DOCUMENT = "--keep-mapping is for one document: give one line, one --text, or --document file"
#: Characters that are written at once.
_PIECE = 1 << 20


@dataclass(frozen=True)
class PlainRun:
    """A run over plain text, as a command line describes it.

    Attributes:
        inputs: Files; ``-`` is standard input. Not looked at where there is a text.
        text: A text that is sanitized in their place.
        output: Where it goes; ``None`` is standard output.
        document: ``"line"`` or ``"file"``; ``None`` for lines, and for one line only with consistent draws.
        keep_mapping: Where the mapping of the one document goes.
        whole: Whether all lines of an input are one request to a memo.
        plain: Whether it is plain text, though it looks like a table.
        as_json: Whether there is a JSON object for each document.
        quiet: Whether there is no statement.
    """

    inputs: list[str]
    text: str | None
    output: Path | None
    document: str | None
    keep_mapping: Path | None
    whole: bool
    plain: bool
    as_json: bool
    quiet: bool

    @property
    def read(self) -> list[str]:
        """What is read."""
        return self.inputs if self.text is None else []

    def require_mapping(self) -> None:
        """Raises ``OptionError`` if a mapping is to be of several inputs, ``OutputError`` if it cannot be written."""
        mapping = self.keep_mapping
        if mapping is not None and len(self.read) > 1:
            raise OptionError(_ONE_DOCUMENT)
        if mapping is not None and not os.access(Path(os.path.realpath(mapping)).parent, os.W_OK):
            raise OutputError("--keep-mapping: no folder there that can be written")  # known before a text is released


def sanitize_plain(
    run: PlainRun, sanitizer: Sanitizer, options: Options, receipts: ReceiptFile, charged: Charging | None
) -> None:
    """Sanitizes plain text as the command line says, and states what was promised.

    Args:
        run: The run.
        sanitizer: The sanitizer.
        options: Options of the draws.
        receipts: Looks on.
        charged: Charges what is drawn; ``None`` without a ledger.

    Raises:
        TextveilError: An input cannot be read, an output not written, or a draw is refused.
    """

    def draw(texts: list[str]) -> list[Result]:
        drawn = (
            sanitizer.sanitize_batch(texts, **options)
            if charged is None
            else charged.sanitize(sanitizer, texts, options)
        )
        receipts.add(drawn)
        if run.keep_mapping is not None:  # first: a text without its mapping could only be had back by a second release
            _write_mapping(run.keep_mapping, drawn)
        return drawn

    with atomic_output(run.output) if run.output is not None else standard_output() as write_output:
        write = receipts.through(write_output)
        if run.text is not None:
            _sanitize_text(run, run.text, draw, LanguageWarning(sanitizer, options), write)
        else:
            _sanitize_inputs(run, sanitizer, options, draw, write)
        receipts.write()


def _sanitize_text(
    run: PlainRun,
    text: str,
    draw: Callable[[list[str]], list[Result]],
    warn: "LanguageWarning",
    write: Write,
) -> None:
    (result,) = draw([text])
    if not run.quiet:
        warn([text])
    for piece in _rendered([result], run.as_json, ended=True):
        write(piece)
    say_unless(result.statement.summary(), run.quiet)


def _sanitize_inputs(
    run: PlainRun,
    sanitizer: Sanitizer,
    options: Options,
    draw: Callable[[list[str]], list[Result]],
    write: Write,
) -> None:
    ended = True
    for number, path in enumerate(run.inputs, 1):
        if not ended:  # the last line of one input and the first of the next are two documents
            write("\n")
        name = "standard input" if path == "-" else f"input {number} of {len(run.inputs)}"
        if not run.plain:
            refuse_tables_by_name(path, name)
        tally = Tally()
        with (
            opened(path, name) as (descriptor, size),
            progress_bar("sanitizing", size, run.quiet, run.output is not None) as advance,
        ):
            warn = None if run.quiet else LanguageWarning(sanitizer, options)
            look = warn if run.plain else looking(name, warn)
            look = look if run.keep_mapping is None else _refusing_several(look)
            whole = run.whole or run.keep_mapping is not None
            documents = sanitize_lines(
                sanitizer, descriptor, name, document=run.document, whole=whole, look=look, draw=draw, **options
            )
            for results, ended, consumed in documents:
                for piece in _rendered(results, run.as_json, ended=ended):
                    write(piece)
                tally.add(results)
                advance(consumed)
        say_unless(f"{name}: {tally}", run.quiet)


def _refusing_several(look: Callable[[list[str]], None] | None) -> Callable[[list[str]], None]:
    """Looks at documents before they are drawn, and charged: there may be one for ``--keep-mapping``."""

    def one(documents: list[str]) -> None:
        if len(documents) > 1:
            raise OptionError(_ONE_DOCUMENT)
        if look is not None:
            look(documents)

    return one


def _write_mapping(path: Path, results: list[Result]) -> None:
    """Writes the mapping of the one document, readable by its owner alone."""
    for result in results:
        if result.mapping is not None:
            with atomic_output(path, private=True) as write:
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
