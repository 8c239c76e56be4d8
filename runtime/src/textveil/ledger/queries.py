"""Queries for the rows of the ledger's database. The caller opens the transaction of each query."""

import sqlite3
from typing import Any

from textveil.errors import LedgerDamaged
from textveil.ledger.account import Account, Budget, format_exact
from textveil.release import DELTA_UNITS, EPSILON_UNITS

#: Cache of verified sums, by the keyed hash of a privacy unit. Each entry has the id of the last release of the ledger
#: at the time of the check; and the sums of epsilon, delta and unbounded releases of the privacy unit at that time.
VerifiedSums = dict[bytes, tuple[int, int, int, int]]
_MAX_VERIFIED, _ZERO_SUMS = 10_000, (0, 0, 0, 0)
_WRONG_SUMS = "the sums of a privacy unit differ from the sums of its releases: restore an undamaged copy of the ledger"
_SUMS_QUERY = (
    "SELECT (SELECT coalesce(max(number), 0) FROM releases), coalesce(sum(epsilon), 0), coalesce(sum(delta), 0), "
    "count(*) - count(epsilon) FROM releases WHERE {} = ? AND number > ?"
)
#: Query whether a privacy unit has more than a tenth of all rows. If so, scanning the table is faster than the index.
_LARGE_SHARE_QUERY = (
    "SELECT 10 * (SELECT count(*) FROM releases WHERE privacy_unit = ?) > "
    "(SELECT coalesce(max(number), 0) FROM releases)"
)
_ACCOUNTS_QUERY = "SELECT privacy_unit, epsilon, delta, unbounded, budget_epsilon, budget_delta FROM privacy_units"
#: A row of the table ``releases``: day (such as 2026-01-31), keyed hashes of privacy unit and request, mechanism,
#: epsilon and delta in integer units, encrypted output, and keyed hash of the cache entry.
ReleaseRow = tuple[str, bytes, bytes, str, int | None, int, bytes | None, bytes | None]


def read_key_checks(connection: sqlite3.Connection) -> tuple[bytes | None, bytes | None]:
    """Return the check values of the key for keyed hashes, and of the encryption key for stored outputs.

    A check value is a hash that identifies a key without revealing it (``LedgerTags.key_checks``). It is ``None`` if
    the ledger has no such key yet.
    """
    row = connection.execute("SELECT device_check, replay_cache_check FROM keys").fetchone()
    return (None, None) if row is None else row


def write_key_checks(connection: sqlite3.Connection, device_check: bytes, cache_check: bytes | None) -> None:
    """Store check values (hashes that identify keys) of the ledger's keys, unless check values are stored already."""
    if read_key_checks(connection)[0] is None:
        connection.execute("INSERT INTO keys (device_check) VALUES (?)", (device_check,))
    connection.execute(
        "UPDATE keys SET replay_cache_check = ? WHERE replay_cache_check IS NULL AND ? IS NOT NULL",
        (cache_check, cache_check),
    )


def read_account(connection: sqlite3.Connection, unit_tag: bytes) -> Account:
    """Return the account of a privacy unit (such as a person). For an unknown ``unit_tag``, the account is empty.

    ``unit_tag`` is the keyed hash of the unit's name.
    """
    row = connection.execute(_ACCOUNTS_QUERY + " WHERE privacy_unit = ?", (unit_tag,)).fetchone()
    return Account(unit_tag=unit_tag) if row is None else _parse_account(row)


def read_accounts(connection: sqlite3.Connection) -> list[tuple[Account, int]]:
    """Return the accounts of all privacy units (such as persons), sorted by the keyed hashes of their names.

    Returns:
        Pairs of an account and its number of outputs.

    Raises:
        LedgerDamaged: The sums of epsilon and delta in an account differ from the sums over its recorded outputs, or an
            output has no account.
    """
    counted_accounts: list[tuple[Account, int]] = []
    for row in connection.execute(_ACCOUNTS_QUERY + " ORDER BY privacy_unit").fetchall():
        parsed = _parse_account(row)
        check_sums(connection, parsed, {})
        number = connection.execute(
            "SELECT count(*) FROM releases WHERE privacy_unit = ?", (parsed.unit_tag,)
        ).fetchone()[0]
        counted_accounts.append((parsed, number))
    if (
        sum(number for _, number in counted_accounts)
        != connection.execute("SELECT count(*) FROM releases").fetchone()[0]
    ):
        raise LedgerDamaged(_WRONG_SUMS)
    return counted_accounts


