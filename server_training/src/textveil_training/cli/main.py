"""The ``textveil-train`` command. It imports a sub-command when it is called; only data go to standard output."""

import sys

from textveil import __version__
from textveil_cli.console import make_command_line, run

#: What each command is for: the first sentence of its documentation.
COMMANDS = {
    "dpnr": "Train a recipe: a representation under noise, or one of its baselines.",
    "evaluate": "Measure a checkpoint through the device's own release: accuracy over noise draws.",
    "encoder": "Make a bundle of your own texts: devices release an index, bounded for the whole text.",
    "finetune": "Fine-tune an encoder on raw or sanitized text: classes, or scores of sentence pairs.",
    "pretrain": "Pretrain a masked language model: mask the sanitized text, predict the original word.",
    "sanitize-corpus": "Sanitize the texts of a corpus; labels and all other columns are carried through.",
    "attack": "Attack released vectors, or sanitized text.",
}

app = make_command_line(
    "textveil_training.cli",
    COMMANDS,
    help="Trains on what devices release, and attacks it.",
    version=f"textveil-train {__version__}",
)


def main() -> None:
    """Run the ``textveil-train`` command."""
    sys.exit(run(app, "textveil-train"))
