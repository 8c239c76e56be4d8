"""``Ledger``: every draw is charged, on the disk, before its output leaves. The one class that applications use.

Proof that its sums bound the loss of a scope: docs/proofs/ledger.md.
"""

import os
import sqlite3
import time
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from textveil.bundle.atomic import atomic_bytes
from textveil.errors import KeyFileError, OptionError
from textveil.ledger import crypto, rows
from textveil.ledger.account import Account, Budget
from textveil.ledger.database import WAIT_S, create, transaction
from textveil.ledger.entry import Entered, Entry
from textveil.ledger.keys import DEVICE_KEY, KEY_BYTES, MEMO_KEY, key_path_of, read_key, refuse_beside, tag
from textveil.ledger.sources import Charged, IndexSource, TextSource, VectorSource, release

if TYPE_CHECKING:
    from textveil.text.options import Options
    from textveil.text.result import Result
    from textveil.text.sanitizer import Sanitizer
    from textveil.vector.encoder import Encoder
    from textveil.vector.index_encoder import IndexEncoder

#: The scope of releases for which none is named.
DEFAULT_SCOPE = "default"


class Ledger:
    """A file that knows what was released: one SQLite database, with tags and numbers and no text.

    Safe to share between threads and to use after a fork; any number of processes may use one file.

    Args:
        path: The file; made at first use, for its owner alone.
        key: The device key, which makes tags; beside the ledger with ``.key`` after its name if left out. Made at the
            ledger's first use. Without it the ledger cannot be used any more.
        memo_key: Where it is given, outputs are stored, encrypted with this key, and an equal call gets them again
            at no charge: one of the same options, scopes and texts, all of them. Made at first use. Not in the
            ledger's folder or below. Needs the extra ``crypto``.
        wait_s: Seconds to wait for other processes.

    Raises:
        LedgerError, LedgerBusy, LedgerDamaged: The file cannot be used.
        KeyFileError: A key is missing, not that of this ledger, not its owner's alone, or in the wrong folder.
        CryptoUnavailable: A memo needs the package ``cryptography``.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        key: str | Path | None = None,
        memo_key: str | Path | None = None,
        wait_s: float = WAIT_S,
    ) -> None:
        self.path = Path(os.path.realpath(path))
        self.key_path = key_path_of(self.path, key)
        self._wait_s = wait_s
        if memo_key is not None:
            crypto.require("a memo")
            refuse_beside(self.path, Path(memo_key))
        self.created = create(self.path)
        self._memo: bytes | None = None
        with transaction(self.path, wait_s=wait_s) as connection:
            device_check, memo_check = rows.checks(connection)
            self._key = read_key(self.key_path, DEVICE_KEY, make=device_check is None)
            if memo_key is not None:
                self._memo = read_key(Path(memo_key), MEMO_KEY, make=memo_check is None)
            rows.write_checks(connection, *self._checks)
            self._require_keys(connection)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce__(self) -> Any:
        raise TypeError("a ledger is not pickled: it holds keys; open it again")

    @contextmanager
    def _transaction(self, *, write: bool = True) -> Iterator[sqlite3.Connection]:
        """A transaction on a ledger that still has these keys."""
        with transaction(self.path, write=write, wait_s=self._wait_s) as connection:
            self._require_keys(connection)
            yield connection

    @property
    def _checks(self) -> tuple[bytes, bytes | None]:
        """What tells the keys of a ledger from others, and does not tell the keys."""
        return tag(self._key, "check"), None if self._memo is None else tag(self._memo, "check")

    def _require_keys(self, connection: sqlite3.Connection) -> None:
        """Raises ``KeyFileError`` if the ledger has other keys, or was rotated since it was opened."""
        device_check, memo_check = self._checks
        found_device, found_memo = rows.checks(connection)
        if found_device != device_check:
            raise KeyFileError(f"{DEVICE_KEY}: this is the key of another ledger")
        if memo_check is not None and found_memo != memo_check:
            raise KeyFileError(f"{MEMO_KEY}: the stored outputs are under another key")

    @property
    def memo(self) -> bool:
        """Whether outputs are stored and given again."""
        return self._memo is not None

    def sanitize(
        self,
        sanitizer: "Sanitizer",
        text: str,
        *,
        scope: str = DEFAULT_SCOPE,
        budget: Budget | None = None,
        **options: "Unpack[Options]",
    ) -> "Charged[Result]":
        """Sanitizes one text and charges it: ``sanitize_batch`` of one."""
        return self.sanitize_batch(sanitizer, [text], scope=scope, budget=budget, **options)[0]

    def sanitize_batch(
        self,
        sanitizer: "Sanitizer",
        texts: Sequence[str],
        *,
        scope: str | Sequence[str] = DEFAULT_SCOPE,
        budget: Budget | None = None,
        **options: "Unpack[Options]",
    ) -> "list[Charged[Result]]":
        """Sanitizes texts, each its own document, and charges them, all in one transaction or none.

        Args:
            sanitizer: What draws.
            texts: The texts.
            scope: The scope that all are charged to, or that of each text.
            budget: The budget of every scope that is met: its first one, or a smaller one.
            options: As in ``Sanitizer.sanitize``.

        Returns:
            Results, each with what the ledger says of it. One that the memo gives again has no mapping.

        Raises:
            BudgetError: A budget does not cover its release. Nothing is released of any text.
            LedgerError, LedgerBusy: The ledger cannot be written. Nothing is released.
            OptionError, InputError: As ``Sanitizer.sanitize_batch``; or there are not as many scopes as texts.

        Privacy:
            Charged are ``L`` for every drawn mention under the staircase, the pure level times all tokens under
            ``santext``, ``krr`` and ``random``. ``santext+`` and ``fbdd`` have no finite charge: they are recorded, and
            refused under a budget. The sums bound the loss of all that a scope released (docs/proofs/ledger.md).
        """
        return release(self, TextSource(sanitizer, options), texts, scope, budget)

    def encode_batch(
        self,
        encoder: "Encoder | IndexEncoder",
        texts: Sequence[str],
        *,
        scope: str | Sequence[str] = DEFAULT_SCOPE,
        budget: Budget | None = None,
        **options: Any,
    ) -> list[Charged[Any]]:
        """Encodes texts and charges them, all in one transaction or none.

        Charged are epsilon and delta of the whole text. Other arguments and errors are those of ``sanitize_batch``;
        ``options`` are those of the encoder's ``encode``.
        """
        if hasattr(encoder, "secret_code"):  # an index; no module of vectors is imported to ask
            return release(self, IndexSource(cast("IndexEncoder", encoder), options), texts, scope, budget)
        return release(self, VectorSource(cast("Encoder", encoder), options), texts, scope, budget)

    def charge(self, entries: Iterable[Entry], *, budget: Budget | None = None) -> list[Entered]:
        """Charges draws in one transaction, all or none, on the disk before it returns.

        For draws that were not made by ``sanitize_batch`` or ``encode_batch``. Let their outputs leave only when it has
        returned, and ``stored`` instead of them where it is given.

        Raises:
            BudgetError: A budget does not cover its release.
            LedgerError, LedgerBusy, LedgerDamaged: The ledger cannot be written.
        """
        entries = list(entries)
        if not entries:
            return []
        day = time.strftime("%Y-%m-%d", time.gmtime())
        accounts: dict[bytes, Account] = {}
        drawn: dict[bytes, int] = {}
        entered: list[Entered] = []
        with self._transaction() as connection:
            for entry in entries:
                scope, request = self._tags(entry.scope, entry.request)
                whole = self._whole(scope, entry.whole) if entry.output is not None else None
                stored = None if whole is None else self._stored(connection, scope, whole)
                if stored is not None:
                    entered.append(Entered(0, stored))
                    continue
                if scope not in accounts:
                    found = rows.account(connection, scope)
                    accounts[scope] = found if budget is None else found.limited(budget)
                accounts[scope] = accounts[scope].charged(entry.charge, entry.mechanism)
                if request not in drawn:
                    drawn[request] = rows.count(connection, scope, request)
                output = None if whole is None else self._sealed(entry.output or b"", scope + whole)
                rows.add(connection, day, scope, request, entry.mechanism, entry.charge, output, whole)
                entered.append(Entered(drawn[request]))
                drawn[request] += 1
            for account in accounts.values():
                rows.write(connection, account)
        return entered

    def stored(self, wholes: Iterable[tuple[str, bytes]]) -> list[bytes | None]:
        """Returns what the memo has for some scopes and places of whole calls; ``None`` where it has nothing."""
        if self._memo is None:
            return [None for _ in wholes]
        wholes = list(wholes)
        scopes = {scope: self._scope(scope) for scope, _ in wholes}
        with self._transaction(write=False) as connection:
            return [
                self._stored(connection, scopes[scope], self._whole(scopes[scope], whole)) for scope, whole in wholes
            ]

    def released_before(self, scope: str, request: bytes) -> int:
        """Returns how many draws of an equal request a scope has."""
        with self._transaction(write=False) as connection:
            return rows.count(connection, *self._tags(scope, request))

    def account(self, scope: str = DEFAULT_SCOPE) -> Account:
        """Returns what a scope has spent."""
        with self._transaction(write=False) as connection:
            return rows.account(connection, self._scope(scope))

    def accounts(self) -> list[tuple[Account, int]]:
        """Returns the accounts of all scopes, by tag, each with its number of releases.

        Raises:
            LedgerDamaged: Sums are not those of the releases.
        """
        with self._transaction(write=False) as connection:
            return rows.accounts(connection)

    def export(self) -> dict[str, Any]:
        """Returns all that the ledger holds but stored outputs, as plain values for JSON."""
        scopes = [{**account.to_dict(), "releases": releases} for account, releases in self.accounts()]
        with self._transaction(write=False) as connection:
            releases = rows.releases(connection)
        return {"format": "textveil-ledger", "format_version": 1, "scopes": scopes, "releases": releases}

    def delete(self, scope: str) -> None:
        """Forgets a scope: its account, its budget, its releases and their stored outputs.

        Raises:
            OptionError: The ledger has no such scope.
        """
        with self._transaction() as connection:
            if not rows.delete(connection, self._scope(scope)):
                raise OptionError("the ledger has no scope of that name")

    def delete_outputs(self) -> None:
        """Forgets all stored outputs and the key of the memo; charges stay."""
        with self._transaction() as connection:
            rows.delete_outputs(connection)

    @classmethod
    def rotate(cls, path: str | Path, *, key: str | Path | None = None) -> "Ledger":
        """Begins anew under a new device key. All accounts, budgets and stored outputs are forgotten.

        The old key need not be there. Interrupted in between, a ledger has a key that is not its own, is refused, and
        can be rotated again.
        """
        path = Path(os.path.realpath(path))
        with transaction(path) as connection:
            rows.delete_all(connection)
            with atomic_bytes(key_path_of(path, key), private=True) as file:
                file.write(os.urandom(KEY_BYTES))
        return cls(path, key=key)

    def _scope(self, name: str) -> bytes:
        if not isinstance(name, str):
            raise OptionError("the name of a scope is a string")
        return tag(self._key, "scope", unicodedata.normalize("NFC", name).encode("utf-8", "surrogatepass"))

    def _tags(self, scope: str, request: bytes) -> tuple[bytes, bytes]:
        """Tags of a scope and of a request in it: equal requests of two scopes have unlike tags."""
        of_scope = self._scope(scope)
        return of_scope, tag(self._key, "request", of_scope, request)

    def _whole(self, scope: bytes, whole: bytes) -> bytes:
        return tag(self._key, "whole", scope, whole)

    def _stored(self, connection: sqlite3.Connection, scope: bytes, whole: bytes) -> bytes | None:
        found = None if self._memo is None else rows.output(connection, scope, whole)
        return None if found is None or self._memo is None else crypto.unseal(self._memo, found, scope + whole)

    def _sealed(self, output: bytes, context: bytes) -> bytes | None:
        return None if self._memo is None else crypto.seal(self._memo, output, context)
