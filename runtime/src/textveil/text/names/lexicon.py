"""Lexicon: the class of a single word (pass 1).

The class is a function of the string of the word, the public lists and the options.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

import regex

from textveil.bundle.names_files import EMPHASIS, FUNCTION, OPENER, RARE, START, STRICT, NamesLists
from textveil.bundle.rules import Rules
from textveil.lazy import ENTITY_TYPES, load_data
from textveil.text.names.tokens import (
    ALONE,
    AT_SENTENCE,
    AT_START,
    CAPITAL,
    CLITIC,
    DOTTED,
    DRAWN,
    EMPHATIC,
    FIRST,
    FORM,
    INITIAL,
    LOOSE,
    NAME,
    NAMED,
    NO_TITLE,
    NOUN,
    NUMBER,
    SHOWN,
    UNIT,
    Token,
    new,
)
from textveil.text.segmentation import (
    LONGEST_WORD,
    LOWER,
    TITLE,
    UPPER,
    case_pattern,
    clitic_pattern,
    fold_apostrophes,
    key,
    split_clitic,
)

#: Types of single words that do not depend on the context. The first list with a word gives its type. Words of the
#: second line have the type in lower case only: with a capital they are treated as parts of names. Words of the third
#: line have it in Title case and in capitals only, like all words that are also common words.
_ANY_CASE, _LOWER, _CAPITALIZED = (
    tuple(load_data(ENTITY_TYPES)[name]) for name in ("any_case", "lower_case", "capitalized")
)
_SHORTEST_WITH_ENDING = 5


class Lexicon:
    """The class of every word under the options of a call.

    Args:
        lists: The lists of the bundle.
        allowed: Keys that are kept in any case pattern.
        denied: Keys that are replaced as unlisted words, whatever list has them.
        drawn: Keys that are randomized in lower case; none is denied.

    Attributes:
        rules: Rules of the language.
    """

    def __init__(
        self,
        lists: NamesLists,
        allowed: Collection[str] = (),
        denied: Collection[str] = (),
        drawn: Collection[str] = (),
    ) -> None:
        self.rules = rules = lists.rules
        self._common, self._capitals = lists.common, lists.capitals
        self._clitic, self._negation = clitic_pattern(rules.clitics.all), rules.clitics.negation
        #: Letters that are clitics after a lost blank, as in ``it' s``.
        self._clitic_letters = frozenset(piece for piece in rules.clitics.pieces if len(piece) == 1)
        self._symbols, self._persons = lists.symbols, lists.kinds["given"] | lists.kinds["family"]
        self._small = _kind_of(lists.kinds, _ANY_CASE + _LOWER)
        self._capitalized = _kind_of(lists.kinds, _ANY_CASE + _CAPITALIZED)
        self._begins = dict.fromkeys(lists.kinds["first-word"], FIRST) | dict.fromkeys(lists.kinds["unit-word"], UNIT)
        self._allowed, self._denied, self._drawn = frozenset(allowed), frozenset(denied), frozenset(drawn)
        self._listed = self._denied | self._drawn
        self._apart = self._capitals | self._allowed | self._listed | self._begins.keys() | rules.number_words.keys()
        #: Cached tokens of public words, each with the mark after it: a function of the lists and options.
        self.listed_pieces: dict[str, Any] = {}

    def is_public(self, word: str) -> bool:
        """Return whether a word is common and in lower case, or a function word.

        Any other word may be a name.
        """
        marks = self._common.get(word.lower(), 0)
        return marks > 0 and (word.islower() or marks & FUNCTION > 0)

    def is_denied(self, folded: str) -> bool:
        """Return whether the user's lists replace or randomize a word or a hyphenated part of it."""
        return self._denies(folded) or not self._listed.isdisjoint(folded.split("-"))

    def _denies(self, folded: str) -> bool:
        """Return whether the user's denied words contain a word, or its stem before a clitic."""
        if folded in self._denied or not self._denied or "'" not in folded:
            return folded in self._denied
        parts = split_clitic(folded, self._clitic)
        return parts is not None and parts[0] in self._denied

    @cached_property
    def marks(self) -> "regex.Pattern[str]":
        """Pattern of a gap.

        A gap has punctuation, ASCII signs, and listed symbols with their variation selectors.
        """
        listed = "".join(map(re.escape, sorted(self._symbols)))
        return regex.compile(rf"(?:[\p{{P}}$+<=>^`|~€£¥]|[{listed}]\ufe0f?)+" if listed else r"[\p{P}$+<=>^`|~€£¥]+")

    @cached_property
    def marks_at_end(self) -> "regex.Pattern[str]":
        """Pattern of a gap at the end of a chunk."""
        return regex.compile(rf"(?r)(?:{self.marks.pattern})\Z")

    def plain(self, word: str) -> Token | None:
        """Return the token of a plainly kept common word (``is_plain``); ``None`` for other words.

        Most words in a text are plainly kept.
        """
        marks = self._common.get(word, 0)
        if marks & (STRICT | FUNCTION) and word.isalpha() and word not in self._apart and len(word) <= LONGEST_WORD:
            return new(Token, (SHOWN, word, word, LOWER, self._noun(word, marks), "", 0))
        return None

    def word(self, word: str) -> Sequence[Token]:
        """Return the tokens of a word of letters and apostrophes: one, or a stem and its clitic."""
        if word.islower() and (found := self.plain(word)) is not None:
            return (found,)
        folded = word.lower() if word.isascii() else key(word)
        if "'" in folded and not self._denies(folded):
            parts = split_clitic(folded, self._clitic)
            shown = folded in self._common or folded in self._allowed
            if shown and (parts is None or parts[0] not in self._drawn):
                parts = None
            # Only a few stems precede the negation, so a separate clitic would reveal the stem.
            end = len(word) - len(parts[1]) if parts is not None else 0
            # A kept clitic has ASCII letters only: a look-alike letter would be an open channel.
            if parts is not None and parts[1] != self._negation and word[end + 1 :].isascii():
                case = UPPER if len(word) > 2 and word.isupper() else LOWER
                return self._stem(word[:end], parts[0]), Token(SHOWN, word[end:], parts[1], case)
        return (self._stem(word, folded),)

    def _stem(self, word: str, folded: str) -> Token:
        case = case_pattern(word)
        if self._listed:
            if folded in self._drawn and case == LOWER:
                return Token(ALONE, word, folded, LOWER, "word", DRAWN)
            if self._denies(folded) or folded in self._drawn:  # with a capital a randomized word may be a name
                return self.unlisted(word, folded) if case == LOWER else _capitalized(word, folded, case)
        if folded in self._allowed or fold_apostrophes(word) in self._capitals:
            return Token(SHOWN, word, folded, case)
        if case == LOWER and word == word.lower():
            return self._lower(word, folded)
        return self._capital(word, folded, TITLE if case == LOWER else case)  # as in iPhone

    def _lower(self, word: str, folded: str) -> Token:
        marks = self._common.get(folded) if fold_apostrophes(word) == folded else None
        if marks is None:
            kind = self._small.get(folded)
            found = self.unlisted(word, folded)
            if kind is None:
                return found
            number = NUMBER if kind == "number-word" else 0
            return found._replace(kind=kind, layout="", bits=found.bits & NAMED | number)
        number = NUMBER if folded in self.rules.number_words else 0
        if marks & (STRICT | FUNCTION):
            bits = self._begins.get(folded, 0) | number
            return Token(SHOWN, word, folded, LOWER, self._noun(folded, marks), "", bits)
        found = self.unlisted(word, folded)
        return found._replace(cls=LOOSE, bits=found.bits | number)

    def unlisted(self, word: str, folded: str) -> Token:
        """Return the token of a replaced word in lower case."""
        found = self._unknown(word, folded)
        return found._replace(bits=NAMED) if folded in self._persons and found.kind == "word" else found

    def _unknown(self, word: str, folded: str) -> Token:
        """Return the token of a replaced word in lower case, whose ending is public."""
        if len(word) == 1:
            return Token(ALONE, word, folded, LOWER, "letter", bits=CLITIC if folded in self._clitic_letters else 0)
        return new(Token, (ALONE, word, folded, LOWER, "word", ending(folded, self.rules), 0))

    def _noun(self, word: str, marks: int) -> str:
        """Return the role that a kept word may have after a name in lower case.

        It is ``NAME``, ``NOUN`` or empty. Most verbs have none.
        """
        if marks & (FUNCTION | OPENER) or word[-1] == "s" or ending(word, self.rules) or word in self.rules.verbs:
            return ""
        return NAME if word in self._persons else NOUN

    def _capital(self, word: str, folded: str, case: int) -> Token:
        if len(word) == 1:
            bits = AT_START if self._common.get(folded, 0) & FUNCTION else 0
            return Token(INITIAL, word, folded, TITLE, bits=bits)
        marks, bits, rules = self._common.get(folded, 0), 0, self.rules
        plain = marks and fold_apostrophes(word) in (folded.upper(), folded[:1].upper() + folded[1:])
        if plain and folded not in rules.name_like:
            if marks & OPENER or (marks & START and folded in rules.requests):
                bits |= AT_START | NO_TITLE
            if marks & FUNCTION:
                bits = AT_START
            starts = marks & (START | FUNCTION | OPENER) and not (marks & RARE and case != UPPER)
            bits |= AT_SENTENCE if starts else 0
            bits |= EMPHATIC if marks & EMPHASIS else 0
        if folded in rules.first_short_forms:
            bits |= DOTTED
        elif folded in rules.legal_forms and word not in rules.no_legal_forms:
            bits |= FORM
        kind = self._capitalized.get(folded)
        if kind is not None:
            layout = rules.title_layouts.get(folded, "") if kind == "title" else ""
            bits = bits & AT_SENTENCE | (kind == "number-word") * NUMBER
            return Token(ALONE, word, folded, case, kind, layout, bits)
        bits |= NUMBER if plain and folded in rules.number_words else 0
        return new(Token, (CAPITAL, word, folded, case, "", "", bits))


def _capitalized(word: str, folded: str, case: int) -> Token:
    """Return the token of a replaced word with a capital."""
    return new(Token, (CAPITAL, word, folded, case, "", "", 0))


def ending(folded: str, rules: Rules) -> str:
    """Return the public ending of a word; an empty string if it has none."""
    if len(folded) < _SHORTEST_WITH_ENDING or not folded.isascii() or folded.endswith(rules.no_endings):
        return ""
    ends = rules.endings
    return next((end for end in ends if folded.endswith(end)), "") if folded.endswith(ends) else ""


def _kind_of(kinds: Mapping[str, Collection[str]], names: Sequence[str]) -> dict[str, str]:
    return {entry: name for name in reversed(names) for entry in kinds[name]}
