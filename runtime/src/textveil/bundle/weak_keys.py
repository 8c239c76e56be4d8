"""Public keys that are nobody's: points of small order, for which anyone can make a signature of anything."""

_P = 2**255 - 19
#: The y of all points whose order divides 8, also of those that are not reduced.
_HEIGHTS = frozenset(
    {
        0,
        1,
        _P - 1,
        _P,
        _P + 1,
        int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"),
        int.from_bytes(bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little"),
    }
)


def is_weak(public_key: bytes) -> bool:
    """Tells whether an Ed25519 public key, 32 bytes, is a point of small order."""
    return int.from_bytes(public_key, "little") & (1 << 255) - 1 in _HEIGHTS
