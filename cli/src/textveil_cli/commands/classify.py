"""``textveil classify``: classify or count, on a server, the labels and vectors that devices sent."""

import json
import os
from typing import Annotated

import typer
from textveil.bundle import LabelBundle, VectorBundle, open_bundle
from textveil.errors import InputError, OptionError
from textveil.vector import TextLabelEncoder

from textveil_cli.aggregation import LabelDecision, LabelServer, VectorClassifier
from textveil_cli.console import iterate_lines, name_inputs
from textveil_cli.encoder_run import COMMENT_PREFIX
from textveil_cli.options import EncoderOptions
from textveil_cli.reports.counts import print_counts


def classify(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="Output lines of the command textveil encode (for vectors with --json); - or no file reads standard "
            "input.",
        ),
    ] = "-",
    *,
    bundle: EncoderOptions,
    counts: Annotated[
        bool,
        typer.Option(
            "--counts",
            help="Estimate how many texts the model assigned to each class, and how many have each label.",
        ),
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print one JSON object per line, with the probabilities or scores of all labels."),
    ] = False,
) -> None:
    """Classify labels or vectors that devices sent, or estimate counts.

    For a class label, print the label, and the probability that it is the true one, among texts like those from which
    the bundle was built. For a vector, print a label and its score; scores rank labels and are not probabilities. Use
    the same bundle as the devices.

    With --counts, estimate for each class how many texts the model assigned to it, corrected for the noise. If the
    bundle has held-out texts, also estimate how many texts have each label, corrected for errors of the model.
    Intervals are plus and minus two standard errors.
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
            raise OptionError("--counts needs a bundle that releases a class label")
        classifier = VectorClassifier(opened_bundle)
        for number, line in numbered:
            _print_decision(classifier.classify_line(line, number), as_json)
        return
    server = LabelServer(opened_bundle)
    received = (server.parse_line(line, number) for number, line in numbered)
    if counts:
        print_counts(server.bundle, server.count_texts(received), as_json)
        return
    for release in received:
        _print_decision(server.classify_label(release), as_json)


def _print_decision(decision: LabelDecision, as_json: bool) -> None:
    score = decision.scores[decision.label]
    print(json.dumps(decision.to_dict()) if as_json else f"{decision.label}\t{score:.4f}", flush=True)
