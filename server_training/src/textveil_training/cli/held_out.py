"""``textveil-train held-out``: the decisions on held-out texts, for a bundle that does not have them."""

from pathlib import Path
from typing import Annotated

import typer
from textveil.errors import OptionError
from textveil_cli.console import progress_bars
from textveil_cli.options import PinOptions

from textveil_training.engine.tensor_files import sha256
from textveil_training.errors import MissingExtra


def held_out(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="A bundle that textveil-train encoder made.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file that it was made of.")],
    text: Annotated[str, typer.Option("--text", help="Column of the texts; its number where there is no header.")],
    label: Annotated[str, typer.Option("--label", help="Column of the labels; its number where there is no header.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="BUNDLE", help="Folder of the new bundle.")],
    test: Annotated[
        Path | None, typer.Option("--test", metavar="FILE", help="The texts for the figures, if they were given.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed that the bundle was made with.")] = 0,
    force: Annotated[bool, typer.Option(help="Replace an existing bundle.")] = False,
    *,
    must_be: PinOptions,
) -> None:
    """Add to a bundle what its model decides on texts it never saw: texts of a label can be counted then.

    Bundles of textveil-train encoder have it. This is for older ones: file, test file, columns and seed must be those
    that the bundle was made with. What devices release stays as it is; the identity becomes another one.
    """
    try:
        from textveil_export.index import reopened, write_index
    except ImportError as error:
        raise MissingExtra("this command needs the extra bundle (in a clone: pip install ./export)") from error
    from textveil_training.data.tables import read_table
    from textveil_training.encoder.task import divided
    from textveil_training.tasks.held_out import with_held_out

    if output.exists() and not force:
        raise OptionError("the output folder exists (use --force)")
    contents = reopened(bundle, **must_be.pins)
    given = list(read_table(test, text, label)) if test is not None else None
    task = divided(list(read_table(file, text, label)), given, seed)
    with progress_bars() as report:
        written = write_index(with_held_out(contents, task, sha256(file), report), output, force=force)
    found = written.bundle.held_out
    print(f"{0 if found is None else found.texts} texts\nidentity {written.bundle.identity}")
