"""``textveil classify``: what a server does with what devices send."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from textveil.bundle.defaults import default_encoder
from textveil.bundle.index import IndexBundle
from textveil.bundle.open import open_bundle
from textveil.bundle.pins import Pins
from textveil.bundle.vectors import VectorBundle
from textveil.errors import OptionError

from textveil_cli.collector.classifier import Decision, VectorClassifier
from textveil_cli.collector.index_server import IndexServer
from textveil_cli.io import opened, read_lines
from textveil_cli.options import EncoderOption
from textveil_cli.pins import pinned
from textveil_cli.show_counts import show_counts


@pinned()
def classify(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE", help="Lines of textveil encode, of vectors those of --json; - is standard input."
        ),
    ] = None,
    bundle: EncoderOption = None,
    counts: Annotated[
        bool,
        typer.Option("--counts", help="How many texts the model put into each class, and how many have each label."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a line, with probabilities or scores of all labels.")
    ] = False,
    *,
    pins: Pins,
) -> None:
    """Read what devices released: a label for each line, or counts.

    A line of an index gives its label, and how likely the label is on texts like those that the bundle was made with. A
    vector gives a label and its score; scores rank labels and are no probabilities. Name the bundle as for encode; a
    folder in front of the file is understood too.

    Counts are corrected for the noise (decided as) and, with what the bundle says of held-out texts, for the model's
    mistakes too (texts of this label). Ranges are two standard errors on each side.
    """
    bundle, file = _named(bundle, files or [])
    opened = open_bundle(bundle, VectorBundle, IndexBundle, **pins)
    if isinstance(opened, VectorBundle):
        if counts:
            raise OptionError("--counts is for bundles that release an index")
        classifier = VectorClassifier(opened)
        for number, line in _numbered(file):
            _print(classifier.classify_line(line, number), as_json)
        return
    server = IndexServer(opened)
    received = (server.receive(line, number) for number, line in _numbered(file))
    if not counts:
        for one in received:
            _print(server.classify(one), as_json)
        return
    show_counts(server.bundle, server.counts(received), as_json)


def _named(bundle: Path | None, files: list[str]) -> tuple[Path, str]:
    """The bundle and the file. Before there was ``--bundle``, the bundle was the first of two arguments."""
    if bundle is None and files and Path(files[0]).is_dir():
        bundle, files = Path(files[0]), files[1:]
    if len(files) > 1:
        raise OptionError("classify reads one file; name the bundle with --bundle")
    return bundle or default_encoder(), files[0] if files else "-"


def _print(decision: Decision, as_json: bool) -> None:
    score = decision.scores[decision.label]
    print(json.dumps(decision.to_dict()) if as_json else f"{decision.label}\t{score:.4f}", flush=True)


def _numbered(file: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, from 1."""
    number = 0
    name = "standard input" if file == "-" else "the input"
    with opened(file, name) as (descriptor, _):
        for lines, _, _ in read_lines(descriptor, name):
            for line in lines:
                number += 1
                yield number, line
