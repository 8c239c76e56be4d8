"""``textveil classify``: classify or count the releases of devices, on a server."""

import json
import os
from typing import Annotated

import typer
from textveil.bundle import LabelBundle, VectorBundle, open_bundle
from textveil.errors import InputError, OptionError
from textveil.vector import TextLabelEncoder

from textveil_cli.aggregation import IndexServer, LabelDecision, VectorClassifier
from textveil_cli.console import iterate_lines, name_inputs
from textveil_cli.options import EncoderOptions
from textveil_cli.reports.counts import print_counts
from textveil_cli.rewriting.encoder_run import COMMENT_PREFIX


def classify(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="Lines of textveil encode, of vectors those of --json; - or none is standard input.",
        ),
    ] = "-",
    *,
    bundle: EncoderOptions,
    counts: Annotated[
        bool,
        typer.Option("--counts", help="How many texts the model put into each class, and how many have each label."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a line, with probabilities or scores of all labels.")
    ] = False,
) -> None:
    """Read what devices released: a label for each line, or counts.

    A line of an index gives its label, and how likely the label is on texts like those that the bundle was made with. A
    vector gives a label and its score; scores rank labels and are not probabilities. Name the bundle as for encode.

    Counts are corrected for the noise (decided as) and, with what the bundle says of held-out texts, for the model's
    mistakes too (texts of this label). Ranges are two standard errors on each side.
    """
    folder, expected_bundle = bundle.bundle, bundle.expected.expected_bundle
    if folder is None:  # the code pins the content hash of the default bundle
        opened_bundle = TextLabelEncoder.load(**expected_bundle).bundle
    else:
        opened_bundle = open_bundle(folder, VectorBundle, LabelBundle, **expected_bundle)
    if file != "-" and not os.path.exists(file):
        raise InputError(f"{next(name_inputs([file]))[1]}: no such file")
    numbered = (
        (number, line) for number, line in enumerate(iterate_lines([file]), 1) if not line.startswith(COMMENT_PREFIX)
    )
    if isinstance(opened_bundle, VectorBundle):
        if counts:
            raise OptionError("--counts is for bundles that release an index")
        classifier = VectorClassifier(opened_bundle)
        for number, line in numbered:
            _print_decision(classifier.classify_line(line, number), as_json)
        return
    server = IndexServer(opened_bundle)
    received = (server.parse_line(line, number) for number, line in numbered)
    if counts:
        print_counts(server.bundle, server.count_texts(received), as_json)
        return
    for release in received:
        _print_decision(server.classify_index(release), as_json)


def _print_decision(decision: LabelDecision, as_json: bool) -> None:
    score = decision.scores[decision.label]
    print(json.dumps(decision.to_dict()) if as_json else f"{decision.label}\t{score:.4f}", flush=True)
