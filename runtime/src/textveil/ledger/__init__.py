"""Privacy ledger: records spends before outputs leave, enforces budgets, signs receipts."""

from typing import TYPE_CHECKING

from textveil.lazy import Find, lazy_names

if TYPE_CHECKING:
    from textveil.ledger.account import Account, Budget
    from textveil.ledger.entry import Entry, Posted
    from textveil.ledger.keys import key_path_of, read_key
    from textveil.ledger.ledger import DEFAULT_SCOPE, Ledger
    from textveil.ledger.receipt import MOST_RECEIPT_BYTES, Receipt, ReceiptWriter, read_receipt
    from textveil.ledger.sources import Issued, canonical_bytes, document_bytes, request_bytes, text_source

__all__ = [
    "DEFAULT_SCOPE",
    "MOST_RECEIPT_BYTES",
    "Account",
    "Budget",
    "Entry",
    "Issued",
    "Ledger",
    "Posted",
    "Receipt",
    "ReceiptWriter",
    "canonical_bytes",
    "document_bytes",
    "key_path_of",
    "read_key",
    "read_receipt",
    "request_bytes",
    "text_source",
]

__getattr__: Find = lazy_names(__name__, __all__, "account", "entry", "keys", "receipt", "sources", "ledger")
