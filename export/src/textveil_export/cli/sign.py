"""``textveil-export sign``: the signature of a bundle's maker."""

from pathlib import Path
from typing import Annotated

import typer
from textveil_cli.options import PinOptions

from textveil_export.cli.options import BundleFolder
from textveil_export.signing import sign_bundle


def sign(
    bundle: BundleFolder,
    key: Annotated[
        Path, typer.Option(help="Private Ed25519 key in PEM, as openssl genpkey -algorithm ed25519 makes it.")
    ],
    must_be: PinOptions,
) -> None:
    """Sign a bundle as its maker, and print the public key that users pin with --maker.

    The signature lies beside the manifest, in manifest.json.sig. Whatever changes the bundle makes it void.
    """
    print(sign_bundle(bundle, key, **must_be.pins))
