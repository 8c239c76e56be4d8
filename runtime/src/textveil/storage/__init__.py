"""Files on the device: atomic writing, protection of existing files, key files and cryptography."""

from typing import TYPE_CHECKING

from textveil.lazy import AttributeGetter, make_lazy_getattr

if TYPE_CHECKING:
    from textveil.storage.atomic_writes import open_atomic_bytes, open_atomic_folder, open_atomic_text
    from textveil.storage.cryptography import check_cryptography, decrypt_bytes, encrypt_bytes
    from textveil.storage.keys import read_key
    from textveil.storage.protected_paths import ProtectedPaths, is_inside

__all__ = [
    "ProtectedPaths",
    "check_cryptography",
    "decrypt_bytes",
    "encrypt_bytes",
    "is_inside",
    "open_atomic_bytes",
    "open_atomic_folder",
    "open_atomic_text",
    "read_key",
]

__getattr__: AttributeGetter = make_lazy_getattr(
    __name__, __all__, "protected_paths", "atomic_writes", "keys", "cryptography"
)
