"""Rules of the option ``facts`` for numbers: counts, measures, ages, years, amounts, error codes and versions.

The option ``facts`` leaves public facts unchanged in a text. Whether a number stays unchanged depends on its own form
and on the unchanged words around it. The rules for numbers run after the rules for words: they also read words that the
rules for words leave unchanged. An error code stays only behind a word such as *error*, and a version number only
behind a word such as *version*. docs/proofs/names.md, "Facts", lists the strings that each rule can leave unchanged.
"""

import re
from itertools import pairwise

from textveil.bundle.fact_words import DEGREES, FactWords
from textveil.text.names.entity_types import EntityMention
from textveil.text.names.fact_date_ranges import is_month_place, is_month_range
from textveil.text.names.fact_formulas import follows_unit, is_list_marker, is_listed_number, is_operand
from textveil.text.names.fact_labels import follows_named_sentence, is_placeholder
from textveil.text.names.fact_places import NUMERIC_TYPES, LinePlaces
from textveil.text.names.fact_strings import FactStrings
from textveil.text.segmentation import TITLE

_DAYS = frozenset(("day", "ordinal", "date"))
_CARDS = frozenset(("account", "card", "iban"))
_DATES = frozenset(("month", "day", "date", "year", "year-range", "season"))
_MAX_BARE = _MAX_AGE = 89
#: Words after an ordinal above 89 that is no age: "the 95th percentile".
_RANKS = frozenset(("percentile", "percentiles"))
#: Numbers that count or measure, with a full stop before decimals, and with a comma before decimals.
_COUNTED = re.compile(r"[0-9]{1,4}|[0-9]{1,3}(?:,[0-9]{3}){1,3}|[0-9]{1,4}\.[0-9]{1,2}")
_COUNTED_COMMA = re.compile(r"[0-9]{1,4}|[0-9]{1,3}(?:\.[0-9]{3}){1,3}|[0-9]{1,4},[0-9]{1,2}")
#: A number that may be a day and a month, words before such a date, and the gap behind it inside a sentence.
_DAY_MONTH = re.compile(r"(?:0?[1-9]|[12][0-9]|3[01])\.(?:0?[1-9]|1[0-2])")
_DAY_LEADS, _INSIDE_SENTENCE = frozenset("am ab bis on since until vom zum".split()), re.compile(r"\.[,;:)-].*")
_DECIMAL = re.compile(r"[0-9]{1,3}\.[0-9]{1,4}")
#: Numbers of an amount of money.
_AMOUNT = re.compile(r"[0-9]{1,9}(?:[.,][0-9]{1,2})?|[0-9]{1,3}(?:[,.][0-9]{3}){1,3}(?:[.,][0-9]{1,2})?")
#: Among this many items before a number without a unit, no word for a secret or an address may occur.
_FAR = 5
#: Among this many items before the sign of a unit, no word for a secret or an address may occur: the number and three.
_FAR_UNIT = 4
#: Among this many items before a number of a formula or a list, no word for a secret may occur.
_FAR_SECRET = 16
_MAX_MARKER = 20
#: Words for addresses and accounts that also precede a list of numbers.
_LIST_LEADS = frozenset(("numbers", "sort"))
#: Numbers above 89 without a unit that are neither ages nor parts of dates.
_ROUND = frozenset("200 256 500 512 1000 1024".split())
#: A time stamp of subtitles.
_TIMESTAMP = re.compile("[0-9]{2}:[0-5][0-9]:[0-5][0-9][.,][0-9]{3}")
#: Marks after a number that separate it from a name, as in *Exhibit 8, Anna*. After a blank it may be a house number.
_NUMBER_ENDS = frozenset(",:;.)")
#: A temperature in one string.
_TEMPERATURE = re.compile("[0-9]{1,3}(?:[.,][0-9]{1,2})?\u00b0[CF]")
#: A month with a year; and words before the expiry date of a card.
_MONTH_YEAR = re.compile("(?:0?[1-9]|1[0-2])/(?:19|20)[0-9]{2}")
_EXPIRY_WORDS = frozenset("exp expiration expire expires expiry thru until valid".split())
_COUNTED_TYPES = frozenset(("number", "year", "digits", "phone"))
_RANGE = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,2})?[-\u2013][0-9]{1,3}(?:\.[0-9]{1,2})?")
_RATING = re.compile(r"[0-9]{1,2}(?:\.5)?/(?:5|10|100)")
#: A score or a blood pressure, and words before it.
_SCORE = re.compile("[0-9]{1,3}/[0-9]{2,3}")
_SCORE_WORDS = frozenset("bp grade marks points pressure score scored scores".split())
#: Types of the numbers of a size; and a gap between the label of a telephone number and the number.
_MEASURES = ("number", "year")
_LABEL_GAP = re.compile(r"\.?:? ?[(+]?")
#: Signs of units with a blank before them, which are letters or short strings otherwise.
_SYMBOLS = frozenset("L V W cm2 cm3 d g h km2 l m m2 m3 mm2 mm3 s".split())
_CURRENCIES = frozenset("$\u20ac\u00a3\u00a5\u20b9")


