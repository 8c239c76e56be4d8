"""``textveil levels``: the guarantee and the effect of each epsilon."""

from textveil_cli.options import BundleOptions, JsonOption
from textveil_cli.reports import format_levels_table


def levels(bundle: BundleOptions, as_json: JsonOption = False) -> None:
    """List all levels: what they promise and do to words."""
    print(format_levels_table(bundle.load_sanitizer().bundle, as_json=as_json))
