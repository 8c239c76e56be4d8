"""Decide whether a reply quotes a short surrogate (replacement), such as a letter, from the sanitized text.

A letter, a digit or a symbol in a reply may belong to the reply itself. So the *surroundings* of such a surrogate are
stored with it: the text before and after the surrogate in the sanitized text. The original is restored only where the
reply repeats enough of the surroundings. The comparison ignores case and blanks.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from textveil.text.inflections import LOOKBEHIND_CHARACTERS, SurrogatePair, fold_text

#: Characters of the sanitized text that the mapping stores before and after a surrogate.
MAX_BEFORE, MAX_AFTER = 32, 16
#: Number of characters after a surrogate in a reply that the comparison may need.
LOOKAHEAD_CHARACTERS = 24
#: Number of characters, without blanks, that a reply must repeat; and for how many characters a shared start or end of
#: the whole text counts.
_MIN_SHARED, _EDGE_WEIGHT = 8, 4
#: Number of characters next to a surrogate that are the key of its surroundings. Every quotation repeats at least these
#: characters on one side.
_KEY_CHARACTERS = 4
#: Number of first characters of a form (spelling of a surrogate) for which a reply is searched. A shorter surrogate may
#: be the beginning of a longer word.
_MIN_PREFIX = 3
#: Largest number of surroundings with one key that are compared. It bounds the cost per surrogate for any reply.
_MAX_CANDIDATES = 16
#: In surroundings, the start or end of the whole text. All other blanks become single spaces there.
EDGE_MARK = "\n"
_BLANKS = re.compile(r"\s[\s>]*")
#: A line end or a tab as an escape in JSON or code: a word may begin after it.
_ESCAPE = re.compile(r"(?:\A|[^\\])\\[nrt]")
_APOSTROPHES = "'\u2019"
#: Letters of a word such as ``d'`` before its apostrophe, and the most characters that are read for it.
_CLITIC_LETTERS, _CLITIC_CHARACTERS = re.compile(r"(?<![^\W_])[A-Za-z]{1,16}\Z"), 17
#: Marks that join the digits after or before them into one number.
_NUMBER_JOINS = ".,:/-\u2013"
_NUMBER = re.compile(r"[\d.,]+")
#: First or last character of an emoji. Unlike a word, an emoji may have letters directly before and after it.
_EMOJI_EDGE = re.compile("[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]")


def fold_surroundings(text: str) -> str:
    """Normalize text for comparison: case-fold each character, and replace consecutive blanks by one space."""
    return _BLANKS.sub(" ", text.lower() if text.isascii() else "".join(map(fold_text, text)))


def cut_before(text: str, *, is_start: bool) -> str:
    """Return the last characters of the text before a surrogate (replacement), normalized for comparisons.

    The result has at most ``MAX_BEFORE`` characters. It begins with ``EDGE_MARK`` if the whole text begins there.

    Args:
        text: The text before the surrogate.
        is_start: Whether ``text`` begins at the start of the whole text.
    """
    read = fold_surroundings(text[-LOOKBEHIND_CHARACTERS:])
    if is_start and len(text) <= LOOKBEHIND_CHARACTERS:
        read = EDGE_MARK + read.lstrip()
    return read[-MAX_BEFORE:]


def cut_after(text: str, *, is_end: bool) -> str:
    """Return the first characters of the text after a surrogate (replacement), normalized for comparisons.

    The result has at most ``MAX_AFTER`` characters. It ends with ``EDGE_MARK`` if the whole text ends there.

    Args:
        text: The text after the surrogate.
        is_end: Whether ``text`` ends at the end of the whole text.
    """
    read = fold_surroundings(text[:LOOKAHEAD_CHARACTERS])
    if is_end and len(text) <= LOOKAHEAD_CHARACTERS:
        read = read.rstrip() + EDGE_MARK
    return read[:MAX_AFTER]


class Quotation(NamedTuple):
    """Result of a search for a surrogate (replacement) in a reply that repeats the sent text around the surrogate.

    Several originals may have the same surrogate. The text around it then shows which one the reply means.

    Attributes:
        pair: The pair of surrogate and original whose stored texts match best; ``None`` if none match.
        needs_more: Whether the decision depends on characters of the reply that are not available yet.
    """

    pair: SurrogatePair | None = None
    needs_more: bool = False


_NO_QUOTATION, _NEEDS_MORE = Quotation(), Quotation(needs_more=True)


#: Text before a surrogate, reversed; text after it; and the pair.
_Surroundings = tuple[str, str, SurrogatePair]


class QuotationIndex:
    """Index of the texts before and after surrogates (replacements), to find where a reply repeats them.

    Args:
        pairs: Pairs of surrogate and original with stored surroundings: those whose ``after`` is not ``None``.

    Attributes:
        outputs: The surrogates, case folded.
        short_joined: Surrogates of one or two characters that are the beginning of a longer word, as in ``7x``.
    """

    def __init__(self, pairs: Iterable[SurrogatePair]) -> None:
        self._candidates: dict[tuple[str, bool, str], list[_Surroundings]] = {}
        self.outputs: set[str] = set()
        self.short_joined: set[str] = set()
        for pair in pairs:
            output, after = fold_output(pair.output), pair.after or ""
            self.outputs.add(output)
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
        return output in self.outputs

    def find_quotation(self, output: str, before: str, rest: str, *, is_end: bool, is_alone: bool) -> Quotation:
        """Return the pair of surrogate (replacement) and original whose stored surroundings the reply repeats best.

        If ``weak`` of the pair is true (see ``SurrogatePair``), the text on one side of the surrogate is enough. If
        ``weak`` is false, or if the surrogate is a part of a longer word, the reply must repeat text on both sides.

        Args:
            output: The surrogate, case folded.
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
    """Normalize a surrogate (replacement) to its key in ``QuotationIndex``: case folded, with single spaces."""
    return " ".join(fold_text(output).split())


