"""Ed25519 signatures (RFC 8032) with the package ``cryptography`` (extra ``crypto``).

Each function imports the package at its first call.
"""

from importlib import import_module

from textveil.errors import CryptoUnavailable

_INSTALL = "pip install 'textveil[crypto]' (in a clone: pip install './runtime[crypto]')"
_FIELD_PRIME = 2**255 - 19
#: Public keys to reject: points of small order, for which anyone can make a valid signature of any content. These are
#: the y coordinates of all points whose order divides 8, in reduced and unreduced encodings.
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
    """Raise an error unless the package ``cryptography`` is installed.

    Args:
        feature: Name of the feature in the error message.

    Raises:
        CryptoUnavailable: The package is missing or incomplete.
    """
    try:
        for module in ("exceptions", "hazmat.primitives.asymmetric.ed25519", "hazmat.primitives.ciphers.aead"):
            import_module(f"cryptography.{module}")
    except ImportError as error:
        raise CryptoUnavailable(f"{feature} needs the package cryptography: {_INSTALL}") from error


def is_valid_signature(public_key: bytes, signature: bytes, content: bytes) -> bool:
    """Return whether a signature is valid for the content and the public key (32 bytes).

    The result is ``False`` for public keys of small order, for which anyone can sign.
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
