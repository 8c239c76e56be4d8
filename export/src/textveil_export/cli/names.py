"""Define ``textveil-export names``, which builds a bundle with the word lists for hiding names."""

from pathlib import Path
from typing import Annotated

import typer
from textveil.bundle import TextBundle, open_bundle
from textveil_cli.options import ExpectedBundleOptions

from textveil_export.cli.options import Force, NewBundle
from textveil_export.errors import ExportError
from textveil_export.text.names_lists import (
    add_names_lists,
    make_names_contents,
    read_names_lists,
    read_staircase_contents,
)
from textveil_export.text.write import write_bundle


def names(
    lists: Annotated[Path, typer.Argument(metavar="LISTS", help="Folder of the lists (docs/format.md).")],
    output: NewBundle,
    beside: Annotated[
        Path | None,
        typer.Option(metavar="BUNDLE", help="Copy the staircase of this bundle, and replace its lists if it has any."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the new bundle. Default: that of BUNDLE, or of the output folder.")
    ] = None,
    license: Annotated[
        str | None, typer.Option(help="SPDX license expression of the new bundle. Default: that of BUNDLE.")
    ] = None,
    force: Force = False,
    *,
    expected: ExpectedBundleOptions,
) -> None:
    """Build a bundle with the lists of the mode 'names', alone or with a copy of the staircase mechanism."""
    names_lists = read_names_lists(lists)
    if beside is None:
        if license is None:
            raise ExportError("pass --license: a bundle of lists alone copies no license from another bundle")
        contents = make_names_contents(names_lists, name or output.resolve().name, license)
    else:
        contents = add_names_lists(
            read_staircase_contents(open_bundle(beside, TextBundle, **expected.expected_bundle)), names_lists
        )
        contents.manifest.update({key: value for key, value in (("name", name), ("license", license)) if value})
    written = write_bundle(contents, output, force=force)
    print(
        f"{output}: {len(written.get_names_lists().common_words):,} common words, content hash {written.content_hash}"
    )
