"""Names of persons in lower case after words such as *my name is*, which are replaced also if they are common words.

A *cue* is one or two unchanged words, and the gap (blanks and marks) after them, behind which a name is likely: *hi*
before a blank, *regards* before a comma. A *label* is a cue before the value of a field: *name* in *name: hope*.
"""

import re
from collections.abc import MutableSequence, Sequence

from textveil.bundle.fact_words import FactWords
from textveil.text.identifiers import split_identifier
from textveil.text.names.tokens import (
    CAPITALIZED,
    DIGITS,
    FIRST_NAME,
    KEPT,
    KEPT_WITH_CAPITALS,
    LISTED_PERSON,
    NAME_ROLE,
    REPLACED,
    SURNAME,
    NamesToken,
)
from textveil.text.segmentation import LOWER

#: Verbs between a word such as *name* and the name. A clitic (``'s``) is a word of its own.
_VERBS = frozenset(("is", "was", "'s", "\u2019s"))
#: Words before a kinship word, as in ``my wife grace``.
_OWNERS = frozenset(("my", "his", "her", "our", "your", "their"))
#: Marks that end a name if they follow it directly.
_END_MARKS = frozenset(",.;:!?)\"'*|<]}\t")
_SPACED_ENDS = (" <", " -", " \u2013", " \u2014", " &")
#: Gaps in a list of names; and those between a word such as *wife* and a name.
_IN_LIST, _AFTER_KIN = frozenset((", ", ",", " & ", "/", "; ")), frozenset((" ", ", ", " ("))
#: Types of words that may be family names.
_LATER_TYPES = frozenset(("group", "title", "office"))
#: Gaps between a label and the value of its field; and those behind a replaced word that is a label.
_AFTER_LABEL, _AFTER_REPLACED = (
    re.compile(r",|.*[:=|>(\t].*", re.DOTALL),
    re.compile("[\"'*)\\]]*(?: ?[:=] ?|>)[\"'*]*"),
)
#: Kinds of cues: a label, a replaced word that is a label, and those of ``CuedNames``.
LABEL, REPLACED_LABEL, _COMMA, _BLANK, _KIN, _NONE = ":", "=", ",", " ", "kin", ""


def find_value_cue(key: Sequence[object], rules: FactWords) -> str:
    """Return the kind of the cue that a key of JSON is for its value; empty if it is none.

    Args:
        key: Unchanged texts and detected entities of the key.
        rules: Words of the language.
    """
    if any(not isinstance(element, str) for element in key):
        return REPLACED_LABEL
    words = split_identifier("".join(map(str, key)))
    return LABEL if words and _is_label(words[-1].lower(), rules) else _NONE


def _is_label(key: str, rules: FactWords) -> bool:
    """Return whether a word, or the last word of an identifier such as *first_name*, is a label before a name."""
    word = key.rpartition("_")[2]
    if f"{word}:" in rules.name_cues or word in rules.name_leads:
        return True
    return any(one in rules.roles or one in rules.kin for one in (word, word.removesuffix("s")))


def is_listed_name(token: NamesToken) -> bool:
    """Return whether a lower-case word, unchanged or replaced, is on a list of names of persons."""
    return token.flags & LISTED_PERSON > 0 or token.entity_type == NAME_ROLE


