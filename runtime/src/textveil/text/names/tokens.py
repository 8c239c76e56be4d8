"""Tokens of the rung ``names``, and the finite classes that they are of.

Pass 1 gives a token its class from its own string and the options. Pass 2 (``places``) reads classes, case patterns and
gaps, and of what is shown its key. So whatever pass 2 decides is the same for all strings of a class.
"""

from array import array
from typing import NamedTuple, final

from textveil.text.segmentation import LOWER

#: A gap; a shown word; a lower-case word that is shown unless the whole text is in lower case; a string, word or number
#: that is replaced wherever it stands; plain digits, which join each other; a word with a capital; a single capital.
GAP, SHOWN, LOOSE, ALONE, DIGITS, CAPITAL, INITIAL = range(7)

#: What a word with a capital may be shown for: a function word or a greeting at any start, a common word where a
#: sentence starts, a common word in capitals for emphasis.
AT_START, AT_SENTENCE, EMPHATIC = 1, 2, 4
#: What a shown word may begin: a part of a building with its number, a name of a place.
UNIT, FIRST = 8, 16
#: A letter that is shown after an apostrophe.
CLITIC = 32
#: What a word with a capital may begin with a full stop: a name (``St. Louis``).
DOTTED = 64
#: What a word with a capital is that may be shown at a start, but behind a title is a name (``Mr. Sweet``).
NO_TITLE = 128
#: The legal form of a firm: a comma or a full stop joins it to the name before it (``Novak, Inc.``).
FORM = 256
#: The halves of a postal code, each a string of its own (``SW1A 1AA``).
OUTWARD, INWARD = 512, 1024
#: A word in lower case that is on a list of persons.
NAMED = 2048
#: A number word: three or more in a row are one number. Initials with dots, which lead to a name.
NUMBER, INITIALS = 4096, 8192
#: The case pattern of a number of JSON: its substitute is written as such.
JSON_NUMBER = 3
#: The kinds of shown words that are a part of the name before them in a text without capitals: any, and listed names.
NOUN, NAME = "noun", "name"
#: The layout of a word that is drawn, which to all around it is like any unlisted word.
DRAWN = "drawn"
new = tuple.__new__  # makes a named tuple in a third of the time that a call of its class takes


@final
class Token(NamedTuple):
    """One token.

    Attributes:
        cls: Its class.
        text: How it is spelled.
        key: Its key: folded, and what pass 2 may read of it if it is shown.
        case: Its case pattern.
        kind: Of ``ALONE`` and ``DIGITS``: the kind that it is replaced by. Of ``SHOWN``: whether it may be of a name.
        layout: What the skeleton shows of a number; the ending of a word.
        bits: Of ``CAPITAL`` and ``ALONE``: where it may be shown. Of ``SHOWN`` and ``CAPITAL``: what it may begin.
    """

    cls: int
    text: str
    key: str
    case: int = LOWER
    kind: str = ""
    layout: str = ""
    bits: int = 0


class Window(NamedTuple):
    """Tokens of a text that are read together: all of it, or some of its lines.

    Attributes:
        words: Its tokens that are not gaps. In all windows of a text but the first, the last one of the window before
            comes first: what begins a line may depend on it.
        spelled: What stands before each, its text, and so on, and what stands at the end.
        special: The places of those that are not plainly shown.
    """

    words: list[Token]
    spelled: list[str]
    special: "array[int]"


def is_plain(token: Token) -> bool:
    """Tells whether a token is shown wherever it stands, and changes nothing beside it that is hidden."""
    return token.cls == SHOWN and not token.bits and token.case == LOWER


def may_be_led(token: Token) -> bool:
    """Return whether initials may lead to a word: it has a capital, and is no function word."""
    return token.cls == CAPITAL and token.bits & (AT_START | NO_TITLE) != AT_START
