"""Recording of the epsilons and deltas (*spends*) of outputs in one transaction of a privacy ledger.

Each group of outputs is recorded completely, or not at all.
"""

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from textveil.errors import BudgetError
from textveil.ledger import queries
from textveil.ledger.account import Account, Budget
from textveil.ledger.keys import LedgerTags
from textveil.release import Spend


@dataclass(frozen=True, kw_only=True)
class SpendEntry:
    """One output whose epsilon and delta a privacy ledger records.

    Attributes:
        privacy_unit: Name of the privacy unit (such as a person).
        request: Bytes that identify the options and the text (``serialize_request``). They are as private as the text.
        mechanism: Name of the mechanism.
        spend: Epsilon and delta of the output.
        output: Output that the replay cache stores for equal calls; ``None`` if there is no replay cache.
        cache_key: Key of the text in the replay cache (``make_cache_keys``). It is as private as the texts of the call.

    Example:
        >>> spend = Spend(epsilon_units=8 << 20)
        >>> SpendEntry(privacy_unit="Anna", request=b"her text", mechanism="staircase", spend=spend)
        SpendEntry(mechanism='staircase', spend=Spend(epsilon_units=8388608, delta_units=0))
    """

    privacy_unit: str = field(repr=False)
    request: bytes = field(repr=False)
    mechanism: str
    spend: Spend
    output: bytes | None = field(default=None, repr=False)
    cache_key: bytes = field(default=b"", repr=False)


@dataclass(frozen=True)
class SpendOutcome:
    """Result of recording one output (``SpendEntry``) in a privacy ledger.

    Attributes:
        earlier_releases: Number of earlier outputs for the same request in the same privacy unit (such as a person); 0
            if ``stored_output`` is not ``None``.
        stored_output: Output that an equal earlier call stored in the replay cache, or ``None``. If it is not ``None``,
            the ledger recorded nothing, and the caller must publish this output in place of the new output.

    Example:
        >>> from textveil import Ledger
        >>> spend = Spend(epsilon_units=8 << 20)
        >>> entry = SpendEntry(privacy_unit="Anna", request=b"her text", mechanism="staircase", spend=spend)
        >>> Ledger("spends.ledger").record_spends([entry, entry])
        [SpendOutcome(earlier_releases=0), SpendOutcome(earlier_releases=1)]
    """

    earlier_releases: int
    stored_output: bytes | None = field(default=None, repr=False)


def record_in_transaction(
    connection: sqlite3.Connection,
    tags: LedgerTags,
    groups: Sequence[Sequence[SpendEntry]],
    budget: Budget | None,
    verified_sums: queries.VerifiedSums,
    *,
    all_or_none: bool,
) -> list[list[SpendOutcome] | BudgetError]:
    """Record the epsilons and deltas of groups of outputs in an open transaction (``Ledger.record_groups``).

    Args:
        connection: The open transaction.
        tags: Keyed hashes and encryption of the ledger.
        groups: The outputs of each group, with one entry for each output.
        budget: Budget of each privacy unit (such as a person) of the call. The budget is written even if it does not
            cover a group.
        verified_sums: Cache of sums at the last check (``check_sums``), which this function updates.
        all_or_none: Whether to record no group if a budget does not cover one of the groups.

    Returns:
        For each group, a list with the result for each output, or a ``BudgetError``.
    """
    pending = _PendingSpends(connection, tags, budget, verified_sums)
    outcomes: list[list[SpendOutcome] | BudgetError] = []
    for group in groups:
        try:
            outcomes.append(pending.add_group(group, all_or_none))
        except BudgetError as error:
            outcomes.append(error.with_traceback(None))  # its frames hold private requests
    is_refused = all_or_none and any(isinstance(outcome, BudgetError) for outcome in outcomes)
    pending.write_rows(sums=not is_refused)
    return outcomes


