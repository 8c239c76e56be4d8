"""Writing of a mapping (from surrogates to originals) to the file that a user chose."""

from pathlib import Path
from typing import TYPE_CHECKING

from textveil.errors import OutputError

from textveil_cli.console.text_io import open_output

if TYPE_CHECKING:
    from textveil.text.restore import Restorer


def write_mapping(path: Path, option: str, mapping: "Restorer") -> None:
    """Write a mapping to a file that only its owner may read, completely or not at all.

    Args:
        path: The file, which is replaced if it exists.
        option: The option that names the file, for errors.
        mapping: The mapping.

    Raises:
        OutputError: The file cannot be written, or the mapping is larger than ``textveil restore`` accepts. Nothing was
            written.
    """
    from textveil.text.restore import MAX_MAPPING_BYTES  # lazy: few runs save a mapping

    content = mapping.to_json()
    if len(content) > MAX_MAPPING_BYTES:
        raise OutputError(f"{option}: the mapping exceeds 64 MB: divide the text, or write tags instead of surrogates")
    with open_output(path, private=True) as write:
        write(content)
