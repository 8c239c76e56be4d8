"""Slots: spans of tokens with one surrogate each.

Pass 2 finds them, and pass 3 assigns their types.
"""

from typing import NamedTuple

from textveil.text.names.tokens import NamesToken

#: Provisional types that pass 3 refines: a run of capitalized words, a single capital, groups of digits with blanks.
CAPITALIZED_RUN, LONE_INITIAL, DIGIT_GROUP = "run", "initial", "digits-group"
#: Value of ``EntitySpan.preceding_word`` for a run after a title.
AFTER_TITLE = "<title>"
#: Layout of a run whose last word is an initial.
ENDS_IN_INITIAL = "initial"


class EntitySpan(NamedTuple):
    """A span of tokens that is replaced by one surrogate.

    Attributes:
        entity_type: Entity type; ``RUN`` for a run.
        case: Case pattern.
        layout: Public layout of a number, or the ending of a word.
        tokens: Tokens of the span.
        text: Spelling of the span.
        preceding_word: For a run, the key of the kept word before it if a single blank separates them; ``AFTER_TITLE``
            after a title.
        escaped_text: Original spelling, if JSON escapes make it differ from ``text``; else empty.
        title_case_words: Number of words of a run in Title case. It is public, and above 0 only in lines without a
            lower-case word.
    """

    entity_type: str
    case: int
    layout: str
    tokens: tuple[NamesToken, ...]
    text: str
    preceding_word: str = ""
    title_case_words: int = 0
    escaped_text: str = ""


TextElement = str | EntitySpan
