"""The command line: what the commands of all three wheels share. ``textveil`` itself is ``textveil.cli.main``."""

from textveil.cli.console import run, say
from textveil.cli.io import opened, read_lines, read_words
from textveil.cli.options import (
    BundleOption,
    EpsilonOption,
    ExpectId,
    JsonOption,
    LevelOption,
    MechanismOption,
    ReplacementOption,
    TailOption,
)
from textveil.cli.progress import progress_bar
from textveil.cli.show_text import bound, levels_table, share

__all__ = [
    "BundleOption",
    "EpsilonOption",
    "ExpectId",
    "JsonOption",
    "LevelOption",
    "MechanismOption",
    "ReplacementOption",
    "TailOption",
    "bound",
    "levels_table",
    "opened",
    "progress_bar",
    "read_lines",
    "read_words",
    "run",
    "say",
    "share",
]
