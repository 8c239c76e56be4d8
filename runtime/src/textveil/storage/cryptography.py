"""Cryptography: Ed25519 signatures, AES-256-GCM encryption, and keyed hashes (HMAC-SHA256).

Signatures (RFC 8032) and encryption need the package ``cryptography`` (extra ``crypto``). The functions import this
package when they are called. Keyed hashes need only the standard library.
"""

import hashlib
import hmac
import os
from importlib import import_module

from textveil.errors import CryptoUnavailable, KeyFileError

NONCE_BYTES = 12
_INSTALL = "pip install 'textveil[crypto]' (in a clone: pip install './runtime[crypto]')"
_FIELD_PRIME = 2**255 - 19
#: Invalid public keys: for points of small order, anyone can make a valid signature of any content. These are the y
#: coordinates of all points whose order divides 8, in reduced and unreduced encodings.
_SMALL_ORDER_Y = frozenset(
    {
        0,
        1,
        _FIELD_PRIME - 1,
        _FIELD_PRIME,
        _FIELD_PRIME + 1,
        int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"),
        int.from_bytes(bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little"),
    }
)


def check_cryptography(feature: str) -> None:
    """Check that the package ``cryptography`` is installed.

    Args:
        feature: Name, in the error message, of the feature that needs the package.

    Raises:
        CryptoUnavailable: The package is missing or incomplete.
    """
    try:
        for module in ("exceptions", "hazmat.primitives.asymmetric.ed25519", "hazmat.primitives.ciphers.aead"):
            import_module(f"cryptography.{module}")
    except ImportError as error:
        raise CryptoUnavailable(f"{feature} needs the package cryptography: {_INSTALL}") from error


def sign_bytes(seed: bytes, content: bytes) -> tuple[bytes, bytes]:
    """Sign a message with Ed25519 (RFC 8032). Equal messages get equal signatures, because Ed25519 is deterministic.

    Args:
        seed: The secret key, 32 bytes.
        content: The message.

    Returns:
        The public key, 32 bytes, and the signature, 64 bytes.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(seed)
    return key.public_key().public_bytes_raw(), key.sign(content)


def is_valid_signature(public_key: bytes, signature: bytes, content: bytes) -> bool:
    """Return whether an Ed25519 signature is valid for a message and a public key (32 bytes).

    The result is ``False`` for public keys of small order, because anyone can make signatures for these keys.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if int.from_bytes(public_key, "little") & (1 << 255) - 1 in _SMALL_ORDER_Y:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, content)
    except (InvalidSignature, ValueError):
        return False
    return True


def encrypt_bytes(key: bytes, content: bytes, context: bytes) -> bytes:
    """Encrypt a message with AES-256-GCM and a new random nonce of 96 bits.

    One key is safe for up to 2**32 messages (NIST SP 800-38D, section 8.3).

    Args:
        key: The key, 32 bytes.
        content: The plaintext.
        context: Associated data, which is authenticated, but neither encrypted nor stored. ``decrypt_bytes`` needs the
            same bytes.

    Returns:
        The nonce, followed by the ciphertext with its authentication tag.
    """
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, content, context)


def decrypt_bytes(key: bytes, encrypted: bytes, context: bytes, name: str = "a stored output") -> bytes:
    """Decrypt the result of ``encrypt_bytes``, and check its authenticity.

    Args:
        key: The key that ``encrypt_bytes`` used.
        encrypted: The result of ``encrypt_bytes``.
        context: The associated data that ``encrypt_bytes`` used.
        name: Name of the content in error messages.

    Raises:
        KeyFileError: The bytes were altered, or the key or the associated data differs.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(key).decrypt(encrypted[:NONCE_BYTES], encrypted[NONCE_BYTES:], context)
    except (InvalidTag, ValueError):
        raise KeyFileError(f"{name} cannot be decrypted: the file was altered, or the key is the wrong one") from None


def compute_tag(key: bytes, use: str, *parts: bytes) -> bytes:
    """Return the keyed hash (HMAC-SHA256, 32 bytes) of a list of parts.

    Args:
        key: The key.
        use: Purpose of the hash. Hashes for different purposes are unrelated.
        parts: The parts. The hashed message contains the length of each part, so different lists of parts never give
            the same message.
    """
    mac = hmac.new(key, digestmod=hashlib.sha256)
    for part in (use.encode(), *parts):
        mac.update(len(part).to_bytes(8, "big"))
        mac.update(part)
    return mac.digest()
