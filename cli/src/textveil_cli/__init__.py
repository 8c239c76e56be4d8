"""The command line: what the commands of all three wheels share. ``textveil`` itself is ``textveil_cli.main``."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil_cli.console import run, say
    from textveil_cli.io import opened, read_lines, read_words
    from textveil_cli.options import (
        BundleOption,
        CapOption,
        CaseOption,
        ConsistentOption,
        DenyOption,
        EpsilonOption,
        FluentOption,
        JsonOption,
        KindsOption,
        LevelOption,
        MechanismOption,
        PunctuationOption,
        ReplacementOption,
        SplitOption,
        StrictOption,
        TailOption,
        VisibleOption,
        staircase_options,
    )
    from textveil_cli.pins import pinned
    from textveil_cli.progress import progress_bar
    from textveil_cli.show_text import bound, levels_table, share

__all__ = [
    "BundleOption",
    "CapOption",
    "CaseOption",
    "ConsistentOption",
    "DenyOption",
    "EpsilonOption",
    "FluentOption",
    "JsonOption",
    "KindsOption",
    "LevelOption",
    "MechanismOption",
    "PunctuationOption",
    "ReplacementOption",
    "SplitOption",
    "StrictOption",
    "TailOption",
    "VisibleOption",
    "bound",
    "levels_table",
    "opened",
    "pinned",
    "progress_bar",
    "read_lines",
    "read_words",
    "run",
    "say",
    "share",
    "staircase_options",
]

__getattr__ = lazy_names(__name__, __all__, "console", "io", "options", "pins", "progress", "show_text")
