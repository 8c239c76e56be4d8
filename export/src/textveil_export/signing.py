"""Signs finished bundles with the Ed25519 key of their maker (``textveil.bundle.maker`` checks them)."""

import os
import stat
from pathlib import Path
from typing import Unpack

from textveil.bundle import Pins, layout, open_bundle, signed_message
from textveil.errors import KeyFileError

from textveil_export.bundle_files import replace_file

_HINT = "make one with: openssl genpkey -algorithm ed25519 -out FILE"


def sign_bundle(folder: Path, key: Path, **pins: Unpack[Pins]) -> str:
    """Puts the signature of a maker beside a bundle that opens without an error.

    Args:
        folder: The bundle.
        key: A private Ed25519 key in PEM, without a password, readable by its owner alone.
        pins: What the bundle must be.

    Returns:
        The public key, 64 hexadecimal digits: what users pin with ``--maker``.

    Raises:
        KeyFileError: The package ``cryptography`` is not installed, or the file holds no such key.
        WriteError: The disk is full or not writable.
        BundleError: The bundle cannot be used.
    """
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError as error:
        raise KeyFileError("signing needs the package cryptography: install textveil-export[crypto]") from error
    try:
        if os.name == "posix" and stat.S_IMODE(key.stat().st_mode) & 0o077:
            raise KeyFileError("the key can be read by others: chmod 600")
        private = load_pem_private_key(key.read_bytes(), None)
    except (OSError, ValueError, TypeError) as error:
        raise KeyFileError(f"no private key in PEM there; {_HINT}") from error
    if not isinstance(private, Ed25519PrivateKey):
        raise KeyFileError(f"the key is of another kind; {_HINT}")
    bundle = open_bundle(folder, **pins)  # nobody vouches for one that does not open
    signature = private.sign(signed_message(bundle.identity))
    replace_file(folder / layout.SIGNATURE, signature.hex() + "\n")
    return private.public_key().public_bytes_raw().hex()
