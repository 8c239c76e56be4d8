"""The public class ``Ledger``: records each spend on the disk before the output is released.

docs/proofs/ledger.md proves that the sums bound the privacy loss of a privacy unit.
"""

import json
import os
import sqlite3
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from textveil.bundle.kept import lies_in
from textveil.bundle.signatures import require_cryptography
from textveil.errors import BudgetError, KeyFileError, OptionError
from textveil.ledger import rows
from textveil.ledger.account import Account, Budget
from textveil.ledger.database import WAIT_S, transaction
from textveil.ledger.entry import Entry, Posted
from textveil.ledger.keys import DEVICE_KEY, MEMO_KEY, key_path_of, read_key, refuse_own_files
from textveil.ledger.opening import begin, begin_anew
from textveil.ledger.posting import posted_in, stored
from textveil.ledger.sources import (
    Issued,
    R,
    Source,
    canonical_bytes,
    encoder_source,
    request_bytes,
    scopes_of,
    text_source,
    whole_calls,
)
from textveil.ledger.tags import Tags
from textveil.ledger.waiting import Waiting
from textveil.sequences import in_order

if TYPE_CHECKING:
    from textveil.text.options import Options
    from textveil.text.sanitizer import Sanitizer
    from textveil.text.statement import Result
    from textveil.vector.encoder import Encoder
    from textveil.vector.index_encoder import IndexEncoder

#: Name of the privacy unit of calls without ``scope``.
DEFAULT_SCOPE = "default"


