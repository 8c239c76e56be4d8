"""Define ``textveil-export sign``, which signs a bundle (data folder)."""

from pathlib import Path
from typing import Annotated

import typer
from textveil_cli.options import ExpectedBundleOptions

from textveil_export.cli.options import BundleFolder
from textveil_export.signing import sign_bundle


def sign(
    bundle: BundleFolder,
    key: Annotated[
        Path,
        typer.Option(
            help="Private Ed25519 key in PEM format; create one with the command openssl genpkey -algorithm ed25519."
        ),
    ],
    expected: ExpectedBundleOptions,
) -> None:
    """Sign a bundle, and print the public key that users pass to --signer.

    The signature is in manifest.json.sig. Any change of the bundle invalidates it.
    """
    print(sign_bundle(bundle, key, **expected.expected_bundle))
