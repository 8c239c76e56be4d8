"""``textveil levels``: the guarantee and the effect of each epsilon."""

from textveil_cli.options import BundleOptions, JsonOption
from textveil_cli.reports import format_levels_table


def levels(bundle: BundleOptions, as_json: JsonOption = False) -> None:
    """List the epsilons of a bundle: their guarantees and effects on words."""
    print(format_levels_table(bundle.load_sanitizer().bundle, as_json=as_json))
