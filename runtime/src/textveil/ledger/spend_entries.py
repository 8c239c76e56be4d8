"""Requests to record a spend, and their results."""

from dataclasses import dataclass, field

from textveil.release import Spend


@dataclass(frozen=True, kw_only=True)
class SpendEntry:
    """One release whose spend a privacy ledger records.

    Attributes:
        privacy_unit: Name of the privacy unit.
        request: Canonical bytes of options and text (``serialize_request``): equal requests have equal bytes. As
            private as the text.
        mechanism: Name of the mechanism.
        spend: Spend of the release.
        output: Output that the replay cache stores, or ``None`` without a replay cache.
        cache_key: Lookup key of the replay cache: hash of the whole call, and position of this text in it. As private
            as the texts.

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
    """Result of recording one ``SpendEntry``.

    Attributes:
        earlier_releases: Number of earlier releases of an equal request in the privacy unit; 0 if ``stored_output`` is
            not ``None``.
        stored_output: Output of the replay cache. Release it in place of the new output; the ledger recorded no spend.

    Example:
        >>> from textveil import Ledger
        >>> spend = Spend(epsilon_units=8 << 20)
        >>> entry = SpendEntry(privacy_unit="Anna", request=b"her text", mechanism="staircase", spend=spend)
        >>> Ledger("spends.ledger").record_spends([entry, entry])
        [SpendOutcome(earlier_releases=0), SpendOutcome(earlier_releases=1)]
    """

    earlier_releases: int
    stored_output: bytes | None = field(default=None, repr=False)
