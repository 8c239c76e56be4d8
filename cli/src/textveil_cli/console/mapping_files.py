"""Files with the mapping (from surrogates to originals) of a document: plain JSON, or encrypted under a key."""

import os
from pathlib import Path

from textveil.errors import InputError, KeyFileError, OutputError
from textveil.storage import check_cryptography, decrypt_bytes, encrypt_bytes, is_inside, open_atomic_bytes, read_key
from textveil.text.restore import MAX_MAPPING_BYTES, Restorer

from textveil_cli.console.text_io import get_safe_file_name

#: The first line of an encrypted mapping. The encryption authenticates it together with the content.
_HEADER = b"textveil-encrypted-mapping 1: contains your original text, encrypted: do not send\n"
_KEY_NAME = "--mapping-key"


def read_mapping_key(key_file: Path, mapping_file: Path, *, create: bool) -> bytes:
    """Read the key of an encrypted mapping, after a check that the key is not in the folder of the mapping.

    Args:
        key_file: The file of the key.
        mapping_file: The file of the mapping, which need not exist.
        create: Whether to create a missing key.

    Raises:
        CryptoUnavailable: The package ``cryptography`` is not installed.
        KeyFileError: The file is missing, no key, or in the folder of the mapping, or other users can read it.
    """
    check_cryptography(_KEY_NAME)
    if is_inside(key_file, Path(os.path.realpath(mapping_file)).parent):
        raise KeyFileError(
            f"{_KEY_NAME}: must be outside the folder of the mapping: otherwise a copy of the folder would contain the "
            "data and the key"
        )
    return read_key(key_file, _KEY_NAME, create=create)


def write_mapping(path: Path, option: str, mapping: Restorer, key: bytes | None = None) -> None:
    """Write a mapping to a file that only its owner may read, completely or not at all.

    Args:
        path: The file, which is replaced if it exists.
        option: The option that names the file, for errors.
        mapping: The mapping.
        key: The key that encrypts the mapping (AES-256-GCM); ``None`` for plain JSON.

    Raises:
        OutputError: The file cannot be written, or the mapping is larger than ``textveil restore`` accepts. Nothing was
            written.
    """
    content = mapping.to_json().encode("ascii")
    if len(content) > MAX_MAPPING_BYTES:
        raise OutputError(f"{option}: the mapping exceeds 64 MB: divide the text, or write tags instead of surrogates")
    with open_atomic_bytes(path, private=True) as file:
        file.write(content if key is None else _HEADER + encrypt_bytes(key, content, _HEADER))


def read_mapping(path: Path, key_file: Path | None) -> Restorer:
    """Read a mapping from a file that ``write_mapping`` wrote.

    Args:
        path: The file.
        key_file: The key of an encrypted mapping; ``None`` for plain JSON.

    Raises:
        InputError: The file cannot be read, is no mapping, or is encrypted although there is no key, or the reverse.
        KeyFileError: The file was changed, or the key is another one (see also ``read_mapping_key``).
    """
    try:
        with path.open("rb") as file:
            content = file.read(len(_HEADER) + MAX_MAPPING_BYTES + 64)  # the encryption adds 28 bytes
    except OSError as error:
        raise InputError(f"--mapping: cannot read {get_safe_file_name(path) or 'the file'}") from error
    if not content.startswith(_HEADER):
        if key_file is not None:
            raise InputError(f"--mapping: the file is not encrypted: omit {_KEY_NAME}")
        return Restorer.from_json(content)
    if key_file is None:
        raise InputError(f"--mapping: the file is encrypted: name its key with {_KEY_NAME}")
    key = read_mapping_key(key_file, path, create=False)
    return Restorer.from_json(decrypt_bytes(key, content[len(_HEADER) :], _HEADER, "the mapping"))
