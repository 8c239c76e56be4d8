"""Slots: spans of tokens with one surrogate each.

Pass 2 finds them, and pass 3 assigns their types.
"""

from typing import NamedTuple

from textveil.text.names.tokens import Token

#: Provisional types that pass 3 refines: a run of capitalized words, a single capital, groups of digits with blanks.
RUN, LONE_INITIAL, GROUP = "run", "initial", "digits-group"
#: Value of ``Slot.before`` for a run after a title.
TITLE_BEFORE = "<title>"
#: Layout of a run whose last word is an initial.
ENDS_IN_INITIAL = "initial"


class Slot(NamedTuple):
    """A span of tokens that is replaced by one surrogate.

    Attributes:
        kind: Entity type; ``RUN`` for a run.
        case: Case pattern.
        layout: Public layout of a number, or the ending of a word.
        tokens: Tokens of the span.
        text: Spelling of the span.
        before: For a run, the key of the kept word before it if a single blank separates them; ``TITLE_BEFORE`` after a
            title.
        source: Original spelling, if JSON escapes make it differ from ``text``; else empty.
        titles: Number of words of a run in Title case. It is public, and above 0 only in lines without a lower-case
            word.
    """

    kind: str
    case: int
    layout: str
    tokens: tuple[Token, ...]
    text: str
    before: str = ""
    titles: int = 0
    source: str = ""


Entry = str | Slot
