"""Check the signed receipt of an output, for ``textveil verify --receipt``."""

import os
from pathlib import Path

from textveil.errors import ContentHashMismatch, InputError, ReceiptError

from textveil_cli.console import open_input

_READ_BYTES = 1 << 20


def verify_receipt(receipt: Path, output: Path | None, signed_by: str | None, expect_id: str | None) -> str:
    """Check a receipt (signed file with the hash of an output), and return a description of the receipt.

    Args:
        receipt: File of the receipt.
        output: The output that the receipt must match; ``None`` to check the receipt alone.
        signed_by: Public key of the required signer of the receipt; ``None`` for any key.
        expect_id: Content hash of the bundle that the receipt must name; ``None`` for any bundle.

    Raises:
        InputError: The file of the receipt cannot be read.
        ReceiptError: The file is no receipt, was altered, describes another output, or has another signer; or the
            output cannot be read.
        ContentHashMismatch: The receipt has the content hash of another bundle.
    """
    from textveil.ledger import MAX_RECEIPT_BYTES, read_receipt

    try:
        with receipt.open("rb") as file:
            content = file.read(MAX_RECEIPT_BYTES + 1)
    except OSError as error:
        raise InputError("--receipt: cannot read the file") from error
    verified, key = read_receipt(content, expected_key=signed_by)
    if expect_id is not None and verified.bundle != expect_id:
        raise ContentHashMismatch(
            "the receipt is for another bundle: get the one for the expected bundle, or correct --expect-id"
        )
    signer_note = ", the expected key" if signed_by else ": verify that this is the sender's key (--signed-by)"
    lines = [str(verified), f"bundle {verified.bundle}", f"signed by {key}{signer_note}"]
    if output is None:
        lines.append("no output was checked (--output)")
    else:
        try:
            with open_input(str(output), "--output") as (descriptor, _):
                verified.check_output(iter(lambda: os.read(descriptor, _READ_BYTES), b""))
        except OSError as error:
            raise ReceiptError("--output: cannot read the file") from error
        lines.append("the receipt matches this output")
    return "\n".join(lines)
