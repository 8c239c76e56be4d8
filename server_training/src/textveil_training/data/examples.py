"""Define ``LabeledExample``, the row of a data set that every reader yields."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class LabeledExample:
    """One row of a data set: its texts, label, score and private attributes.

    ``repr`` omits texts and label, so that a log line or a traceback with an example does not contain private text. (If
    somebody swaps the columns of a file, the label is text.)

    Attributes:
        texts: The text columns in the order of the file: one, or two for a pair.
        label: The class in the spelling of the file; empty for a row without a class.
        score: Similarity in meaning of the two texts of a pair; ``None`` for a format without scores.
        attributes: Private attributes of the text, which an attacker tries to infer, as ascending indices into the
            format's attribute names.
    """

    texts: tuple[str, ...] = field(repr=False)
    label: str = field(default="", repr=False)
    score: float | None = None
    attributes: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The text of a row that has a single text."""
        return self.texts[0]
