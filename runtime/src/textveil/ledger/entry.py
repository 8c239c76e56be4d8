"""Requests to record a spend, and their results."""

from dataclasses import dataclass, field

from textveil.release import Charge


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One release whose spend a privacy ledger records.

    Attributes:
        scope: Name of the privacy unit.
        request: Canonical bytes of options and text (``request_bytes``): equal requests have equal bytes. As private as
            the text.
        mechanism: Name of the mechanism.
        charge: Spend of the release.
        output: Output that the replay cache stores, or ``None`` without a replay cache.
        whole: Lookup key of the replay cache: hash of the whole call, and position of this text in it. As private as
            the texts.
    """

    scope: str = field(repr=False)
    request: bytes = field(repr=False)
    mechanism: str
    charge: Charge
    output: bytes | None = field(default=None, repr=False)
    whole: bytes = field(default=b"", repr=False)


@dataclass(frozen=True)
class Posted:
    """Result of recording one ``Entry``.

    Attributes:
        before: Number of earlier releases of an equal request in the privacy unit; 0 if ``stored`` is not ``None``.
        stored: Output of the replay cache. Release it in place of the new output; the ledger recorded no spend.
    """

    before: int
    stored: bytes | None = field(default=None, repr=False)