#: Two numbers of words and entities before a code: among the first number, no word for a secret or an address may
#: occur; among the second, a word such as *error* must occur.
_FAR_CODE, _NEAR_CODE = 5, 3
#: Words for a secret that do not count as such after a word such as *error*: *error code*.
_CODE_WORDS = frozenset(("code", "codes"))
#: A code of an error of Windows, and the name of an error: ``0x80070057``, ``ERR_CONNECTION_RESET``.
_WINDOWS_CODE = re.compile("0[xX](?:80[0-9A-Fa-f]{2}|[Cc]000|0000)[0-9A-Fa-f]{4}")
_CONSTANT = re.compile("[A-Z]{2,}(?:_[A-Z]{2,})+")
#: Status codes of HTTP, which have a registry; and the exit codes of a process that a signal ended.
_STATUS_CODES = frozenset(
    map(str, (*range(90), *range(100, 104), *range(126, 160), *range(200, 209), 226, *range(300, 309), 255))
).union(map(str, (*range(400, 419), *range(421, 427), 428, 429, 431, 451, *range(500, 509), 510, 511)))
#: A version of two or three numbers with its letter; and one of three or four numbers, the second of which has at most
#: two digits, as that of a telephone number has not. No address of a network has such a form.
_LETTER_VERSION = re.compile(r"[vV][0-9]{1,3}(?:\.[0-9]{1,3}){1,2}")
#: A version that could also be a date.
_SHORT_VERSION = re.compile(r"[0-9]{1,2}(?:\.[0-9]{1,2}){2}")
_VERSION = re.compile(r"[0-9]{1,3}\.[0-9]{1,2}(?:\.[0-9]{1,5}){1,2}")

#: Types of the spans that the rules for numbers can keep.
KEPT_NUMERIC_TYPES = NUMERIC_TYPES | {"month", "key"}


class CodeFacts:
    """Rules of the option ``facts`` that leave error codes and version numbers unchanged: ``error 404``, ``v4.2.1``.

    Args:
        words: Lists of words that may be near a code, such as *error*.
    """

    def __init__(self, words: FactWords) -> None:
        self._words = words
        self._before_values = words.secret_words | words.address_words

    def is_kept_string(self, place: LinePlaces, index: int, text: str) -> bool:
        """Return whether a rule leaves a string unchanged: an error code, an error name or a version (``v4.2.1``).

        The caller must check that the words in the name of an error (``KeyError``) are public.

        Args:
            place: The words and entities of the lines that contain the string.
            index: Index of the string among the words of these lines.
            text: The string.
        """
        if _LETTER_VERSION.fullmatch(text):
            return not place.follows(index, self._before_values)
        is_code = _WINDOWS_CODE.fullmatch(text) or _CONSTANT.fullmatch(text)
        return is_code is not None and self._follows_error(place, index)

    def is_kept_number(self, place: LinePlaces, index: int, text: str) -> bool:
        """Return whether a rule leaves a number unchanged: an error code behind a word such as *error*, or a version.

        Args:
            place: The words and entities of the lines that contain the number.
            index: Index of the number among the words of these lines.
            text: The number.
        """
        if text in _STATUS_CODES:
            return self._follows_error(place, index)
        before = place.get_word(index - 1).lower().rpartition(" ")[2]  # also of a run, such as *App Version*
        is_label = place.gaps[index] == ": " and before == "version"
        is_version = is_label or (place.gaps[index] == " " and before in self._words.version_words)
        return is_version and _VERSION.fullmatch(text) is not None and not place.follows(index, self._before_values)

    def _follows_error(self, place: LinePlaces, index: int) -> bool:
        """Return whether a word such as *error* precedes a code, and no word for a secret or address is near it.

        The word *code* counts as a word for a secret, except behind a word such as *error*.

        Args:
            place: The words and entities of some lines.
            index: Index of the code among them.
        """
        words, errors = place.list_words_before(index, _FAR_CODE + 1), self._words.error_words
        if not words or not words[0] or errors.isdisjoint(words[:_NEAR_CODE]):
            return False
        return not any(
            word in self._before_values and not (word in _CODE_WORDS and before in errors)
            for word, before in pairwise([*words, ""][: _FAR_CODE + 1])
        )


