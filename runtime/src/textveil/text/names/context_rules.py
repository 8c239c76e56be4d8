"""Context rules for single words (pass 2): sentence starts, kept words, joins.

Like all of pass 2 the rules read classes, case patterns and gaps, and of a kept word its key. They never read a string
that is replaced.
"""

from textveil.bundle.rules import Rules
from textveil.lazy import CHARACTERS, load_data
from textveil.text.names.spelled_tokens import APOSTROPHES, SPELLED_LETTERS
from textveil.text.names.tokens import (
    BEGINS_DOTTED_NAME,
    BEGINS_PLACE,
    BEGINS_UNIT,
    CAPITALIZED,
    CLITIC,
    DIGITS,
    INITIAL,
    INITIALS,
    KEPT,
    KEPT_FOR_EMPHASIS,
    KEPT_WITH_CAPITALS,
    LEGAL_FORM,
    NAME_AFTER_TITLE,
    REPLACED,
    NamesToken,
    may_follow_initials,
)
from textveil.text.segmentation import LOWER, UPPER

_GAPS = load_data(CHARACTERS)["gaps"]
LINE_BREAKS, _ENDS_SENTENCE, _OPENING_MARKS = (
    frozenset(_GAPS[name]) for name in ("line_breaks", "ends_sentence", "opens")
)
RUN_JOINS, INITIAL_JOINS, _LEGAL_FORM_JOINS = (
    frozenset(_GAPS[name]) for name in ("joins", "joins_initials", "joins_forms")
)
_MIN_LETTERS_TO_END = 2


