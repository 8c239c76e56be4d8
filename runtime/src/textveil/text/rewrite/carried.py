"""What a document that is drawn in chunks hands on: all that the law of the next chunk depends on.

So a chunk's edge is seen neither in what comes out nor in what is charged: where it falls depends on hidden words.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Open:
    """The part of a document of consistent draws that may go on.

    Attributes:
        counted: Tokens of the document up to here that count toward the cap.
        values: What is known of each draw of that part, by what equal tokens have in common. Private.
    """

    counted: int = 0
    values: dict[tuple[int, object], int] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Carried:
    """What is known of a document outside of what is read.

    Attributes:
        before: The gap before the first segment; ``None`` where the text begins there.
        open: What equal tokens of the chunks before became.
    """

    before: str | None = None
    open: Open = Open()


NOTHING = Carried()