class Ledger:
    """Privacy ledger: a SQLite database of tags, dates and spends, without plain text.

    Instances are safe to share between threads and to use after a fork. Any number of processes can use one file.

    Args:
        path: The database file; created at first use, private to its owner.
        key: File of the device key, which derives the tags; by default ``path`` with the suffix ``.key``. Created at
            the first use of the ledger. Without this file the ledger is unusable.
        memo_key: File of the key of the replay cache, created at first use, outside the ledger's folder and its
            subfolders. With it the ledger stores encrypted outputs, and a call with equal options, privacy units and
            texts (all of them) returns the stored outputs without a new spend. Needs the extra ``crypto``.
        wait_s: Seconds to wait for other processes.

    Raises:
        LedgerError, LedgerBusy, LedgerDamaged: The file is unusable.
        KeyFileError: A key is missing, belongs to another ledger, has permissions for others, or is in the wrong
            folder.
        CryptoUnavailable: The replay cache needs the package ``cryptography``.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        key: str | Path | None = None,
        memo_key: str | Path | None = None,
        wait_s: float = WAIT_S,
    ) -> None:
        self.path: Path = Path(os.path.realpath(path))
        self.key_path: Path = key_path_of(self.path, key)
        self._wait_s = wait_s
        self._verified: rows.Verified = {}
        self._charging: Waiting[list[list[Posted] | BudgetError]] = Waiting(self._transaction)
        if memo_key is not None:
            require_cryptography("a memo")
            if lies_in(memo_key, self.path.parent):
                raise KeyFileError(
                    f"{MEMO_KEY}: not in the ledger's folder or below: a copy of it would hold all outputs"
                )
        refuse_own_files(self.path, self.key_path, None if memo_key is None else Path(memo_key))
        self.created: bool = begin(self.path, self.key_path, wait_s)
        with transaction(self.path, wait_s=wait_s) as connection:
            device_check, memo_check = rows.checks(connection)
            self._tags = Tags(
                read_key(self.key_path, DEVICE_KEY, make=device_check is None),
                None if memo_key is None else read_key(Path(memo_key), MEMO_KEY, make=memo_check is None),
            )
            rows.write_checks(connection, *self._tags.checks)
            self._require_keys(connection)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce__(self) -> Any:
        raise TypeError("a ledger is not pickled: it holds keys; open it again")

    @contextmanager
    def _transaction(self, *, write: bool = True) -> Generator[sqlite3.Connection]:
        """Open a transaction and check that the keys of this instance are still those of the ledger."""
        with transaction(self.path, write=write, wait_s=self._wait_s) as connection:
            self._require_keys(connection)
            yield connection

    def _require_keys(self, connection: sqlite3.Connection) -> None:
        """Raise an error if the ledger has other keys, as after a ``rotate`` by another process.

        Raises:
            KeyFileError: The device key or the key of the replay cache differs.
        """
        device_check, memo_check = self._tags.checks
        found_device, found_memo = rows.checks(connection)
        if found_device != device_check:
            raise KeyFileError(f"{DEVICE_KEY}: this is the key of another ledger")
        if memo_check is not None and found_memo != memo_check:
            raise KeyFileError(f"{MEMO_KEY}: the stored outputs are under another key")

    @property
    def memo(self) -> bool:
        """Return whether the ledger has a replay cache.

        With a replay cache the ledger stores encrypted outputs and returns them to equal calls.
        """
        return self._tags.memo

    def sanitize(
        self,
        sanitizer: "Sanitizer",
        text: str,
        *,
        scope: str = DEFAULT_SCOPE,
        budget: Budget | None = None,
        **options: "Unpack[Options]",
    ) -> "Issued[Result]":
        """Sanitize one text and record its spend: ``sanitize_batch`` with one text."""
        return self.sanitize_batch(sanitizer, [text], scope=scope, budget=budget, **options)[0]

    def sanitize_batch(
        self,
        sanitizer: "Sanitizer",
        texts: Sequence[str],
        *,
        scope: str | Sequence[str] = DEFAULT_SCOPE,
        budget: Budget | None = None,
        **options: "Unpack[Options]",
    ) -> "list[Issued[Result]]":
        """Sanitize texts, each as its own document, and record all spends in one transaction.

        If one release fails, the ledger records none and this method releases nothing.

        Args:
            sanitizer: The sanitizer that randomizes the texts.
            texts: The texts.
            scope: Name of the privacy unit of all texts, or one name per text.
            budget: Budget of each privacy unit of this call; it can only be set first or lowered.
            options: As in ``Sanitizer.sanitize``.

        Returns:
            One ``Issued`` per text: the result, and its record in the ledger. A result from the replay cache has no
            mapping.

        Raises:
            BudgetError: A budget does not cover a release. Nothing is released for any text.
            LedgerError, LedgerBusy: The ledger cannot be written. Nothing is released.
            OptionError, InputError: As ``Sanitizer.sanitize_batch``; or the numbers of privacy units and texts differ;
                or the ledger has a replay cache and the mode ``names`` has a further detector.

        Privacy:
            The spend is ``L`` per randomized word under ``staircase``, and the pure epsilon times the number of tokens
            under ``santext``, ``krr`` and ``random``. ``santext+`` and ``fbdd`` have no finite epsilon: the ledger
            records their releases, and refuses them under a budget. The sums bound the loss of all releases of a
            privacy unit (docs/proofs/ledger.md).
        """
        source = text_source(sanitizer, options)
        if self.memo and source.options["promise"].get("also"):  # the options do not identify the detector
            raise OptionError("a memo would give what another detector left: leave the detector or the memo out")
        return self._issued(source, in_order(texts), scope, budget)

    def encode_batch(
        self,
        encoder: "Encoder | IndexEncoder",
        texts: Sequence[str],
        *,
        scope: str | Sequence[str] = DEFAULT_SCOPE,
        budget: Budget | None = None,
        **options: Any,
    ) -> list[Issued[Any]]:
        """Encode texts and record all spends in one transaction or none.

        The spend is the epsilon and the delta of the whole text. Other arguments and errors are those of
        ``sanitize_batch``; ``options`` are those of the encoder's ``encode``.
        """
        return self._issued(encoder_source(encoder, options), in_order(texts), scope, budget)

    def _issued(
        self, source: Source[R], texts: Sequence[str], scope: str | Sequence[str], budget: Budget | None
    ) -> list[Issued[R]]:
        """Draw one release per text, record all spends, and return the releases: ``sanitize_batch``.

        The draws precede the transaction, so that other threads and processes wait only for the disk. A draw is
        discarded unseen if the replay cache has received an output for it in the meantime.
        """
        scopes = scopes_of(texts, scope)
        options = canonical_bytes(source.options)
        requests = [request_bytes(options, text) for text in texts]
        wholes = whole_calls(scopes, requests) if self.memo else [b""] * len(texts)
        known = self.stored(zip(scopes, wholes, strict=True))
        if known and None not in known:
            return [Issued(source.unpack(json.loads(packed or b"")), 0, True) for packed in known]
        drawn = source.draw(texts)
        entries = [
            Entry(
                scope=name,
                request=request,
                mechanism=made.statement.mechanism,
                charge=made.statement.charge,
                output=json.dumps(source.pack(made)).encode() if self.memo else None,
                whole=whole,
            )
            for name, request, made, whole in zip(scopes, requests, drawn, wholes, strict=True)
        ]
        return [
            Issued(made, posted.before, False)
            if posted.stored is None
            else Issued(source.unpack(json.loads(posted.stored)), 0, True)
            for made, posted in zip(drawn, self.post(entries, budget=budget), strict=True)
        ]

    def post(self, entries: Iterable[Entry], *, budget: Budget | None = None) -> list[Posted]:
        """Record the spends of releases in one transaction, all or none.

        For releases that ``sanitize_batch`` and ``encode_batch`` did not make. The spends are on the disk when this
        method returns: release the outputs only then. Release ``Posted.stored`` in place of an output where it is not
        ``None``.

        Raises:
            BudgetError: A budget does not cover a release. Nothing is recorded except a new budget.
            LedgerError, LedgerBusy, LedgerDamaged: The ledger cannot be written.
            OptionError: ``budget`` is not a ``Budget``.
        """
        (posted,) = self.post_groups([list(entries)], budget=budget, together=True)
        if isinstance(posted, BudgetError):
            raise posted
        return posted

    def post_groups(
        self, groups: Sequence[Sequence[Entry]], *, budget: Budget | None = None, together: bool = False
    ) -> "list[list[Posted] | BudgetError]":
        """Record the spends of groups of releases in one transaction, each group whole or not.

        For many releases that succeed independently. If a budget does not cover a group, the result has a
        ``BudgetError`` in its position, and the ledger records nothing of it. Concurrent calls of several threads share
        a transaction.

        Args:
            groups: The releases of each group.
            budget: As in ``sanitize_batch``.
            together: Whether the refusal of one group also prevents the spends of all others.

        Returns:
            Per group the result of each release, or the error.

        Raises:
            LedgerError, LedgerBusy, LedgerDamaged: The ledger cannot be written. Nothing is recorded.
            OptionError: ``budget`` is not a ``Budget``.
        """
        if not isinstance(cast(object, budget), Budget | None):
            raise OptionError("a budget is a Budget: Budget(60) is 60 nats")
        if not any(groups):
            return [[] for _ in groups]
        return self._charging.written(
            lambda connection: posted_in(connection, self._tags, groups, budget, self._verified, together=together)
        )

    def stored(self, wholes: Iterable[tuple[str, bytes]]) -> list[bytes | None]:
        """Return the stored outputs of the replay cache for pairs of privacy unit and ``whole``.

        The result has ``None`` where nothing is stored, and everywhere without a replay cache.
        """
        if not self.memo:
            return [None for _ in wholes]
        with self._transaction(write=False) as connection:
            return [stored(connection, self._tags, self._tags.scope(scope), whole) for scope, whole in wholes]

    def released_before(self, scope: str, request: bytes) -> int:
        """Return the number of releases of an equal request in a privacy unit."""
        tag = self._tags.scope(scope)
        with self._transaction(write=False) as connection:
            return rows.count(connection, tag, self._tags.request(tag, request))

    def account(self, scope: str = DEFAULT_SCOPE) -> Account:
        """Return the account of a privacy unit; it is empty for an unknown name."""
        with self._transaction(write=False) as connection:
            return rows.account(connection, self._tags.scope(scope))

    def accounts(self) -> list[tuple[Account, int]]:
        """Return the accounts of all privacy units, by tag, each with its number of releases.

        Raises:
            LedgerDamaged: The sums of an account differ from those of its releases.
        """
        with self._transaction(write=False) as connection:
            return rows.accounts(connection)

    def export(self) -> dict[str, Any]:
        """Return the whole content of the ledger without stored outputs, as plain values for JSON.

        Raises:
            LedgerDamaged: The sums of an account differ from those of its releases.
        """
        scopes = [{**account.to_dict(), "releases": releases} for account, releases in self.accounts()]
        with self._transaction(write=False) as connection:
            releases = rows.releases(connection)
        return {"format": "textveil-ledger", "format_version": 1, "scopes": scopes, "releases": releases}

    def delete(self, scope: str) -> None:
        """Delete a privacy unit: its account, its budget, its releases and their stored outputs.

        Raises:
            OptionError: The ledger has no privacy unit of this name.
        """
        with self._transaction() as connection:
            if not rows.delete(connection, self._tags.scope(scope)):
                raise OptionError("the ledger has no scope of that name")

    def delete_outputs(self) -> None:
        """Delete all stored outputs and the check value of the replay cache's key; spends stay."""
        with self._transaction() as connection:
            rows.delete_outputs(connection)

    @classmethod
    def rotate(cls, path: str | Path, *, key: str | Path | None = None) -> "Ledger":
        """Reset a ledger under a new device key; delete all accounts, budgets and stored outputs.

        The old key may be missing; so may the ledger if its key exists. After an interruption the ledger and its key
        may not match: opening it raises ``KeyFileError``, and ``rotate`` works again.

        Raises:
            LedgerError: Neither a ledger nor a key exists.
            KeyFileError: The key's path has another kind of file, or ``key`` is the key of another ledger.
        """
        begin_anew(Path(os.path.realpath(path)), key)
        return cls(path, key=key)
