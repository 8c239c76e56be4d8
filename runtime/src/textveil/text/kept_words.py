"""Count how many words of a text the mode ``names`` keeps: few where the text is in another language."""

from typing import NamedTuple

#: A text with fewer words says nothing about its language.
LEAST_WORDS = 20


class KeptWords(NamedTuple):
    """Words of one text or of several that are kept, and words on no list that are replaced.

    Names, numbers, identifiers and words of ``draw`` are in neither count. Both counts follow from the template, which
    the output shows, so they reveal nothing more (docs/proofs/names.md).

    >>> KeptWords(5, 25).may_be_foreign
    True
    """

    kept: int = 0
    replaced: int = 0

    @property
    def share(self) -> float | None:
        """Return ``kept / (kept + replaced)``, to three decimals; ``None`` without words."""
        words = self.kept + self.replaced
        return round(self.kept / words, 3) if words else None

    @property
    def may_be_foreign(self) -> bool:
        """Return whether under half of 20 or more words are kept."""
        words = self.kept + self.replaced
        return words >= LEAST_WORDS and 2 * self.kept < words
