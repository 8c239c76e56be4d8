"""``textveil inspect``: list the possible replacements of a word."""

from typing import Annotated

import typer

from textveil_cli.options import BundleOptions, JsonOption, MechanismOptions, ProtectionOptions, combine_options
from textveil_cli.reports.text import describe_word


def inspect(
    word: Annotated[str, typer.Argument(metavar="WORD", help="One word.")],
    bundle: BundleOptions,
    mechanism: MechanismOptions,
    protection: ProtectionOptions,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="Number of replacements to list.")] = 15,
    as_json: JsonOption = False,
) -> None:
    """List the possible replacements of a word with exact probabilities.

    With --mechanism fbdd, which has no exact probabilities, list the share of each replacement among 1,000 samples.
    """
    options = combine_options(mechanism, protection)
    if mechanism.mechanism == "fbdd":
        from textveil_cli.reports.fbdd import describe_fbdd_word

        print(describe_fbdd_word(bundle.load_sanitizer(), word, options, count, as_json=as_json))
        return
    print(describe_word(bundle.load_sanitizer(), word, options, count, as_json=as_json))
