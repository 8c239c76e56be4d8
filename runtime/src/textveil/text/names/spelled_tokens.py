"""Merging of spelled numbers and names into single tokens, before spans are found.

``five five oh one`` and ``k-o-v-a-c-s`` carry the same information as ``5501`` and ``Kovacs``. The module merges the
words of such a number, or the letters of such a name, called *elements*. Each element has one of a few element classes,
such as "scale" (*hundred*). The decision what to merge depends only on the classes of tokens, the gaps between them,
and the element classes. So it is the same for any other word of the same element class (docs/proofs/names.md).
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from textveil.bundle.rules import Rules
from textveil.lazy import CHARACTERS, load_data
from textveil.text.names.lexicon import is_letter
from textveil.text.names.numbers import CLOSES_BRACKET
from textveil.text.names.tokens import (
    CAPITALIZED,
    CLITIC,
    DIGITS,
    INITIAL,
    KEPT,
    NUMBER_WORD,
    REPLACED,
    NamesToken,
    may_follow_initials,
)
from textveil.text.segmentation import LOWER, TITLE, UPPER

#: The types of merged tokens.
SPELLED_NUMBER, SPELLED_LETTERS = "spelled-number", "spelled-letters"
#: Element classes: numbers up to ten and digits; other words of the list ``number-word``; scales (*hundred*);
#: multipliers (*double*); the connectors *and* and *point*.
ONES, LISTED_NUMBER, SCALE, MULTIPLIER, AND, POINT = "dwsxap"
#: Element class of digits before merging. Adjacent digits are one element, since they may be one number.
DIGITS_CLASS = "n"
#: The fewest elements that are merged, and the most in one token.
MIN_SPELLED, MAX_SPELLED = 3, 12
#: Marks that may separate two elements of a number, and two letters: one mark, and any blanks around it. Also `` & ``,
#: exactly so: it joins initials to one name, and the name must not reveal what joins them.
_GAPS = load_data(CHARACTERS)["gaps"]
NUMBER_JOINS, LETTER_JOINS = frozenset(_GAPS["joins_spelled"]), frozenset(_GAPS["joins_letters"])
#: Number of tokens that are moved at a time.
_MOVED_BLOCK = 1 << 10
_BLANKS = _GAPS["blanks"]
#: Marks after which a single letter is a clitic.
APOSTROPHES = tuple(_GAPS["apostrophes"])
#: Gaps that join the words of a name, and gaps that join initials to the name after them.
_NAME_JOINS, _INITIAL_JOINS = frozenset(_GAPS["joins"]), frozenset(_GAPS["joins_names"])


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _SpelledSpan:
    """A sequence of tokens to merge: a number in words, or a name in single letters (``K o v a c``).

    Attributes:
        entity_type: ``SPELLED_NUMBER`` or ``SPELLED_LETTERS``.
        start: Index of the first token.
        stop: Index after the last token.
        indices: Indices of the number words, digits or letters among these tokens.
        classes: For a number, the class of each of ``indices``, such as ``SCALE`` for *hundred*.
    """

    entity_type: str
    start: int
    stop: int
    indices: Sequence[int]
    classes: Sequence[str] = ()


def merge_spelled(words: list[NamesToken], spellings: list[str], special_indices: "array[int]", rules: Rules) -> None:
    """Merge each number in words, and each name in single letters, into one token, in place.

    The function changes the lists ``words``, ``spellings`` and ``special_indices``, and copies none of them, to save
    memory.

    Args:
        words: Tokens of the text that are not gaps.
        spellings: The gap (blanks and marks) before each token and the token's text, in turn, and the gap at the end.
        special_indices: Indices of the tokens, without those that always stay unchanged.
        rules: Rules of the language, such as number words and date formats.
    """
    has_numbers = any(words[at].flags & NUMBER_WORD for at in special_indices)
    has_letters = any(is_letter(words[at]) for at in special_indices)
    if not has_numbers and not has_letters:
        return
    finder = _SpelledSpanFinder(words, spellings, rules)
    new_special, special_done = (
        array("I"),
        0,
    )  # the new ``special_indices``, and the number of its old entries that are done
    last, filled, position = spellings[-1], 0, 0  # tokens before ``position`` have moved to the range before ``filled``
    for span in chain(finder.iterate_spans(special_indices, has_numbers=has_numbers, has_letters=has_letters), (None,)):
        stop = len(words) if span is None else span.start
        while special_done < len(special_indices) and special_indices[special_done] < stop:
            if special_indices[special_done] >= position:
                new_special.append(special_indices[special_done] - position + filled)
            special_done += 1
        for start in range(position, stop, _MOVED_BLOCK) if filled < position else ():
            end, to = min(start + _MOVED_BLOCK, stop), start - position + filled
            words[to : to + end - start] = words[start:end]
            spellings[2 * to : 2 * (to + end - start)] = spellings[2 * start : 2 * end]
        filled, position = filled + stop - position, stop
        for start, end, token in () if span is None else finder.merge_span(span):
            new_special.append(filled)
            words[filled], spellings[2 * filled], spellings[2 * filled + 1] = token, spellings[2 * start], token.text
            filled, position = filled + 1, end
    del words[filled:], spellings[2 * filled :]
    spellings.append(last)
    special_indices[:] = new_special


def may_span_gap(words: Sequence[NamesToken], spellings: Sequence[str], index: int, rules: Rules) -> bool:
    """Return whether a number in words, or a name in single letters, may continue over the gap (blanks) before a token.

    Args:
        words: Tokens of the text that are not gaps.
        spellings: The gap (blanks and marks) before each token and the token's text, in turn.
        index: Index of the token.
        rules: Rules of the language, such as number words and date formats.
    """

    def may_be_of_one(token: NamesToken) -> bool:
        is_number = token.flags & NUMBER_WORD > 0 or token.token_class == DIGITS or token.key in rules.number_connectors
        return is_number or is_letter(token)

    both = may_be_of_one(words[index - 1]) and may_be_of_one(words[index])
    return both and _SpelledSpanFinder(words, spellings, rules).is_joined(index, LETTER_JOINS)


def may_spell_number(pieces: Iterable[str], rules: Rules) -> bool:
    """Return whether the pieces of an identifier may spell a number, such as ``five_five_oh_one``.

    Args:
        pieces: The words and groups of digits of the identifier.
        rules: Rules of the language.
    """
    return sum(piece[0].isdigit() or piece.lower() in rules.number_words for piece in pieces) >= MIN_SPELLED


class _SpelledSpanFinder:
    """Finds numbers in words (*twenty five*) and names in single letters (``K o v a c``) among tokens."""

    def __init__(self, words: Sequence[NamesToken], spellings: Sequence[str], rules: Rules) -> None:
        self._words, self._spellings, self._rules = words, spellings, rules

    def iterate_spans(
        self, special_indices: Sequence[int], *, has_numbers: bool, has_letters: bool
    ) -> Iterator[_SpelledSpan]:
        """Yield the numbers in words and names in single letters, from left to right. Numbers have precedence.

        Args:
            special_indices: Indices of the tokens, without those that always stay unchanged.
            has_numbers: Whether the text has number words.
            has_letters: Whether the text has single letters.
        """
        position = numbers_tried_to = letters_tried_to = 0  # elements of a span that was too short are not tried again
        for index in special_indices:
            if index < position:
                continue
            span = None
            if has_numbers and index >= numbers_tried_to and self._classify_element(index):
                span, numbers_tried_to = self._find_number(index)
            if span is None and has_letters and index >= letters_tried_to and self._is_letter_element(index):
                span, letters_tried_to = self._find_letters(self._find_first_letter(index, position))
            if span is not None:
                yield span
                position = span.stop

    def merge_span(self, span: _SpelledSpan) -> Iterator[tuple[int, int, NamesToken]]:
        """Merge a number in words, or a name in single letters, and yield the merged tokens.

        Yields:
            Index of the first merged token, index after the last one, and the new token.
        """
        for first in range(0, len(span.indices), MAX_SPELLED):
            after = first + MAX_SPELLED
            indices = span.indices[first:after]
            start, stop = indices[0], span.indices[after] if after < len(span.indices) else span.stop
            text = "".join(self._spellings[2 * start + 1 : 2 * stop])
            tokens = [self._words[at] for at in indices]
            keys = [token.key for token in self._words[start:stop]]
            if span.entity_type == SPELLED_LETTERS:
                case = UPPER if all(token.case != LOWER for token in tokens) else LOWER
                token = NamesToken(REPLACED, text, "".join(keys), case, span.entity_type, str(len(indices)))
            else:
                layout = "".join(span.classes[first:after])
                token = NamesToken(REPLACED, text, " ".join(keys), self._case_of(tokens), span.entity_type, layout)
            yield start, stop, token

    # --- numbers

    def _classify_element(self, index: int) -> str:
        """Return the class of a number word, such as ``SCALE`` for *hundred*, or of digits; empty for other words."""
        token = self._words[index]
        if token.flags & NUMBER_WORD:
            return (
                self._rules.number_words.get(token.key, LISTED_NUMBER)
                if token.entity_type != "number-word"
                else LISTED_NUMBER
            )
        if self._is_digits(index):
            return DIGITS_CLASS
        return ONES if token.key in self._rules.number_letters and is_letter(token) else ""

    def _is_digits(self, index: int) -> bool:
        """Return whether a token consists of digits, and no unit directly follows it."""
        after = index + 1
        return self._words[index].token_class == DIGITS and (
            after == len(self._words) or self._spellings[2 * after] != ""
        )

    def _opens_bracket(self, index: int) -> bool:
        return self._is_digits(index) and self._spellings[2 * index][-1:] == "("

    def _find_number(self, start: int) -> tuple[_SpelledSpan | None, int]:
        """Find a number in words that begins at ``start``.

        Returns:
            The tokens of the number, or ``None``; and the index at which the search ended.
        """
        words, index = self._words, start + 1
        indices, classes = array("I", (start,)), [self._classify_element(start)]
        is_open = self._opens_bracket(start)
        while index < len(words):
            # Whether a gap joins must not depend on the digits or words around it, because their surrogates may differ.
            # So a closing bracket ends a number, unless it may be inside of one group of digits: ``(555) 123``.
            closes = is_open and self._is_digits(index) and self._spellings[2 * index] in CLOSES_BRACKET
            if not closes and not self.is_joined(index, NUMBER_JOINS):
                break
            if element_class := self._classify_element(index):
                classes.append(
                    "" if element_class == DIGITS_CLASS and classes[-1] in ("", element_class) else element_class
                )
            elif self._is_connector(index):
                indices.append(index)
                classes += self._rules.number_connectors[words[index].key], self._classify_element(index + 1)
                index, is_open = index + 1, False
            else:
                break
            is_open = self._opens_bracket(index) or (is_open and self._is_digits(index) and not closes)
            indices.append(index)
            index += 1
        stop = index
        while classes and classes[-1] == MULTIPLIER:
            classes.pop()
        del indices[len(classes) :]
        count = sum(of not in ("", AND, POINT) for of in classes)
        has_number_word = any(
            words[at].flags & NUMBER_WORD and words[at].key not in self._rules.weak_numbers for at in indices
        )
        if count < MIN_SPELLED or not has_number_word:
            return None, stop
        last = indices[-1] + 1
        counted = array("I", (at for at, of in zip(indices, classes, strict=True) if of))
        classes = [ONES if of == DIGITS_CLASS else of for of in classes if of]
        return _SpelledSpan(entity_type=SPELLED_NUMBER, start=start, stop=last, indices=counted, classes=classes), stop

    def _is_connector(self, index: int) -> bool:
        """Return whether a word such as *and* connects two parts of a number in words."""
        token, after = self._words[index], index + 1
        if token.token_class != KEPT or token.case != LOWER or after == len(self._words):
            return False
        if token.key not in self._rules.number_connectors:
            return False
        return self.is_joined(after, NUMBER_JOINS) and self._classify_element(after) != ""

    # --- letters

    def _find_first_letter(self, index: int, lower_bound: int) -> int:
        """Return the index of the first letter in the sequence of single letters that contains ``index``.

        Args:
            index: Index of one letter of the sequence.
            lower_bound: Index at which the search to the left ends.
        """
        while index > lower_bound and self._is_letter_element(index - 1) and self.is_joined(index, LETTER_JOINS):
            index -= 1
        return index

    def _is_letter_element(self, index: int) -> bool:
        token, gap = self._words[index], self._spellings[2 * index]
        if token.flags & CLITIC and gap.rstrip(" ").endswith(APOSTROPHES):
            return False
        inside = gap == "." or (self._spellings[2 * index + 2] == "." and index + 1 < len(self._words))
        dotted = inside and token.token_class == KEPT  # one of several words, *old.a*, but not the last one of a text
        return is_letter(token) and not dotted and (gap != "" or index == 0)  # 5s

    def _find_letters(self, start: int) -> tuple[_SpelledSpan | None, int]:
        """Find a name that is spelled letter by letter and begins at ``start``.

        The name must have at least ``MIN_SPELLED`` letters. The last letters do not count if they are the initials of
        another name that follows them.

        Returns:
            The tokens of the name, or ``None``; and the index after the letters.
        """
        words, index = self._words, start
        while (
            index < len(words)
            and self._is_letter_element(index)
            and (index == start or self.is_joined(index, LETTER_JOINS))
        ):
            index += 1
        stop, precedes_name = index, self._precedes_name(index)
        while (
            precedes_name
            and stop > start
            and words[stop - 1].case != LOWER
            and self._spellings[2 * stop] in _INITIAL_JOINS
        ):
            stop -= 1  # initials of a name
        if stop - start < MIN_SPELLED:
            return None, index
        return _SpelledSpan(entity_type=SPELLED_LETTERS, start=start, stop=stop, indices=range(start, stop)), index

    def _precedes_name(self, index: int) -> bool:
        """Return whether a name, or a particle of a name (``van``), begins at ``index``.

        Initials directly before ``index`` then belong to that name.
        """
        words = self._words
        if index == len(words) or self._spellings[2 * index] not in _INITIAL_JOINS:
            return False
        if may_follow_initials(words[index]) or (
            words[index].token_class == CAPITALIZED and "." not in self._spellings[2 * index]
        ):
            return True
        while (
            words[index].entity_type == "particle"
            and index + 1 < len(words)
            and self._spellings[2 * index + 2] in _NAME_JOINS
        ):
            index += 1
            if words[index].token_class in (CAPITALIZED, INITIAL):
                return True
        return False

    def is_joined(self, index: int, marks: Collection[str]) -> bool:
        """Return whether a token is joined to the token before it, as the letters of ``k-o-v`` are.

        The gap between the two decides: it may have blanks, at most one mark and at most one line end. Any other
        character separates the tokens.

        Args:
            index: Index of the second of the two tokens.
            marks: The marks, such as a hyphen, that may join two tokens.
        """
        gap = self._spellings[2 * index]
        if gap in (" ", "-") or gap in marks:
            return True
        if self._words[index].token_class == DIGITS:
            gap = gap.rstrip("+(")
        rest = gap.strip(_BLANKS)
        return gap == "." or (gap != "" and (not rest or rest in marks) and gap.count("\n") <= 1)

    def _case_of(self, tokens: Sequence[NamesToken]) -> int:
        """Return the case pattern (how capital letters are used) of a number in words.

        The result is ``UPPER`` if all words are in capitals, otherwise ``LOWER`` or ``TITLE`` like the first word.
        """
        connectors = self._rules.number_connectors
        words = [
            token
            for token in tokens
            if len(token.text) > 1 and token.token_class != DIGITS and token.key not in connectors
        ]
        if words and all(token.case == UPPER for token in words):
            return UPPER
        return LOWER if tokens[0].case == LOWER else TITLE
