"""The examples that readers yield: one frozen dataclass for each kind.

Texts and labels are left out of ``repr`` on purpose, so that a log line or a traceback that mentions an
example does not carry somebody's words (a label column may hold text when the columns of a file were
swapped).
"""

from dataclasses import dataclass, field
from typing import Protocol


class Example(Protocol):
    """The fields of every kind of example."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The text columns in the order of the file: one, or two for a pair."""
        ...

    @property
    def label(self) -> str | None:
        """The label as the file spells it, or None for a kind without labels."""
        ...


@dataclass(frozen=True, slots=True)
class Document:
    """One text without a label."""

    text: str = field(repr=False)

    @property
    def texts(self) -> tuple[str]:
        """The text."""
        return (self.text,)

    @property
    def label(self) -> None:
        """Always None."""
        return None


@dataclass(frozen=True, slots=True)
class LabeledText:
    """One text and its class."""

    text: str = field(repr=False)
    label: str = field(repr=False)

    @property
    def texts(self) -> tuple[str]:
        """The text."""
        return (self.text,)


@dataclass(frozen=True, slots=True)
class LabeledPair:
    """Two texts and the class of their relation."""

    first: str = field(repr=False)
    second: str = field(repr=False)
    label: str = field(repr=False)

    @property
    def texts(self) -> tuple[str, str]:
        """Both texts."""
        return (self.first, self.second)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredPair:
    """Two texts, how close they are in meaning, and the class of their relation where the format has it."""

    first: str = field(repr=False)
    second: str = field(repr=False)
    score: float
    label: str | None = field(default=None, repr=False)

    @property
    def texts(self) -> tuple[str, str]:
        """Both texts."""
        return (self.first, self.second)


@dataclass(frozen=True, slots=True)
class AttributedText:
    """One text, its class, and the private attributes that hold for it.

    Attributes:
        attributes: Ascending indices into the format's attribute names; what an attacker tries to infer.
    """

    text: str = field(repr=False)
    label: str = field(repr=False)
    attributes: tuple[int, ...]

    @property
    def texts(self) -> tuple[str]:
        """The text."""
        return (self.text,)
