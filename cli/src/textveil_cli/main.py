"""The ``textveil`` command, which imports a subcommand only when the user calls it.

Only results are written to standard output; messages are written to standard error.
"""

import sys

from textveil import __version__

from textveil_cli.console import make_command_line, run

#: Purpose of each command: the first sentence of its docstring.
COMMANDS = {
    "sanitize": "Replace names or randomize words of a text.",
    "preview": "Show which words of a text are kept, without randomizing any.",
    "compare": "Sanitize one text in every mode, with the privacy statement of each.",
    "restore": "Restore the original words in a reply, on this device.",
    "inspect": "List the possible replacements of a word with exact probabilities.",
    "info": "Describe a bundle, its guarantees and their limits.",
    "doctor": "Check this installation, and state what to do about each problem.",
    "levels": "List the epsilons of a bundle: their guarantees and effects on words.",
    "verify": "Verify a bundle and its bounds, or a receipt.",
    "encode": "Encode each text as a randomized class label or a noisy vector.",
    "classify": "Classify labels or vectors that devices sent, or estimate counts.",
    "serve": "Serve sanitize and encode over HTTP to programs on this device.",
    "gateway": "Run a proxy that replaces and restores names for a language model.",
    "ledger": "Show, export, rotate or delete the contents of a privacy ledger.",
}

app = make_command_line(
    "textveil_cli.commands",
    COMMANDS,
    help="Rewrite text on this device, offline: replace names, or randomize words with a differential privacy bound "
    "per word.",
    version=f"textveil {__version__}",
)


def main() -> None:
    """Run the ``textveil`` command."""
    sys.exit(run(app, "textveil"))
