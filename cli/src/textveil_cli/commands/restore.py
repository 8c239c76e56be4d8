"""``textveil restore``: a reply about a rewritten text gets its words back, on this device."""

from pathlib import Path
from typing import Annotated

import typer
from textveil.bundle import Kept
from textveil.errors import InputError, OptionError
from textveil.text.restore import MOST_BYTES, Restorer

from textveil_cli.console import file_name, lines_of, output_to
from textveil_cli.options import InputOptions, PrivateOutput


def restore(
    inputs: InputOptions,
    mapping: Annotated[
        Path | None, typer.Option("--mapping", help="The file that sanitize --keep-mapping wrote.")
    ] = None,
    output: PrivateOutput = None,
) -> None:
    """Put the original words into a reply, on this device.

    The reply is about a text that was sanitized with --keep-mapping, and with --consistent on the rungs words and all.

    Only words whose outputs stand for one original are restored. Numbers and dates come back from tags alone: others in
    the reply may be made up. The result is as private as the text was.
    """
    paths = inputs.paths
    if mapping is None:
        raise OptionError("--mapping is needed: the file that sanitize --keep-mapping wrote")
    Kept(inputs=[*paths, mapping]).refuse(("--output", output))
    try:
        with mapping.open("rb") as file:
            restorer = Restorer.from_json(file.read(MOST_BYTES + 1))
    except OSError as error:
        raise InputError(f"--mapping: no readable file {file_name(mapping) or 'there'}") from error
    with output_to(output, private=True) as write:
        if inputs.text is not None:
            write(restorer.restore(inputs.text) + "\n")
        for lines, ended, _ in lines_of(paths):
            write(restorer.restore("\n".join(lines)) + ("\n" if ended else ""))
