"""``textveil compare``: one text on every rung that the bundles at hand have, each with its promise."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer
from textveil.bundle import layout
from textveil.text import Sanitizer
from textveil.vector import IndexEncoder

from textveil_cli.console import lines_of, output_to
from textveil_cli.console.command import Of
from textveil_cli.options import BundleOptions, InputOptions, PinOptions

#: What is released, by the name of its rung: from the most readable to the most private.
_BY_LISTS: dict[str, dict[str, Any]] = {
    "names": {"protect": "names"},
    "names, as tags": {"protect": "names", "style": "tag"},
}
_BY_DRAWS: dict[str, dict[str, Any]] = {"words": {"protect": "words"}, "all": {"protect": "all"}}
_HEADING = "Releases of one text, side by side: together they tell more than each. Do not send this page."
_BOLD, _END = "\x1b[1m", "\x1b[0m"


@dataclass(frozen=True, kw_only=True)
class ComparedEncoder:
    """The encoder whose index stands last."""

    heading: ClassVar[str] = "Encoder"
    encoder: Annotated[
        Path | None, typer.Option(help="Folder of a bundle that releases an index: its rung comes last.")
    ] = None
    must_be: Annotated[PinOptions, Of("encoder")]


def compare(inputs: InputOptions, bundle: BundleOptions, encoder: ComparedEncoder) -> None:
    """Show one text on every rung, each with what it promises.

    All lines that are given are one text. It shows what a text becomes, for the choice of a rung: try it with a text of
    the kind that you will release, not with the text itself. Nothing is charged or written to a file.
    """
    paths = inputs.paths
    text = inputs.text
    if text is None:
        text = "\n".join(line for lines, _, _ in lines_of(paths) for line in lines)
    releases = [*_releases(text, bundle.sanitizer(), encoder)]
    with output_to(None) as write:
        write(f"{_HEADING}\n")
        for rung, promise, released in releases:
            marked = f"{_BOLD}{rung}{_END}" if sys.stdout.isatty() else rung
            write(f"\n{marked}: {promise}\n{released}\n")


def _releases(text: str, sanitizer: Sanitizer, encoder: ComparedEncoder) -> Iterator[tuple[str, str, str]]:
    """Yields the name of each rung, what it promises, and a release."""
    model = None if encoder.encoder is None else IndexEncoder.load(encoder.encoder, **encoder.must_be.pins)
    found = sanitizer.bundle
    rungs = (_BY_LISTS if found.names is not None else {}) | (_BY_DRAWS if found.staircase is not None else {})
    for rung, options in (rungs or {found.default_mechanism: {}}).items():
        result = sanitizer.sanitize(text, **options)
        yield rung, result.statement.line(), result.text
    if model is not None and model.bundle.sentences:
        written = model.encode(text, as_text=True)
        yield "text", written.statement.summary(), written.sentence or ""
    if model is not None:
        release = model.encode(text)
        by_label = model.bundle.codes_are == layout.DECISION
        yield "label" if by_label else "code", release.statement.summary(), _said(model, release.index, by_label)


def _said(model: IndexEncoder, index: int, by_label: bool) -> str:
    return model.bundle.labels[index] if by_label else f"{index}"
