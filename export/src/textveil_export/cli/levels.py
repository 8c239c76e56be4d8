"""The commands about the levels of a finished bundle: ``textveil-export certify``, ``statistics`` and ``report``."""

from pathlib import Path
from typing import Annotated

import typer
from textveil.bundle import Pins, TextBundle, open_bundle
from textveil_cli import levels_table, pinned

from textveil_export.certify import certificate
from textveil_export.cli.progress_bars import bars
from textveil_export.errors import CertificationError
from textveil_export.leakage.bayes import TRIALS
from textveil_export.leakage.statistics import SEED, measure
from textveil_export.sign import sign_bundle
from textveil_export.text.write import write_certificate, write_statistics

BundleArgument = Annotated[Path, typer.Argument(metavar="BUNDLE", help="Folder of a bundle.")]


@pinned()
def certify(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="Folder of a bundle with SanText.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the certificate, change nothing.")] = False,
    *,
    pins: Pins,
) -> None:
    """Compute the epsilon of every level over all pairs of the finished table, and label the levels with it.

    A label that was less than that is false, and named; with --dry-run it is an error. The identity of the bundle
    changes, since it covers the labels. An interruption leaves the bundle as it was, or without a certificate.
    """
    opened = open_bundle(bundle, TextBundle, **pins)
    with bars() as progress:
        certificates = certificate.certify(opened, progress)
    false = certificate.false_labels(opened, certificates)
    if not dry_run:
        write_certificate(opened, certificates)
    print("\n".join([_certificate_table(certificates), *false]))
    if false and dry_run:
        raise CertificationError(f"{len(false)} labels of this bundle are less than what was proven")


@pinned()
def statistics(
    bundle: BundleArgument,
    trials: Annotated[int, typer.Option(min=2, help="Words in the simulation of repeated releases.")] = TRIALS,
    seed: Annotated[int, typer.Option(min=0, help="Of that simulation; it is recorded.")] = SEED,
    *,
    pins: Pins,
) -> None:
    """Measure what every level does to words, and write it into the bundle for textveil levels and calibrate.

    The identity of the bundle changes. An interruption leaves the bundle as it was, or without statistics.
    """
    opened = open_bundle(bundle, TextBundle, **pins)
    with bars() as progress:
        measured = measure(opened, progress, trials=trials, seed=seed)
    print(levels_table(write_statistics(opened, measured)))


@pinned()
def sign(
    bundle: BundleArgument,
    key: Annotated[
        Path, typer.Option(help="Private Ed25519 key in PEM, as openssl genpkey -algorithm ed25519 makes it.")
    ],
    *,
    pins: Pins,
) -> None:
    """Sign a bundle as its maker, and print the public key that users pin with --maker.

    The signature lies beside the manifest, in manifest.json.sig. Whatever changes the bundle makes it void.
    """
    print(sign_bundle(bundle, key, **pins))


@pinned()
def report(
    bundle: BundleArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the page; created if missing.")],
    *,
    pins: Pins,
) -> None:
    """Write a page about the levels of a bundle: curves, histograms, a table, and sanitized example texts.

    The page is one file that needs no network; its pictures lie beside it too. Its texts are public examples.
    """
    from textveil_export.report.page import write_report  # matplotlib is an extra, and slow to import

    for path in write_report(open_bundle(bundle, TextBundle, **pins), output):
        print(path)


def _certificate_table(certificates: certificate.Certificates) -> str:
    """Certificates as a table for a terminal."""
    lines = [
        f"{'level':<11}{'mechanism':<11}{'alpha':>8}{'textbook':>10}{'certified':>11}{'attained':>10}"
        f"{'sensitive':>11}{'pure LDP':>10}  at"
    ]
    for name, mechanisms in certificates.items():
        for mechanism, proven in mechanisms.items():
            pair = proven.attained
            where = f"{pair.input}, {pair.other_input} -> {pair.output} (d {pair.distance:.3f})"
            lines.append(
                f"{name:<11}{mechanism:<11}{proven.exponent:>8}{proven.epsilon_textbook:>10g}"
                f"{proven.epsilon_certified:>11.4f}{pair.epsilon:>10.4f}{proven.epsilon_certified_sensitive:>11.4f}"
                f"{proven.epsilon_pure_ldp:>10.4f}  {where}"
            )
    return "\n".join(lines)
