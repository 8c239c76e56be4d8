"""Signed receipts: the privacy statement of an output and the hash of the output, for one recipient.

A receipt is a function of the output, its number of randomized words, public parameters and the key. So it reveals
nothing beyond the output. But someone who has only the receipt, without the output, can check a guess of the output.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from textveil.bundle.parsers import (
    parse_array,
    parse_choice,
    parse_integer,
    parse_json,
    parse_object,
    parse_record,
    parse_text,
)
from textveil.errors import BundleDamaged, BundleError, ReceiptError
from textveil.formatting import format_count
from textveil.ledger.account import format_exact
from textveil.release import DELTA_UNITS, EPSILON_UNITS, ReleaseStatement
from textveil.storage.cryptography import check_cryptography, compute_tag, is_valid_signature, sign_bytes
from textveil.storage.keys import read_key

FORMAT, VERSION = "textveil-receipt", 2
_MAX_VERSION = 999
#: Maximum size of a receipt in bytes.
MAX_RECEIPT_BYTES = 1 << 20
NOTE = (
    "Who has this receipt and guesses the output can confirm the guess by its hash, also where the output is withheld. "
    "The key links all receipts that it signed."
)
_NUMBER = re.compile(r"[0-9]{1,99}(\.[0-9]{1,99})?")
#: Keys of a privacy statement that are not options, or that a receipt has as separate fields.
_OTHER_KEYS = {
    "mechanism",
    "bundle",
    "tokens",
    "kept_words",
    "randomized_words",
    "epsilon_text",
    "epsilon_0_text",
    "line",
    "summary",
    "not_protected",
}


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """Content of a receipt (signed privacy statement of an output), without public key and signature.

    Attributes:
        bundle: Content hash of the bundle.
        mechanism: Name of the mechanism.
        options: Epsilons and options, as in the privacy statement. If the output is a table, the key ``table`` has the
            format of the table and the sanitized columns or keys.
        documents: Number of documents in the output.
        tokens: Number of randomized words or tokens that spend an epsilon. With consistent sampling, equal words count
            once. ``None`` for vectors and class labels, and if the epsilon is not finite.
        epsilon: Sum of the epsilons, as an exact decimal number; ``None`` if it is not finite.
        delta: Sum of the deltas, as an exact decimal number.
        output_sha256: SHA-256 of the bytes of the output.
        note: Explanation of what the receipt itself reveals.

    Example:
        >>> from textveil import Sanitizer
        >>> result = Sanitizer.load().sanitize("A warm film.", protect="words", epsilon=8)
        >>> writer = ReceiptWriter(Path("receipt.key"), result.statement)
        >>> writer.update(result.text)
        >>> writer.make_receipt().check_output([b"another output"])
        Traceback (most recent call last):
        textveil.errors.ReceiptError: the receipt belongs to another output: pass the output beside which it was written
    """

    bundle: str
    mechanism: str
    options: dict[str, Any]
    documents: int
    tokens: int | None
    epsilon: str | None
    delta: str
    output_sha256: str
    note: str = NOTE

    def check_output(self, content: Iterable[bytes]) -> None:
        """Check that the receipt belongs to an output, by comparing the SHA-256.

        Args:
            content: Parts of the output, in order.

        Raises:
            ReceiptError: The output has another SHA-256.
        """
        digest = hashlib.sha256()
        for part in content:
            digest.update(part)
        if digest.hexdigest() != self.output_sha256:
            raise ReceiptError("the receipt belongs to another output: pass the output beside which it was written")

    def __str__(self) -> str:
        level = f", level {self.options['level']}" if self.options.get("level") else ""
        documents = format_count(self.documents, "document")
        unit = "randomized word" if self.mechanism == "staircase" else "token"
        tokens = "" if self.tokens is None else f", {format_count(self.tokens, unit)}"
        epsilon = "no finite epsilon" if self.epsilon is None else f"epsilon {self.epsilon}"
        delta = "" if self.delta == "0" else f", delta {float(self.delta):.3g}"
        return f"{self.mechanism}{level}: {documents}{tokens}, {epsilon}{delta}{self._describe_table()}"

    def _describe_table(self) -> str:
        table = self.options.get("table")
        if table is None:
            return ""
        return f"; of a table only {', '.join(table['rewritten_columns'])}: all other columns are copied unprotected"


_KEYS = {"format", "format_version", "key", "signature", *Receipt.__annotations__}
_LOCATION = "the receipt"


class ReceiptWriter:
    """Builder of a receipt (signed privacy statement of an output).

    The object hashes the output part by part, and sums the epsilons and deltas of its documents.

    Args:
        key: File of the secret key (32 bytes), which is created if it is missing. Use a different key for each
            recipient.
        statement: Privacy statement of one document of the output. The receipt takes the options from it, but not the
            counts.
        table: If the output is a table, its format and the sanitized columns or keys; ``None`` otherwise.

    Raises:
        CryptoUnavailable: Signing needs the package ``cryptography``.
        KeyFileError: The key file is unusable.

    Example:
        >>> from textveil import Sanitizer
        >>> result = Sanitizer.load().sanitize("A warm film.", protect="words", epsilon=8)
        >>> writer = ReceiptWriter(Path("receipt.key"), result.statement)
        >>> writer.add_statements([result.statement])
        >>> writer.update(result.text)
        >>> writer.make_receipt().documents
        1
    """

    def __init__(self, key: Path, statement: ReleaseStatement, table: Mapping[str, Any] | None = None) -> None:
        check_cryptography("a receipt")
        # The signing key is derived from the key file, so that a key of another purpose, such as the key of a ledger,
        # never signs directly.
        self._seed = compute_tag(read_key(key, "the key of the receipt", create=True), "receipt")
        self._statement, self._table = statement, {} if table is None else {"table": dict(table)}
        self._hash = hashlib.sha256()
        self._documents = self._tokens = self._epsilon = self._delta = 0
        self._unbounded = statement.spend.epsilon_units is None

    def add_statements(self, statements: Iterable[ReleaseStatement], times: int = 1) -> None:
        """Add the epsilons, deltas and counts of documents to the sums of the receipt.

        Args:
            statements: Privacy statements of the documents.
            times: How often to count each document.
        """
        for statement in statements:
            fields, spend = statement.to_dict(), statement.spend
            self._documents += times
            self._tokens += times * fields.get("randomized_words", fields.get("tokens", 0))
            self._epsilon += times * (spend.epsilon_units or 0)
            self._delta += times * spend.delta_units

    def update(self, part: str | bytes) -> None:
        """Add the next part of the output to the hash of the output. A string is encoded as UTF-8."""
        self._hash.update(part.encode("utf-8") if isinstance(part, str) else part)

    def make_receipt(self) -> Receipt:
        """Return the receipt for all documents, and all parts of the output, that were added so far."""
        fields = self._statement.to_dict()
        has_token_count = not self._unbounded and ("randomized_words" in fields or "tokens" in fields)
        return Receipt(
            bundle=self._statement.bundle_hash,
            mechanism=self._statement.mechanism,
            options={name: value for name, value in fields.items() if name not in _OTHER_KEYS} | self._table,
            documents=self._documents,
            tokens=self._tokens if has_token_count else None,
            epsilon=None if self._unbounded else format_exact(self._epsilon, EPSILON_UNITS),
            delta=format_exact(self._delta, DELTA_UNITS),
            output_sha256=self._hash.hexdigest(),
        )

    def format_signed(self) -> str:
        """Return the receipt as JSON text, with the public key and the signature (Ed25519)."""
        content = {"format": FORMAT, "format_version": VERSION, **asdict(self.make_receipt())}
        public_key, signature = sign_bytes(self._seed, _make_signed_bytes(content))
        return json.dumps({**content, "key": public_key.hex(), "signature": signature.hex()}, indent=1) + "\n"


def read_receipt(content: bytes, *, expected_key: str | None = None) -> tuple[Receipt, str]:
    """Parse a receipt (signed privacy statement of an output), and check its signature.

    Without ``expected_key``, the signature only proves that the receipt has not been altered, because anyone can sign
    with a key of their own.

    Args:
        content: The bytes of the file.
        expected_key: The expected public key, 64 hexadecimal digits.

    Returns:
        The receipt and the public key that signed it.

    Raises:
        ReceiptError: The content is not a receipt, was altered, or has the signature of another key.
        CryptoUnavailable: Signatures need the package ``cryptography``.

    Example:
        >>> from textveil import Sanitizer
        >>> statement = Sanitizer.load().sanitize("A warm film.", protect="words", epsilon=8).statement
        >>> signed = ReceiptWriter(Path("receipt.key"), statement).format_signed()
        >>> receipt, public_key = read_receipt(signed.encode())
        >>> receipt.mechanism, len(public_key)
        ('staircase', 64)
    """
    check_cryptography("a receipt")
    malformed = ReceiptError("this is not a receipt that textveil has written")
    try:
        fields = parse_json(content, _LOCATION, max_bytes=MAX_RECEIPT_BYTES)
        parse_choice(fields.get("format"), (FORMAT,), _LOCATION)
        version = parse_integer(fields.get("format_version"), 1, _MAX_VERSION, _LOCATION)
        if version != VERSION:
            raise ReceiptError(
                f"the receipt has format version {version}, but this release reads version {VERSION}: verify it with "
                "the release that wrote it"
            )
        parse_record(fields, _KEYS, _LOCATION)
        public_key, signature = (
            bytes.fromhex(parse_text(fields.pop(name), _LOCATION)) for name in ("key", "signature")
        )
    except (BundleError, ValueError):
        raise malformed from None
    if not is_valid_signature(public_key, signature, _make_signed_bytes(fields)):
        raise ReceiptError("the signature is invalid: the receipt was altered")
    if expected_key is not None and expected_key.lower() != public_key.hex():
        raise ReceiptError(
            "another key signed the receipt: get one from the expected signer, or correct the expected key"
        )
    receipt_fields = {name: fields[name] for name in Receipt.__annotations__}
    try:
        _check_fields(receipt_fields)
    except BundleError:
        raise malformed from None
    return Receipt(**receipt_fields), public_key.hex()


def _check_fields(fields: dict[str, Any]) -> None:
    """Check that the fields of a receipt have the right types and only printable characters.

    A signature does not make the content harmless: a terminal that prints the receipt would execute control characters.

    Raises:
        BundleDamaged: A field has another type, is out of range, is too long or has unprintable characters.
    """
    options = parse_object(fields["options"], _LOCATION)
    table = parse_object(options.get("table", {"rewritten_columns": []}), _LOCATION)
    printed = [
        fields["bundle"],
        fields["mechanism"],
        fields["output_sha256"],
        *parse_array(table.get("rewritten_columns"), _LOCATION),
    ]
    for value in [*printed, "" if options.get("level") is None else options["level"]]:
        if not parse_text(value, _LOCATION).isprintable() or len(value) >= 200:
            raise BundleDamaged(f"{_LOCATION}: a text is too long, or has characters that cannot be printed")
    for number in (fields["delta"], "0" if fields["epsilon"] is None else fields["epsilon"]):
        parse_text(number, _LOCATION, _NUMBER)
    for count in (fields["documents"], 0 if fields["tokens"] is None else fields["tokens"]):
        parse_integer(count, 0, (1 << 63) - 1, _LOCATION)


def _make_signed_bytes(content: dict[str, Any]) -> bytes:
    return b"textveil-receipt\0" + json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
