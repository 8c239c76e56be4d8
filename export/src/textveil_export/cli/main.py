"""Define the command line ``textveil-export``.

The module of a command is imported when the command runs.
"""

import sys

from textveil import __version__
from textveil_cli.console import make_command_line, run

#: Name of each command, with the first sentence of its help.
COMMANDS = {
    "table": "Build a text bundle from words and vectors: the staircase mechanism, SanText, or both.",
    "staircase": "Build a bundle with only the staircase mechanism, over the words of a finished bundle.",
    "names": "Build a bundle with the lists of the mode 'names', alone or with a copy of the staircase mechanism.",
    "certify": "Prove each epsilon of a bundle over all pairs of words, and name its levels by the proven epsilons.",
    "statistics": "Measure the effect of each level on words, and add the figures to the bundle.",
    "sign": "Sign a bundle, and print the public key that users pass to --signer.",
    "sentences": "Copy a class label bundle and add the sentences that textveil encode --as-text prints.",
    "encoder": "Build an encoder bundle for textveil encode from a trained checkpoint.",
}

app = make_command_line(
    "textveil_export.cli",
    COMMANDS,
    help="Build the bundles that textveil loads.",
    version=f"textveil-export {__version__}",
)


def main() -> None:
    """Run the command ``textveil-export``."""
    sys.exit(run(app, "textveil-export"))