class ContextRules:
    """The words of a text, and the gaps before each and after the last.

    Args:
        words: Tokens of the text that are not gaps.
        gaps: The gap before each word, and the gap at the end.
        has_capitals: Whether any text of the document has a capital letter. If none has, words that may be names are
            replaced.
        rules: Rules of the language.
    """

    def __init__(self, words: list[NamesToken], gaps: list[str], *, has_capitals: bool, rules: Rules) -> None:
        self._has_capitals, self._rules = has_capitals, rules
        self.load_words(words, gaps)

    def load_words(self, words: list[NamesToken], gaps: list[str]) -> None:
        """Replace the words and gaps that the rules read."""
        self._words, self._gaps, self._hidden = words, gaps, bytearray(len(words))
        self._plain_range = range(0)  # checked words that begin no part of an address

    def _is_kept(self, index: int, end: int) -> bool:
        """Return whether a word is kept in its context."""
        token = self._words[index]
        if token.token_class == KEPT:
            return self._find_address_end(index, end) == index
        if token.token_class == REPLACED:
            return token.flags > 0 and self._is_common_in_context(index)
        return (
            self._has_capitals
            if token.token_class == KEPT_WITH_CAPITALS
            else token.token_class >= CAPITALIZED and not self._hidden[index]
        )

    def _has_readable_key(self, index: int, end: int) -> bool:
        """Return whether a word is listed and kept, so that its key may be read."""
        token = self._words[index]
        return token.token_class == KEPT and not self._hidden[index] and self._find_address_end(index, end) == index

    def _is_common_in_context(self, index: int) -> bool:
        """Return whether a word with a type of its own is a common word in its context.

        This is a title or an office without a name after it, or a clitic after a lost blank.
        """
        token, gap = self._words[index], self._gaps[index]
        if token.flags & CLITIC:
            return gap.rstrip(" ").endswith(APOSTROPHES)
        if token.entity_type not in ("title", "office") or not self._starts_sentence(index):
            return False
        after = index + 1
        return after == len(self._words) or self._gaps[after] != " " or self._words[after].token_class < CAPITALIZED

    def _follows_break(self, index: int) -> bool:
        """Return whether a mark, a line break or nothing precedes a word."""
        if index == 0 or (_OPENING_MARKS.isdisjoint(self._gaps[index]) and " - " not in self._gaps[index]):
            return index == 0
        if self._words[index].flags & NAME_AFTER_TITLE and self._words[index - 1].entity_type == "title":
            return "." not in self._gaps[index]
        return True

    def _starts_sentence(self, index: int) -> bool:
        if index == 0:
            return True
        gap, before = self._gaps[index], self._words[index - 1]
        if not gap[-1:].isspace() and gap[-1:] not in "\"'\u201c\u2018(":
            return False
        if _ENDS_SENTENCE.isdisjoint(gap):
            # A paragraph, or the name of a form field.
            return gap.count("\n") > 1 or ("\n" in gap and self._gaps[index + 1][:1] == ":")
        if not self._hidden[index - 1] and (
            before.token_class == KEPT or (before.token_class == KEPT_WITH_CAPITALS and self._has_capitals)
        ):
            return len(before.key) >= _MIN_LETTERS_TO_END and before.key not in self._rules.abbreviations
        return "." not in gap or (
            before.token_class != INITIAL and before.entity_type not in ("title", "letter", SPELLED_LETTERS)
        )

    def _is_emphasized(self, index: int) -> bool:
        """Return whether a word is in capitals for emphasis."""
        token = self._words[index]
        return token.case == UPPER and bool(token.flags & KEPT_FOR_EMPHASIS)

    def _is_joined_to_run(self, first: int, index: int, after: int, end: int) -> bool:
        """Return whether a blank, a hyphen, or a dot after a short form joins two capitalized words."""
        return self._find_member_end(index, end) == after and self._joins_run(first, after)

    def _joins_run(self, first: int, after: int) -> bool:
        """Return whether the gap before a word joins it to the run that begins at ``first``.

        Blanks and hyphens join words. Further marks join initials, some short forms, and legal forms of firms.
        """
        gap, before = self._gaps[after], self._words[after - 1]
        if gap in RUN_JOINS or (before.token_class == INITIAL and gap in INITIAL_JOINS):
            return True
        if gap == ". " and before.flags & INITIALS and may_follow_initials(self._words[after]):
            return True
        follows_short_form = gap == ". " and after - 1 == first and before.flags & BEGINS_DOTTED_NAME
        return bool(follows_short_form or (gap in _LEGAL_FORM_JOINS and self._words[after].flags & LEGAL_FORM))

    def _find_member_end(self, index: int, end: int) -> int:
        """Return the index after a member of a run, including lower-case words attached by hyphens."""
        words, gaps = self._words, self._gaps
        index += 1
        while (
            index < end
            and gaps[index] == "-"
            and words[index].case == LOWER
            and words[index].token_class in (KEPT, KEPT_WITH_CAPITALS, REPLACED)
        ):
            token = words[index]
            if token.token_class == KEPT and token.key in self._rules.suffixes:
                break
            if token.token_class == REPLACED and token.entity_type != "word":
                break
            index += 1
        return index

    def _find_address_end(self, index: int, end: int) -> int:
        """Return the index after the part of an address that a kept word begins.

        The result is the index of the word itself if it begins none. ``suite 7``: the word is replaced. In a text
        without a capital ``new york`` and ``port said`` are replaced, too.
        """
        words, after = self._words, index + 1
        if not words[index].flags or after == end:
            return index
        if words[after].token_class == DIGITS and words[index].flags & BEGINS_UNIT:
            return after if self._get_gap_before_digits(after) in INITIAL_JOINS | {" "} else index
        if self._has_capitals or index in self._plain_range:
            return index
        while words[after - 1].flags & BEGINS_PLACE and after < end and self._gaps[after] == " ":
            if words[after].token_class == KEPT_WITH_CAPITALS or (
                words[after].token_class == REPLACED and words[after].entity_type == "word"
            ):
                return after + 1
            after += 1
        self._plain_range = range(index, after)
        return index

    def _get_gap_before_digits(self, index: int) -> str:
        """Return the gap before digits, without the signs that may be replaced with them."""
        return self._gaps[index].rstrip("+(")

    def _is_beside_month(self, index: int, start: int, end: int) -> bool:
        words, gaps = self._words, self._gaps
        if (
            index > start
            and words[index - 1].entity_type == "month"
            and self._get_gap_before_digits(index) in (" ", ". ")
        ):
            return True
        return index + 1 < end and words[index + 1].entity_type == "month" and gaps[index + 1] == " "

    def _is_age(self, index: int, start: int, end: int) -> bool:
        words, gaps = self._words, self._gaps
        if index > start and self._has_readable_key(index - 1, end) and words[index - 1].key in self._rules.ages_before:
            return self._get_gap_before_digits(index) == " "
        if index + 1 >= end or not self._has_readable_key(index + 1, end) or gaps[index + 1] not in (" ", "-", ""):
            return False
        unit = words[index + 1].key
        if unit in self._rules.ages_short:
            return True
        if unit not in self._rules.age_units or index + 2 >= end or gaps[index + 2] not in (" ", "-"):
            return False
        return self._has_readable_key(index + 2, end) and words[index + 2].key in self._rules.ages_behind
