"""Numbers of what may stand around a drawn mention: words, kinds and marks, as elements of a context."""

from dataclasses import dataclass

#: Where the four elements of a context stand, counted from the drawn mention.
CONTEXT_POSITIONS = (-2, -1, 1, 2)
#: What a mark of punctuation is as an element; all others are one more.
CONTEXT_MARKS = ".,;:!?-()'\""


@dataclass(frozen=True)
class Elements:
    """Numbers of what may stand around a mention: symbols first, then these.

    Attributes:
        symbols: Number of symbols of the vocabulary.
        kinds: Number of kinds, drawn marks of punctuation among them.
    """

    symbols: int
    kinds: int

    @property
    def other(self) -> int:
        """A visible word that is not a symbol."""
        return self.symbols

    @property
    def drawn(self) -> int:
        """A drawn mention of which nothing is told but its place."""
        return self.symbols + 1

    @property
    def first_kind(self) -> int:
        """The first kind; the others follow."""
        return self.symbols + 2

    @property
    def first_mark(self) -> int:
        """The first mark of ``CONTEXT_MARKS``; the others follow, then any other mark."""
        return self.first_kind + self.kinds

    def mark(self, character: str) -> int:
        """Returns a mark of punctuation as an element."""
        found = CONTEXT_MARKS.find(character)
        return self.first_mark + (found if found >= 0 else len(CONTEXT_MARKS))

    @property
    def edge(self) -> int:
        """Beyond the start or the end of a document."""
        return self.first_mark + len(CONTEXT_MARKS) + 1

    @property
    def count(self) -> int:
        """How many elements there are."""
        return self.edge + 1
