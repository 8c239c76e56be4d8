"""Queries for the rows of the ledger's database; each runs in a transaction of the caller."""

import sqlite3
from typing import Any

from textveil.errors import LedgerDamaged
from textveil.ledger.account import Account, Budget, exact
from textveil.release import DELTA_UNITS, NAT_UNITS

#: Cache of verified sums: by tag of the privacy unit the number of the ledger's last release at that time, and the
#: sums of epsilon, delta and unbounded releases of the privacy unit up to it.
Verified = dict[bytes, tuple[int, int, int, int]]
_MOST_VERIFIED, _NOTHING = 10_000, (0, 0, 0, 0)
_CONTRADICT = "the sums of a scope are not those of its releases: put back an earlier copy of the ledger"
_SUMS = (
    "SELECT (SELECT coalesce(max(number), 0) FROM releases), coalesce(sum(epsilon), 0), coalesce(sum(delta), 0), "
    "count(*) - count(epsilon) FROM releases WHERE {} = ? AND number > ?"
)
#: With more than a tenth of all rows, a scan of the table is faster than a lookup of each row by the index.
_IS_MOST_OF_IT = (
    "SELECT 10 * (SELECT count(*) FROM releases WHERE scope = ?) > (SELECT coalesce(max(number), 0) FROM releases)"
)
_ACCOUNTS = "SELECT scope, epsilon, delta, unbounded, budget, delta_budget FROM scopes"
#: A row of the table ``releases``: day (2026-01-31), tags of privacy unit and request, mechanism, epsilon and delta in
#: units, encrypted output, and tag of the cache entry.
Release = tuple[str, bytes, bytes, str, int | None, int, bytes | None, bytes | None]


def checks(connection: sqlite3.Connection) -> tuple[bytes | None, bytes | None]:
    """Return the check values of the device key and of the replay cache's key.

    A check value (``Tags.checks``) identifies a key without revealing it. ``None`` means that the ledger has no such
    key yet.
    """
    found = connection.execute("SELECT device_check, memo_check FROM keys").fetchone()
    return (None, None) if found is None else found


def write_checks(connection: sqlite3.Connection, device: bytes, memo: bytes | None) -> None:
    """Store the check values that the ledger lacks; existing values stay."""
    if checks(connection)[0] is None:
        connection.execute("INSERT INTO keys (device_check) VALUES (?)", (device,))
    connection.execute("UPDATE keys SET memo_check = ? WHERE memo_check IS NULL AND ? IS NOT NULL", (memo, memo))


def account(connection: sqlite3.Connection, scope: bytes) -> Account:
    """Return the account of a privacy unit; it is empty for an unknown tag."""
    found = connection.execute(_ACCOUNTS + " WHERE scope = ?", (scope,)).fetchone()
    return Account(scope=scope) if found is None else _read(found)


def accounts(connection: sqlite3.Connection) -> list[tuple[Account, int]]:
    """Return all accounts, ordered by tag, each with its number of releases.

    Raises:
        LedgerDamaged: The sums of an account differ from those of its releases, or a release has no account.
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
    """Check that the sums of an account equal those of its releases.

    Releases are normally only added. If the cached sums plus the releases since then equal the sums of the account, the
    older releases are not read again; otherwise all are.

    Args:
        connection: An open transaction.
        account: The account.
        verified: Cache of verified sums by tag; this function updates it.

    Raises:
        LedgerDamaged: The sums differ.
    """
    wanted = (account.epsilon_units, account.delta_units, account.unbounded)
    for last, *before in (verified.pop(account.scope, _NOTHING), _NOTHING):
        many = bool(last) or connection.execute(_IS_MOST_OF_IT, (account.scope,)).fetchone()[0]
        column = "+scope" if many else "scope"  # the plus disables the index: SQLite scans the rows in order
        last, *added = connection.execute(_SUMS.format(column), (account.scope, last)).fetchone()
        if tuple(map(sum, zip(before, added, strict=True))) == wanted:
            if len(verified) >= _MOST_VERIFIED:
                verified.clear()
            verified[account.scope] = (last, *wanted)
            return
    raise LedgerDamaged(_CONTRADICT)


def write(connection: sqlite3.Connection, written: Account) -> None:
    """Insert or update an account."""
    budget = (None, None) if written.budget is None else written.budget.units
    connection.execute(
        "INSERT INTO scopes (scope, epsilon, delta, unbounded, budget, delta_budget) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (scope) DO UPDATE SET epsilon = excluded.epsilon, delta = excluded.delta, "
        "unbounded = excluded.unbounded, budget = excluded.budget, delta_budget = excluded.delta_budget",
        (written.scope, written.epsilon_units, written.delta_units, written.unbounded, *budget),
    )


def add(connection: sqlite3.Connection, release: Release) -> None:
    """Insert a release."""
    connection.execute(
        "INSERT INTO releases (day, scope, request, mechanism, epsilon, delta, output, whole) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        release,
    )


def count(connection: sqlite3.Connection, scope: bytes, request: bytes) -> int:
    """Return the number of releases of a request in a privacy unit."""
    query = "SELECT count(*) FROM releases WHERE scope = ? AND request = ?"
    return connection.execute(query, (scope, request)).fetchone()[0]


def output(connection: sqlite3.Connection, scope: bytes, whole: bytes) -> bytes | None:
    """Return the stored, encrypted output of a cache entry, or ``None``."""
    query = "SELECT output FROM releases WHERE scope = ? AND whole = ? AND output IS NOT NULL LIMIT 1"
    found = connection.execute(query, (scope, whole)).fetchone()
    return None if found is None else found[0]


def releases(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    """Return all releases without their stored outputs, in order, as plain values for JSON."""
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
    """Delete a privacy unit with its releases; return whether it existed."""
    return connection.execute("DELETE FROM scopes WHERE scope = ?", (scope,)).rowcount > 0


def delete_outputs(connection: sqlite3.Connection) -> None:
    """Delete the stored outputs and the check value of their key; spends stay."""
    connection.execute("UPDATE releases SET output = NULL, whole = NULL")
    connection.execute("UPDATE keys SET memo_check = NULL")


def delete_all(connection: sqlite3.Connection) -> None:
    """Delete all rows of all tables."""
    for table in ("releases", "scopes", "keys"):
        connection.execute(f"DELETE FROM {table}")


def _read(row: tuple[Any, ...]) -> Account:
    scope, epsilon, delta, unbounded, budget, delta_budget = row
    limit = None if budget is None else Budget.of_units(budget, delta_budget)
    return Account(scope=scope, epsilon_units=epsilon, delta_units=delta, unbounded=unbounded, budget=limit)
