"""Classification of numbers by type and layout, and search for the digits that form one number.

The layout is the part of a number's form that the output reveals, such as the number of digits. The type of a number is
a function of its string. Which digits form one number depends on token classes and on gaps, never on the values of the
digits. Only the number of a list item is compared with another value, the number of the item before it: it stays
unchanged if it continues the list.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from textveil.bundle.rules import DateWords, Patterns, Rules, english_rules
from textveil.lazy import CHARACTERS, load_data
from textveil.text.names.tokens import (
    BESIDE_MONTH,
    CAPITALIZED,
    DIGIT_GROUP,
    DIGITS,
    IBAN_GROUP,
    IBAN_HEAD,
    INWARD,
    OUTWARD,
    EntitySpan,
    NamesToken,
)
from textveil.text.segmentation import UPPER

#: A number of at least this many digits, without marks between groups, is an identifier.
MIN_IDENTIFIER_DIGITS = 7
#: Groups of digits with at least this many digits in all are a card number.
MIN_CARD_DIGITS = 13
_GAPS = load_data(CHARACTERS)["gaps"]
#: Gaps between the digits of one number. The search for numbers in words uses them too.
DIGIT_JOINS = frozenset(_GAPS["joins_digits"])
#: Gaps that contain a line break.
_LINE_BREAKS = frozenset(_GAPS["line_breaks"])
#: Layouts (here: the number of digits) of ages and of area codes.
_SHORT_NUMBER_LAYOUTS = frozenset(("1", "2", "3"))
#: Types of numbers that may begin with a plus sign.
_TYPES_WITH_PLUS = frozenset((DIGIT_GROUP, "phone", "account"))
#: Gaps between digits that open or close a bracket.
_OPENS_BRACKET, CLOSES_BRACKET = " (", frozenset((")", ") "))
#: For the number of a list item: characters that may precede it on its line, blanks that may follow its mark, and the
#: largest number of digits.
_LIST_NUMBER_PREFIX, _BLANKS, _MAX_LIST_DIGITS = _GAPS["before_listed"], frozenset(_GAPS["blanks_listed"]), 2
#: Number of a nested list item: ``2.1``.
_NESTED_NUMBER = re.compile(r"([1-9][0-9]?)((?:\.[1-9][0-9]?){1,3})")
#: Gaps between two years of a range.
_YEAR_JOINS = frozenset((" - ", " \u2013 "))
#: Decimal marks.
_MARKS = frozenset(".,")
#: Patterns of English.
ENGLISH = english_rules().patterns


def classify_number(string: str, patterns: Patterns = ENGLISH) -> tuple[str, str]:
    """Return the type of digits with marks between them, such as a date, and their layout (public form).

    Args:
        string: The digits and marks. Between groups of digits, the caller must replace blanks by hyphens.
        patterns: Regular expressions of the language, such as those for dates.
    """
    if patterns.year.fullmatch(string):
        return "year", ""
    years = patterns.year_range.fullmatch(string)
    if years is not None:
        return "year-range", years[1]
    season = patterns.season.fullmatch(string)
    if season is not None and _is_next(season[1] or "", season[3] or ""):
        return "season", season[2]
    plain_number = patterns.number.fullmatch(string)
    if plain_number is not None and (plain_number[2] or ".") in _MARKS:
        return _classify_plain_number(plain_number[1] or "", plain_number[2], plain_number[3] or "")
    digits = sum(map(str.isdigit, string))
    if patterns.ssn.fullmatch(string):
        return "ssn", ""
    if digits >= MIN_CARD_DIGITS:
        return "card", ""
    if digits >= MIN_IDENTIFIER_DIGITS:
        return "phone", ""
    return "digits", re.sub(r"\d", "0", string)


def _is_next(year: str, end: str) -> bool:
    """Return whether ``end`` (two digits) is the year after ``year``, as in ``2023/24``."""
    digits = year + end
    return year.isdigit() and end.isdigit() and digits.isascii() and (int(year) + 1) % 100 == int(end)


def _classify_plain_number(whole: str, mark: str | None, decimals: str) -> tuple[str, str]:
    digits, grouped = sum(map(str.isdigit, whole)), "g" if "," in whole else "p" if "." in whole else ""
    if digits >= MIN_IDENTIFIER_DIGITS and not grouped:
        return "account", ""
    size = str(digits) if digits < 5 else "5" if digits < 7 else "7" if digits < 10 else "10"
    return "number", size + grouped + (f"{mark}{min(3, len(decimals))}" if decimals else "")


class NumberRange(NamedTuple):
    """A range of tokens that form one number.

    Attributes:
        entity_type: Entity type; ``DIGIT_GROUP`` for several groups of digits.
        layout: The part of the number's form that the output reveals, such as the number of digits.
        stop: Index after the last token of the number.
    """

    entity_type: str
    layout: str
    stop: int


def find_grouped_code(words: Sequence[NamesToken], gaps: Sequence[str], index: int, end: int) -> NumberRange | None:
    """Return the British postal code (``SW1A 1AA``) or grouped IBAN at ``index``; ``None`` if there is none."""
    after = index + 1
    if words[index].flags & OUTWARD and after < end and gaps[after] == " " and words[after].flags & INWARD:
        return NumberRange("postcode", "", after + 1)
    stop = find_iban_end(words, gaps, index, end)
    return NumberRange("iban", "", stop) if stop else None


def find_iban_end(words: Sequence[NamesToken], gaps: Sequence[str], index: int, end: int) -> int:
    """Return the index after the grouped IBAN (``GB29 NWBK 6016``) that begins at ``index``; 0 if there is none.

    At least two groups must follow the first one, each after a blank. A group has four characters: digits, or letters
    and digits. The second group may also be a word in capitals, and the last group may have one to three digits.

    Args:
        words: Words of some lines.
        gaps: The gap (blanks and marks) before each word, and the gap at the end.
        index: Index of a word.
        end: Index after the last word of the line.
    """
    if not words[index].flags & IBAN_HEAD:
        return 0
    stop = index + 1
    while stop < end and gaps[stop] == " " and _is_iban_group(words[stop], stop == index + 1):
        stop += 1
    if stop < index + 3:
        return 0
    is_short = stop < end and words[stop].token_class == DIGITS and words[stop].layout in _SHORT_NUMBER_LAYOUTS
    return stop + (is_short and gaps[stop] == " ")


def _is_iban_group(token: NamesToken, may_be_word: bool) -> bool:
    if token.token_class == DIGITS:
        return token.entity_type == "year" or (token.entity_type == "number" and token.layout == "4")
    if token.token_class == CAPITALIZED:
        return may_be_word and token.case == UPPER
    return token.flags & (IBAN_HEAD | IBAN_GROUP) > 0


def find_number(
    words: Sequence[NamesToken],
    gaps: Sequence[str],
    index: int,
    start: int,
    end: int,
    rules: Rules,
    has_readable_key: Callable[[int, int], bool],
) -> NumberRange:
    """Return the number that begins at ``index`` in a line, with its type and form.

    Args:
        words: Words of some lines.
        gaps: The gap (blanks and marks) before each word, and the gap at the end.
        index: Index of a word that consists of digits (class ``DIGITS``).
        start: Index of the first word of the line.
        end: Index after the last word of the line.
        rules: Rules of the language, such as number words and date formats.
        has_readable_key: Function that takes the index of a word and ``end``. It returns whether the word stays
            unchanged. Only then may the result depend on the word.
    """
    token = words[index]
    is_short = token.entity_type == "number" and token.layout in _SHORT_NUMBER_LAYOUTS
    if is_short and _is_age(words, gaps, index, start, end, rules, has_readable_key):
        return NumberRange("age", "", index + 1)
    if _is_beside_month(words, gaps, index, start, end):
        if token.entity_type == "number" and token.layout in ("1", "2"):
            return NumberRange("day", "", index + 1)
        return NumberRange(token.entity_type, token.layout, index + 1)
    stop = _find_digits_end(words, gaps, index, start, end)
    if stop == index + 1 and _begins_year_range(words, gaps, index, start, end):
        return NumberRange("year-range", gaps[stop], stop + 1)
    entity_type = token.entity_type if stop == index + 1 else DIGIT_GROUP
    return NumberRange(entity_type, token.layout, stop)


def find_list_number(
    words: Sequence[NamesToken], gaps: Sequence[str], index: int, end: int, last: Sequence[int]
) -> tuple[int, ...]:
    """Return the number of a list item at the beginning of a line, such as ``(2, 1)`` for ``2.1``.

    The result is empty if the line is not a list item, or if its number neither begins nor continues a list. A list
    begins with 1, and each further item has the next number. In a nested list, ``2.2``, ``2.1.1`` and ``3`` continue
    ``2.1``.

    Args:
        words: Words of some lines.
        gaps: The gap (blanks and marks) before each word, and the gap at the end.
        index: Index of the first word of the line, a number.
        end: Index after the last word of the line.
        last: The number of the previous list item.
    """
    token, gap = words[index], gaps[index + 1]
    number, is_plain = token.text, token.token_class == DIGITS and token.text.isdigit()
    if is_plain:
        if number not in ("1", str(1 + (last[0] if last else 0))) or len(number) > _MAX_LIST_DIGITS:
            return ()
    elif token.entity_type not in ("number", "digits") or _NESTED_NUMBER.fullmatch(number) is None:
        return ()
    before = gaps[index].rstrip(_LIST_NUMBER_PREFIX)
    is_marked = gap[:1] in (".", ")") or (not is_plain and gap[:1] in _BLANKS)
    if not is_marked or _BLANKS.isdisjoint(gap) or before[-1:] not in _LINE_BREAKS | {""} or token.flags & BESIDE_MONTH:
        return ()
    if token.token_class == DIGITS and _find_digits_end(words, gaps, index, index, end) > index + 1:
        return ()
    found = tuple(map(int, number.split(".")))
    return found if is_plain or _follows_in_list(found, last) else ()


def _follows_in_list(number: Sequence[int], last: Sequence[int]) -> bool:
    """Return whether the number of a nested list item continues a list, as ``2.2`` or ``2.1.1`` after ``2.1``.

    Args:
        number: The number of a list item, as a tuple: ``(2, 1)`` for ``2.1``.
        last: The number of the previous list item.
    """
    level = len(number) - 1
    return number[:level] == last[:level] and number[level] == 1 + (last[level] if len(last) > level else 0)


def mark_digits_beside_months(
    words: list[NamesToken],
    gaps: Sequence[str],
    indices: Sequence[int],
    start: int,
    end: int,
    dates: DateWords,
    has_readable_key: Callable[[int, int], bool],
) -> None:
    """Mark digits that belong to the same date as the name of a month, as in ``3. Mai`` and ``5 de marzo de 2024``.

    Args:
        words: Words of some lines. The marked digits are replaced in this list.
        gaps: The gap (blanks and marks) before each word, and the gap at the end.
        indices: Indices of the words of the line, without the words that always stay unchanged.
        start: Index of the first word of the line.
        end: Index after the last word of the line.
        dates: Words in dates of the language, such as month names.
        has_readable_key: Function that takes the index of a word and ``end``. It returns whether the word stays
            unchanged. Only then may the result depend on the word.
    """
    for month in (index for index in indices if words[index].entity_type == "month"):
        places = [month - 1] if dates.day_stop and gaps[month] == ". " else []
        for link, digits in ((month - 1, month - 2), (month + 1, month + 2)):
            between = start <= min(link, digits) and max(link, digits) < end and {gaps[link], gaps[link + 1]} == {" "}
            if between and has_readable_key(link, end) and words[link].key in dates.links:
                places.append(digits)
        for place in places:
            if start <= place < end and words[place].token_class == DIGITS:
                words[place] = words[place]._replace(flags=words[place].flags | BESIDE_MONTH)


def get_gap_before_digits(gaps: Sequence[str], index: int) -> str:
    """Return the gap (blanks and marks) before digits, without a plus sign or bracket that belongs to the number.

    Args:
        gaps: The gap before each word, and the gap at the end.
        index: Index of the digits.
    """
    return gaps[index].rstrip("+(")


def includes_sign(
    words: Sequence[NamesToken], gaps: Sequence[str], index: int, start: int, end: int, span: EntitySpan
) -> bool:
    """Return whether the plus sign or opening bracket before the number at ``index`` belongs to the number.

    ``span`` has the tokens of the number without this sign. For the other arguments see ``find_number``.
    """
    may_begin = span.entity_type in _TYPES_WITH_PLUS if gaps[index].endswith("+") else ")" in span.text
    if not may_begin or _is_beside_month(words, gaps, index, start, end):
        return False
    return _is_separate_number(words, gaps, index, start)


def _is_age(
    words: Sequence[NamesToken],
    gaps: Sequence[str],
    index: int,
    start: int,
    end: int,
    rules: Rules,
    has_readable_key: Callable[[int, int], bool],
) -> bool:
    """Return whether an unchanged word before or after a number shows that the number is an age.

    For the arguments see ``find_number``.
    """
    if index > start and has_readable_key(index - 1, end) and words[index - 1].key in rules.ages_before:
        return get_gap_before_digits(gaps, index) == " "
    if index + 1 >= end or not has_readable_key(index + 1, end) or gaps[index + 1] not in (" ", "-", ""):
        return False
    unit = words[index + 1].key
    if unit in rules.ages_short:
        return True
    if unit not in rules.age_units or index + 2 >= end or gaps[index + 2] not in (" ", "-"):
        return False
    return has_readable_key(index + 2, end) and words[index + 2].key in rules.ages_behind


def _begins_year_range(words: Sequence[NamesToken], gaps: Sequence[str], index: int, start: int, end: int) -> bool:
    """Return whether a year begins a range of two years: ``2021 - 2023``.

    The result is false if other digits join the second year, as in ``2021 - 2023 45``: then these digits are one longer
    number. For the arguments see ``find_number``.
    """
    after = index + 1
    if after >= end or gaps[after] not in _YEAR_JOINS or words[after].token_class != DIGITS:
        return False
    if _is_beside_month(words, gaps, after, start, end) or _find_digits_end(words, gaps, after, start, end) > after + 1:
        return False
    return words[index].entity_type == words[after].entity_type == "year"


def _is_beside_month(words: Sequence[NamesToken], gaps: Sequence[str], index: int, start: int, end: int) -> bool:
    if words[index].flags & BESIDE_MONTH:
        return True
    if index > start and words[index - 1].entity_type == "month" and get_gap_before_digits(gaps, index) in (" ", ". "):
        return True
    return index + 1 < end and words[index + 1].entity_type == "month" and gaps[index + 1] == " "


def _is_separate_number(words: Sequence[NamesToken], gaps: Sequence[str], index: int, start: int) -> bool:
    """Return whether digits after a plus sign or bracket would be a separate number without that sign or bracket.

    For the arguments see ``find_number``.
    """
    before = gaps[index][:-1]
    spaced = before[-1].isspace() if before else index == start
    return spaced and (index == start or words[index - 1].token_class != DIGITS or before not in DIGIT_JOINS)


def _find_digits_end(words: Sequence[NamesToken], gaps: Sequence[str], index: int, start: int, end: int) -> int:
    """Return the index after the last digits that form one number with the digits at ``index``.

    A pair of brackets may enclose the first digits, as in ``(030) 1234``, or the digits after short first digits, as in
    ``+49 (30) 1234``. For the arguments see ``find_number``.
    """
    is_open = gaps[index][-1:] == "(" and _is_separate_number(words, gaps, index, start)
    last = index + 1
    while _joins_digits(words, gaps, last, start, end):
        gap = gaps[last]
        if gap == _OPENS_BRACKET:
            if is_open or last > index + 1 or not _opens_area_code(words, gaps, index, start, end):
                break
            is_open = True
        elif gap in CLOSES_BRACKET:
            if not is_open:
                break
            is_open = False
        last += 1
    return last


def _opens_area_code(words: Sequence[NamesToken], gaps: Sequence[str], index: int, start: int, end: int) -> bool:
    """Return whether a number with an area code in brackets begins at ``index``: ``49 (30) 1234``.

    Such a number has short digits, then digits in brackets, then further digits. For the arguments see ``find_number``.
    """
    token = words[index]
    if token.entity_type != "number" or token.layout not in _SHORT_NUMBER_LAYOUTS:
        return False
    last = index + 2
    while _joins_digits(words, gaps, last, start, end) and gaps[last] not in CLOSES_BRACKET:
        if gaps[last] == _OPENS_BRACKET:
            return False
        last += 1
    return _joins_digits(words, gaps, last, start, end)


def _joins_digits(words: Sequence[NamesToken], gaps: Sequence[str], index: int, start: int, end: int) -> bool:
    """Return whether the digits at ``index`` and the digits before them form one number; false for digits of a date.

    For the arguments see ``find_number``.
    """
    if index >= end or words[index].token_class != DIGITS or gaps[index] not in DIGIT_JOINS:
        return False
    return not _is_beside_month(words, gaps, index, start, end)
