"""Public class of the privacy ledger, which records epsilon and delta on the disk before an output is returned.

docs/proofs/ledger.md proves that the sums of the recorded epsilons and deltas bound the privacy loss of a privacy unit
(such as a person).
"""

import json
import os
import sqlite3
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from textveil.arguments import list_items
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
    """Privacy ledger: a SQLite database that records the epsilon, delta and date of each output.

    The outputs are grouped by *privacy units*. A privacy unit is a person or group, such as an author, whose privacy
    loss is summed up and limited. The epsilon and delta of an output are its *spend*.

    The ledger stores keyed hashes of texts and of the names of privacy units, but no plain text. Several threads may
    share an instance, also after a fork. Several processes may use the same file.

    Args:
        path: The database file, which is created at the first use. Only its owner can read it.
        key: File of the device key for keyed hashes, which is created at the first use; by default ``path`` with the
            suffix ``.key``. Without this file, the ledger is unusable.
        replay_cache_key: File of the key of the replay cache, which is created at the first use; by default there is no
            replay cache. A ledger with a replay cache stores encrypted outputs. A call with the same options, privacy
            units and texts, in the same order, returns the stored outputs, and spends nothing. The file must be outside
            the folder of the ledger. A replay cache needs the extra ``crypto``.
        wait_s: Time to wait for other processes, in seconds.

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
                    f"{REPLAY_CACHE_KEY}: must be outside the ledger's folder: otherwise a copy of the folder would "
                    "contain the data and the key"
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
        """Open a database transaction, and check that the keys of this instance are still the keys of the ledger."""
        with open_transaction(self.path, write=write, wait_s=self._wait_s) as connection:
            self._check_keys(connection)
            yield connection

    def _check_keys(self, connection: sqlite3.Connection) -> None:
        """Check that the ledger still has the keys of this instance.

        The keys differ after another process has called ``rotate``.

        Raises:
            KeyFileError: The device key (for keyed hashes) or the key of the replay cache (stored outputs) differs.
        """
        device_check, cache_check = self._tags.key_checks
        stored_device_check, stored_cache_check = queries.read_key_checks(connection)
        if stored_device_check != device_check:
            raise KeyFileError(
                f"{DEVICE_KEY}: this is the key of another ledger: pass the key that was created with this ledger"
            )
        if cache_check is not None and stored_cache_check != cache_check:
            raise KeyFileError(
                f"{REPLAY_CACHE_KEY}: another key encrypts the stored outputs: pass that key, or delete the "
                "outputs (textveil ledger delete --stored-outputs)"
            )

    @property
    def has_replay_cache(self) -> bool:
        """Return whether the ledger has a replay cache, which stores outputs and returns them for equal calls."""
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
        """Sanitize one text, and record the epsilon and delta that it spends before returning the result.

        The arguments and errors are those of ``sanitize_batch``.
        """
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
        """Sanitize texts, each as a separate document, and record their epsilon and delta in one transaction.

        If one text fails, the ledger records nothing, and this method returns no result.

        Args:
            sanitizer: The sanitizer that randomizes the texts.
            texts: The texts.
            privacy_unit: Name of the privacy unit (such as a person) of all texts, or a list with one name for each
                text.
            budget: Upper limit of epsilon and delta for each privacy unit of this call. A budget can be lowered later,
                but never raised.
            options: Options of ``Sanitizer.sanitize``.

        Returns:
            One ``RecordedRelease`` for each text: the result, and its record in the ledger. A result from the replay
            cache cannot restore the original words.

        Raises:
            BudgetError: A budget does not cover a text. No output is returned.
            LedgerError, LedgerBusy: The ledger cannot be written. No output is returned.
            InputError: A text is not a string, or cannot be sanitized.
            OptionError: An option is not supported (``Sanitizer.sanitize_batch``); the list of privacy units is shorter
                or longer than that of texts; or the ledger has a replay cache, and the sanitizer has an external
                detector.

        Privacy:
            For ``staircase``, the spend is epsilon times the number of randomized words. For ``santext``, ``krr`` and
            ``random``, it is the epsilon for any two words times the number of tokens. ``santext+``, ``fbdd`` and the
            mode ``names`` have no finite epsilon: without a budget the ledger counts their outputs, and with a budget
            it refuses them. The sums bound the privacy loss of all outputs of a privacy unit (docs/proofs/ledger.md).
        """
        source = make_text_source(sanitizer, options)
        if self.has_replay_cache and source.options["promise"].get("also"):  # the options do not identify the detector
            raise OptionError("the replay cache does not work with an external detector: use only one of the two")
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
        """Encode texts as noisy vectors or class labels, and record their epsilons and deltas in one transaction.

        The epsilon and delta of a text hold for the whole text. If one text fails, the ledger records nothing. The
        other arguments and the errors are the same as for ``sanitize_batch``.

        Args:
            encoder: The encoder that randomizes the texts.
            texts: The texts.
            privacy_unit: Name of the privacy unit (such as a person) of all texts, or a list with one name for each
                text.
            budget: Upper limit of epsilon and delta for each privacy unit of this call.
            options: Options of the encoder's method ``encode``.
        """
        return self._record_releases(make_encoder_source(encoder, options), list_items(texts), privacy_unit, budget)

    def _record_releases(
        self,
        source: ReleaseSource[ReleaseType],
        texts: Sequence[str],
        privacy_unit: str | Sequence[str],
        budget: Budget | None,
    ) -> list[RecordedRelease[ReleaseType]]:
        """Create one output for each text, record its epsilon and delta, and return the outputs (``sanitize_batch``).

        The outputs are created before the transaction, so that other threads and processes wait only for the disk. If
        an equal call has meanwhile stored its outputs in the replay cache, this method returns the stored outputs, and
        discards the new outputs.
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
        """Record the epsilon and delta of outputs in one transaction: all of them, or none if a budget is exceeded.

        Use this method for outputs that were not created by ``sanitize_batch`` or ``encode_batch``. Publish the outputs
        only after this method has returned, because then the records are on the disk. If ``SpendOutcome.stored_output``
        is not ``None``, publish the stored output in place of the new output.

        Args:
            entries: One entry for each output.
            budget: Upper limit of epsilon and delta for each privacy unit (such as a person) of this call.

        Returns:
            The result for each entry.

        Raises:
            BudgetError: A budget does not cover an output. Nothing is recorded except a new budget.
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
        """Record the epsilon and delta of groups of outputs in one transaction: each group completely, or not at all.

        If the budget of a privacy unit does not cover a group, the ledger records nothing of this group, and the result
        for this group is a ``BudgetError``. Simultaneous calls of several threads share a transaction.

        Args:
            groups: The outputs of each group, with one entry for each output.
            budget: Upper limit of epsilon and delta for each privacy unit (such as a person) of this call.
            all_or_none: Whether to record no group if a budget does not cover one of the groups.

        Returns:
            For each group, a list with the result for each output, or a ``BudgetError``.

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
        """Look up outputs in the replay cache, which stores the outputs of earlier calls.

        Args:
            cache_keys: Pairs of the name of a privacy unit (such as a person) and a cache key (``make_cache_keys``).

        Returns:
            The stored output for each pair, or ``None`` if no output is stored. If the ledger has no replay cache, all
            are ``None``.
        """
        if not self.has_replay_cache:
            return [None for _ in cache_keys]
        with self._open_transaction(write=False) as connection:
            return [
                find_stored_output(connection, self._tags, self._tags.tag_unit(scope), whole)
                for scope, whole in cache_keys
            ]

    def count_releases(self, privacy_unit: str, request: bytes) -> int:
        """Return how many outputs are recorded for a privacy unit (such as a person) and a request.

        Args:
            privacy_unit: Name of the privacy unit.
            request: Bytes that identify a text with its options (``serialize_request``).
        """
        unit_tag = self._tags.tag_unit(privacy_unit)
        with self._open_transaction(write=False) as connection:
            return queries.count_releases(connection, unit_tag, self._tags.tag_request(unit_tag, request))

    def get_account(self, privacy_unit: str = DEFAULT_PRIVACY_UNIT) -> Account:
        """Return the sums and the budget of a privacy unit (such as a person). For an unknown name, the sums are 0."""
        with self._open_transaction(write=False) as connection:
            return queries.read_account(connection, self._tags.tag_unit(privacy_unit))

    def list_accounts(self) -> list[tuple[Account, int]]:
        """Return sums and budgets of all privacy units (such as persons), sorted by the keyed hashes of their names.

        Returns:
            Pairs of an account and its number of outputs.

        Raises:
            LedgerDamaged: The sums of epsilon and delta in an account differ from the sums over its recorded outputs.
        """
        with self._open_transaction(write=False) as connection:
            return queries.read_accounts(connection)

    def export(self) -> dict[str, Any]:
        """Return the whole content of the ledger, except the stored outputs, as a dictionary for JSON.

        The key ``privacy_units`` has the sums and the number of releases of each privacy unit, and ``releases`` has one
        entry for each release. ``format`` and ``format_version`` identify the format.

        Raises:
            LedgerDamaged: The sums of epsilon and delta in an account differ from the sums over its recorded outputs.
        """
        units = [{**account.to_dict(), "releases": releases} for account, releases in self.list_accounts()]
        with self._open_transaction(write=False) as connection:
            releases = queries.read_releases(connection)
        return {"format": "textveil-ledger", "format_version": 2, "privacy_units": units, "releases": releases}

    def delete_privacy_unit(self, privacy_unit: str) -> None:
        """Delete all records of a privacy unit (such as a person): sums, budget, and stored outputs.

        Raises:
            OptionError: The ledger has no privacy unit of this name.
        """
        with self._open_transaction() as connection:
            if not queries.delete_privacy_unit(connection, self._tags.tag_unit(privacy_unit)):
                raise OptionError("the ledger has no privacy unit with that name: correct the name")

    def delete_outputs(self) -> None:
        """Delete all outputs in the replay cache. The recorded epsilons and deltas remain.

        After this, the ledger can be opened with another key of the replay cache.
        """
        with self._open_transaction() as connection:
            queries.delete_outputs(connection)

    @classmethod
    def rotate(cls, path: str | Path, *, key: str | Path | None = None) -> "Ledger":
        """Delete all accounts, budgets and stored outputs of a ledger, and create a new key for its keyed hashes.

        Either the ledger or its old key may be missing. If the process is interrupted, the ledger and its key may not
        match. Then opening the ledger raises ``KeyFileError``; call ``rotate`` again.

        Args:
            path: The ledger.
            key: Path of the device key; by default the path next to the ledger.

        Returns:
            The empty ledger.

        Raises:
            LedgerError: Neither a ledger nor a key exists.
            KeyFileError: The file at the key's path is not a key, or is the key of another ledger.
        """
        reset_ledger(Path(os.path.realpath(path)), key)
        return cls(path, key=key)
