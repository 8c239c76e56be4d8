"""``textveil sanitize``: lines of text in, sanitized lines out."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Unpack

import typer

from textveil.bundle.atomic import atomic_output
from textveil.cli.io import opened, read_lines, read_words, refuse_overwriting, say_unless, standard_output
from textveil.cli.options import (
    BundleOption,
    CaseOption,
    DenyOption,
    EpsilonOption,
    ExpectId,
    LevelOption,
    MechanismOption,
    PunctuationOption,
    ReplacementOption,
    StrictOption,
    TailOption,
)
from textveil.cli.progress import progress_bar
from textveil.cli.show_text import Tally
from textveil.errors import OptionError
from textveil.text.options import Options
from textveil.text.sanitizer import Result, Sanitizer


def sanitize(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE...", help="Text files, one document per line; - is standard input."),
    ] = None,
    text: Annotated[str | None, typer.Option("--text", "-t", help="Sanitize this text instead; one document.")] = None,
    bundle: BundleOption = None,
    mechanism: MechanismOption = None,
    epsilon: EpsilonOption = None,
    level: LevelOption = None,
    tail: TailOption = None,
    replacement_probability: ReplacementOption = None,
    deny: DenyOption = None,
    case: CaseOption = "carry",
    sanitize_punctuation: PunctuationOption = False,
    _strict: StrictOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per document: text and statement.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here, whole or not at all, instead of standard output."),
    ] = None,
    expect_id: ExpectId = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No statement on standard error.")] = False,
) -> None:
    """Replace sensitive words of a text by random ones.

    Each line is a document. The privacy statement goes to standard error. Every run draws afresh, so
    sanitizing the same text again is a second release and weakens the promise.
    """
    if text is not None and files:
        raise OptionError("--text and files exclude each other")
    options = Options(
        mechanism=mechanism,
        epsilon=epsilon,
        level=level,
        tail=tail,
        replacement_probability=replacement_probability,
        deny=read_words(deny, "--deny"),
        case=case,
        sanitize_punctuation=sanitize_punctuation,
    )
    sanitizer = Sanitizer.load(bundle, expect_id=expect_id)
    sanitizer.terms(**options)  # options are checked before any file is touched
    paths = files or ["-"]
    if output is not None:
        refuse_overwriting(paths if text is None else [], output)
    with atomic_output(output) if output is not None else standard_output() as write:
        if text is not None:
            result = sanitizer.sanitize(text, **options)
            write(_render([result], as_json, ended=True))
            say_unless(result.statement.summary(), quiet)
            return
        ended = True
        for number, path in enumerate(paths, 1):
            if not ended:  # the last line of one input and the first of the next are two documents
                write("\n")
            name = "standard input" if path == "-" else f"input {number} of {len(paths)}"
            tally = Tally()
            with (
                opened(path, name) as (descriptor, size),
                progress_bar("sanitizing", size, quiet, output is not None) as advance,
            ):
                for results, ended, consumed in sanitize_lines(sanitizer, descriptor, name, **options):
                    write(_render(results, as_json, ended=ended))
                    tally.add(results)
                    advance(consumed)
            say_unless(f"{name}: {tally}", quiet)


def sanitize_lines(
    sanitizer: Sanitizer, descriptor: int, name: str, **options: Unpack[Options]
) -> Iterator[tuple[list[Result], bool, int]]:
    """Sanitizes everything that can be read from a file descriptor, line by line.

    Args:
        sanitizer: The sanitizer.
        descriptor: An open file descriptor; read until its end, not closed.
        name: What errors call the input ("input 1").
        options: As in ``Sanitizer.sanitize``.

    Yields:
        Results of the lines that had arrived, whether the last of them ended with a line feed, and bytes consumed.

    Raises:
        InputError: As ``read_lines``.
    """
    for lines, ended, consumed in read_lines(descriptor, name):
        yield sanitizer.sanitize_batch(lines, **options), ended, consumed


def _render(results: list[Result], as_json: bool, *, ended: bool) -> str:
    if as_json:
        lines = [
            json.dumps({"text": result.text, "statement": result.statement.to_dict()}, ensure_ascii=False)
            for result in results
        ]
        return "\n".join(lines) + "\n"
    return "\n".join([result.text for result in results]) + ("\n" if ended else "")
