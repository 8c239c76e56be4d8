"""The ``textveil`` command. Commands are imported when called.

Only data goes to standard output.
"""

import sys

from textveil import __version__

from textveil_cli.console import make_command_line, run

#: Purpose of each command: the first sentence of its docstring.
COMMANDS = {
    "sanitize": "Rewrite a text with words drawn at random.",
    "preview": "Show what of a text stays visible; nothing is drawn.",
    "compare": "Show one text on every rung, each with what it promises.",
    "restore": "Put the original words into a reply, on this device.",
    "inspect": "Show what a word may become, with exact probabilities.",
    "info": "Show what a bundle is, what it promises and what not.",
    "levels": "List all levels: what they promise and do to words.",
    "verify": "Check a bundle on this device, and its bounds anew; or a receipt.",
    "encode": "Turn each text into one index, or a short vector with noise.",
    "classify": "Read what devices released: a label for each line, or counts.",
    "serve": "Serve other programs of this device over HTTP.",
    "gateway": "Stand between apps and a language model.",
    "ledger": "Show, export, rotate or delete what a ledger holds.",
}

app = make_command_line(
    "textveil_cli.commands",
    COMMANDS,
    help="Rewrites text on this device, offline, with a differential-privacy bound for every drawn word.",
    version=f"textveil {__version__}",
)


def main() -> None:
    """Run the ``textveil`` command."""
    sys.exit(run(app, "textveil"))
