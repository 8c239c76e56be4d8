"""``textveil levels``: list the guarantee and the effect of each epsilon."""

import json

from textveil_cli.options import BundleOptions, FbddOptions, JsonOption
from textveil_cli.reports import format_levels_table


def levels(bundle: BundleOptions, fbdd: FbddOptions, as_json: JsonOption = False) -> None:
    """List the epsilons of a bundle: their guarantees and effects on words.

    With --mechanism fbdd, which supports any epsilon, estimate its effect on words from samples.
    """
    opened = bundle.load_sanitizer().bundle
    if not fbdd.is_requested:
        print(format_levels_table(opened, as_json=as_json))
        return
    from textveil_cli.reports.fbdd import calibrate_fbdd, format_fbdd_table

    found = calibrate_fbdd(opened, fbdd.make_mechanisms(opened), fbdd.words, fbdd.draws, fbdd.eta)
    print(json.dumps(found) if as_json else format_fbdd_table(found))
