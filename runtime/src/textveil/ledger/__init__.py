"""Charges every draw before its output leaves, refuses what a budget does not cover, and signs receipts."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil.ledger.account import Account, Budget
    from textveil.ledger.entry import Entry, Posted
    from textveil.ledger.ledger import DEFAULT_SCOPE, Ledger
    from textveil.ledger.receipt import Receipt, ReceiptWriter, read_receipt
    from textveil.ledger.sources import Issued, canonical_bytes, request_bytes

__all__ = [
    "DEFAULT_SCOPE",
    "Account",
    "Budget",
    "Entry",
    "Issued",
    "Ledger",
    "Posted",
    "Receipt",
    "ReceiptWriter",
    "canonical_bytes",
    "read_receipt",
    "request_bytes",
]

__getattr__ = lazy_names(__name__, __all__, "account", "entry", "ledger", "receipt", "sources")
