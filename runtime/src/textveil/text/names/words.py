"""What is asked of one word where it stands (pass 2): whether it starts a sentence, is shown, joins the one before.

As all of pass 2 it reads classes, case patterns and gaps, and of a shown word its key: never a string that is replaced.
"""

from textveil.text.names.spelled import APOSTROPHES, SPELLED_LETTERS
from textveil.text.names.tokens import (
    ALONE,
    CAPITAL,
    CLITIC,
    DIGITS,
    DOTTED,
    EMPHATIC,
    FIRST,
    FORM,
    INITIAL,
    INITIALS,
    LOOSE,
    NO_TITLE,
    SHOWN,
    UNIT,
    Token,
    may_be_led,
)
from textveil.text.segmentation import LOWER, UPPER

LINE_BREAKS = frozenset("\n\r\x0b\x0c\x85\u2028\u2029")
_ENDS_SENTENCE = frozenset(".!?\u2026\u3002")
_OPENS = _ENDS_SENTENCE | LINE_BREAKS | frozenset(':;"\u201c\u201d\u00ab\u00bb\u2018([{*\u2022>|\u2013\u2014~')
#: What is written with a hyphen to a name and is not a part of it.
_SUFFIXES = frozenset("based born style like led backed owned speaking area wide run made bound related".split())
JOINS = frozenset((" ", "-", "\u00a0", "\u2010", "\u2011", " & "))
JOINS_INITIALS = frozenset((". ", "."))
_JOINS_FORMS = frozenset((", ", ". "))
#: No sentence ends at the full stop of these.
_ABBREVIATIONS = frozenset("etc inc ltd dept est approx fig vol feat incl no vs st".split())
_YEARS = frozenset("year years yr yrs month months week weeks".split())
_LETTERS_TO_END = 2