class NumberFacts:
    """Rules of the option ``facts`` that leave public numbers unchanged, such as ``three boxes`` or ``20 km``.

    Args:
        strings: Public sets of words on which the rules depend.
        codes: Rules for the codes of errors and the numbers of versions.
    """

    def __init__(self, strings: FactStrings, codes: CodeFacts) -> None:
        self._strings, self._words, self._codes = strings, strings.words, codes
        self._before_values = strings.words.secret_words | strings.words.address_words
        self._before_lists = self._before_values - _LIST_LEADS
        self._counted = _COUNTED_COMMA if "," in strings.words.decimal_marks else _COUNTED

    def is_kept(self, place: LinePlaces, index: int, mention: EntityMention) -> bool:
        """Return whether a rule leaves a number unchanged.

        Args:
            place: The words and entities of the lines that contain the number.
            index: Index of the number among them.
            mention: The number as a detected entity.
        """
        is_useful = self._strings.is_useful
        entity_type, text = mention.span.entity_type, mention.span.text
        if entity_type == "month":
            is_place = is_useful and (
                is_month_place(place, index, self._words.month_leads)
                or is_month_range(place, index, self._words.range_words)
            )
            return is_place and not place.has_in_sentence(index, _DAYS)
        if entity_type == "key":
            if _TEMPERATURE.fullmatch(text) is not None:
                return not place.follows(index, self._before_values)
            return is_useful and _TIMESTAMP.fullmatch(text) is not None and self._is_time_place(place, index)
        if entity_type not in NUMERIC_TYPES:
            return False
        if entity_type == "age":
            return is_useful and text.isascii() and text.isdigit() and int(text) <= _MAX_AGE
        is_closed = place.gaps[index + 1][:1] in _NUMBER_ENDS and self._follows_counter(place, index)
        if place.gaps[index].endswith("#") or (place.precedes_capital(index) and not is_closed):
            return False
        if place.has_letter(index) and place.is_hidden(index + 2, index + 2):
            return False
        if entity_type == "number" and self._is_in_formula(place, index, text):
            return True
        neighbors = place.count_neighbors(index)
        if neighbors > 1:
            return False
        if entity_type == "number-word":
            is_shown = is_useful or self._strings.only_tags
            return is_shown and not neighbors and self._is_number_word(place, index, mention)
        if _MONTH_YEAR.fullmatch(text):
            return is_useful and self._is_month_year(place, index)
        if entity_type in _COUNTED_TYPES and self._is_counted(place, index, entity_type, text):
            return True
        may_be_version = entity_type in _COUNTED_TYPES or _SHORT_VERSION.fullmatch(text) is not None
        if is_useful and may_be_version and self._codes.is_kept_number(place, index, text):
            return True
        if place.follows(index, self._before_values):
            return False
        is_score = _SCORE.fullmatch(text) is not None and place.follows(index, _SCORE_WORDS)
        if entity_type == "digits" and not neighbors and (is_score or _RATING.fullmatch(text)):
            return True
        if not is_useful or place.has_capital_beside(index) or place.has_in_sentence(index, _DAYS - {entity_type}):
            return False
        if entity_type == "year" or mention.entity_type == "year-range":
            return not neighbors or place.has_only_years_beside(index)
        if neighbors or place.has_in_sentence(index, _DATES):
            return False
        if entity_type == "number":
            is_bare = _is_bare(text) or _DECIMAL.fullmatch(text) is not None
            if place.has_letter(index) and place.get_class(index + 2):
                return False
            if _DAY_MONTH.fullmatch(text) and _is_day_place(place, index):
                return False
            return is_bare and place.is_bare_place(index) and not place.follows(index, self._before_values, _FAR)
        if entity_type == "ordinal":
            digits = text[:-2]
            if place.gaps[index + 1] != " " or not (digits.isdigit() and digits.isascii()):  # "on the 3rd, we met"
                return False
            word, is_age = place.get_word(index + 1), int(digits) > _MAX_AGE
            return word in _RANKS if is_age else self._strings.is_adjective(word)
        return entity_type in ("time", "decade")

    def is_kept_unit(self, place: LinePlaces, index: int, text: str) -> bool:
        """Return whether a letter or a short string is the sign of a unit behind a number: ``500 g``, ``9 m2``.

        The letter must not be an initial or belong to an address. So there must be no name directly beside the letter
        or the number, and no word for a secret or an address near. A comma may separate a small letter from a name. If
        a number follows directly, it must have a unit too, as in ``5 h 30 min``.

        Args:
            place: The words and entities of the lines that contain the text.
            index: Index of the text among them.
            text: The letter or string.
        """
        if text not in _SYMBOLS or place.follows(index, self._before_values, _FAR_UNIT):
            return False
        is_beside = text.isupper() or place.gaps[index + 1] == " "
        if is_beside and place.is_hidden(index + 1, index + 1):
            return False
        if text == "L" and follows_unit(place, index, self._words.units):
            return True
        if place.gaps[index] != " " or place.get_class(index - 1) not in _COUNTED_TYPES:
            return False
        if place.gaps[index + 1] == " " and place.get_class(index + 1) in NUMERIC_TYPES:
            return place.get_word(index + 2) in self._words.units
        return place.get_word(index - 2).lower() != "at" and not place.is_hidden(index - 2, index - 1)

    def _is_in_formula(self, place: LinePlaces, index: int, text: str) -> bool:
        """Return whether a small number is a part of a formula, of source code, or of a list of numbers.

        The result is false if a word for a secret, an address, a document or a day is near.

        Args:
            place: The words and entities of the lines that contain the number.
            index: Index of the number among them.
            text: The number as spelled.
        """
        if not _is_bare(text):
            return False
        is_marker = int(text) <= _MAX_MARKER and is_list_marker(place, index)
        is_operand_or_entry = self._strings.is_useful and (is_operand(place, index) or is_listed_number(place, index))
        if not (is_marker or is_operand_or_entry):
            return False
        if place.follows(index, self._words.secret_words, _FAR_SECRET) or place.follows(index, self._before_lists):
            return False
        return not place.has_capital_beside(index) and not place.has_in_sentence(index, _DAYS)

    def _is_time_place(self, place: LinePlaces, index: int) -> bool:
        """Return whether a time stamp, as in subtitles, may stay unchanged because of the words around it.

        The result is false if a date is near, or if a word for a secret or an address precedes the time stamp.

        Args:
            place: The words and entities of some lines.
            index: Index of the time stamp among them.
        """
        near = (place.get_class(at) for at in range(index - 3, index + 4))
        return not place.follows(index, self._before_values) and _DATES.isdisjoint(near)

    def _is_number_word(self, place: LinePlaces, index: int, mention: EntityMention) -> bool:
        """Return whether a number word counts (*three boxes*), or begins a clause or heading: *First of all*.

        Args:
            place: The words and entities of the lines that contain the word.
            index: Index of the word among them.
            mention: The word as a detected entity.
        """
        is_age = place.gaps[index + 1] == "-" and mention.span.text.lower() == "ninety"  # "ninety-fifth birthday"
        if is_age or place.follows(index, self._before_values):
            return False
        if self._counts(place, index):
            return True
        if mention.span.case != TITLE:
            return False
        is_noun = place.gaps[index + 1] == " " and place.get_word(index + 1).istitle()
        begins = place.begins_clause(index, None) or place.begins_sentence(index, ())
        begins = begins or (follows_named_sentence(place, index) and place.get_word(index + 1).islower())
        return is_noun or begins or is_placeholder(place, index)

    def _is_month_year(self, place: LinePlaces, index: int) -> bool:
        """Return whether a month and its year may stay unchanged because of the words around them.

        They must not be a part of a full date, or the expiry date of a card. So the sentence must have no day of the
        month, and no number of a card or an account. No word for a secret, an address or an expiry may precede the
        month.

        Args:
            place: The words and entities of some lines.
            index: Index of the month among them.
        """
        if place.follows(index, self._before_values | _EXPIRY_WORDS, _FAR):
            return False
        return not place.has_in_sentence(index, _DAYS | _CARDS)

    def _is_counted(self, place: LinePlaces, index: int, entity_type: str, text: str) -> bool:
        """Return whether a number counts or measures, is money, or begins a range such as ``20 to 35 hours``.

        Args:
            place: The words and entities of the lines that contain the number.
            index: Index of the number among them.
            entity_type: Entity type of the number.
            text: The number as spelled.
        """
        follows_lead = place.follows(index, self._before_values)
        if follows_lead and (
            place.follows(index, self._words.secret_words) or place.get_word(index - 1).lower() in self._before_values
        ):
            return False
        if self._strings.is_useful and _AMOUNT.fullmatch(text) and self._is_amount(place, index):
            return True
        if follows_lead and not self._has_unit(place, index):
            return False
        if place.has_letter(index) and self._may_be_house(place, index):
            return False
        form = _RANGE if entity_type == "digits" else self._counted
        if entity_type == "phone":
            return _is_round_range(text) and self._has_unit(place, index)
        if form.fullmatch(text) is None:
            return False
        if self._counts(place, index):
            return True
        if self._begins_size(place, index):
            return True
        following = place.mentions[index + 2] if index + 2 < len(place.mentions) else None
        return (
            place.get_word(index + 1) in self._words.range_words
            and following is not None
            and following.span.entity_type in ("number", "year")
            and self._counts(place, index + 2)
        )

    def _begins_size(self, place: LinePlaces, index: int) -> bool:
        """Return whether a number begins a size: 2 or 3 numbers joined by ``x``, and a unit (``220 x 95 cm``)."""
        for at in (index, index + 2):
            if place.get_word(at + 1) != "x" or place.gaps[at + 1] != " " or place.gaps[at + 2] != " ":
                return False
            if place.get_class(at + 2) not in _MEASURES:
                return False
            if self._has_unit(place, at + 2):
                return True
        return False

    def _may_be_house(self, place: LinePlaces, index: int) -> bool:
        """Return whether a number with a letter may be the number of a house: ``Flat 14d``, ``we live at 14d``.

        Args:
            place: The words and entities of some lines.
            index: Index of the number among them.
        """
        if place.get_word(index - 1).lower() == "at" or place.is_hidden(index - 1, index):
            return True
        return place.follows(index, self._before_values)

    def _counts(self, place: LinePlaces, index: int) -> bool:
        """Return whether a number counts things: a plural or unit follows, or a word such as *version* precedes.

        Args:
            place: The words and entities of some lines.
            index: Index of the number among them.
        """
        if self._has_unit(place, index):
            return True
        return self._follows_counter(place, index)

    def _follows_counter(self, place: LinePlaces, index: int) -> bool:
        """Return whether a word such as *step* precedes a number, or also another number and *of*: ``step 4 of 10``."""
        if "day" in (place.get_class(index - 2), place.get_class(index + 2)):  # *between 2 and 4 March*
            return False
        if place.get_word(index - 1) == "of" and place.get_class(index - 2) == "number" and place.gaps[index] == " ":
            index -= 2
        return place.gaps[index] == " " and place.get_word(index - 1).lower() in self._words.counters

    def _has_unit(self, place: LinePlaces, index: int) -> bool:
        """Return whether a unit or a plural follows a number.

        Args:
            place: The words and entities of some lines.
            index: Index of the number among them.
        """
        gap, after = place.gaps[index + 1], place.get_word(index + 1)
        if gap.lstrip(" ").startswith("%") or (gap.strip(" ") == "\u00b0" and after in DEGREES):
            return True
        words, strings = self._words, self._strings
        if gap in ("", " ", "-") and (after in words.units or after.lower() in words.units):
            return not self._is_age(place, index + 1)
        if gap == "-" and strings.is_adjective(after):  # ``2-bedroom flat``
            return not self._is_age(place, index + 1)
        if gap in (" ", "-") and after not in words.currencies:
            if strings.is_plural(after) and not self._is_age(place, index + 1):
                return True
            second = place.get_word(index + 2)
            if (
                second
                and place.gaps[index + 2] == " "
                and strings.is_adjective(after)
                and strings.is_plural(second)
                and second not in words.currencies
            ):
                return not self._is_age(place, index + 2)
        return False

    def _is_age(self, place: LinePlaces, index: int) -> bool:
        """Return whether words after a number and a unit of time make the number an age: ``47 years of age``."""
        words = [place.get_word(index + step).lower() for step in (1, 2)]
        return words[0] in self._words.age_ends or words == ["of", "age"]

    def _is_amount(self, place: LinePlaces, index: int) -> bool:
        """Return whether a currency sign, or a word for a currency such as *euros*, is next to a number.

        Args:
            place: The words and entities of some lines.
            index: Index of the number among them.
        """
        before, after = place.gaps[index], place.gaps[index + 1]
        return (
            (before.rstrip(" ")[-1:] or " ") in _CURRENCIES
            or (after.lstrip(" ")[:1] or " ") in _CURRENCIES
            or (after == " " and place.get_word(index + 1).lower() in self._words.currencies)
            or (before == " " and place.get_word(index - 1).lower() in self._words.currencies)
        )


