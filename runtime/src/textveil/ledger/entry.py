"""What is charged, and what became of it."""

from dataclasses import dataclass, field

from textveil.release import Charge


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One draw that is to be charged.

    Attributes:
        scope: Name of its scope.
        request: What was asked: two equal requests have equal bytes. As private as the text.
        mechanism: Name of the mechanism.
        charge: What it costs.
        output: What a memo is to give again, or ``None``.
        whole: What must be equal for that: the whole call, and the place of this text in it. As private as the texts.
    """

    scope: str = field(repr=False)
    request: bytes = field(repr=False)
    mechanism: str
    charge: Charge
    output: bytes | None = field(default=None, repr=False)
    whole: bytes = field(default=b"", repr=False)


@dataclass(frozen=True)
class Posted:
    """What became of an entry.

    Attributes:
        before: How many draws of an equal request its scope had before.
        stored: The output that the memo has for it already: it is to be released instead, and nothing was charged.
    """

    before: int
    stored: bytes | None = field(default=None, repr=False)
