"""Sign bundles (data folders) with an Ed25519 key; ``textveil.bundle.signer`` verifies the signatures."""

import os
import stat
from pathlib import Path
from typing import Unpack

from textveil.bundle import ExpectedBundle, layout, make_signed_message, open_bundle
from textveil.errors import KeyFileError

from textveil_export.bundle_files import replace_file

_HINT = "make one with: openssl genpkey -algorithm ed25519 -out FILE"


def sign_bundle(folder: Path, key: Path, **pins: Unpack[ExpectedBundle]) -> str:
    """Sign a bundle (data folder), and write the signature into the folder beside the manifest.

    The function opens the bundle first, so that a damaged bundle never gets a signature.

    Args:
        folder: The bundle.
        key: Private Ed25519 key in PEM format, without a password, readable by its owner only.
        **pins: Expected properties of the bundle, with the names and types of ``textveil.bundle.open_bundle``.

    Returns:
        The public key, 64 hexadecimal digits, which users pass to ``--signer``.

    Raises:
        KeyFileError: The package ``cryptography`` is not installed, or the file has no such key.
        WriteError: The disk is full or not writable.
        BundleError: The bundle cannot be opened.
    """
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError as error:
        raise KeyFileError("signing needs the package cryptography: install textveil-export[crypto]") from error
    try:
        if os.name == "posix" and stat.S_IMODE(key.stat().st_mode) & 0o077:
            raise KeyFileError("other users can read the key: run chmod 600 on it")
        private = load_pem_private_key(key.read_bytes(), None)
    except (OSError, ValueError, TypeError) as error:
        raise KeyFileError(f"the file has no private key in PEM format: {_HINT}") from error
    if not isinstance(private, Ed25519PrivateKey):
        raise KeyFileError(f"the key is not an Ed25519 key: {_HINT}")
    bundle = open_bundle(folder, **pins)  # a damaged bundle must not be signed
    signature = private.sign(make_signed_message(bundle.content_hash))
    replace_file(folder / layout.SIGNATURE, signature.hex() + "\n")
    return private.public_key().public_bytes_raw().hex()