def _remove_blanks(text: str) -> str:
    return text.replace(" ", "")


def _count_shared(one: str, other: str) -> int:
    """Return how many characters two texts next to a replacement share, counted from the replacement outward.

    Blanks and incomplete words do not count. A shared start or end of the whole text counts as four characters.
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


def is_separate_word(text: str, index: int, end: int, clitics: Collection[str] = ()) -> bool:
    """Return whether ``text[index:end]`` is a whole word or number, not a part of a longer one.

    Args:
        text: A text.
        index: Start of the part.
        end: End of the part.
        clitics: Short words with an apostrophe, such as ``d'``, in lower case. They may precede a separate word
            directly.
    """
    first, last, number = text[index], text[end - 1], _NUMBER.fullmatch(text, index, end) is not None
    mixed = not number and any(map(str.isdigit, text[index:end]))  # such as a key, which may follow __ in code
    before, after = text[max(0, index - 2) : index], text[end : end + 2]
    if first != "[" and before and _ESCAPE.fullmatch(text, max(0, index - 3), index) is None:
        if (_is_inside(before[-1]) and not _EMOJI_EDGE.match(first)) or (
            first.isalpha()
            and before[-1] in _APOSTROPHES
            and before[:-1].isalnum()
            and not (clitics and _find_clitic(text, index) in clitics)
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


def _find_clitic(text: str, index: int) -> str:
    """Return the clitic (a short word such as ``d'``) directly before ``index``, in lower case; empty if none."""
    letters = _CLITIC_LETTERS.search(text[max(0, index - 1 - _CLITIC_CHARACTERS) : index - 1])
    return "" if letters is None else f"{letters[0].lower()}'"


def _is_inside(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character)[0] == "M"


def join_before(outputs: Sequence[str]) -> str:
    """Return the end of the text before a surrogate (replacement): enough characters for ``cut_before``.

    Args:
        outputs: Consecutive parts of the sanitized text before the surrogate.
    """
    text = ""
    for output in reversed(outputs):
        text = output[-LOOKBEHIND_CHARACTERS - 1 :] + text
        if len(text) > LOOKBEHIND_CHARACTERS:
            break
    return text


def join_after(outputs: Sequence[str]) -> str:
    """Return the start of the text after a surrogate (replacement): enough characters for ``cut_after``.

    Args:
        outputs: Consecutive parts of the sanitized text after the surrogate.
    """
    text = ""
    for output in outputs:
        text += output[: LOOKAHEAD_CHARACTERS + 1]
        if len(text) > LOOKAHEAD_CHARACTERS:
            break
    return text
