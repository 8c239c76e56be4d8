"""Recording of spends inside one transaction: in groups, each group whole or not at all."""

import sqlite3
import time
from collections.abc import Sequence
from functools import cache

from textveil.errors import BudgetError
from textveil.ledger import rows
from textveil.ledger.account import Account, Budget
from textveil.ledger.entry import Entry, Posted
from textveil.ledger.tags import Tags


def posted_in(
    connection: sqlite3.Connection,
    tags: Tags,
    groups: Sequence[Sequence[Entry]],
    budget: Budget | None,
    verified: rows.Verified,
    *,
    together: bool,
) -> list[list[Posted] | BudgetError]:
    """Record the spends of groups in order, inside an open transaction: ``Ledger.post_groups``.

    Args:
        connection: The open transaction.
        tags: Tags and encryption of the ledger.
        groups: The releases of each group.
        budget: Budget of each privacy unit of the call. It is written even if groups are refused.
        verified: Cache of verified sums (``rows.verify``); updated.
        together: Whether the refusal of one group also prevents the spends of all others.

    Returns:
        Per group the result of each release, or the error.
    """
    posting = _Posting(connection, tags, budget, verified)
    outcomes: list[list[Posted] | BudgetError] = []
    for group in groups:
        try:
            outcomes.append(posting.post(group, together))
        except BudgetError as error:
            outcomes.append(error.with_traceback(None))  # its frames hold private requests
    refused = together and any(isinstance(outcome, BudgetError) for outcome in outcomes)
    posting.write(sums=not refused)
    return outcomes


class _Posting:
    """Spends of one transaction in memory; ``write`` stores all of them, or only the budgets."""

    def __init__(
        self, connection: sqlite3.Connection, tags: Tags, budget: Budget | None, verified: rows.Verified
    ) -> None:
        self._connection, self._tags, self._budget, self._verified = connection, tags, budget, verified
        self._day = time.strftime("%Y-%m-%d", time.gmtime())
        self._tag_of_scope = cache(tags.scope)
        self._found: dict[bytes, Account] = {}
        self._limited: dict[bytes, Account] = {}
        self._after: dict[bytes, Account] = {}
        self._releases: list[rows.Release] = []
        self._given: dict[tuple[bytes, bytes], bytes] = {}
        self._drawn: dict[bytes, int] = {}

    def post(self, group: Sequence[Entry], together: bool) -> list[Posted]:
        """Add a group whole or not at all.

        Args:
            group: Its releases.
            together: Whether error messages report the spend before the first group, not before this one.

        Raises:
            BudgetError: A budget does not cover a release of the group, or is larger than the budget of its privacy
                unit.
        """
        found = [(entry, *self._stored(entry)) for entry in group]
        scopes = {scope: entry.scope for entry, scope, _, given in found if given is None}
        refused = [error for scope, name in scopes.items() if (error := self._meet(scope, name)) is not None]
        for error in refused:
            raise error
        accounts: dict[bytes, Account] = {}
        for entry, scope, _, given in found:
            if given is None:
                before = self._after.get(scope, self._limited[scope])
                spent = self._limited[scope] if together else before
                try:
                    accounts[scope] = accounts.get(scope, before).after(entry.charge, entry.mechanism, spent)
                except BudgetError as error:
                    error.scope = entry.scope
                    raise
        self._after |= accounts
        return [
            Posted(0, given) if given is not None else self._add(entry, scope, place)
            for entry, scope, place, given in found
        ]

    def write(self, *, sums: bool) -> None:
        """Write the budgets, and with ``sums`` also the sums and the releases."""
        after = self._after if sums else {}
        for scope, limited in self._limited.items():
            if scope in after or limited != self._found[scope]:
                rows.write(self._connection, after.get(scope, limited))
        for release in self._releases if sums else ():
            rows.add(self._connection, release)

    def _meet(self, scope: bytes, name: str) -> BudgetError | None:
        """Load, verify and limit the account of a privacy unit at its first use; return the refusal."""
        if scope in self._limited:
            return None
        if (found := self._found.get(scope)) is None:
            rows.verify(self._connection, found := rows.account(self._connection, scope), self._verified)
            self._found[scope] = found
        try:
            self._limited[scope] = found if self._budget is None else found.limited(self._budget)
        except BudgetError as error:
            error.scope = name
            return error
        return None

    def _stored(self, entry: Entry) -> tuple[bytes, bytes | None, bytes | None]:
        """Return the tags of the privacy unit and the cache entry, and the stored output.

        The last two are ``None`` without a replay cache; the output is ``None`` if the entry does not exist.
        """
        scope = self._tag_of_scope(entry.scope)
        if entry.output is None:
            return scope, None, None
        place = self._tags.whole(scope, entry.whole)
        if (scope, place) in self._given:
            return scope, place, self._given[scope, place]
        return scope, place, stored(self._connection, self._tags, scope, entry.whole)

    def _add(self, entry: Entry, scope: bytes, place: bytes | None) -> Posted:
        request = self._tags.request(scope, entry.request)
        if request not in self._drawn:
            self._drawn[request] = rows.count(self._connection, scope, request)
        before = self._drawn[request]
        self._drawn[request] += 1
        output = None if place is None else self._tags.sealed(entry.output or b"", scope + place)
        if place is not None and output is not None:
            self._given[scope, place] = entry.output or b""
        units = (entry.charge.epsilon_units, entry.charge.delta_units)
        self._releases.append((self._day, scope, request, entry.mechanism, *units, output, place))
        return Posted(before)


def stored(connection: sqlite3.Connection, tags: Tags, scope: bytes, whole: bytes) -> bytes | None:
    """Return the decrypted output of a cache entry; ``None`` if nothing is stored."""
    place = tags.whole(scope, whole)
    found = rows.output(connection, scope, place) if tags.memo else None
    return None if found is None else tags.opened(found, scope + place)
