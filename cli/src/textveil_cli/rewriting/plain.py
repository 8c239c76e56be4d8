"""``textveil sanitize`` for plain text: each line, or each input, is a document."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textveil.errors import OptionError
from textveil.release import counted
from textveil.text import Options, Result, Sanitizer

from textveil_cli.console import Lines, Write, all_lines, named, opened, output_to, read_lines, say_unless
from textveil_cli.options.ledger import require_place
from textveil_cli.rewriting.asked import Asked

if TYPE_CHECKING:
    from textveil.text import Terms

    from textveil_cli.rewriting.language import KeptWordsTally

_ONE_DOCUMENT = "--keep-mapping is for one document: give one line, one --text, or --document file"
_REMEDY, _LEAVING_OUT = "save it as UTF-8", "; --quarantine FILE leaves bad lines out"
#: Maximum number of characters in one write of a long text.
_PIECE = 1 << 20
#: Smaller inputs finish before anyone could read a bar.
_BAR_FROM_BYTES = 20_000_000

Draw = Callable[[list[str]], list[Result]]
Look = Callable[[list[str]], None]


def sanitize_plain(asked: Asked, sanitizer: Sanitizer, options: Options) -> None:
    """Sanitize plain text by the arguments, and print the privacy statement.

    Args:
        asked: The arguments.
        sanitizer: The sanitizer.
        options: Options of ``Sanitizer.sanitize``.

    Raises:
        TextveilError: An input cannot be read, an output cannot be written, or a release is refused.
    """
    mapping, output = asked.keep_mapping, asked.output.output
    if mapping is not None and len(asked.inputs.paths) > 1:
        raise OptionError(_ONE_DOCUMENT)
    if mapping is not None:
        require_place("--keep-mapping", mapping)
    asked.refuse_overwriting(sanitizer.bundle.path, ("--output", output), ("--keep-mapping", mapping))
    if output is not None:
        from textveil_cli.files import require_fitting_ending

        written = ("jsonl", "json") if asked.output.as_json else ("lines",)
        require_fitting_ending(output, written, asked.inputs.paths)
    receipt = asked.receipt.opened(sanitizer.terms(**options).statement)
    charged = asked.ledger.opened()
    warn, tally = (_ignore, None) if asked.output.quiet else _make_warnings(sanitizer, options)

    def draw(texts: list[str]) -> list[Result]:
        if charged is None:
            drawn = sanitizer.sanitize_batch(texts, **options)
        else:
            drawn = charged.sanitize(sanitizer, texts, options)
        if tally is not None:
            tally.add(drawn)
        if receipt is not None:
            receipt.add(drawn)
        if mapping is not None:  # first: recovering a text whose mapping is lost would take a second release
            _write_mapping(mapping, drawn)
        return drawn

    with output_to(output) as write:
        write = write if receipt is None else receipt.through(write)
        if asked.inputs.text is not None:
            _sanitize_text(asked, asked.inputs.text, draw, warn, write)
        else:
            _sanitize_inputs(asked, draw, warn, write)
        if receipt is not None:
            receipt.write()
    if tally is not None:
        tally.warn(sanitizer)
    if charged is not None:
        charged.say(asked.output.quiet)


def _ignore(lines: list[str]) -> None:
    """Ignore the lines: the run is quiet."""


def _make_warnings(sanitizer: Sanitizer, options: Options) -> "tuple[Look, KeptWordsTally]":
    """Return the warning about unknown words and the warning about replaced words.

    The caller invokes the first with texts, and the second after the run.
    """
    from textveil_cli.rewriting.language import KeptWordsTally, UnknownWordsWarning

    return UnknownWordsWarning(sanitizer, options), KeptWordsTally()


def _sanitize_text(asked: Asked, text: str, draw: Draw, warn: Look, write: Write) -> None:
    (result,) = draw([text])
    warn([text])
    for piece in _rendered([result], asked.output.as_json, ended=True):
        write(piece)
    say_unless(asked.output.said(result.statement), asked.output.quiet)


def _sanitize_inputs(asked: Asked, draw: Draw, warn: Look, write: Write) -> None:
    from textveil_cli.console import bytes_bar
    from textveil_cli.files import refuse_tables_by_name, refusing_tables

    ended, quiet, one = True, asked.output.quiet, asked.keep_mapping is not None
    for path, name in named(asked.inputs.paths):
        if not ended:  # the last line of one input and the first of the next are two documents
            write("\n")
            ended = True
        look = refusing_tables(name)
        if not asked.table.plain:
            refuse_tables_by_name(path, name)
        tally, to_file = _Tally(), asked.output.output is not None
        with (
            opened(path, name) as (descriptor, size),
            bytes_bar("sanitizing", size, _BAR_FROM_BYTES, quiet=quiet, to_file=to_file) as advance,
        ):
            documents = _documents(descriptor, name, asked)
            for lines, ended, consumed in all_lines(documents) if one or asked.ledger.memo else documents:
                if one and len(lines) > 1:
                    raise OptionError(_ONE_DOCUMENT)
                if not asked.table.plain:
                    look(lines)
                warn(lines)
                results = draw(lines)
                for piece in _rendered(results, asked.output.as_json, ended=ended):
                    write(piece)
                tally.add(results)
                advance(consumed)
        say_unless(f"{name}: {tally.said(asked)}", quiet)


class _Tally:
    """Sum of the privacy statements of the documents of one input."""

    def __init__(self) -> None:
        self.documents = 0
        self.tokens = self.drawn = 0
        self.terms: Terms | None = None

    def add(self, results: Sequence[Result]) -> None:
        """Count some results, all sanitized under the same terms."""
        self.documents += len(results)
        self.tokens += sum(result.tokens for result in results)
        self.drawn += sum(result.drawn for result in results)
        self.terms = results[0].terms if results else self.terms

    def said(self, asked: Asked) -> str:
        """Return the number of documents, and the privacy statement of all of them."""
        if self.terms is None:
            return "no documents"
        said = asked.output.said(self.terms.statement(self.tokens, self.drawn))
        return f"{counted(self.documents, 'document')}. {said}"


def _write_mapping(path: Path, results: list[Result]) -> None:
    """Write the mapping of the one document, readable by its owner alone."""
    for result in results:
        if result.mapping is not None:
            with output_to(path, private=True) as write:
                write(result.mapping.to_json())


def _documents(descriptor: int, name: str, asked: Asked) -> Iterator[Lines]:
    """Yield the documents of one input: its lines, or the whole input."""
    if asked.documents.document == "file":
        found = list(read_lines(descriptor, name))
        text = "".join("\n".join(lines) + ("\n" if ended else "") for lines, ended, _ in found)
        if text:
            yield [text.removesuffix("\n")], text.endswith("\n"), found[-1][2]
        return
    seen, one = 0, asked.keep_mapping is not None or asked.ledger.memo  # no --quarantine there
    for lines, ended, consumed in read_lines(descriptor, name, _REMEDY if one else _REMEDY + _LEAVING_OUT):
        seen += len(lines)
        if asked.how.consistent and asked.documents.document is None and seen > 1:
            raise OptionError("--consistent on several lines: say --document line or --document file")
        yield lines, ended, consumed


def _rendered(results: list[Result], as_json: bool, *, ended: bool) -> Iterator[str]:
    """Yield the output text, a long one in parts: in one string it would be held three times."""
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
    return json.dumps({**result.to_dict(), "text": text}, ensure_ascii=False)