def check_sums(connection: sqlite3.Connection, account: Account, verified_sums: VerifiedSums) -> None:
    """Check that the sums of epsilon and delta in an account equal the sums over its recorded outputs.

    First, the function reads only the outputs recorded since the last check, and adds their epsilons and deltas to the
    cached sums. If these sums differ from the account, the function reads all outputs of the account.

    Args:
        connection: An open transaction.
        account: The account.
        verified_sums: Cache of sums at the last check, which this function updates.

    Raises:
        LedgerDamaged: The sums differ.
    """
    expected = (account.epsilon_units, account.delta_units, account.unbounded_releases)
    for last, *cached in (verified_sums.pop(account.unit_tag, _ZERO_SUMS), _ZERO_SUMS):
        is_large_share = bool(last) or connection.execute(_LARGE_SHARE_QUERY, (account.unit_tag,)).fetchone()[0]
        column = (
            "+privacy_unit" if is_large_share else "privacy_unit"
        )  # the plus sign disables the index, so that SQLite scans the rows in order
        last, *added = connection.execute(_SUMS_QUERY.format(column), (account.unit_tag, last)).fetchone()
        if tuple(map(sum, zip(cached, added, strict=True))) == expected:
            if len(verified_sums) >= _MAX_VERIFIED:
                verified_sums.clear()
            verified_sums[account.unit_tag] = (last, *expected)
            return
    raise LedgerDamaged(_WRONG_SUMS)


def write_account(connection: sqlite3.Connection, account: Account) -> None:
    """Store the sums and the budget of a privacy unit (such as a person) in the database.

    The function inserts a row, or updates the existing row.
    """
    budget = (None, None) if account.budget is None else account.budget.units
    connection.execute(
        "INSERT INTO privacy_units (privacy_unit, epsilon, delta, unbounded, budget_epsilon, budget_delta) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (privacy_unit) DO UPDATE SET epsilon = excluded.epsilon, "
        "delta = excluded.delta, unbounded = excluded.unbounded, budget_epsilon = excluded.budget_epsilon, "
        "budget_delta = excluded.budget_delta",
        (account.unit_tag, account.epsilon_units, account.delta_units, account.unbounded_releases, *budget),
    )


def insert_release(connection: sqlite3.Connection, release: ReleaseRow) -> None:
    """Add the record of one output (epsilon, delta and date) to the table of recorded outputs."""
    connection.execute(
        "INSERT INTO releases (day, privacy_unit, request, mechanism, epsilon, delta, output, cache_tag) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        release,
    )


def count_releases(connection: sqlite3.Connection, unit_tag: bytes, request: bytes) -> int:
    """Count the recorded outputs of one request (a text with options) for one privacy unit.

    Args:
        connection: An open transaction.
        unit_tag: Keyed hash of the name of the privacy unit (such as a person).
        request: Keyed hash of the request.
    """
    query = "SELECT count(*) FROM releases WHERE privacy_unit = ? AND request = ?"
    return connection.execute(query, (unit_tag, request)).fetchone()[0]


def read_output(connection: sqlite3.Connection, unit_tag: bytes, cache_tag: bytes) -> bytes | None:
    """Return an encrypted output from the replay cache (outputs of earlier calls); ``None`` if it is not stored."""
    query = "SELECT output FROM releases WHERE privacy_unit = ? AND cache_tag = ? AND output IS NOT NULL LIMIT 1"
    row = connection.execute(query, (unit_tag, cache_tag)).fetchone()
    return None if row is None else row[0]


def read_releases(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    """Read the records of all outputs (epsilon, delta and date), oldest first, as plain values for JSON."""
    query = (
        "SELECT day, privacy_unit, request, mechanism, epsilon, delta, output IS NOT NULL FROM releases ORDER BY number"
    )
    return [
        {
            "day": day,
            "privacy_unit": unit_tag.hex(),
            "request": request.hex(),
            "mechanism": mechanism,
            "epsilon": None if epsilon is None else format_exact(epsilon, EPSILON_UNITS),
            "delta": format_exact(delta, DELTA_UNITS),
            "has_stored_output": bool(has_output),
        }
        for day, unit_tag, request, mechanism, epsilon, delta, has_output in connection.execute(query).fetchall()
    ]


def delete_privacy_unit(connection: sqlite3.Connection, unit_tag: bytes) -> bool:
    """Delete all records of a privacy unit (such as a person). Return whether the privacy unit existed."""
    return connection.execute("DELETE FROM privacy_units WHERE privacy_unit = ?", (unit_tag,)).rowcount > 0


def delete_outputs(connection: sqlite3.Connection) -> None:
    """Delete all stored outputs, and the hash that identifies their encryption key.

    The recorded epsilons and deltas remain.
    """
    connection.execute("UPDATE releases SET output = NULL, cache_tag = NULL")
    connection.execute("UPDATE keys SET replay_cache_check = NULL")


def delete_all_rows(connection: sqlite3.Connection) -> None:
    """Delete all rows of all tables of the privacy ledger."""
    for table in ("releases", "privacy_units", "keys"):
        connection.execute(f"DELETE FROM {table}")


def _parse_account(row: tuple[Any, ...]) -> Account:
    unit_tag, epsilon, delta, unbounded, budget_epsilon, budget_delta = row
    limit = None if budget_epsilon is None else Budget.from_units(budget_epsilon, budget_delta)
    return Account(
        unit_tag=unit_tag, epsilon_units=epsilon, delta_units=delta, unbounded_releases=unbounded, budget=limit
    )
