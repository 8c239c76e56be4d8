"""Context rules for single words (pass 2): sentence starts, kept words, joins.

Like all of pass 2 the rules read classes, case patterns and gaps, and of a kept word its key. They never read a string
that is replaced.
"""

from textveil.bundle.rules import Rules
from textveil.lazy import CHARACTERS, load_data
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

_GAPS = load_data(CHARACTERS)["gaps"]
LINE_BREAKS, _ENDS_SENTENCE, _OPENS = (frozenset(_GAPS[name]) for name in ("line_breaks", "ends_sentence", "opens"))
JOINS, JOINS_INITIALS, _JOINS_FORMS = (frozenset(_GAPS[name]) for name in ("joins", "joins_initials", "joins_forms"))
_LETTERS_TO_END = 2


class Words:
    """The words of a text, and the gaps before each and after the last.

    Args:
        words: Tokens of the text that are not gaps.
        gaps: The gap before each word, and the gap at the end.
        capitals: Whether any text of the document has a capital letter. If none has, words that may be names are
            replaced.
        rules: Rules of the language.
    """

    def __init__(self, words: list[Token], gaps: list[str], *, capitals: bool, rules: Rules) -> None:
        self._capitals, self._rules = capitals, rules
        self.load_words(words, gaps)

    def load_words(self, words: list[Token], gaps: list[str]) -> None:
        """Replace the words and gaps that the rules read."""
        self._words, self._gaps, self._hidden = words, gaps, bytearray(len(words))
        self._plain = range(0)  # checked words that begin no part of an address

    def _is_shown(self, place: int, end: int) -> bool:
        """Return whether a word is kept in its context."""
        token = self._words[place]
        if token.cls == SHOWN:
            return self._address(place, end) == place
        if token.cls == ALONE:
            return token.bits > 0 and self._is_shown_alone(place)
        return self._capitals if token.cls == LOOSE else token.cls >= CAPITAL and not self._hidden[place]

    def _is_seen(self, place: int, end: int) -> bool:
        """Return whether a word is listed and kept, so that its key may be read."""
        token = self._words[place]
        return token.cls == SHOWN and not self._hidden[place] and self._address(place, end) == place

    def _is_shown_alone(self, place: int) -> bool:
        """Return whether a word with a type of its own is a common word in its context.

        This is a title or an office without a name after it, or a clitic after a lost blank.
        """
        token, gap = self._words[place], self._gaps[place]
        if token.bits & CLITIC:
            return gap.rstrip(" ").endswith(APOSTROPHES)
        if token.kind not in ("title", "office") or not self._starts_sentence(place):
            return False
        after = place + 1
        return after == len(self._words) or self._gaps[after] != " " or self._words[after].cls < CAPITAL

    def _opens(self, place: int) -> bool:
        """Return whether a mark, a line break or nothing precedes a word."""
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
            # A paragraph, or the name of a form field.
            return gap.count("\n") > 1 or ("\n" in gap and self._gaps[place + 1][:1] == ":")
        if not self._hidden[place - 1] and (before.cls == SHOWN or (before.cls == LOOSE and self._capitals)):
            return len(before.key) >= _LETTERS_TO_END and before.key not in self._rules.abbreviations
        return "." not in gap or (before.cls != INITIAL and before.kind not in ("title", "letter", SPELLED_LETTERS))

    def _is_loud(self, place: int) -> bool:
        """Return whether a word is in capitals for emphasis."""
        token = self._words[place]
        return token.case == UPPER and bool(token.bits & EMPHATIC)

    def _joined(self, first: int, place: int, after: int, end: int) -> bool:
        """Return whether a blank, a hyphen, or a dot after a short form joins two capitalized words."""
        return self._member_end(place, end) == after and self._joins(first, after)

    def _joins(self, first: int, after: int) -> bool:
        """Return whether the gap before a word joins it to the run that begins at ``first``.

        Blanks and hyphens join words. Further marks join initials, some short forms, and legal forms of firms.
        """
        gap, before = self._gaps[after], self._words[after - 1]
        if gap in JOINS or (before.cls == INITIAL and gap in JOINS_INITIALS):
            return True
        if gap == ". " and before.bits & INITIALS and may_be_led(self._words[after]):
            return True
        dotted = gap == ". " and after - 1 == first and before.bits & DOTTED
        return bool(dotted or (gap in _JOINS_FORMS and self._words[after].bits & FORM))

    def _member_end(self, place: int, end: int) -> int:
        """Return the index after a member of a run, including lower-case words attached by hyphens."""
        words, gaps = self._words, self._gaps
        place += 1
        while (
            place < end
            and gaps[place] == "-"
            and words[place].case == LOWER
            and words[place].cls in (SHOWN, LOOSE, ALONE)
        ):
            token = words[place]
            if token.cls == SHOWN and token.key in self._rules.suffixes:
                break
            if token.cls == ALONE and token.kind != "word":
                break
            place += 1
        return place

    def _address(self, place: int, end: int) -> int:
        """Return the index after the part of an address that a kept word begins.

        The result is the index of the word itself if it begins none. ``suite 7``: the word is replaced. In a text
        without a capital ``new york`` and ``port said`` are replaced, too.
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
        """Return the gap before digits, without the signs that may be replaced with them."""
        return self._gaps[place].rstrip("+(")

    def _beside_month(self, place: int, start: int, end: int) -> bool:
        words, gaps = self._words, self._gaps
        if place > start and words[place - 1].kind == "month" and self._before_digits(place) in (" ", ". "):
            return True
        return place + 1 < end and words[place + 1].kind == "month" and gaps[place + 1] == " "

    def _is_age(self, place: int, start: int, end: int) -> bool:
        words, gaps = self._words, self._gaps
        if place > start and self._is_seen(place - 1, end) and words[place - 1].key in self._rules.ages_before:
            return self._before_digits(place) == " "
        if place + 1 >= end or not self._is_seen(place + 1, end) or gaps[place + 1] not in (" ", "-", ""):
            return False
        unit = words[place + 1].key
        if unit in self._rules.ages_short:
            return True
        if unit not in self._rules.age_units or place + 2 >= end or gaps[place + 2] not in (" ", "-"):
            return False
        return self._is_seen(place + 2, end) and words[place + 2].key in self._rules.ages_behind
