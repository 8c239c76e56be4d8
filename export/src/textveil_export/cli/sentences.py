"""Define ``textveil-export sentences``, which adds public sentences to a bundle for class labels of texts."""

from pathlib import Path
from typing import Annotated

import typer
from textveil_cli.options import ExpectedBundleOptions

from textveil_export.cli.options import BundleFolder, Force, NewBundle
from textveil_export.label import add_sentences, read_label_contents, write_label_bundle


def sentences(
    bundle: BundleFolder,
    file: Annotated[Path, typer.Argument(help="LABEL<TAB>SENTENCE lines; for clusters candidate sentences.")],
    output: NewBundle,
    source: Annotated[str, typer.Option(help="Source and license of the sentences, for the card.")] = "",
    force: Force = False,
    *,
    expected: ExpectedBundleOptions,
) -> None:
    """Copy a class label bundle and add the sentences that textveil encode --as-text prints.

    The randomizers (tables for the random choice of a label) are copied byte for byte.
    """
    written = write_label_bundle(
        add_sentences(read_label_contents(bundle, **expected.expected_bundle), file, source), output, force=force
    ).bundle
    print(f"{output}: {sum(map(len, written.sentences))} sentences, content hash {written.content_hash}")
