"""The one kind of example that every reader yields."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class LabeledExample:
    """One row of a data set: its texts, label, score and private attributes.

    Texts and label are left out of ``repr`` on purpose, so that a log line or a traceback that mentions an example does
    not carry somebody's words (a label column may hold text when the columns of a file were swapped).

    Attributes:
        texts: The text columns in the order of the file: one, or two for a pair.
        label: The class as the file spells it; empty where there is none.
        score: How close the texts of a pair are in meaning; None where the format has no scores.
        attributes: Ascending indices into the format's attribute names; what an attacker tries to infer.
    """

    texts: tuple[str, ...] = field(repr=False)
    label: str = field(default="", repr=False)
    score: float | None = None
    attributes: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """Text of a row with a single text."""
        return self.texts[0]
