"""Define the command ``textveil-train``, which imports the module of a sub-command when it runs.

Only results go to standard output; messages and progress go to standard error.
"""

import sys

from textveil import __version__
from textveil_cli.console import make_command_line, run

#: Name of each command, with the first sentence of its help.
COMMANDS = {
    "dpnr": "Train a noisy representation: a bundle from your own table, or a checkpoint from a recipe.",
    "evaluate": "Measure the accuracy of a checkpoint with the noise that devices add.",
    "encoder": "Train a class label bundle from your own texts: devices send one label per text.",
    "finetune": "Fine-tune an encoder on raw or sanitized text: classes, or scores of sentence pairs.",
    "pretrain": "Pretrain a masked language model: mask the sanitized text, predict the original word.",
    "sanitize-corpus": "Sanitize the texts of a corpus; labels and all other columns are copied.",
    "attack": "Attack noisy vectors, or sanitized text.",
    "audit": "Compute a lower bound on the epsilon of a mechanism from samples, and compare it with its claim.",
    "reproduce": "Reproduce a table or figure of a paper, with the paper's figures beside ours.",
}

app = make_command_line(
    "textveil_training.cli",
    COMMANDS,
    help="Train models on released data, and attack releases.",
    version=f"textveil-train {__version__}",
)


def main() -> None:
    """Run the ``textveil-train`` command."""
    sys.exit(run(app, "textveil-train"))
