"""``Ledger``: every draw is charged, on the disk, before its output leaves. The one class that applications use.

Proof that its sums bound the loss of a scope: docs/proofs/ledger.md.
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
        """A transaction on a ledger that still has these keys."""
        with transaction(self.path, write=write, wait_s=self._wait_s) as connection:
            self._require_keys(connection)
            yield connection

    def _require_keys(self, connection: sqlite3.Connection) -> None:
        """Raises ``KeyFileError`` if the ledger has other keys, or was rotated since it was opened."""
        device_check, memo_check = self._tags.checks
        found_device, found_memo = rows.checks(connection)
        if found_device != device_check:
            raise KeyFileError(f"{DEVICE_KEY}: this is the key of another ledger")
        if memo_check is not None and found_memo != memo_check:
            raise KeyFileError(f"{MEMO_KEY}: the stored outputs are under another key")

    @property
    def memo(self) -> bool:
        """Whether outputs are stored and given again."""
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
    ) -> "list[Issued[Result]]":
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
            OptionError, InputError: As ``Sanitizer.sanitize_batch``; there are not as many scopes as texts; or there is
                a memo, and a detector behind the rung names.

        Privacy:
            Charged are ``L`` for every drawn word under the staircase, the pure level times all tokens under
            ``santext``, ``krr`` and ``random``. ``santext+`` and ``fbdd`` have no finite charge: they are recorded, and
            refused under a budget. The sums bound the loss of all that a scope released (docs/proofs/ledger.md).
        """
        source = text_source(sanitizer, options)
        if self.memo and source.options["promise"].get("also"):  # nothing tells one detector from another
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
        """Encodes texts and charges them, all in one transaction or none.

        Charged are epsilon and delta of the whole text. Other arguments and errors are those of ``sanitize_batch``;
        ``options`` are those of the encoder's ``encode``.
        """
        return self._issued(encoder_source(encoder, options), in_order(texts), scope, budget)

    def _issued(
        self, source: Source[R], texts: Sequence[str], scope: str | Sequence[str], budget: Budget | None
    ) -> list[Issued[R]]:
        """Draws a release for each text, charges them all, and gives them: ``sanitize_batch``.

        Draws are made before the transaction, so that others wait for its disk alone. A draw that the memo makes
        needless meanwhile is thrown away unseen.
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
        """Charges draws in one transaction, all or none, on the disk before it returns.

        For draws that were not made by ``sanitize_batch`` or ``encode_batch``. Let their outputs leave only when it has
        returned, and ``stored`` instead of them where it is given.

        Raises:
            BudgetError: A budget does not cover its release.
            LedgerError, LedgerBusy, LedgerDamaged: The ledger cannot be written.
        """
        (posted,) = self.post_groups([list(entries)], budget=budget, together=True)
        if isinstance(posted, BudgetError):
            raise posted
        return posted

    def post_groups(
        self, groups: Sequence[Sequence[Entry]], *, budget: Budget | None = None, together: bool = False
    ) -> "list[list[Posted] | BudgetError]":
        """Charges draws in one transaction, each group of them as a whole or not at all.

        For many draws of which each may leave or not. Where a budget does not cover a group, its error stands in place
        of what became of it, and nothing of it is charged. Threads that charge at the same time share a transaction.

        Args:
            groups: The draws.
            budget: As in ``sanitize_batch``.
            together: Whether nothing of the others is charged either where one is refused.

        Raises:
            LedgerError, LedgerBusy, LedgerDamaged: The ledger cannot be written. Nothing is charged.
            OptionError: The budget is not a ``Budget``.
        """
        if not isinstance(cast(object, budget), Budget | None):
            raise OptionError("a budget is a Budget: Budget(60) is 60 nats")
        if not any(groups):
            return [[] for _ in groups]
        return self._charging.written(
            lambda connection: posted_in(connection, self._tags, groups, budget, self._verified, together=together)
        )

    def stored(self, wholes: Iterable[tuple[str, bytes]]) -> list[bytes | None]:
        """Returns what the memo has for some scopes and places of whole calls; ``None`` where it has nothing."""
        if not self.memo:
            return [None for _ in wholes]
        with self._transaction(write=False) as connection:
            return [stored(connection, self._tags, self._tags.scope(scope), whole) for scope, whole in wholes]

    def released_before(self, scope: str, request: bytes) -> int:
        """Returns how many draws of an equal request a scope has."""
        tag = self._tags.scope(scope)
        with self._transaction(write=False) as connection:
            return rows.count(connection, tag, self._tags.request(tag, request))

    def account(self, scope: str = DEFAULT_SCOPE) -> Account:
        """Returns what a scope has spent."""
        with self._transaction(write=False) as connection:
            return rows.account(connection, self._tags.scope(scope))

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
            if not rows.delete(connection, self._tags.scope(scope)):
                raise OptionError("the ledger has no scope of that name")

    def delete_outputs(self) -> None:
        """Forgets all stored outputs and the key of the memo; charges stay."""
        with self._transaction() as connection:
            rows.delete_outputs(connection)

    @classmethod
    def rotate(cls, path: str | Path, *, key: str | Path | None = None) -> "Ledger":
        """Begins anew under a new device key. All accounts, budgets and stored outputs are forgotten.

        The old key need not be there; nor the ledger, where its key is. Interrupted in between, a ledger has a key that
        is not its own, is refused, and can be rotated again.

        Raises:
            LedgerError: There is neither a ledger nor a key.
            KeyFileError: In the key's place is something else, or the key that ``key`` names is of another ledger.
        """
        begin_anew(Path(os.path.realpath(path)), key)
        return cls(path, key=key)
