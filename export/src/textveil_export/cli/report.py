"""``textveil-export report``: a page about the levels of a bundle."""

from pathlib import Path
from typing import Annotated

import typer
from textveil.bundle import TextBundle, open_bundle
from textveil_cli.options import PinOptions

from textveil_export.cli.options import BundleFolder


def report(
    bundle: BundleFolder,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the page; created if missing.")],
    must_be: PinOptions,
) -> None:
    """Write a page about the levels of a bundle: curves, histograms, a table, and examples.

    The page is one file that needs no network; its pictures lie beside it too. Its texts are public examples.
    """
    from textveil_export.report.page import write_report  # matplotlib is an extra, and slow to import

    for path in write_report(open_bundle(bundle, TextBundle, **must_be.pins), output):
        print(path)
