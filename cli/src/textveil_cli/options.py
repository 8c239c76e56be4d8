"""Options that several commands share, typed once; the commands of the other wheels use them too."""

from pathlib import Path
from typing import Annotated, Any

import typer
from textveil.errors import OptionError

BundleOption = Annotated[
    Path | None,
    typer.Option("--bundle", "-b", help="Folder of a bundle; the built-in English one if left out."),
]
BundleArgument = Annotated[
    Path | None,
    typer.Argument(metavar="BUNDLE", help="Folder of a bundle, as --bundle; the built-in English one if left out."),
]
EncoderOption = Annotated[
    Path | None,
    typer.Option(
        "--bundle", "-b", help="Folder of an encoder bundle; in a checkout of the repository its own if left out."
    ),
]
MechanismOption = Annotated[
    str | None,
    typer.Option(
        "--mechanism", "-m", help="staircase, santext+, santext, fbdd, krr or random; the bundle's default if left out."
    ),
]
EpsilonOption = Annotated[
    str | None,
    typer.Option(
        "--epsilon", "-e", help="Privacy level by its epsilon, exactly as info lists it; any number for krr and fbdd."
    ),
]
LevelOption = Annotated[str | None, typer.Option("--level", "-l", help="Privacy level by its name, as info lists it.")]
ReplacementOption = Annotated[
    str | None,
    typer.Option("--replacement-probability", "-p", help="santext+: how often a common word is replaced, in (0, 1]."),
]
VisibleOption = Annotated[
    str | None,
    typer.Option(help="staircase: what stays as it is: function-words (the built-in bundle's default) or none."),
]
KindsOption = Annotated[
    bool | None,
    typer.Option(
        "--kinds/--no-kinds",
        help="staircase: names, places, numbers and the like become others of their kind (the default).",
    ),
]
ConsistentOption = Annotated[
    bool,
    typer.Option(
        "--consistent",
        help="staircase: equal words of a document become equal words, and the text shows which are equal.",
    ),
]
CapOption = Annotated[
    int | None,
    typer.Option(
        "--consistent-cap", min=1, help="Most drawn words, names and numbers of a document with --consistent; 2,000."
    ),
]
SplitOption = Annotated[
    bool, typer.Option("--split", help="With --consistent: release a longer document in parts instead of refusing it.")
]
FluentOption = Annotated[
    bool,
    typer.Option(
        "--fluent", help="staircase: words are drawn to fit the visible words and each other, for the same nats."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="JSON instead of text.")]
DenyOption = Annotated[
    Path | None,
    typer.Option(
        "--deny",
        help="File of words to hide, one per line: they become unknown (staircase) or sensitive (santext+).",
    ),
]
CaseOption = Annotated[str, typer.Option("--case", help="carry the case pattern of each word over, or drop it.")]
PunctuationOption = Annotated[
    bool, typer.Option("--sanitize-punctuation", help="Sanitize punctuation too; lower case, single blanks.")
]

LedgerOption = Annotated[
    Path | None,
    typer.Option("--ledger", help="Charge every draw in this file before its output leaves; made at first use."),
]
LedgerKeyOption = Annotated[
    Path | None,
    typer.Option("--ledger-key", help="The key of the ledger; beside it, with .key after its name, if left out."),
]
ScopeOption = Annotated[
    str | None,
    typer.Option("--scope", help="With --ledger: what is charged: a document, a person, a day; 'default' if left out."),
]
BudgetOption = Annotated[
    str | None,
    typer.Option("--budget", help="With --ledger: refuse what brings the scope above so many nats, now and later."),
]
BudgetDeltaOption = Annotated[
    str | None, typer.Option("--budget-delta", help="With --budget: the same for delta; 0 if left out.")
]
MemoOption = Annotated[
    bool,
    typer.Option(
        "--memo", help="With --ledger and --memo-key: give an equal request its stored output again, uncharged."
    ),
]
MemoKeyOption = Annotated[
    Path | None,
    typer.Option("--memo-key", help="With --memo: what outputs are encrypted with; not in the ledger's folder."),
]
ReceiptOption = Annotated[
    Path | None, typer.Option("--receipt", help="Write what was promised, with a hash of the output, signed.")
]
ReceiptKeyOption = Annotated[
    Path | None,
    typer.Option("--receipt-key", help="With --receipt: the secret key; made at first use. One for each recipient."),
]


def _refuse_strict(given: bool) -> None:
    if given:
        raise OptionError("--strict is now --sanitize-punctuation (the level once called strict is --level stronger)")


#: The option's former name, which people took for the level of that name.
StrictOption = Annotated[bool, typer.Option("--strict", hidden=True, callback=_refuse_strict)]


def one_bundle(argument: Path | None, option: Path | None) -> Path | None:
    """Returns the bundle that a command is about, named after it or by ``--bundle``.

    Raises:
        OptionError: Both are given.
    """
    if argument is not None and option is not None:
        raise OptionError("a bundle is named once: after the command, or by --bundle")
    return option if argument is None else argument


def staircase_options(
    visible: str | None,
    kinds: bool | None,
    consistent: bool,
    cap: int | None,
    split: bool,
    fluent: bool = False,
) -> dict[str, Any]:
    """Returns those options of the staircase that were given: other mechanisms refuse them."""
    given = {"visible": visible, "kinds": kinds, "consistent_cap": cap}
    return {
        **{name: value for name, value in given.items() if value is not None},
        **({"consistent": True} if consistent else {}),
        **({"split": True} if split else {}),
        **({"fluent": True} if fluent else {}),
    }
