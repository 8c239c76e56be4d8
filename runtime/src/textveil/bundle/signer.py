"""Check of the signature (Ed25519) of a bundle (data folder), which is stored in a separate file of the bundle.

The signed message is a fixed text followed by the SHA-256 of ``manifest.json``. The signature covers the whole bundle,
because the manifest contains the hash of every other file. A caller who expects a content hash accepts exactly one
bundle. A caller who expects a signer accepts all bundles that the owner of the key signs.
"""

import re
from pathlib import Path

from textveil.bundle.files import read_file
from textveil.bundle.layout import SIGNATURE
from textveil.errors import BundleDamaged, OptionError, WrongSigner
from textveil.storage.cryptography import check_cryptography, is_valid_signature

_MESSAGE_PREFIX = b"textveil bundle, version 1\n"
_KEY, _SIGNATURE = re.compile(r"[0-9a-f]{64}"), re.compile(rb"[0-9a-f]{128}\n?")
_MAX_SIGNATURE_BYTES = 200


def make_signed_message(manifest_sha256: str) -> bytes:
    """Return the message that the signer of a bundle (data folder) signs.

    The message is a fixed text followed by the SHA-256 of the manifest. The fixed text states the purpose, so that
    nobody can use the signature for another purpose. The manifest lists the hashes of all other files.

    Args:
        manifest_sha256: SHA-256 of the manifest, hexadecimal.

    Example:
        >>> make_signed_message(64 * "0")[:26]
        b'textveil bundle, version 1'
    """
    return _MESSAGE_PREFIX + bytes.fromhex(manifest_sha256)


def check_signer(path: Path, manifest_sha256: str, key: str) -> None:
    """Check that the owner of a key signed a bundle (data folder).

    Args:
        path: Folder of the bundle.
        manifest_sha256: SHA-256 of the manifest's bytes, hexadecimal.
        key: Public key of the signer, 64 hexadecimal digits.

    Raises:
        OptionError: ``key`` is not a public key.
        CryptoUnavailable: The package ``cryptography`` is not installed.
        WrongSigner: The bundle has no signature of this manifest by this key.
    """
    if not isinstance(key, str) or not _KEY.fullmatch(key.strip().lower()):
        raise OptionError("signer must be a public key of 64 hexadecimal digits, as textveil-export sign prints it")
    check_cryptography("checking a signer")
    try:
        content = read_file(path / SIGNATURE, _MAX_SIGNATURE_BYTES)
    except BundleDamaged as error:
        raise WrongSigner(f"the bundle has no signature ({SIGNATURE}): get it from its publisher") from error
    signature, message = content.decode("latin-1").strip(), make_signed_message(manifest_sha256)
    if not _SIGNATURE.fullmatch(content) or not is_valid_signature(
        bytes.fromhex(key.strip()), bytes.fromhex(signature), message
    ):
        raise WrongSigner(
            "the bundle was signed with another key, or changed after signing: get it again, or correct --signer"
        )
