"""``textveil verify``: a bundle, and its bounds anew; or a receipt."""

from pathlib import Path
from typing import Annotated

import typer
from textveil.audit import verify_encoder, verify_index, verify_text
from textveil.audit.verify import PAIRS
from textveil.bundle import ENCODER_BUNDLE, INDEX_FORMAT_VERSION, encoder_version, kind_of, open_encoder, open_index
from textveil.errors import OptionError

from textveil_cli.options import BundleArgument, BundleOptions


def verify(
    folder: BundleArgument = None,
    *,
    bundle: BundleOptions,
    pairs: Annotated[
        int | None, typer.Option(min=1, help=f"Pairs of words to audit anew; {PAIRS:,} if left out.")
    ] = None,
    receipt: Annotated[Path | None, typer.Option("--receipt", help="Check this receipt instead of a bundle.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="With --receipt: the output that it must be of; - is standard input."),
    ] = None,
    signed_by: Annotated[
        str | None, typer.Option("--signed-by", help="With --receipt: the public key that must have signed it.")
    ] = None,
) -> None:
    """Check a bundle on this device, and its bounds anew; or a receipt.

    Hashes, structure, certificate, and a fresh audit of random pairs of words. Of an encoder bundle: hashes, structure,
    the model's operators, and the finished noise or channel of every level. Of a receipt: its signature, and
    the hash of the output.
    """
    named = bundle.or_argument(folder)
    if receipt is not None:
        if named is not None or pairs is not None or bundle.must_be.maker is not None:
            raise OptionError("--receipt is checked without a bundle")
        from textveil_cli.show.receipt import verify_receipt

        print(verify_receipt(receipt, output, signed_by, bundle.must_be.expect_id))
        return
    if output is not None or signed_by is not None:
        raise OptionError("--output and --signed-by go with --receipt")
    if named is None or kind_of(named) != ENCODER_BUNDLE:
        print(verify_text(bundle.sanitizer(named).bundle, PAIRS if pairs is None else pairs))
        return
    if pairs is not None:
        raise OptionError("--pairs is for bundles of words: the noise of an encoder is computed whole")
    if encoder_version(named) == INDEX_FORMAT_VERSION:
        print(verify_index(open_index(named, **bundle.must_be.pins)))
    else:
        print(verify_encoder(open_encoder(named, **bundle.must_be.pins)[0]))
