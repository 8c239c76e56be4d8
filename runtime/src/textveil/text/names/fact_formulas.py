"""Letters and numbers in formulas, source code and lists, for the rules of the option ``facts``.

The option ``facts`` leaves public facts unchanged in a text.
"""

import re
from collections.abc import Collection

from textveil.lazy import LazyPattern
from textveil.text.names.fact_places import NUMERIC_TYPES, LinePlaces

#: Marks of formulas and source code next to a letter, and next to a number. A bracket after a blank may enclose an age.
_LETTER_MARK = LazyPattern(re.compile, r"[=+*^<>()\[\]{}|\u2264\u2265\u2260\u00d7\u2212]|(?:^|[ \[(])--?$|^\"")
_NUMBER_MARK = LazyPattern(re.compile, r"[=+*^<>\[\]{}\u2264\u2265\u2260\u00d7\u2212]| / |^\($")
_MINUS, _COMMA = frozenset(("-", "\u2212")), frozenset((",", ";", ":"))
#: A formula without blanks, a list of small numbers without blanks, and a variable with an index. A letter that may
#: begin a postal code of London (``w2``) is none of a variable.
_TERM = "(?:[A-Za-z]|[1-9]?[0-9]){1,2}"
_INDEXED = "[ac-dfh-kopqrt-vxyz][0-9]|[A-Za-z]_[0-9A-Za-z]"
_FORMULA = re.compile(rf"{_TERM}(?:[=+*^<>\u2264\u2265\u2212]{_TERM})+|[1-9]?[0-9](?:,[1-9]?[0-9]){{2,}}|{_INDEXED}")
#: A word after which a full stop ends a sentence.
_LAST_WORD = re.compile("[a-z]{3,}")
#: Gaps before and after the number of an entry in a list.
_BEFORE_MARKER = LazyPattern(re.compile, r"[.?!:;)\"] [*(]{0,3}\Z")
_AFTER_MARKER = LazyPattern(re.compile, r"[.)]\*{0,2}\s|- ")
#: End of a sequence of numbers, and the largest number of entries that are read beside a number.
_AND_SO_ON, _MAX_ENTRIES = LazyPattern(re.compile, r"[,;]? ?(?:\.\.\.|\u2026)"), 16


def is_formula(text: str) -> bool:
    """Return whether a text is a formula (``k^2``), a list of small numbers, or an indexed variable (``x_2``)."""
    return _FORMULA.fullmatch(text) is not None


def is_variable(place: LinePlaces, index: int) -> bool:
    """Return whether a letter is an operand of a formula, a variable, or an option: ``f(x)``, ``n + 1``, ``-v``.

    A mark of formulas or of source code, such as ``=`` or ``(``, must be directly before or after the letter. If
    another letter, a number or a replaced word is next to the letter, then such a mark, a comma or a minus sign must
    separate the two. The result is also true for a letter of a unit such as ``m/s``.

    Args:
        place: The words and entities of some lines.
        index: Index of the letter among them.
    """
    if _is_unit_letter(place, index):
        return True
    marks = [_LETTER_MARK.search(gap) is not None for gap in place.gaps[index : index + 2]]
    links = _COMMA | _MINUS
    return any(marks) and all(
        is_marked or place.gaps[gap].strip(" ") in links or not _is_symbol(place, at, gap)
        for is_marked, at, gap in zip(marks, (index - 1, index + 1), (index, index + 1), strict=True)
    )


def _is_unit_letter(place: LinePlaces, index: int) -> bool:
    """Return whether a letter is one of the two letters in a unit such as ``m/s``, after a number: ``10 m/s``.

    Args:
        place: The words and entities of some lines.
        index: Index of the letter among them.
    """
    first = index if place.gaps[index + 1] == "/" else index - 1
    if first < 0 or place.gaps[first + 1] != "/" or place.gaps[first] not in ("", " "):
        return False
    is_letter = first == index or place.get_class(first) == "letter" or len(place.get_word(first)) == 1
    return is_letter and place.get_class(first - 1) in NUMERIC_TYPES


def follows_unit(place: LinePlaces, index: int, units: Collection[str]) -> bool:
    """Return whether a unit and a slash precede the word at ``index``, as for ``dL`` in ``mg/dL`` and ``5 g/dL``.

    Args:
        place: The words and entities of some lines.
        index: Index of a word or entity among them.
        units: Units of measurement, in lower case.
    """
    if place.gaps[index] != "/":
        return False
    is_letter = place.get_class(index - 1) == "letter" and place.get_class(index - 2) in NUMERIC_TYPES
    return is_letter or place.get_word(index - 1).lower() in units


