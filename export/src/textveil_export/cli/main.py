"""The ``textveil-export`` command: its commands are imported when they are called."""

import sys

from textveil import __version__
from textveil_cli.console import command_line, run

#: What each command is for: the first sentence of its documentation.
COMMANDS = {
    "table": "Build a bundle: the staircase with its lists, and SanText with exact neighbors and its sets.",
    "staircase": "Build a bundle with a staircase alone, over the words of a finished one.",
    "names": "Build a bundle with the lists of the rung names, alone or beside a staircase, which stays byte for byte.",
    "certify": "Compute the epsilon of every level over all pairs of the finished table, and label the levels with it.",
    "statistics": "Measure what every level does to words, and write it into the bundle.",
    "sign": "Sign a bundle as its maker, and print the public key that users pin with --maker.",
    "audit": "Draw from the installed sampler, and bound the realized epsilon from below.",
    "sentences": "Give a bundle the sentences of textveil encode --as-text; what it draws stays byte for byte.",
    "encoder": "Make an encoder bundle for textveil encode: one ONNX graph, int8, checked against the model.",
}

app = command_line(
    "textveil_export.cli",
    COMMANDS,
    help="Builds the bundles that textveil loads.",
    version=f"textveil-export {__version__}",
)


def main() -> None:
    """Runs the ``textveil-export`` command."""
    sys.exit(run(app, "textveil-export"))
