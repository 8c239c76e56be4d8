"""Encryption, and signing, by the package ``cryptography`` (extra ``crypto``), imported when first needed."""

import os

from textveil.errors import KeyFileError

NONCE_BYTES = 12


def seal(key: bytes, content: bytes, context: bytes) -> bytes:
    """Encrypts with AES-256-GCM under a fresh random nonce of 96 bits, which comes first.

    Up to 2**32 contents under one key are safe (NIST SP 800-38D, section 8.3).

    Args:
        key: 32 bytes.
        content: What is encrypted.
        context: What it belongs to; not encrypted and not stored, and needed again.
    """
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, content, context)


def unseal(key: bytes, sealed: bytes, context: bytes, what: str = "a stored output") -> bytes:
    """Returns what was sealed.

    Args:
        key: The key that it was sealed under.
        sealed: What ``seal`` gave.
        context: What it belongs to.
        what: What errors call it.

    Raises:
        KeyFileError: It was altered, or sealed under another key or for something else.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], context)
    except (InvalidTag, ValueError):
        raise KeyFileError(f"{what} cannot be read: it was altered, or this is not its key") from None


def sign(seed: bytes, content: bytes) -> tuple[bytes, bytes]:
    """Signs with Ed25519 (RFC 8032), which draws nothing: equal contents have equal signatures.

    Args:
        seed: The secret key, 32 bytes.
        content: What is signed.

    Returns:
        The public key, 32 bytes, and the signature, 64 bytes.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(seed)
    return key.public_key().public_bytes_raw(), key.sign(content)
