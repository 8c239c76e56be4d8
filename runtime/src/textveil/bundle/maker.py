"""Who made a bundle: a detached Ed25519 signature of its manifest, checked against a key that the caller pinned.

What is signed is a fixed text and the SHA-256 of ``manifest.json``, which has the hash of every other file. An identity
names one bundle; a maker's key stands for all that its owner signs.
"""

import re
from pathlib import Path

from textveil.bundle.files import read_file
from textveil.bundle.layout import SIGNATURE
from textveil.bundle.signatures import is_signed, require_cryptography
from textveil.errors import BundleDamaged, NotTheMaker, OptionError

_PURPOSE = b"textveil bundle, version 1\n"
_KEY, _SIGNATURE = re.compile(r"[0-9a-f]{64}"), re.compile(rb"[0-9a-f]{128}\n?")
_MAX_SIGNATURE_BYTES = 200


def signed_message(manifest_sha256: str) -> bytes:
    """Returns what a maker signs: the purpose, so that the signature is good for nothing else, and the hash."""
    return _PURPOSE + bytes.fromhex(manifest_sha256)


def require_maker(path: Path, manifest_sha256: str, key: str) -> None:
    """Checks that the owner of a key signed a bundle.

    Args:
        path: The folder of the bundle.
        manifest_sha256: SHA-256 of the manifest as it was read, hexadecimal.
        key: The maker's public key, 64 hexadecimal digits.

    Raises:
        OptionError: ``key`` is not a key.
        CryptoUnavailable: The package ``cryptography`` is not installed.
        NotTheMaker: There is no signature, or it is not one of this key for this manifest.
    """
    if not isinstance(key, str) or not _KEY.fullmatch(key.strip().lower()):
        raise OptionError("maker is a public key: 64 hexadecimal digits, as textveil-export sign prints them")
    require_cryptography("checking a maker")
    try:
        content = read_file(path / SIGNATURE, _MAX_SIGNATURE_BYTES)
    except BundleDamaged as error:
        raise NotTheMaker(f"the bundle has no signature ({SIGNATURE})") from error
    signed, message = content.decode("latin-1").strip(), signed_message(manifest_sha256)
    if not _SIGNATURE.fullmatch(content) or not is_signed(bytes.fromhex(key.strip()), bytes.fromhex(signed), message):
        raise NotTheMaker("the bundle is not signed by this maker, or was changed since")
