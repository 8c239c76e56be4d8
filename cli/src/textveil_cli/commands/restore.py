"""``textveil restore``: a reply about a rewritten text gets its words back, on this device."""

from pathlib import Path
from typing import Annotated

import typer
from textveil.bundle.atomic import atomic_output
from textveil.bundle.kept import Kept
from textveil.errors import InputError, OptionError
from textveil.text.restore import MOST_BYTES, Restorer

from textveil_cli.io import opened, read_lines, standard_output


def restore(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE...", help="The reply; - is standard input.")
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option("--mapping", help="The file that sanitize --keep-mapping wrote.")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", "-t", help="This reply instead.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here, whole or not at all, for its owner alone.")
    ] = None,
) -> None:
    """Put the original words into a reply, on this device.

    The reply is about a text that was sanitized with --consistent --keep-mapping.

    Only words whose outputs stand for one original are restored. The result is as private as the text was.
    """
    if text is not None and files:
        raise OptionError("--text and files exclude each other")
    if mapping is None:
        raise OptionError("--mapping is needed: the file that sanitize --keep-mapping wrote")
    paths = files or ["-"]
    Kept([*(paths if text is None else []), mapping]).refuse(("--output", output))
    try:
        with mapping.open("rb") as file:
            restorer = Restorer.from_json(file.read(MOST_BYTES + 1))
    except OSError as error:
        raise InputError("--mapping: no readable file there") from error
    with atomic_output(output, private=True) if output is not None else standard_output() as write:
        if text is not None:
            write(restorer.restore(text) + "\n")
            return
        for number, path in enumerate(paths, 1):
            name = "standard input" if path == "-" else f"input {number} of {len(paths)}"
            with opened(path, name) as (descriptor, _):
                for lines, ended, _ in read_lines(descriptor, name):
                    write(restorer.restore("\n".join(lines)) + ("\n" if ended else ""))
