"""Tokens of the mode ``names``, and their finite classes.

Pass 1 classifies a token from its own string and the options. Pass 2 (``spans``) reads classes, case patterns and
gaps, and of kept words their keys. Its decisions are therefore the same for all strings of a class.
"""

from array import array
from typing import NamedTuple, final

from textveil.text.segmentation import LOWER

#: In order: a gap; a kept word; a lower-case word that is kept unless the document is in lower case; a string, word or
#: number that is replaced in any context; plain digits, which join other digits; a capitalized word; a single capital.
GAP, KEPT, KEPT_WITH_CAPITALS, REPLACED, DIGITS, CAPITALIZED, INITIAL = range(7)

#: Reasons that keep a capitalized word: a function word or a greeting at any start, a common word at the start of a
#: sentence, a common word in capitals for emphasis.
KEPT_AT_START, KEPT_AT_SENTENCE, KEPT_FOR_EMPHASIS = 1, 2, 4
#: Spans that a kept word may begin: a part of a building with its number, the name of a place.
BEGINS_UNIT, BEGINS_PLACE = 8, 16
#: A letter that is kept after an apostrophe.
CLITIC = 32
#: A capitalized word that may begin a name with a full stop (``St. Louis``).
BEGINS_DOTTED_NAME = 64
#: A capitalized word that is kept at a start, but is a name after a title (``Mr. Sweet``).
NAME_AFTER_TITLE = 128
#: The legal form of a firm: a comma or a full stop joins it to the name before it (``Novak, Inc.``).
LEGAL_FORM = 256
#: The halves of a postal code, each a string of its own (``SW1A 1AA``).
OUTWARD, INWARD = 512, 1024
#: A lower-case word on a list of persons.
LISTED_PERSON = 2048
#: A number word: three or more in a row are one number. Initials with dots, which precede a name.
NUMBER_WORD, INITIALS = 4096, 8192
#: Case pattern of a JSON number: its surrogate is a valid JSON number.
JSON_NUMBER_CASE = 3
#: Roles of kept words that belong to the name before them in a text without capitals: any noun, and listed names.
NOUN_ROLE, NAME_ROLE = "noun", "name"
#: Layout of a randomized word, which all other rules treat as an unlisted word.
RANDOMIZED = "drawn"
create_tuple = tuple.__new__  # creates a named tuple in a third of the time of its class


@final
class NamesToken(NamedTuple):
    """A token.

    Attributes:
        token_class: Class.
        text: Spelling.
        key: Folded spelling. Pass 2 may read it only for kept words.
        case: Case pattern.
        entity_type: For ``REPLACED`` and ``DIGITS`` the entity type. For ``KEPT`` the role after a name (``NOUN_ROLE``,
            ``NAME_ROLE`` or empty).
        layout: Public layout of a number, or the ending of a word.
        flags: For ``CAPITALIZED`` and ``REPLACED`` the contexts in which it is kept. For ``KEPT`` and ``CAPITALIZED``
            the spans that it may begin.
    """

    token_class: int
    text: str
    key: str
    case: int = LOWER
    entity_type: str = ""
    layout: str = ""
    flags: int = 0


class TokenWindow(NamedTuple):
    """Tokens of a text that are read together: all of it, or some of its lines.

    Attributes:
        words: Tokens that are not gaps. In all windows of a text but the first, the last token of the previous window
            comes first, since the beginning of a line may depend on it.
        spellings: The gap before each token and its text, in turn, and the gap at the end.
        special_indices: Indices of the tokens that are not plainly kept.
    """

    words: list[NamesToken]
    spellings: list[str]
    special_indices: "array[int]"


def is_plainly_kept(token: NamesToken) -> bool:
    """Return whether a token is kept in any context and does not affect hidden neighbors."""
    return token.token_class == KEPT and not token.flags and token.case == LOWER


def may_follow_initials(token: NamesToken) -> bool:
    """Return whether initials may precede a word: it has a capital and is no function word."""
    return token.token_class == CAPITALIZED and token.flags & (KEPT_AT_START | NAME_AFTER_TITLE) != KEPT_AT_START