class _PendingSpends:
    """Epsilons and deltas that one transaction has added but not yet written to the database (``write_rows``)."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        tags: LedgerTags,
        budget: Budget | None,
        verified_sums: queries.VerifiedSums,
    ) -> None:
        self._connection, self._tags, self._budget, self._verified_sums = connection, tags, budget, verified_sums
        self._day = time.strftime("%Y-%m-%d", time.gmtime())
        self._get_unit_tag = cache(tags.tag_unit)
        self._loaded_accounts: dict[bytes, Account] = {}
        self._budgeted_accounts: dict[bytes, Account] = {}
        self._updated_accounts: dict[bytes, Account] = {}
        self._releases: list[queries.ReleaseRow] = []
        self._new_outputs: dict[tuple[bytes, bytes], bytes] = {}
        self._release_counts: dict[bytes, int] = {}

    def add_group(self, group: Sequence[SpendEntry], all_or_none: bool) -> list[SpendOutcome]:
        """Add all outputs of a group; or add none and raise an error if a budget does not cover one of the outputs.

        Args:
            group: One entry for each output.
            all_or_none: Whether all groups fail together. If so, an error message states the spent epsilon before the
                first group, otherwise the spent epsilon before this group.

        Returns:
            The result for each output.

        Raises:
            BudgetError: A budget does not cover an output of the group; or the budget of the call is larger than the
                current budget of a privacy unit (such as a person).
        """
        lookups = [(entry, *self._look_up(entry)) for entry in group]
        unit_names = {
            unit_tag: entry.privacy_unit for entry, unit_tag, _, stored_output in lookups if stored_output is None
        }
        errors = [error for scope, name in unit_names.items() if (error := self._load_account(scope, name)) is not None]
        for error in errors:
            raise error
        accounts: dict[bytes, Account] = {}
        for entry, scope, _, given in lookups:
            if given is None:
                before = self._updated_accounts.get(scope, self._budgeted_accounts[scope])
                call_start = self._budgeted_accounts[scope] if all_or_none else before
                try:
                    accounts[scope] = accounts.get(scope, before).add_spend(entry.spend, entry.mechanism, call_start)
                except BudgetError as error:
                    error.privacy_unit = entry.privacy_unit
                    raise
        self._updated_accounts |= accounts
        return [
            SpendOutcome(0, given) if given is not None else self._add_release(entry, scope, place)
            for entry, scope, place, given in lookups
        ]

    def write_rows(self, *, sums: bool) -> None:
        """Write new budgets to the database; if ``sums`` is true, also write the new sums and a row for each output."""
        updated = self._updated_accounts if sums else {}
        for unit_tag, budgeted in self._budgeted_accounts.items():
            if unit_tag in updated or budgeted != self._loaded_accounts[unit_tag]:
                queries.write_account(self._connection, updated.get(unit_tag, budgeted))
        for release in self._releases if sums else ():
            queries.insert_release(self._connection, release)

    def _load_account(self, unit_tag: bytes, name: str) -> BudgetError | None:
        """Read the account of a privacy unit (such as a person), check its sums, and apply the budget of the call.

        A second call for the same privacy unit does nothing.

        Args:
            unit_tag: Keyed hash of the name of the privacy unit (such as a person).
            name: Name of the privacy unit, for the error.

        Returns:
            An error if the new budget is larger than the current budget; otherwise ``None``.
        """
        if unit_tag in self._budgeted_accounts:
            return None
        if (account := self._loaded_accounts.get(unit_tag)) is None:
            queries.check_sums(
                self._connection, account := queries.read_account(self._connection, unit_tag), self._verified_sums
            )
            self._loaded_accounts[unit_tag] = account
        try:
            self._budgeted_accounts[unit_tag] = account if self._budget is None else account.apply_budget(self._budget)
        except BudgetError as error:
            error.privacy_unit = name
            return error
        return None

    def _look_up(self, entry: SpendEntry) -> tuple[bytes, bytes | None, bytes | None]:
        """Look up an output in the replay cache, which stores the outputs of earlier calls.

        Returns:
            The keyed hash of the privacy unit (such as a person), the keyed hash of the cache entry, and the stored
            output. The output is ``None`` if it is not stored. Without a replay cache, both the second hash and the
            output are ``None``.
        """
        unit_tag = self._get_unit_tag(entry.privacy_unit)
        if entry.output is None:
            return unit_tag, None, None
        cache_tag = self._tags.tag_cache_entry(unit_tag, entry.cache_key)
        if (unit_tag, cache_tag) in self._new_outputs:
            return unit_tag, cache_tag, self._new_outputs[unit_tag, cache_tag]
        return unit_tag, cache_tag, find_stored_output(self._connection, self._tags, unit_tag, entry.cache_key)

    def _add_release(self, entry: SpendEntry, unit_tag: bytes, cache_tag: bytes | None) -> SpendOutcome:
        request = self._tags.tag_request(unit_tag, entry.request)
        if request not in self._release_counts:
            self._release_counts[request] = queries.count_releases(self._connection, unit_tag, request)
        before = self._release_counts[request]
        self._release_counts[request] += 1
        output = None if cache_tag is None else self._tags.encrypt_output(entry.output or b"", unit_tag + cache_tag)
        if cache_tag is not None and output is not None:
            self._new_outputs[unit_tag, cache_tag] = entry.output or b""
        units = (entry.spend.epsilon_units, entry.spend.delta_units)
        self._releases.append((self._day, unit_tag, request, entry.mechanism, *units, output, cache_tag))
        return SpendOutcome(before)


def find_stored_output(
    connection: sqlite3.Connection, tags: LedgerTags, unit_tag: bytes, cache_key: bytes
) -> bytes | None:
    """Find an output of an earlier call in the replay cache and decrypt it; return ``None`` if it is not stored.

    Args:
        connection: An open transaction.
        tags: Keyed hashes and encryption of the ledger.
        unit_tag: Keyed hash of the name of the privacy unit (such as a person).
        cache_key: Key of the text in the replay cache (``make_cache_keys``).
    """
    cache_tag = tags.tag_cache_entry(unit_tag, cache_key)
    encrypted = queries.read_output(connection, unit_tag, cache_tag) if tags.has_replay_cache else None
    return None if encrypted is None else tags.decrypt_output(encrypted, unit_tag + cache_tag)
