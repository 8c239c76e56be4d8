"""What is replaced as one, as pass 2 finds it and pass 3 reads it."""

from typing import NamedTuple

from textveil.text.names.tokens import Token

#: Of runs of words with a capital, and of digits that blanks join, pass 3 tells the kind. A lone capital.
RUN, LONE_INITIAL, GROUP = "run", "initial", "digits-group"
#: What ``Slot.before`` has where a title stands before a run.
TITLE_BEFORE = "<title>"
#: What the layout of a run says where its last word is an initial.
ENDS_IN_INITIAL = "initial"


class Slot(NamedTuple):
    """What is replaced as one.

    Attributes:
        kind: Its kind; ``RUN`` for a run.
        case: Its case pattern.
        layout: What the skeleton shows of a number, or the ending of a word.
        tokens: Its tokens.
        text: How it is spelled.
        before: Of a run, the key of the shown word before it, if a single blank stands between; ``TITLE_BEFORE`` for a
            title.
        source: How the text has it, where escapes of JSON differ from ``text``; else nothing.
        titles: How many words in Title case a run has, where the skeleton has that: in lines without a lower-case word.
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