def follows_degrees(place: LinePlaces, index: int) -> bool:
    """Return whether a number and the degree sign directly precede the word at ``index``, as in ``37 °C``."""
    return place.gaps[index].strip(" ") == "\u00b0" and place.get_class(index - 1) in NUMERIC_TYPES


def is_times_sign(place: LinePlaces, index: int) -> bool:
    """Return whether a letter is between two numbers, with single blanks around it: ``x`` in ``220 x 95 cm``.

    Args:
        place: The words and entities of some lines.
        index: Index of the letter among them.
    """
    is_between = place.get_class(index - 1) in _MEASURES and place.get_class(index + 1) in _MEASURES
    return is_between and place.gaps[index] == place.gaps[index + 1] == " "


def precedes_telephone(place: LinePlaces, index: int) -> bool:
    """Return whether a number directly follows the word at ``index``, as in ``Tel. 020 7946 0958``.

    Args:
        place: The words and entities of some lines.
        index: Index of a word or entity among them.
    """
    return place.get_class(index + 1) in NUMERIC_TYPES and _LABEL_GAP.fullmatch(place.gaps[index + 1]) is not None


def _is_bare(text: str) -> bool:
    return text in _ROUND or (text.isdigit() and text.isascii() and len(text) <= 2 and int(text) <= _MAX_BARE)


def _is_round_range(text: str) -> bool:
    """Return whether a text is a range of two multiples of 50, such as ``500-1000``."""
    first, _, last = text.replace("\u2013", "-").partition("-")
    numbers = [number for number in (first, last) if number.isascii() and number.isdigit() and len(number) <= 4]
    return len(numbers) == 2 and int(first) < int(last) and all(int(number) % 50 == 0 for number in numbers)


def _is_day_place(place: LinePlaces, index: int) -> bool:
    """Return whether a word such as *on* precedes a number, or a full stop inside a sentence follows: *15.11. or*."""
    gap = place.gaps[index + 1]
    if place.get_word(index - 1).lower() in _DAY_LEADS or _INSIDE_SENTENCE.fullmatch(gap):
        return True
    return gap == ". " and place.get_word(index + 1).islower()
