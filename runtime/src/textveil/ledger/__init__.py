"""Privacy ledger and signed receipts.

The privacy ledger records the epsilon and delta (*spend*) of each output on the disk before the output is returned, and
refuses outputs that would exceed a budget. A receipt states the privacy guarantee of an output, with a signature.
"""

from typing import TYPE_CHECKING

from textveil.lazy import AttributeGetter, make_lazy_getattr

if TYPE_CHECKING:
    from textveil.ledger.account import Account, Budget
    from textveil.ledger.keys import get_key_path
    from textveil.ledger.ledger import DEFAULT_PRIVACY_UNIT, Ledger
    from textveil.ledger.receipt import MAX_RECEIPT_BYTES, Receipt, ReceiptWriter, read_receipt
    from textveil.ledger.release_sources import (
        RecordedRelease,
        make_text_source,
        serialize_document,
        serialize_options,
        serialize_request,
    )
    from textveil.ledger.transaction import SpendEntry, SpendOutcome

__all__ = [
    "DEFAULT_PRIVACY_UNIT",
    "MAX_RECEIPT_BYTES",
    "Account",
    "Budget",
    "Ledger",
    "Receipt",
    "ReceiptWriter",
    "RecordedRelease",
    "SpendEntry",
    "SpendOutcome",
    "get_key_path",
    "make_text_source",
    "read_receipt",
    "serialize_document",
    "serialize_options",
    "serialize_request",
]

__getattr__: AttributeGetter = make_lazy_getattr(
    __name__, __all__, "account", "keys", "receipt", "release_sources", "transaction", "ledger"
)
