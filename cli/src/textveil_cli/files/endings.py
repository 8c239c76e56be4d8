"""Checks that the name of an output does not end like another format.

No command converts formats, so such a name would mislead a reader.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from textveil.errors import OptionError

from textveil_cli.console import make_printable
from textveil_cli.files.column_selection import FORMATS
from textveil_cli.files.streams import get_packed_ending

#: Endings by format. No command writes a whole JSON file, but a reader expects one behind ``.json``.
_ENDINGS_BY_FORMAT = {**FORMATS, "json": (".json",)}
_FORMAT_LABELS = {
    "lines": "plain text",
    "csv": "CSV",
    "tsv": "TSV",
    "jsonl": "JSON lines",
    "json": "JSON",
    "parquet": "Parquet",
}


def check_output_ending(
    output: Path | None,
    formats: Sequence[str],
    inputs: Sequence[str] = (),
    *,
    can_pack: bool = False,
    into_folder: bool = False,
) -> None:
    """Check the name of an output.

    A name without a known ending fits, and so does the ending of the inputs.

    Args:
        output: The file; ``None`` is standard output.
        formats: Formats of the output's content, the best name first.
        inputs: Paths of the inputs; an option may have set their format against their names.
        can_pack: Whether the output is packed if its name has the ending of a packed file.
        into_folder: Whether the output is a folder of files, created if missing.

    Raises:
        OptionError: The ending is that of another format, of a packed file, or for a new folder that of any file.
    """
    if output is None:
        return
    format_name, packed = _read_ending(output.name)
    name = make_printable(output.name)
    if into_folder:
        if (format_name is not None or packed) and not output.is_dir():
            raise OptionError(
                f"--output {name}: the output is a folder: choose a name without {os.path.splitext(name)[1]}"
            )
        return
    if packed and not can_pack:
        raise OptionError(f"--output {name}: the output is not compressed: choose a name without {packed}")
    if format_name is None or format_name in formats:
        return
    if inputs and all(_read_ending(path)[0] == format_name for path in inputs):
        return
    advice = "" if formats[0] not in _ENDINGS_BY_FORMAT else f": use {_ENDINGS_BY_FORMAT[formats[0]][0]}"
    raise OptionError(
        f"--output {name}: the name ends like {_FORMAT_LABELS[format_name]}, but the output is "
        f"{_FORMAT_LABELS[formats[0]]}{advice}"
    )


def _read_ending(path: str) -> tuple[str | None, str]:
    """Return the format of a name's ending or ``None``, and the ending of a packed file."""
    packed = get_packed_ending(path)
    plain = path.lower().removesuffix(packed)
    return next((name for name, endings in _ENDINGS_BY_FORMAT.items() if plain.endswith(endings)), None), packed
