"""``textveil info``: what a bundle is, what it promises and what not."""

from typing import Annotated

import typer
from textveil.bundle import ENCODER_BUNDLE, INDEX_FORMAT_VERSION, encoder_version, kind_of, open_encoder, open_index

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
    if named is not None and encoder_version(named) == INDEX_FORMAT_VERSION:
        of_indices = open_index(named, **pins)
        print(of_indices.path if path else index.information(of_indices, as_json=as_json))
    elif named is not None and kind_of(named) == ENCODER_BUNDLE:
        of_vectors, _ = open_encoder(named, **pins)
        print(of_vectors.path if path else encoder.information(of_vectors, as_json=as_json))
    else:
        of_text = bundle.sanitizer(named).bundle
        print(of_text.path if path else text.information(of_text, as_json=as_json))
