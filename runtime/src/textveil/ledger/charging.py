"""Charges draws within one transaction: in groups, each as a whole or not at all."""

import sqlite3
import time
from collections.abc import Sequence
from functools import cache

from textveil.errors import BudgetError
from textveil.ledger import rows
from textveil.ledger.account import Account, Budget
from textveil.ledger.entry import Entered, Entry
from textveil.ledger.tags import Tags


def charge_groups(
    connection: sqlite3.Connection, tags: Tags, groups: Sequence[Sequence[Entry]], budget: Budget | None
) -> list[list[Entered] | BudgetError]:
    """Charges groups one after the other: ``Ledger.charge_groups``.

    Args:
        connection: An open transaction.
        tags: Makes tags.
        groups: The draws. What is refused of one is not charged, and the next are.
        budget: The budget of every scope that is met: its first one, or a smaller one.
    """
    charging = _Charging(connection, tags, budget)
    outcomes: list[list[Entered] | BudgetError] = []
    for group in groups:
        try:
            outcomes.append(charging.charge(group))
        except BudgetError as error:
            outcomes.append(error)
    charging.write()
    return outcomes


def stored(connection: sqlite3.Connection, tags: Tags, scope: bytes, whole: bytes) -> bytes | None:
    """Returns what a memo has for one place of a whole call; ``None`` where it has nothing."""
    place = tags.whole(scope, whole)
    found = rows.output(connection, scope, place) if tags.memo else None
    return None if found is None else tags.opened(found, scope + place)


class _Charging:
    def __init__(self, connection: sqlite3.Connection, tags: Tags, budget: Budget | None) -> None:
        self._connection, self._tags, self._budget = connection, tags, budget
        self._day = time.strftime("%Y-%m-%d", time.gmtime())
        self._tag_of_scope = cache(tags.scope)
        self._accounts: dict[bytes, Account] = {}
        self._drawn: dict[bytes, int] = {}

    def charge(self, group: Sequence[Entry]) -> list[Entered]:
        """Charges a group: first all sums, then all rows, so that a refusal leaves no trace of it."""
        accounts: dict[bytes, Account] = {}
        found: list[tuple[Entry, bytes, bytes | None]] = []
        for entry in group:
            scope = self._tag_of_scope(entry.scope)
            given = stored(self._connection, self._tags, scope, entry.whole) if entry.output is not None else None
            found.append((entry, scope, given))
            if given is None:
                account = accounts.get(scope) or self._account(scope)
                accounts[scope] = account.charged(entry.charge, entry.mechanism)
        self._accounts |= accounts
        return [self._add(entry, scope) if given is None else Entered(0, given) for entry, scope, given in found]

    def write(self) -> None:
        """Writes the sums."""
        for account in self._accounts.values():
            rows.write(self._connection, account)

    def _account(self, scope: bytes) -> Account:
        if scope in self._accounts:
            return self._accounts[scope]
        found = rows.account(self._connection, scope)
        return found if self._budget is None else found.limited(self._budget)

    def _add(self, entry: Entry, scope: bytes) -> Entered:
        _, request = self._tags.request(scope, entry.request)
        if request not in self._drawn:
            self._drawn[request] = rows.count(self._connection, scope, request)
        before = self._drawn[request]
        self._drawn[request] += 1
        whole = self._tags.whole(scope, entry.whole) if entry.output is not None else None
        output = None if whole is None else self._tags.sealed(entry.output or b"", scope + whole)
        rows.add(self._connection, self._day, scope, request, entry.mechanism, entry.charge, output, whole)
        return Entered(before)
