"""``textveil verify``: check the hashes and privacy bounds of a bundle, or check a receipt."""

from pathlib import Path
from typing import Annotated

import typer
from textveil.bundle import LabelBundle, TextBundle, VectorBundle, open_bundle
from textveil.errors import OptionError
from textveil.text import Sanitizer
from textveil.verify import AUDITED_PAIRS, verify_encoder, verify_labels, verify_text

from textveil_cli.options import BundleArgument, BundleOptions


def verify(
    folder: BundleArgument = None,
    *,
    bundle: BundleOptions,
    audit_pairs: Annotated[
        int | None, typer.Option(min=1, help=f"Number of random word pairs to audit; {AUDITED_PAIRS:,} if left out.")
    ] = None,
    receipt: Annotated[Path | None, typer.Option("--receipt", help="Verify this receipt instead of a bundle.")] = None,
    released: Annotated[
        Path | None,
        typer.Option(
            "--output", help="With --receipt: the output that the receipt must match; - reads standard input."
        ),
    ] = None,
    signed_by: Annotated[
        str | None, typer.Option("--signed-by", help="With --receipt: public key that must have signed the receipt.")
    ] = None,
) -> None:
    """Verify a bundle and its bounds, or a receipt.

    Text bundles: hashes, structure, certificate, and an audit of random word pairs. Encoder bundles: hashes, structure,
    operators of the model, and the noise or randomizer of every epsilon. Receipts: signature and hash of the output.
    """
    bundle_folder = bundle.select_folder(folder)
    if receipt is not None:
        if bundle_folder is not None or audit_pairs is not None or bundle.expected.signer is not None:
            raise OptionError("--receipt cannot be combined with a bundle, --audit-pairs or --signer")
        from textveil_cli.reports.receipt import verify_receipt

        print(verify_receipt(receipt, released, signed_by, bundle.expected.expect_id))
        return
    if released is not None or signed_by is not None:
        raise OptionError("--output and --signed-by need --receipt")
    expected_bundle = bundle.expected_bundle
    opened_bundle = (
        Sanitizer.load(**expected_bundle).bundle
        if bundle_folder is None
        else open_bundle(bundle_folder, **expected_bundle)
    )
    if audit_pairs is not None and not (isinstance(opened_bundle, TextBundle) and opened_bundle.santext_levels):
        raise OptionError("--audit-pairs needs a SanText bundle: for others all checks are exhaustive")
    match opened_bundle:
        case LabelBundle():
            print(verify_labels(opened_bundle))
        case VectorBundle():
            print(verify_encoder(opened_bundle))
        case _:
            print(verify_text(opened_bundle, AUDITED_PAIRS if audit_pairs is None else audit_pairs))
