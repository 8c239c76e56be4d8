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

from textveil.errors import BudgetError, KeyFileError, OptionError
from textveil.ledger import queries
from textveil.ledger.account import Account, Budget
from textveil.ledger.database import WAIT_S, create_ledger, open_transaction, reset_ledger
from textveil.ledger.group_commit import GroupCommit
from textveil.ledger.keys import DEVICE_KEY, REPLAY_CACHE_KEY, LedgerTags, check_distinct_files, get_key_path
from textveil.ledger.release_sources import (
    RecordedRelease,
    ReleaseSource,
    ReleaseType,
    list_privacy_units,
    make_cache_keys,
    make_encoder_source,
    make_text_source,
    serialize_options,
    serialize_request,
)
from textveil.ledger.transaction import SpendEntry, SpendOutcome, find_stored_output, record_in_transaction
from textveil.sequences import list_items
from textveil.storage.cryptography import check_cryptography
from textveil.storage.keys import read_key
from textveil.storage.protected_paths import is_inside

if TYPE_CHECKING:
    from textveil.text.options import Options
    from textveil.text.sanitizer import Sanitizer
    from textveil.text.statement import Result
    from textveil.vector.encoder import Encoder
    from textveil.vector.label_encoder import TextLabelEncoder

#: Name of the privacy unit of calls without ``privacy_unit``.
DEFAULT_PRIVACY_UNIT = "default"


