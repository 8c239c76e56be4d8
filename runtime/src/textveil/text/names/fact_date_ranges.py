"""Months and ranges of dates such as ``June 2022 - Present``, for the rules of the option ``facts``.

The option ``facts`` leaves public facts unchanged in a text. Whether words form a range depends on unchanged words, on
gaps, and on the types of replaced entities, never on the text of replaced entities.
"""

import re
from collections.abc import Collection

from textveil.text.names.fact_places import LinePlaces

#: Words at the end of a range of dates; and the dash of a range.
PRESENT = frozenset("current currently date now ongoing present today".split())
_DASH = re.compile(" ?[-\u2013\u2014] ?")
_YEAR_GAPS = (" ", ", ")


def is_month_place(place: LinePlaces, index: int, leads: Collection[str]) -> bool:
    """Return whether the words beside a month permit the rules of ``facts`` to leave the month unchanged.

    The month must precede a year or follow a word such as *in*. On the other side of the month there must be no number
    and no capitalized words.

    Args:
        place: The words and entities of the lines that contain the month.
        index: Index of the month among the words of these lines.
        leads: Words before a month, such as *in*.
    """
    if place.get_class(index + 1) in ("year", "year-range") and place.gaps[index + 1] in _YEAR_GAPS:
        return not place.is_value(index - 1)
    is_place = place.get_word(index - 1).lower() in leads and place.gaps[index] == " "
    return is_place and not place.is_value(index + 1)


def is_month_range(place: LinePlaces, index: int, range_words: Collection[str]) -> bool:
    """Return whether a month with a year begins or ends a range: ``May 2019 to June 2020``.

    A month in such a range counts as a month even after a word that may be a name: *May* may be a name elsewhere.

    Args:
        place: The words and entities of the lines that contain the month.
        index: Index of the month among the words of these lines.
        range_words: Words between the two ends of a range, such as *to*.
    """
    if place.get_class(index + 1) != "year" or place.gaps[index + 1] not in _YEAR_GAPS:
        return False
    after = _find_range_end(place, index + 1, range_words)
    if place.get_class(after) in ("month", "year") or place.get_word(after).lower() in PRESENT:
        return True
    return any(
        place.get_class(at) == "year"
        and place.get_class(at - 1) == "month"
        and _find_range_end(place, at, range_words) == index
        for at in (index - 1, index - 2)
    )


def ends_year_range(place: LinePlaces, index: int) -> bool:
    """Return whether a year and a dash precede the word at ``index``, as in ``2022 - Present``.

    Args:
        place: The words and entities of some lines.
        index: Index of a word or entity among them.
    """
    return place.get_class(index - 1) == "year" and _DASH.fullmatch(place.gaps[index]) is not None


def _find_range_end(place: LinePlaces, index: int, range_words: Collection[str]) -> int:
    """Return the index of the word that ends a range such as ``2019 to 2021``; -1 if no range begins at ``index``.

    A dash or a range word must follow the year.

    Args:
        place: The words and entities of some lines.
        index: Index of the first year of the range.
        range_words: Words between the two ends of a range, such as *to*.
    """
    gap = place.gaps[index + 1]
    if _DASH.fullmatch(gap):
        return index + 1
    is_range = gap == " " and place.get_word(index + 1).lower() in range_words
    return index + 2 if is_range and place.gaps[index + 2] == " " else -1