def is_operand(place: LinePlaces, index: int) -> bool:
    """Return whether a number is an operand of a formula or a value in source code: ``x = 10``, ``f(0)``, ``n - 1``.

    A mark of formulas, such as ``=``, must be directly before or after the number, or after a letter that the number
    multiplies (``2x + 1``). If a letter, another number or a replaced word is next to the number, then such a mark or a
    comma must separate the two. A minus sign may also separate the number from a letter before it.

    Args:
        place: The words and entities of some lines.
        index: Index of the number among them.
    """
    before, after = place.gaps[index : index + 2]
    is_difference = len(place.get_word(index - 1)) == 1 and before.strip(" ") in _MINUS
    is_marked = [_is_marked(gap) for gap in (before, after)]
    is_factor = after == "" and len(place.get_word(index + 1)) == 1 and _is_marked(place.gaps[index + 2])
    if not (any(is_marked) or is_factor or (is_difference and after[:1] == ")")):
        return False
    if not (is_marked[0] or is_difference or before.strip(" ") in _COMMA) and _is_symbol(place, index - 1, index):
        return False
    if after == "" and len(place.get_word(index + 1)) == 1:  # a factor of a variable: ``2x + 1``
        return _is_marked(place.gaps[index + 2]) or not _is_symbol(place, index + 2, index + 2)
    return is_marked[1] or after.strip(" ") in _COMMA or not _is_symbol(place, index + 1, index + 1)


def is_list_marker(place: LinePlaces, index: int) -> bool:
    """Return whether a number or a letter marks an entry of a list, as in ``2. Next``.

    A list marker begins a line or a sentence. A full stop ends a sentence only after an unchanged word of at least
    three lower-case letters. So ``12`` in ``Tisza u. 12.`` is not a list marker.

    Args:
        place: The words and entities of some lines.
        index: Index of the number or letter among them.
    """
    before, after = place.gaps[index : index + 2]
    if _AFTER_MARKER.match(after) is None:
        return False
    if place.begins_line(index):
        return True
    is_end = "." not in before or _LAST_WORD.fullmatch(place.get_word(index - 1)) is not None
    return is_end and _BEFORE_MARKER.search(before) is not None


def _is_symbol(place: LinePlaces, index: int, gap: int) -> bool:
    """Return whether a single letter, a number or a replaced entity is, or may be, at a position of a line.

    Args:
        place: The words and entities of some lines.
        index: Index of a word or entity among them. Outside of the known lines, the result is true if the line
            continues there.
        gap: Index of the gap between this position and the word from which the caller searches. If this gap has a line
            break, the result is false.
    """
    if not 0 <= index < len(place.mentions):
        return place.is_hidden(index, gap)
    word = place.get_word(index)
    return (len(word) < 2 or word[0].isdigit()) and not place.has_break(gap)


def _is_marked(gap: str) -> bool:
    return _NUMBER_MARK.search(gap) is not None


def is_listed_number(place: LinePlaces, index: int) -> bool:
    """Return whether a number is an entry of a list of numbers and letters: ``[2, 4, k]``, ``5, 14, 23, ...``.

    The list must be in brackets, or end in three dots, and must have at least two entries. The function reads at most
    16 entries in each direction.

    Args:
        place: The words and entities of some lines.
        index: Index of the number among them.
    """
    first, last = _find_list_end(place, index, -1), _find_list_end(place, index, 1)
    if first < 0 or last < 0 or first == last:
        return False
    after = place.gaps[last + 1]
    is_enclosed = place.gaps[first][-1:] in ("(", "[", "{") and after[:1] in (")", "]", "}")
    return is_enclosed or _AND_SO_ON.match(after) is not None


def _find_list_end(place: LinePlaces, index: int, step: int) -> int:
    """Return the index of the last entry of a list in one direction; -1 if that is more than 16 entries away.

    Args:
        place: The words and entities of some lines.
        index: Index of an entry of the list.
        step: The direction: -1 for the left, 1 for the right.
    """
    for at in range(index, index + step * _MAX_ENTRIES, step):
        following = at + step
        gap = place.gaps[at if step < 0 else following]
        if not 0 <= following < len(place.mentions) or gap.strip(" ") not in _COMMA:
            return at
        word, entity_type = place.get_word(following), place.get_class(following)
        if len(word) != 1 and entity_type not in ("number", "letter") and not word.isdigit():
            return at
    return -1