class Ledger:
    """Privacy ledger: a SQLite database of spends and dates.

    It has no plain text, but keyed hashes (tags) of texts and of the names of privacy units.

    Instances are safe to share between threads and to use after a fork. Any number of processes can use one file.

    Args:
        path: The database file; created at first use, private to its owner.
        key: File of the device key, which makes the tags; by default ``path`` with the suffix ``.key``. Created at
            the first use of the ledger. Without this file the ledger is unusable.
        replay_cache_key: File of the key of the replay cache, created at first use, outside the ledger's folder and its
            subfolders. With it the ledger stores encrypted outputs. A call with the same options, and with the same
            privacy units and texts in the same order, returns the stored outputs without a new spend. Needs the extra
            ``crypto``.
        wait_s: Seconds to wait for other processes.

    Raises:
        LedgerError, LedgerBusy, LedgerDamaged: The file is unusable.
        KeyFileError: A key is missing, belongs to another ledger, can be read by other users, or is in the wrong
            folder.
        CryptoUnavailable: The replay cache needs the package ``cryptography``.

    Example:
        >>> from textveil import Sanitizer
        >>> ledger = Ledger("spends.ledger")
        >>> options = {"protect": "words", "epsilon": 8}
        >>> recorded = ledger.sanitize(Sanitizer.load(), "A warm film.", privacy_unit="reviewer 7", **options)
        >>> ledger.get_account("reviewer 7").epsilon == recorded.release.tokens * 8
        True
        >>> ledger.get_account("reviewer 8").epsilon
        Decimal('0')
    """

    def __init__(
        self,
        path: str | Path,
        *,
        key: str | Path | None = None,
        replay_cache_key: str | Path | None = None,
        wait_s: float = WAIT_S,
    ) -> None:
        self.path: Path = Path(os.path.realpath(path))
        self.key_path: Path = get_key_path(self.path, key)
        self._wait_s = wait_s
        self._verified_sums: queries.VerifiedSums = {}
        self._group_commit: GroupCommit[list[list[SpendOutcome] | BudgetError]] = GroupCommit(self._open_transaction)
        if replay_cache_key is not None:
            check_cryptography("a replay cache")
            if is_inside(replay_cache_key, self.path.parent):
                raise KeyFileError(
                    f"{REPLAY_CACHE_KEY}: must be outside the ledger's folder: a copy of the folder would contain both"
                )
        check_distinct_files(self.path, self.key_path, None if replay_cache_key is None else Path(replay_cache_key))
        self.was_created: bool = create_ledger(self.path, self.key_path, wait_s)
        with open_transaction(self.path, wait_s=wait_s) as connection:
            device_check, cache_check = queries.read_key_checks(connection)
            self._tags = LedgerTags(
                read_key(self.key_path, DEVICE_KEY, create=device_check is None),
                None
                if replay_cache_key is None
                else read_key(Path(replay_cache_key), REPLAY_CACHE_KEY, create=cache_check is None),
            )
            queries.write_key_checks(connection, *self._tags.key_checks)
            self._check_keys(connection)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce__(self) -> Any:
        raise TypeError("a ledger cannot be pickled, since it contains keys: open it in each process")

    @contextmanager
    def _open_transaction(self, *, write: bool = True) -> Generator[sqlite3.Connection]:
        """Open a transaction and check that the keys of this instance are still those of the ledger."""
        with open_transaction(self.path, write=write, wait_s=self._wait_s) as connection:
            self._check_keys(connection)
            yield connection

    def _check_keys(self, connection: sqlite3.Connection) -> None:
        """Raise an error if the ledger now has other keys, as after a ``rotate`` by another process.

        Raises:
            KeyFileError: The device key or the key of the replay cache differs.
        """
        device_check, cache_check = self._tags.key_checks
        stored_device_check, stored_cache_check = queries.read_key_checks(connection)
        if stored_device_check != device_check:
            raise KeyFileError(
                f"{DEVICE_KEY}: this is the key of another ledger: give the key that was created with this ledger"
            )
        if cache_check is not None and stored_cache_check != cache_check:
            raise KeyFileError(
                f"{REPLAY_CACHE_KEY}: another key encrypts the stored outputs: give that key, or delete them "
                "(textveil ledger delete --stored-outputs)"
            )

    @property
    def has_replay_cache(self) -> bool:
        """Return whether the ledger has a replay cache.

        With a replay cache the ledger stores encrypted outputs and returns them again for the same call.
        """
        return self._tags.has_replay_cache

    def sanitize(
        self,
        sanitizer: "Sanitizer",
        text: str,
        *,
        privacy_unit: str = DEFAULT_PRIVACY_UNIT,
        budget: Budget | None = None,
        **options: "Unpack[Options]",
    ) -> "RecordedRelease[Result]":
        """Sanitize one text and record its spend, as ``sanitize_batch`` does with one text."""
        return self.sanitize_batch(sanitizer, [text], privacy_unit=privacy_unit, budget=budget, **options)[0]

    def sanitize_batch(
        self,
        sanitizer: "Sanitizer",
        texts: Sequence[str],
        *,
        privacy_unit: str | Sequence[str] = DEFAULT_PRIVACY_UNIT,
        budget: Budget | None = None,
        **options: "Unpack[Options]",
    ) -> "list[RecordedRelease[Result]]":
        """Sanitize texts, each as its own document, and record all spends in one transaction.

        If one release fails, the ledger records none and this method releases nothing.

        Args:
            sanitizer: The sanitizer that randomizes the texts.
            texts: The texts.
            privacy_unit: Name of the privacy unit of all texts, or one name per text.
            budget: Budget of each privacy unit of this call. A budget can be set once, and then only lowered.
            options: As in ``Sanitizer.sanitize``.

        Returns:
            One ``RecordedRelease`` per text: the result, and its record in the ledger. A result from the replay cache
            has no mapping.

        Raises:
            BudgetError: A budget does not cover a release. Nothing is released for any text.
            LedgerError, LedgerBusy: The ledger cannot be written. Nothing is released.
            OptionError, InputError: As ``Sanitizer.sanitize_batch``; or the numbers of privacy units and texts differ;
                or the ledger has a replay cache and the mode ``names`` has a further detector; or no option selects a
                mode, and the default mode ``names`` has no epsilon.

        Privacy:
            Under ``staircase`` the spend is epsilon times the number of randomized words. Under ``santext``, ``krr``
            and ``random`` it is the epsilon for any two words times the number of tokens. ``santext+`` and ``fbdd``
            have no finite
            epsilon: the ledger records their releases, and refuses them if there is a budget. The sums bound the loss
                of all releases of a privacy unit (docs/proofs/ledger.md).
        """
        source = make_text_source(sanitizer, options)
        if self.has_replay_cache and source.options["promise"].get("also"):  # the options do not identify the detector
            raise OptionError("the replay cache does not work with an external detector: omit one of them")
        return self._record_releases(source, list_items(texts), privacy_unit, budget)

    def encode_batch(
        self,
        encoder: "Encoder | TextLabelEncoder",
        texts: Sequence[str],
        *,
        privacy_unit: str | Sequence[str] = DEFAULT_PRIVACY_UNIT,
        budget: Budget | None = None,
        **options: Any,
    ) -> list[RecordedRelease[Any]]:
        """Encode texts, and record all spends in one transaction or none of them.

        The spend is the epsilon and the delta of the whole text. Other arguments and errors are those of
        ``sanitize_batch``; ``options`` are those of the encoder's ``encode``.
        """
        return self._record_releases(make_encoder_source(encoder, options), list_items(texts), privacy_unit, budget)

    def _record_releases(
        self,
        source: ReleaseSource[ReleaseType],
        texts: Sequence[str],
        privacy_unit: str | Sequence[str],
        budget: Budget | None,
    ) -> list[RecordedRelease[ReleaseType]]:
        """Make one release per text, record all spends, and return the releases (see ``sanitize_batch``).

        The releases are made before the transaction, so that other threads and processes wait only for the disk. If
        another call has stored an output of the same request in the replay cache in the meantime, that output is
        returned, and the new one is discarded unseen.
        """
        privacy_units = list_privacy_units(texts, privacy_unit)
        options = serialize_options(source.options)
        requests = [serialize_request(options, text) for text in texts]
        cache_keys = make_cache_keys(privacy_units, requests) if self.has_replay_cache else [b""] * len(texts)
        stored_outputs = self.find_stored_outputs(zip(privacy_units, cache_keys, strict=True))
        if stored_outputs and None not in stored_outputs:
            return [RecordedRelease(source.unpack(json.loads(packed or b"")), 0, True) for packed in stored_outputs]
        releases = source.draw_releases(texts)
        entries = [
            SpendEntry(
                privacy_unit=name,
                request=request,
                mechanism=made.statement.mechanism,
                spend=made.statement.spend,
                output=json.dumps(source.pack(made)).encode() if self.has_replay_cache else None,
                cache_key=whole,
            )
            for name, request, made, whole in zip(privacy_units, requests, releases, cache_keys, strict=True)
        ]
        return [
            RecordedRelease(made, posted.earlier_releases, False)
            if posted.stored_output is None
            else RecordedRelease(source.unpack(json.loads(posted.stored_output)), 0, True)
            for made, posted in zip(releases, self.record_spends(entries, budget=budget), strict=True)
        ]

    def record_spends(self, entries: Iterable[SpendEntry], *, budget: Budget | None = None) -> list[SpendOutcome]:
        """Record the spends of releases in one transaction, all or none.

        Use it for releases that ``sanitize_batch`` and ``encode_batch`` did not make. The spends are on the disk when
        this method returns: release the outputs only then. If ``SpendOutcome.stored_output`` is not ``None``, release
        it in place of the new output.

        Raises:
            BudgetError: A budget does not cover a release. Nothing is recorded except a new budget.
            LedgerError, LedgerBusy, LedgerDamaged: The ledger cannot be written.
            OptionError: ``budget`` is not a ``Budget``.
        """
        (outcome,) = self.record_groups([list(entries)], budget=budget, all_or_none=True)
        if isinstance(outcome, BudgetError):
            raise outcome
        return outcome

    def record_groups(
        self, groups: Sequence[Sequence[SpendEntry]], *, budget: Budget | None = None, all_or_none: bool = False
    ) -> "list[list[SpendOutcome] | BudgetError]":
        """Record the spends of groups of releases in one transaction; a refused group has none.

        If a budget does not cover a group, nothing of this group is recorded, and the result has a ``BudgetError`` in
        its position. Calls of several threads at the same time share a transaction.

        Args:
            groups: The releases of each group.
            budget: As in ``sanitize_batch``.
            all_or_none: Whether the refusal of one group also prevents the spends of all others.

        Returns:
            For each group, the result of each release, or the error.

        Raises:
            LedgerError, LedgerBusy, LedgerDamaged: The ledger cannot be written. Nothing is recorded.
            OptionError: ``budget`` is not a ``Budget``.
        """
        if not isinstance(cast(object, budget), Budget | None):
            raise OptionError("budget must be a Budget object, such as Budget(60)")
        if not any(groups):
            return [[] for _ in groups]
        return self._group_commit.run(
            lambda connection: record_in_transaction(
                connection, self._tags, groups, budget, self._verified_sums, all_or_none=all_or_none
            )
        )

    def find_stored_outputs(self, cache_keys: Iterable[tuple[str, bytes]]) -> list[bytes | None]:
        """Return the outputs that the replay cache has for pairs of a privacy unit and a cache key.

        Cache keys are made by ``make_cache_keys``. The result has ``None`` where nothing is stored, and everywhere if
        the ledger has no replay cache.
        """
        if not self.has_replay_cache:
            return [None for _ in cache_keys]
        with self._open_transaction(write=False) as connection:
            return [
                find_stored_output(connection, self._tags, self._tags.tag_unit(scope), whole)
                for scope, whole in cache_keys
            ]

    def count_releases(self, privacy_unit: str, request: bytes) -> int:
        """Return how many releases of the same request a privacy unit has had."""
        unit_tag = self._tags.tag_unit(privacy_unit)
        with self._open_transaction(write=False) as connection:
            return queries.count_releases(connection, unit_tag, self._tags.tag_request(unit_tag, request))

    def get_account(self, privacy_unit: str = DEFAULT_PRIVACY_UNIT) -> Account:
        """Return the account of a privacy unit; an unknown name has an empty one."""
        with self._open_transaction(write=False) as connection:
            return queries.read_account(connection, self._tags.tag_unit(privacy_unit))

    def list_accounts(self) -> list[tuple[Account, int]]:
        """Return the accounts of all privacy units, sorted by tag, each with its number of releases.

        Raises:
            LedgerDamaged: The sums of an account differ from those of its releases.
        """
        with self._open_transaction(write=False) as connection:
            return queries.read_accounts(connection)

    def export(self) -> dict[str, Any]:
        """Return the whole content of the ledger without stored outputs, as plain values for JSON.

        Raises:
            LedgerDamaged: The sums of an account differ from those of its releases.
        """
        units = [{**account.to_dict(), "releases": releases} for account, releases in self.list_accounts()]
        with self._open_transaction(write=False) as connection:
            releases = queries.read_releases(connection)
        return {"format": "textveil-ledger", "format_version": 2, "privacy_units": units, "releases": releases}

    def delete_privacy_unit(self, privacy_unit: str) -> None:
        """Delete a privacy unit: its account, its budget, its releases and their stored outputs.

        Raises:
            OptionError: The ledger has no privacy unit of this name.
        """
        with self._open_transaction() as connection:
            if not queries.delete_privacy_unit(connection, self._tags.tag_unit(privacy_unit)):
                raise OptionError("the ledger has no privacy unit with that name")

    def delete_outputs(self) -> None:
        """Delete all stored outputs; spends stay.

        Another key of the replay cache can be used afterward.
        """
        with self._open_transaction() as connection:
            queries.delete_outputs(connection)

    @classmethod
    def rotate(cls, path: str | Path, *, key: str | Path | None = None) -> "Ledger":
        """Reset a ledger under a new device key; delete all accounts, budgets and stored outputs.

        The old key may be missing, or the ledger if its key exists. After an interruption the ledger and its key may
        not match. Opening the ledger then raises ``KeyFileError``, and ``rotate`` can be repeated.

        Raises:
            LedgerError: Neither a ledger nor a key exists.
            KeyFileError: The key's path has another kind of file, or ``key`` is the key of another ledger.
        """
        reset_ledger(Path(os.path.realpath(path)), key)
        return cls(path, key=key)
