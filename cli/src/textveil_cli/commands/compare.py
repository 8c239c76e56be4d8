"""``textveil compare``: one text in every mode of the given bundles."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from textveil.bundle import IndexBundle, Pins, TextBundle, layout, open_bundle
from textveil.errors import IdentityMismatch, OptionError
from textveil.text import Sanitizer
from textveil.vector import IndexEncoder

from textveil_cli.console import named, opened, output_to, read_lines
from textveil_cli.files import refuse_tables_by_name, refusing_tables
from textveil_cli.options import InputOptions, PinOptions

#: Options of each mode by its name, from the most readable mode to the most private.
_BY_LISTS: dict[str, dict[str, Any]] = {
    "names": {"protect": "names"},
    "names, as tags": {"protect": "names", "style": "tag"},
}
_BY_DRAWS: dict[str, dict[str, Any]] = {"words": {"protect": "words"}, "all": {"protect": "all"}}
_REMEDY = (
    "compare reads plain text: textveil compare --text shows one cell on every rung, and textveil sanitize FILE "
    "--column NAME rewrites a column (--key NAME of JSON lines)"
)
_HEADING = "Releases of one text, side by side: together they tell more than each. Do not send this page."


def compare(
    inputs: InputOptions,
    bundle: Annotated[
        list[Path] | None,
        typer.Option(
            "--bundle",
            "-b",
            rich_help_panel=PinOptions.heading,
            help="Folder of a bundle that rewrites text (the built-in English one if left out), or of one that "
            "releases an index, whose rung comes last; one of each may be named.",
        ),
    ] = None,
    *,
    must_be: PinOptions,
) -> None:
    """Show one text on every rung, each with what it promises.

    All lines that are given are one text; a table is refused. It shows what a text becomes, for the choice of a rung:
    try it with a text of the kind that you will release, not with the text itself. Nothing is charged or written to a
    file.
    """
    paths = inputs.paths
    text = "\n".join(_prose_lines(paths)) if inputs.text is None else inputs.text
    releases = [*_releases(text, *_opened(bundle or [], must_be.pins))]
    with output_to(None) as write:
        write(f"{_HEADING}\n")
        for rung, promise, released in releases:
            marked = typer.style(rung, bold=True) if sys.stdout.isatty() else rung
            write(f"\n{marked}: {promise}\n{released}\n")


def _prose_lines(paths: Sequence[str]) -> Iterator[str]:
    """Yield the lines of plain text.

    Raises:
        LooksStructured: An input is a table or looks like one; its keys and identifiers would count as prose.
    """
    for path, name in named(paths):
        refuse_tables_by_name(path, name, _REMEDY)
        refuse = refusing_tables(name, _REMEDY)
        with opened(path, name) as (descriptor, _):
            for lines, _, _ in read_lines(descriptor, name):
                refuse(lines)
                yield from lines


def _opened(folders: list[Path], pins: Pins) -> tuple[Sanitizer, IndexEncoder | None]:
    """Open the bundles and return the sanitizer and the index encoder, if any.

    Without a text bundle among ``folders``, the sanitizer has the built-in one. If ``pins`` have a content hash, at
    least one of the bundles must match it. If they have a signer, it must have signed each bundle.

    Raises:
        IdentityMismatch: No bundle has the expected content hash.
        OptionError: Two bundles are of the same type.
    """
    named: dict[type, Any] = {}
    others = 0
    for folder in folders:
        try:
            bundle = open_bundle(folder, TextBundle, IndexBundle, **pins)
        except IdentityMismatch:
            if (others := others + 1) == len(folders):
                raise
            bundle = open_bundle(folder, TextBundle, IndexBundle, **{**pins, "expect_id": None})
        named[type(bundle)] = bundle
    if len(named) < len(folders):
        raise OptionError("--bundle names one that rewrites text, one that releases an index, or one of each")
    text, index = named.get(TextBundle), named.get(IndexBundle)
    sanitizer = Sanitizer.load(**({} if named else pins)) if text is None else Sanitizer(text)
    return sanitizer, None if index is None else IndexEncoder(index)


def _releases(text: str, sanitizer: Sanitizer, encoder: IndexEncoder | None) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each mode, its privacy statement, and a release."""
    found = sanitizer.bundle
    rungs = (_BY_LISTS if found.names is not None else {}) | (_BY_DRAWS if found.staircase is not None else {})
    for rung, options in (rungs or {found.default_mechanism: {}}).items():
        result = sanitizer.sanitize(text, **options)
        yield rung, result.statement.line(), result.text
    if encoder is None:
        return
    if encoder.bundle.sentences:
        written = encoder.encode(text, as_text=True)
        yield "text", written.statement.summary(), written.sentence or ""
    release, labels = encoder.encode(text), encoder.bundle.labels
    by_label = encoder.bundle.codes_are == layout.DECISION
    said = labels[release.index] if by_label else f"{release.index}"
    yield "label" if by_label else "code", release.statement.summary(), said
