"""Checks that the name of an output does not end like another format.

No command converts formats, so such a name would mislead a reader.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from textveil.errors import OptionError

from textveil_cli.console import printable
from textveil_cli.files.selection import FORMATS
from textveil_cli.files.streams import packed_as

#: Endings by format. No command writes a whole JSON file, but a reader expects one behind ``.json``.
_ENDINGS = {**FORMATS, "json": (".json",)}
_KINDS = {
    "lines": "plain text",
    "csv": "CSV",
    "tsv": "TSV",
    "jsonl": "JSON lines",
    "json": "JSON",
    "parquet": "Parquet",
}


def require_fitting_ending(
    output: Path | None,
    formats: Sequence[str],
    inputs: Sequence[str] = (),
    *,
    packs: bool = False,
    into_folder: bool = False,
) -> None:
    """Check the name of an output.

    A name without a known ending fits, and so does the ending of the inputs.

    Args:
        output: The file; ``None`` is standard output.
        formats: Formats of the output's content, the best name first.
        inputs: Paths of the inputs; an option may have set their format against their names.
        packs: Whether the output is packed if its name has the ending of a packed file.
        into_folder: Whether the output is a folder of files, created if missing.

    Raises:
        OptionError: The ending is that of another format, of a packed file, or for a new folder that of any file.
    """
    if output is None:
        return
    format_name, packed = _read_ending(output.name)
    name = printable(output.name)
    if into_folder:
        if (format_name is not None or packed) and not output.is_dir():
            raise OptionError(
                f"--output {name}: the outputs go to a folder: name it without {os.path.splitext(name)[1]}"
            )
        return
    if packed and not packs:
        raise OptionError(f"--output {name}: what is written is not packed: name it without {packed}")
    if format_name is None or format_name in formats:
        return
    if inputs and all(_read_ending(path)[0] == format_name for path in inputs):
        return
    best = "" if formats[0] not in _ENDINGS else f": name it {_ENDINGS[formats[0]][0]}"
    raise OptionError(
        f"--output {name}: it ends like {_KINDS[format_name]}, and what is written is {_KINDS[formats[0]]}{best}"
    )


def _read_ending(path: str) -> tuple[str | None, str]:
    """Return the format of a name's ending or ``None``, and the ending of a packed file."""
    packed = packed_as(path)
    plain = path.lower().removesuffix(packed)
    return next((name for name, endings in _ENDINGS.items() if plain.endswith(endings)), None), packed
