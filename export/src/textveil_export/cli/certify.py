"""Define ``textveil-export certify``, which proves the epsilon of each privacy level of a bundle (data folder)."""

from typing import Annotated

import typer
from textveil.bundle import TextBundle, open_bundle
from textveil_cli.console import show_progress_bars
from textveil_cli.options import ExpectedBundleOptions

from textveil_export.certify import certificate
from textveil_export.cli.options import BundleFolder
from textveil_export.errors import CertificationError
from textveil_export.text.write import write_certificate


def certify(
    bundle: BundleFolder,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the certificate, and change nothing.")] = False,
    *,
    expected: ExpectedBundleOptions,
) -> None:
    """Prove each epsilon of a bundle over all pairs of words, and name its levels by the proven epsilons.

    Earlier names of a level can still be passed to --epsilon. If the bundle states an epsilon below the proven epsilon,
    the command reports this; with --dry-run it is an error. The content hash of the bundle changes, since it covers the
    stated epsilons. If the command is interrupted, the bundle is unchanged, or has no certificate.
    """
    text_bundle = open_bundle(bundle, TextBundle, **expected.expected_bundle)
    with show_progress_bars() as progress:
        certificates = certificate.certify_bundle(text_bundle, progress)
    false = certificate.find_false_labels(text_bundle, certificates)
    if not dry_run:
        write_certificate(text_bundle, certificates)
    print("\n".join([_format_table(certificates), *false]))
    if false and dry_run:
        raise CertificationError(
            f"the stated epsilon of {len(false)} levels is below the certified one: run certify without --dry-run to "
            "correct the bundle"
        )


def _format_table(certificates: certificate.Certificates) -> str:
    """Format certificates (proven epsilons) as a table for a terminal."""
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
