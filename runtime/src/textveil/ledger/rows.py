"""Reads and writes the rows of a ledger, within a transaction."""

import sqlite3
from typing import Any

from textveil.errors import LedgerDamaged
from textveil.ledger.account import Account, Budget, exact
from textveil.release import DELTA_UNITS, NAT_UNITS

#: The last release of all when a scope was looked at, by its number, and the sums of the scope up to it.
Verified = dict[bytes, tuple[int, int, int, int]]
_MOST_VERIFIED, _NOTHING = 10_000, (0, 0, 0, 0)
_CONTRADICT = "the sums of a scope are not those of its releases: put back an earlier copy of the ledger"
_SUMS = (
    "SELECT (SELECT coalesce(max(number), 0) FROM releases), coalesce(sum(epsilon), 0), coalesce(sum(delta), 0), "
    "count(*) - count(epsilon) FROM releases WHERE {} = ? AND number > ?"
)
#: From a tenth of all rows on, to go through all is faster than to find those of the scope one by one.
_IS_MOST_OF_IT = (
    "SELECT 10 * (SELECT count(*) FROM releases WHERE scope = ?) > (SELECT coalesce(max(number), 0) FROM releases)"
)
_ACCOUNTS = "SELECT scope, epsilon, delta, unbounded, budget, delta_budget FROM scopes"
#: A row of what was released: day (2026-01-31), tags of scope and request, mechanism, charge in units of both kinds,
#: the output, encrypted, and the tag of its place in a whole call.
Release = tuple[str, bytes, bytes, str, int | None, int, bytes | None, bytes | None]


def checks(connection: sqlite3.Connection) -> tuple[bytes | None, bytes | None]:
    """Returns what tells the device key and the key of the memo from others; ``None`` where there was none yet."""
    found = connection.execute("SELECT device_check, memo_check FROM keys").fetchone()
    return (None, None) if found is None else found


def write_checks(connection: sqlite3.Connection, device: bytes, memo: bytes | None) -> None:
    """Writes those that are missing, and changes none."""
    if checks(connection)[0] is None:
        connection.execute("INSERT INTO keys (device_check) VALUES (?)", (device,))
    connection.execute("UPDATE keys SET memo_check = ? WHERE memo_check IS NULL AND ? IS NOT NULL", (memo, memo))


def account(connection: sqlite3.Connection, scope: bytes) -> Account:
    """Returns the account of a scope; an empty one where it has none."""
    found = connection.execute(_ACCOUNTS + " WHERE scope = ?", (scope,)).fetchone()
    return Account(scope=scope) if found is None else _read(found)


def accounts(connection: sqlite3.Connection) -> list[tuple[Account, int]]:
    """Returns all accounts, by tag, each with its number of releases.

    Raises:
        LedgerDamaged: Sums are not those of the releases.
    """
    found: list[tuple[Account, int]] = []
    for row in connection.execute(_ACCOUNTS + " ORDER BY scope").fetchall():
        read = _read(row)
        verify(connection, read, {})
        number = connection.execute("SELECT count(*) FROM releases WHERE scope = ?", (read.scope,)).fetchone()[0]
        found.append((read, number))
    if sum(number for _, number in found) != connection.execute("SELECT count(*) FROM releases").fetchone()[0]:
        raise LedgerDamaged(_CONTRADICT)
    return found


def verify(connection: sqlite3.Connection, account: Account, verified: Verified) -> None:
    """Checks that the sums of an account are those of its releases.

    Releases are only added, as a rule: where the sums fit those that were looked at before and what came since, the
    others are not read again.

    Args:
        connection: An open transaction.
        account: The account.
        verified: Sums that were looked at before, by scope; those of this one are put in.

    Raises:
        LedgerDamaged: They are not.
    """
    wanted = (account.epsilon_units, account.delta_units, account.unbounded)
    for last, *before in (verified.pop(account.scope, _NOTHING), _NOTHING):
        many = bool(last) or connection.execute(_IS_MOST_OF_IT, (account.scope,)).fetchone()[0]
        column = (
            "+scope" if many else "scope"
        )  # the plus keeps SQLite from the index: it goes through the rows in order
        last, *added = connection.execute(_SUMS.format(column), (account.scope, last)).fetchone()
        if tuple(map(sum, zip(before, added, strict=True))) == wanted:
            if len(verified) >= _MOST_VERIFIED:
                verified.clear()
            verified[account.scope] = (last, *wanted)
            return
    raise LedgerDamaged(_CONTRADICT)


def write(connection: sqlite3.Connection, written: Account) -> None:
    """Writes an account."""
    budget = (None, None) if written.budget is None else written.budget.units
    connection.execute(
        "INSERT INTO scopes (scope, epsilon, delta, unbounded, budget, delta_budget) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (scope) DO UPDATE SET epsilon = excluded.epsilon, delta = excluded.delta, "
        "unbounded = excluded.unbounded, budget = excluded.budget, delta_budget = excluded.delta_budget",
        (written.scope, written.epsilon_units, written.delta_units, written.unbounded, *budget),
    )


def add(connection: sqlite3.Connection, release: Release) -> None:
    """Adds a release."""
    connection.execute(
        "INSERT INTO releases (day, scope, request, mechanism, epsilon, delta, output, whole) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        release,
    )


def count(connection: sqlite3.Connection, scope: bytes, request: bytes) -> int:
    """Returns how many draws of a request a scope has."""
    query = "SELECT count(*) FROM releases WHERE scope = ? AND request = ?"
    return connection.execute(query, (scope, request)).fetchone()[0]


def output(connection: sqlite3.Connection, scope: bytes, whole: bytes) -> bytes | None:
    """Returns the stored output of one place of a whole call, encrypted."""
    query = "SELECT output FROM releases WHERE scope = ? AND whole = ? AND output IS NOT NULL LIMIT 1"
    found = connection.execute(query, (scope, whole)).fetchone()
    return None if found is None else found[0]


def releases(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    """Returns all releases but their stored outputs, in order, as plain values for JSON."""
    query = "SELECT day, scope, request, mechanism, epsilon, delta, output IS NOT NULL FROM releases ORDER BY number"
    return [
        {
            "day": day,
            "scope": scope.hex(),
            "request": request.hex(),
            "mechanism": mechanism,
            "nats": None if epsilon is None else exact(epsilon, NAT_UNITS),
            "delta": exact(delta, DELTA_UNITS),
            "stored": bool(stored),
        }
        for day, scope, request, mechanism, epsilon, delta, stored in connection.execute(query).fetchall()
    ]


def delete(connection: sqlite3.Connection, scope: bytes) -> bool:
    """Forgets a scope with its releases; returns whether there was one."""
    return connection.execute("DELETE FROM scopes WHERE scope = ?", (scope,)).rowcount > 0


def delete_outputs(connection: sqlite3.Connection) -> None:
    """Forgets stored outputs and what tells their key; charges stay."""
    connection.execute("UPDATE releases SET output = NULL, whole = NULL")
    connection.execute("UPDATE keys SET memo_check = NULL")


def delete_all(connection: sqlite3.Connection) -> None:
    """Forgets everything."""
    for table in ("releases", "scopes", "keys"):
        connection.execute(f"DELETE FROM {table}")


def _read(row: tuple[Any, ...]) -> Account:
    scope, epsilon, delta, unbounded, budget, delta_budget = row
    limit = None if budget is None else Budget.of_units(budget, delta_budget)
    return Account(scope=scope, epsilon_units=epsilon, delta_units=delta, unbounded=unbounded, budget=limit)