class Words:
    """The words of a text, and the gaps before each and after the last.

    Args:
        words: Its tokens that are not gaps.
        gaps: What stands before each, and at the end.
        capitals: Whether any text of the document has a capital: else words that may be names are replaced.
    """

    def __init__(self, words: list[Token], gaps: list[str], *, capitals: bool) -> None:
        self._capitals = capitals
        self.load_words(words, gaps)

    def load_words(self, words: list[Token], gaps: list[str]) -> None:
        """Ask about other words from here on."""
        self._words, self._gaps, self._hidden = words, gaps, bytearray(len(words))
        self._plain = range(0)  # words that begin no part of an address: they were looked at

    def _is_shown(self, place: int, end: int) -> bool:
        """Whether a word is shown where it stands."""
        token = self._words[place]
        if token.cls == SHOWN:
            return self._address(place, end) == place
        if token.cls == ALONE:
            return token.bits > 0 and self._is_shown_alone(place)
        return self._capitals if token.cls == LOOSE else token.cls >= CAPITAL and not self._hidden[place]

    def _is_seen(self, place: int, end: int) -> bool:
        """Whether a word is listed and shown, so that its key may be read."""
        token = self._words[place]
        return token.cls == SHOWN and not self._hidden[place] and self._address(place, end) == place

    def _is_shown_alone(self, place: int) -> bool:
        """Whether a word of a closed kind is a common word here: a title with no name behind it, a lost clitic."""
        token, gap = self._words[place], self._gaps[place]
        if token.bits & CLITIC:
            return gap.rstrip(" ").endswith(APOSTROPHES)
        if token.kind not in ("title", "office") or not self._starts_sentence(place):
            return False
        after = place + 1
        return after == len(self._words) or self._gaps[after] != " " or self._words[after].cls < CAPITAL

    def _opens(self, place: int) -> bool:
        """Whether a mark, a line break or nothing stands before a word."""
        if place == 0 or (_OPENS.isdisjoint(self._gaps[place]) and " - " not in self._gaps[place]):
            return place == 0
        if self._words[place].bits & NO_TITLE and self._words[place - 1].kind == "title":
            return "." not in self._gaps[place]
        return True

    def _starts_sentence(self, place: int) -> bool:
        if place == 0:
            return True
        gap, before = self._gaps[place], self._words[place - 1]
        if not gap[-1:].isspace() and gap[-1:] not in "\"'\u201c\u2018(":
            return False
        if _ENDS_SENTENCE.isdisjoint(gap):
            # A paragraph, or the name of a field of a form.
            return gap.count("\n") > 1 or ("\n" in gap and self._gaps[place + 1][:1] == ":")
        if not self._hidden[place - 1] and (before.cls == SHOWN or (before.cls == LOOSE and self._capitals)):
            return len(before.key) >= _LETTERS_TO_END and before.key not in _ABBREVIATIONS
        return "." not in gap or (before.cls != INITIAL and before.kind not in ("title", "letter", SPELLED_LETTERS))

    def _is_loud(self, place: int) -> bool:
        """Whether a word is in capitals for emphasis."""
        token = self._words[place]
        return token.case == UPPER and bool(token.bits & EMPHATIC)

    def _joined(self, first: int, place: int, after: int, end: int) -> bool:
        """Whether two words with a capital stand together: with a blank or a hyphen, or a dot where one may stand."""
        return self._member_end(place, end) == after and self._joins(first, after)

    def _joins(self, first: int, after: int) -> bool:
        """Whether the gap before a word joins it to what begins with another: so do marks beside some short forms."""
        gap, before = self._gaps[after], self._words[after - 1]
        if gap in JOINS or (before.cls == INITIAL and gap in JOINS_INITIALS):
            return True
        if gap == ". " and before.bits & INITIALS and may_be_led(self._words[after]):
            return True
        dotted = gap == ". " and after - 1 == first and before.bits & DOTTED
        return bool(dotted or (gap in _JOINS_FORMS and self._words[after].bits & FORM))

    def _member_end(self, place: int, end: int) -> int:
        """Where a member of a run ends, with the lower-case words that a hyphen joins to it."""
        words, gaps = self._words, self._gaps
        place += 1
        while (
            place < end
            and gaps[place] == "-"
            and words[place].case == LOWER
            and words[place].cls in (SHOWN, LOOSE, ALONE)
        ):
            token = words[place]
            if token.cls == SHOWN and token.key in _SUFFIXES:
                break
            if token.cls == ALONE and token.kind != "word":
                break
            place += 1
        return place

    def _address(self, place: int, end: int) -> int:
        """Where the part of an address ends that begins with a shown word; the place itself where it begins none.

        ``suite 7``: the word is replaced. In a text without a capital ``new york`` and ``port said`` are, too.
        """
        words, after = self._words, place + 1
        if not words[place].bits or after == end:
            return place
        if words[after].cls == DIGITS and words[place].bits & UNIT:
            return after if self._before_digits(after) in JOINS_INITIALS | {" "} else place
        if self._capitals or place in self._plain:
            return place
        while words[after - 1].bits & FIRST and after < end and self._gaps[after] == " ":
            if words[after].cls == LOOSE or (words[after].cls == ALONE and words[after].kind == "word"):
                return after + 1
            after += 1
        self._plain = range(place, after)
        return place

    def _before_digits(self, place: int) -> str:
        """The gap before digits, less what may be replaced with them."""
        return self._gaps[place].rstrip("+(")

    def _beside_month(self, place: int, start: int, end: int) -> bool:
        words, gaps = self._words, self._gaps
        if place > start and words[place - 1].kind == "month" and self._before_digits(place) in (" ", ". "):
            return True
        return place + 1 < end and words[place + 1].kind == "month" and gaps[place + 1] == " "

    def _is_age(self, place: int, start: int, end: int) -> bool:
        words, gaps = self._words, self._gaps
        if place > start and self._is_seen(place - 1, end) and words[place - 1].key in ("aged", "age"):
            return self._before_digits(place) == " "
        if place + 1 >= end or not self._is_seen(place + 1, end) or gaps[place + 1] not in (" ", "-", ""):
            return False
        unit = words[place + 1].key
        if unit in ("yo", "y/o"):
            return True
        if unit not in _YEARS or place + 2 >= end or gaps[place + 2] not in (" ", "-"):
            return False
        return self._is_seen(place + 2, end) and words[place + 2].key == "old"
