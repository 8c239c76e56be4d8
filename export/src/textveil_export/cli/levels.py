"""The commands about the levels of a finished bundle: ``textveil-export certify``, ``statistics`` and ``report``."""

from pathlib import Path
from typing import Annotated

import typer
from textveil.bundle import Bundle
from textveil.report import levels_table

from textveil_export.certify import certificate
from textveil_export.cli.progress_bars import bars
from textveil_export.leakage import bayes
from textveil_export.leakage.statistics import measure
from textveil_export.text.card import certificate_table
from textveil_export.text.records import write_certificate, write_statistics

BundleArgument = Annotated[Path, typer.Argument(metavar="BUNDLE", help="Folder of a bundle.")]


def certify(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="Folder of a bundle with embedding rows.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the certificate, change nothing.")] = False,
) -> None:
    """Compute the epsilon of every level over all pairs of the finished table, and label the levels with it.

    The identity of the bundle stays. An interruption leaves the bundle as it was, or without a certificate.
    """
    opened = Bundle(bundle)
    with bars() as progress:
        certificates = certificate.certify(opened, progress)
    if not dry_run:
        write_certificate(opened, certificates)
    print(certificate_table(certificates))


def statistics(
    bundle: BundleArgument,
    trials: Annotated[int, typer.Option(min=2, help="Words in the simulation of repeated releases.")] = bayes.TRIALS,
    seed: Annotated[int, typer.Option(min=0, help="Of that simulation; it is recorded.")] = bayes.SEED,
) -> None:
    """Measure what every level does to words, and write it into the bundle for textveil levels and calibrate.

    The identity of the bundle stays. An interruption leaves the bundle as it was, or without statistics.
    """
    opened = Bundle(bundle)
    with bars() as progress:
        measured = measure(opened, progress, trials=trials, seed=seed)
    print(levels_table(write_statistics(opened, measured)))


def report(
    bundle: BundleArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the page; made if it is not there.")],
) -> None:
    """Write a page about the levels of a bundle: curves, histograms, a table, and sanitised example texts.

    The page is one file that needs no network; its pictures lie beside it too. Its texts are public examples.
    """
    from textveil_export.report.page import write_report  # matplotlib is an extra, and slow to import

    for path in write_report(Bundle(bundle), output):
        print(path)
