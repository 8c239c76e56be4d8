"""``textveil info``: description of a bundle, its guarantees and their limits."""

from typing import Annotated

import typer
from textveil.bundle import IndexBundle, VectorBundle, open_bundle
from textveil.text import Sanitizer

from textveil_cli.options import BundleArgument, BundleOptions, JsonOption
from textveil_cli.show import encoder, index, text


def info(
    folder: BundleArgument = None,
    *,
    bundle: BundleOptions,
    as_json: JsonOption = False,
    path: Annotated[bool, typer.Option("--path", help="Print only the folder of the bundle.")] = False,
) -> None:
    """Show what a bundle is, what it promises and what not.

    It may be a bundle for texts or an encoder.
    """
    named, pins = bundle.or_argument(folder), bundle.must_be.pins
    opened = Sanitizer.load(**pins).bundle if named is None else open_bundle(named, **pins)
    if path:
        print(opened.path)
        return
    match opened:
        case IndexBundle():
            print(index.information(opened, as_json=as_json))
        case VectorBundle():
            print(encoder.information(opened, as_json=as_json))
        case _:
            print(text.information(opened, as_json=as_json))
