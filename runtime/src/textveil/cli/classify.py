"""``textveil classify``: what a server does with the vectors that devices send."""

import json
from pathlib import Path
from typing import Annotated

import typer

from textveil.cli.io import opened, read_lines
from textveil.vector.classifier import VectorClassifier


def classify(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="The encoder bundle that the devices have.")],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Lines of textveil encode --json; - is standard input.")
    ] = "-",
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a line, with the scores of all labels.")
    ] = False,
) -> None:
    """Classify the vectors that devices released.

    Each line of textveil encode --json gives one line: the label and its score, separated by a tab. Scores rank
    labels and are no probabilities.
    """
    classifier = VectorClassifier(bundle)
    number = 0
    name = "standard input" if file == "-" else "the input"
    with opened(file, name) as (descriptor, _):
        for lines, _, _ in read_lines(descriptor, name):
            for line in lines:
                number += 1
                decision = classifier.classify_line(line, number)
                score = decision.scores[decision.label]
                print(json.dumps(decision.to_dict()) if as_json else f"{decision.label}\t{score:.4f}", flush=True)