class CuedNames:
    """Finder of common words that are names because of the words before them: *my name is hope price*, *hi mark*.

    A name may have several words. The decisions do not depend on the spelling of a replaced word: a word on no list is
    a part of a name like a listed one.

    Args:
        words: Tokens of a text.
        gaps: The gap (blanks and marks) before each token.
        hidden: Whether each token is replaced, which ``hide`` changes. For words with a capital it must be final.
        has_capitals: Whether the document has a capital letter.
        rules: Words of the language.
        cue: Kind of the cue before the first token, which is the key of a value of JSON; empty for none.
    """

    def __init__(
        self,
        words: Sequence[NamesToken],
        gaps: Sequence[str],
        hidden: MutableSequence[int],
        has_capitals: bool,
        rules: FactWords,
        cue: str = _NONE,
    ) -> None:
        self._words, self._gaps, self._hidden = words, gaps, hidden
        self._has_capitals, self._rules, self._first_cue = has_capitals, rules, cue

    def hide(self, special: Sequence[int], start: int, end: int) -> None:
        """Mark the common words of a line that are names.

        Args:
            special: Indices of the tokens of the line, without those that always stay unchanged, in order.
            start: Index of the first token of the line.
            end: Index after the last token of the line.
        """
        name_end = -1
        for index in special:
            token = self._words[index]
            if token.case != LOWER:
                continue
            is_name = self._is_unlisted(token) or is_listed_name(token)
            if not (is_name or token.flags & FIRST_NAME):
                continue
            if self._gaps[index] == " " and ((is_name and index == name_end) or self._follows_verb(index)):
                name_end = index + 1
                self._hide(index)
                continue
            for at in range(index, self._find_name_end(index, start, end)):
                self._hide(at)

    def _hide(self, index: int) -> None:
        if self._words[index].token_class in (KEPT, KEPT_WITH_CAPITALS):
            self._hidden[index] = True

    def _is_unlisted(self, token: NamesToken) -> bool:
        """Return whether a lower-case word is replaced at any position of the document, as words on no list are."""
        if token.token_class == KEPT_WITH_CAPITALS:
            return not self._has_capitals
        return token.token_class == REPLACED and token.entity_type == "word"

    def _follows_verb(self, index: int) -> bool:
        """Return whether a word such as *name* and a verb are before ``index``, as in *my name is*.

        Both words must stay unchanged whatever precedes them. If a lower-case word that may be a name is before *name*,
        as in *anna name is*, another rule may replace *name* as a part of it, so the result is false.
        """
        words, gaps = self._words, self._gaps
        if index < 2 or gaps[index - 1] not in ("", " ") or words[index - 1].token_class != KEPT:
            return False
        lead = words[index - 2]
        if words[index - 1].key not in _VERBS or lead.token_class != KEPT or lead.key not in self._rules.name_leads:
            return False
        return self._is_in_no_name(index - 2)

    def _is_in_no_name(self, index: int) -> bool:
        """Return whether a common word is certainly no part of a name in lower case, as *short* is in *martin short*.

        The word is no part of a name if the document has capitals, or if no word that may be a name precedes it.
        """
        if self._has_capitals or index == 0 or self._gaps[index] != " ":
            return True
        before = self._words[index - 1]
        return before.token_class == KEPT and before.entity_type != NAME_ROLE and not self._hidden[index - 1]

    def _find_name_end(self, index: int, start: int, end: int) -> int:
        """Return the index after the name that a cue announces at ``index``; ``index`` if there is none.

        The name must end before a mark, at the end of the line, or before a word such as *and*: *my friend will brown,*
        has a name, and *i'm will to come* has none.
        """
        words, gaps, stop = self._words, self._gaps, index + 1
        cue = self._find_cue(index, start)
        if not cue or not (cue == LABEL or words[index].flags & FIRST_NAME or self._is_unlisted(words[index])):
            return index
        while stop < end and gaps[stop] == " " and self._may_continue(words[stop]):
            stop += 1
        if stop == end:
            return stop
        is_one_verb = stop == index + 1 and words[index].token_class == KEPT and not is_listed_name(words[index])
        if cue == _COMMA or (cue == _KIN and is_one_verb):  # "my friend will, too"
            return index
        if (gap := gaps[stop]) not in ("", " "):
            return stop if gap[0] in _END_MARKS or gap.startswith(_SPACED_ENDS) else index
        followers = self._rules.name_followers if gap else _VERBS
        return stop if not words[stop].entity_type and self._read_key(stop) in followers else index

    def _may_continue(self, token: NamesToken) -> bool:
        """Return whether a word may be a later word of a name. *Brown* is on the list of groups, *king* a title."""
        if token.case != LOWER:
            return False
        return self._is_unlisted(token) or is_listed_name(token) or token.entity_type in _LATER_TYPES

    def _find_cue(self, index: int, start: int) -> str:
        """Return the kind of the cue before a word; empty for none."""
        if index == 0:
            return self._first_cue
        first = index - 1
        key, gap, cues = self._read_key(first), self._gaps[index], self._rules.name_cues
        kind = _NONE
        if _AFTER_REPLACED.fullmatch(gap) and self._is_replaced(first):
            return REPLACED_LABEL
        if gap in _IN_LIST and self._is_name(first):
            return REPLACED_LABEL
        if gap in (" ", ". ") and self._words[first].entity_type == "title":
            return _BLANK
        if key == "":
            return _NONE
        if f"{key}," in cues and ("," in gap or index == start):
            kind = _COMMA
        elif _AFTER_LABEL.fullmatch(gap) and _is_label(key, self._rules):
            kind = LABEL
        elif gap == " " and key in cues:
            kind = _BLANK
        elif gap in _AFTER_KIN:
            lead = self._read_key(first - 1) if first > start and self._gaps[first] == " " else ""
            if key in self._rules.kin and (lead in _OWNERS or (gap == " " and lead not in self._rules.determiners)):
                kind = _KIN if lead in _OWNERS else _BLANK
            elif lead and gap == " " and f"{lead} {key}" in cues:
                kind = _BLANK
            first -= lead != ""
        is_final = index == start or self._words[first].entity_type == ""
        return kind if is_final or self._is_in_no_name(first) else _NONE

    def _is_name(self, index: int) -> bool:
        """Return whether a word is replaced as a name or as a word on no list, or may be so after a lower-case name."""
        token = self._words[index]
        is_other = token.token_class == DIGITS or (token.token_class == REPLACED and token.entity_type != "word")
        return not is_other and self._is_replaced(index)

    def _is_replaced(self, index: int) -> bool:
        """Return whether a word or string is replaced, or may be a noun that is replaced after a lower-case name."""
        token = self._words[index]
        if self._hidden[index] or token.token_class in (REPLACED, DIGITS):
            return True
        if token.token_class == KEPT:
            return token.entity_type != "" and not self._is_in_no_name(index)
        return token.token_class == KEPT_WITH_CAPITALS and not self._has_capitals

    def _read_key(self, index: int) -> str:
        """Return the key of a word that stays unchanged; empty for other words, and for those that may begin a name."""
        if index < 0 or self._hidden[index]:
            return ""
        token = self._words[index]
        if token.token_class == KEPT:
            return "" if token.flags else token.key
        return token.key if token.token_class == CAPITALIZED and not token.flags & SURNAME else ""
