"""``textveil info``: describe a bundle, its guarantees and their limits."""

from typing import Annotated

import typer
from textveil.bundle import LabelBundle, VectorBundle, open_bundle
from textveil.text import Sanitizer

from textveil_cli.options import BundleArgument, BundleOptions, JsonOption
from textveil_cli.reports import encoder, label, text


def info(
    folder: BundleArgument = None,
    *,
    bundle: BundleOptions,
    as_json: JsonOption = False,
    path: Annotated[bool, typer.Option("--path", help="Print only the folder of the bundle.")] = False,
) -> None:
    """Describe a bundle, its guarantees and their limits.

    The bundle may be a text bundle or an encoder bundle.
    """
    bundle_folder, expected_bundle = bundle.select_folder(folder), bundle.expected_bundle
    opened_bundle = (
        Sanitizer.load(**expected_bundle).bundle
        if bundle_folder is None
        else open_bundle(bundle_folder, **expected_bundle)
    )
    if path:
        print(opened_bundle.path)
        return
    match opened_bundle:
        case LabelBundle():
            print(label.describe_label_bundle(opened_bundle, as_json=as_json))
        case VectorBundle():
            print(encoder.describe_encoder_bundle(opened_bundle, as_json=as_json))
        case _:
            print(text.describe_text_bundle(opened_bundle, as_json=as_json))
