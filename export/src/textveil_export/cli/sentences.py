"""``textveil-export sentences``: what a bundle of an index prints in the place of one."""

from pathlib import Path
from typing import Annotated

import typer
from textveil_cli.options import PinOptions

from textveil_export.cli.options import BundleFolder, Force, NewBundle
from textveil_export.index import add_sentences, read_index_contents, write_index_bundle


def sentences(
    bundle: BundleFolder,
    file: Annotated[Path, typer.Argument(help="LABEL<TAB>SENTENCE lines; for codes sentences to choose from.")],
    output: NewBundle,
    source: Annotated[str, typer.Option(help="Whose the sentences are and on what terms, for the card.")] = "",
    force: Force = False,
    *,
    must_be: PinOptions,
) -> None:
    """Give a bundle the sentences of textveil encode --as-text; what it draws stays byte for byte."""
    written = write_index_bundle(
        add_sentences(read_index_contents(bundle, **must_be.pins), file, source), output, force=force
    ).bundle
    print(f"{output}: {sum(map(len, written.sentences))} sentences, identity {written.identity}")
