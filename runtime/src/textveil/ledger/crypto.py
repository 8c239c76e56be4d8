"""Encryption and signatures with the package ``cryptography`` (extra ``crypto``).

Each function imports the package at its first call.
"""

import os

from textveil.errors import KeyFileError

NONCE_BYTES = 12


def encrypt_bytes(key: bytes, content: bytes, context: bytes) -> bytes:
    """Encrypt with AES-256-GCM under a fresh random nonce of 96 bits.

    Up to 2**32 messages under one key are safe (NIST SP 800-38D, section 8.3).

    Args:
        key: 32 bytes.
        content: The plaintext.
        context: Associated data. It is authenticated, but neither encrypted nor stored; ``decrypt_bytes`` needs the
            same bytes.

    Returns:
        The nonce, then the ciphertext with its authentication tag.
    """
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, content, context)


def decrypt_bytes(key: bytes, encrypted: bytes, context: bytes, name: str = "a stored output") -> bytes:
    """Decrypt a result of ``encrypt_bytes`` and check its authenticity.

    Args:
        key: The key that ``encrypt_bytes`` used.
        encrypted: The result of ``encrypt_bytes``.
        context: The associated data that ``encrypt_bytes`` used.
        name: Name of the content in error messages.

    Raises:
        KeyFileError: The bytes are altered, or the key or the associated data differ.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(key).decrypt(encrypted[:NONCE_BYTES], encrypted[NONCE_BYTES:], context)
    except (InvalidTag, ValueError):
        raise KeyFileError(f"{name} cannot be decrypted: the file was altered, or the key is the wrong one") from None


def sign_bytes(seed: bytes, content: bytes) -> tuple[bytes, bytes]:
    """Sign with Ed25519 (RFC 8032), which is deterministic: equal contents, equal signatures.

    Args:
        seed: The secret key, 32 bytes.
        content: The message.

    Returns:
        The public key, 32 bytes, and the signature, 64 bytes.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(seed)
    return key.public_key().public_bytes_raw(), key.sign(content)
