"""Detection of quotations: is a short surrogate in a reply quoted from the sanitized text?

A letter, a digit or a symbol in a reply may belong to the reply itself. So the mapping stores the text before and after
such a surrogate in the sanitized text, and the original is restored where the reply repeats enough of these
surroundings. The comparison ignores case and blanks.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from textveil.text.inflections import LOOKBEHIND_CHARACTERS, SurrogatePair, fold_text

#: Characters of the sanitized text that the mapping stores before and after a surrogate.
MAX_BEFORE, MAX_AFTER = 32, 16
#: Characters of a reply after a surrogate that its surroundings may need for a decision.
LOOKAHEAD_CHARACTERS = 24
#: Characters without blanks that a reply must repeat; weight of a shared start or end of the whole text.
_MIN_SHARED, _EDGE_WEIGHT = 8, 4
#: Characters directly beside a surrogate that index surroundings: any quotation has as many on one side.
_KEY_CHARACTERS = 4
#: Characters by which a reply is searched for forms; a shorter surrogate may be the beginning of a longer word.
_MIN_PREFIX = 3
#: Most surroundings with one key that are compared, which bounds the cost per surrogate for any reply.
_MAX_CANDIDATES = 16
#: Start or end of the text; within surroundings every run of blanks is one space.
EDGE_MARK = "\n"
_BLANKS = re.compile(r"\s[\s>]*")
#: A line end or a tab as an escape in JSON or code: a word may begin after it.
_ESCAPE = re.compile(r"(?:\A|[^\\])\\[nrt]")
_APOSTROPHES = "'\u2019"
#: Marks that join the digits after or before them into one number.
_NUMBER_JOINS = ".,:/-\u2013"
_NUMBER = re.compile(r"[\d.,]+")
#: First or last character of an emoji: unlike a word, an emoji is a token even between letters.
_EMOJI_EDGE = re.compile("[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]")


def fold_surroundings(text: str) -> str:
    """Return ``text`` with each character folded by itself and runs of blanks as one space."""
    return _BLANKS.sub(" ", text.lower() if text.isascii() else "".join(map(fold_text, text)))


def cut_before(text: str, *, is_start: bool) -> str:
    """Return the comparable form of the text before a surrogate.

    Args:
        text: The characters before it.
        is_start: Whether the whole text begins with them.
    """
    read = fold_surroundings(text[-LOOKBEHIND_CHARACTERS:])
    if is_start and len(text) <= LOOKBEHIND_CHARACTERS:
        read = EDGE_MARK + read.lstrip()
    return read[-MAX_BEFORE:]


def cut_after(text: str, *, is_end: bool) -> str:
    """Return the comparable form of the text after a surrogate.

    Args:
        text: The characters after it.
        is_end: Whether the whole text ends with them.
    """
    read = fold_surroundings(text[:LOOKAHEAD_CHARACTERS])
    if is_end and len(text) <= LOOKAHEAD_CHARACTERS:
        read = read.rstrip() + EDGE_MARK
    return read[:MAX_AFTER]


class Quotation(NamedTuple):
    """Result of a look-up of the surroundings of a surrogate.

    Attributes:
        pair: The pair of the surroundings that match best; ``None`` if none match.
        needs_more: Whether the decision needs more of the reply.
    """

    pair: SurrogatePair | None = None
    needs_more: bool = False


_NO_QUOTATION, _NEEDS_MORE = Quotation(), Quotation(needs_more=True)


#: Text before a surrogate, reversed; text after it; and the pair.
_Surroundings = tuple[str, str, SurrogatePair]


class QuotationIndex:
    """Index of the surroundings of surrogates.

    Args:
        pairs: Pairs with surroundings: all that have ``after``.

    Attributes:
        short_joined: Surrogates of one or two characters that are the beginning of a longer word, as in ``7x``.
    """

    def __init__(self, pairs: Iterable[SurrogatePair]) -> None:
        self._candidates: dict[tuple[str, bool, str], list[_Surroundings]] = {}
        self._outputs: set[str] = set()
        self.short_joined: set[str] = set()
        for pair in pairs:
            output, after = fold_output(pair.output), pair.after or ""
            self._outputs.add(output)
            if len(output) < _MIN_PREFIX and after[:1].isalnum():
                self.short_joined.add(output)
            for is_after, key in (
                (False, _remove_blanks(pair.before)[-_KEY_CHARACTERS:]),
                (True, _remove_blanks(after)[:_KEY_CHARACTERS]),
            ):
                alike = self._candidates.setdefault((output, is_after, key), [])
                if len(alike) < _MAX_CANDIDATES:
                    alike.append((pair.before[::-1], after, pair))

    def __contains__(self, output: str) -> bool:
        return output in self._outputs

    def find_quotation(self, output: str, before: str, rest: str, *, is_end: bool, is_alone: bool) -> Quotation:
        """Return the pair whose surroundings a reply repeats best, on one side or both.

        The reply must repeat both sides if the surrogate is a part of a longer word, or if its pair is not weak.

        Args:
            output: The surrogate, folded.
            before: Result of ``cut_before`` for the reply.
            rest: The reply after the surrogate, as far as it is available.
            is_end: Whether the reply ends with ``rest``.
            is_alone: Whether the surrogate is not a part of a longer word or number.
        """
        after = cut_after(rest, is_end=is_end)
        certain = after.rstrip(" ")
        is_open = not is_end and len(rest) < LOOKAHEAD_CHARACTERS
        key = _remove_blanks(after)[:_KEY_CHARACTERS]
        if is_open and len(key) < _KEY_CHARACTERS:
            return _NEEDS_MORE
        candidates = [*self._candidates.get((output, False, _remove_blanks(before)[-_KEY_CHARACTERS:]), ())]
        candidates += self._candidates.get((output, True, key), ())
        best, best_strength, originals, backwards = None, 0, set[str](), before[::-1]
        for expected_before, expected, pair in candidates:
            if is_open and len(expected) > len(certain) and expected.startswith(certain):
                return _NEEDS_MORE
            sides = _count_shared(backwards, expected_before), _count_shared(after, expected)
            strength = sum(sides) if (pair.weak and is_alone) or all(sides) else 0
            if strength > best_strength:
                best, best_strength, originals = pair, strength, set()
            if strength == best_strength:
                originals.add(pair.original)
        return _NO_QUOTATION if best is None or best_strength < _MIN_SHARED or len(originals) > 1 else Quotation(best)


def fold_output(output: str) -> str:
    """Return the folded form of a surrogate that the index uses as a key."""
    return " ".join(fold_text(output).split())


def _remove_blanks(text: str) -> str:
    return text.replace(" ", "")


def _count_shared(one: str, other: str) -> int:
    """Return the number of characters that two surroundings share, beginning at the surrogate.

    Only whole words count, without blanks; a shared start or end of the text counts ``_EDGE_WEIGHT``.
    """
    shared = 0
    for character, expected in zip(one, other, strict=False):
        if character != expected:
            break
        shared += 1
    if not shared:
        return 0
    ends = one[shared : shared + 1] + other[shared : shared + 1]
    if ends and not ends.isspace():
        while shared and one[shared - 1].isalnum() and any(map(str.isalnum, ends)):
            shared -= 1
    part = one[:shared]
    return shared - part.count(" ") + ((_EDGE_WEIGHT - 1) * part.count(EDGE_MARK) if EDGE_MARK in part else 0)


def is_separate_word(text: str, index: int, end: int) -> bool:
    """Return whether a form is not a part of a longer word or number."""
    first, last, number = text[index], text[end - 1], _NUMBER.fullmatch(text, index, end) is not None
    mixed = not number and any(map(str.isdigit, text[index:end]))  # such as a key, which may follow __ in code
    before, after = text[max(0, index - 2) : index], text[end : end + 2]
    if first != "[" and before and _ESCAPE.fullmatch(text, max(0, index - 3), index) is None:
        if (_is_inside(before[-1]) and not _EMOJI_EDGE.match(first)) or (
            first.isalpha() and before[-1] in _APOSTROPHES and before[:-1].isalnum()
        ):
            return False
        if number and before[-1] in _NUMBER_JOINS and before[:-1].isdigit():
            return False
        if before[-1] == "_" and after[:1] != "_" and not mixed:
            return False
    if last != "]" and after:
        if (_is_inside(after[0]) and not (_EMOJI_EDGE.match(last) and after[0].isalnum())) or (
            after[0] == "_" and before[-1:] != "_" and not mixed
        ):
            return False
        if number and after[0] in _NUMBER_JOINS and after[1:].isdigit():
            return False
    return True


def _is_inside(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character)[0] == "M"


def join_before(outputs: Sequence[str]) -> str:
    """Return the last characters of consecutive outputs, as many as surroundings may need."""
    text = ""
    for output in reversed(outputs):
        text = output[-LOOKBEHIND_CHARACTERS - 1 :] + text
        if len(text) > LOOKBEHIND_CHARACTERS:
            break
    return text


def join_after(outputs: Sequence[str]) -> str:
    """Return the first characters of consecutive outputs, as many as surroundings may need."""
    text = ""
    for output in outputs:
        text += output[: LOOKAHEAD_CHARACTERS + 1]
        if len(text) > LOOKAHEAD_CHARACTERS:
            break
    return text
