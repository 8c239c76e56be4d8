"""Reads and writes the rows of a ledger, within a transaction."""

import sqlite3
from typing import Any

from textveil.errors import LedgerDamaged
from textveil.ledger.account import Account, Budget, exact
from textveil.release import DELTA_UNITS, NAT_UNITS, Charge

_ACCOUNTS = "SELECT scope, epsilon, delta, unbounded, budget, delta_budget FROM scopes"


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
    return Account(scope) if found is None else _read(found)


def accounts(connection: sqlite3.Connection) -> list[tuple[Account, int]]:
    """Returns all accounts, by tag, each with its number of releases.

    Raises:
        LedgerDamaged: Sums are not those of the releases.
    """
    sums = (
        "SELECT coalesce(sum(epsilon), 0), coalesce(sum(delta), 0), count(*) - count(epsilon), count(*) "
        "FROM releases WHERE scope = ?"
    )
    found: list[tuple[Account, int]] = []
    for row in connection.execute(_ACCOUNTS + " ORDER BY scope").fetchall():
        read = _read(row)
        *added, number = connection.execute(sums, (read.scope,)).fetchone()
        if added != [read.epsilon, read.delta, read.unbounded]:
            raise LedgerDamaged("the sums of a scope are not those of its releases")
        found.append((read, number))
    return found


def write(connection: sqlite3.Connection, written: Account) -> None:
    """Writes an account."""
    budget = (None, None) if written.budget is None else (written.budget.epsilon, written.budget.delta)
    connection.execute(
        "INSERT INTO scopes (scope, epsilon, delta, unbounded, budget, delta_budget) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (scope) DO UPDATE SET epsilon = excluded.epsilon, delta = excluded.delta, "
        "unbounded = excluded.unbounded, budget = excluded.budget, delta_budget = excluded.delta_budget",
        (written.scope, written.epsilon, written.delta, written.unbounded, *budget),
    )


def add(
    connection: sqlite3.Connection,
    day: str,
    scope: bytes,
    request: bytes,
    mechanism: str,
    charge: Charge,
    output: bytes | None,
    whole: bytes | None,
) -> None:
    """Adds a release."""
    connection.execute(
        "INSERT INTO releases (day, scope, request, mechanism, epsilon, delta, output, whole) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (day, scope, request, mechanism, charge.epsilon, charge.delta, output, whole),
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
    limit = None if budget is None else Budget(budget, delta_budget)
    return Account(scope, epsilon, delta, unbounded, limit)
