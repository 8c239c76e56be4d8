"""Forms in which a reply may write a surrogate (replacement word), and conversion of the original to the same form.

A form is, for example, the plural of the surrogate, its digits in groups, a date in another order, or a person's first
name as an initial. Language packs add inflections and elisions. The name of a form, such as ``plural``, is its
*notation*.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from textveil.bundle.layout import RULES
from textveil.bundle.reply_rules import NO_REPLY_RULES, ReplyRules
from textveil.lazy import load_data
from textveil.text.segmentation import TITLE, UPPER, apply_case, find_case_pattern, fold_word, is_string

#: A number: whole part, with or without commas between groups of three digits, and optional decimals.
_NUMBER = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?")
_MONTHS = load_data(RULES)["months"]["names"]
_PHONE = re.compile(r"(\d{3})-(\d{3})-(\d{4})")
_ISO = re.compile(r"(?P<y>\d{4})-(?P<m>\d\d?)-(?P<d>\d\d?)")
_DAY_FIRST = re.compile(r"(?P<d>\d\d?) (?P<month>[a-z]+)\.?(?: (?P<y>\d{4}))?", re.IGNORECASE)
_MONTH_FIRST = re.compile(r"(?P<month>[a-z]+)\.? (?P<d>\d\d?)(?:,? (?P<y>\d{4}))?", re.IGNORECASE)
#: Date notations with a year, and (``_SHORT_DATES``) without one.
_WHOLE_DATES = {
    "iso": "{y:04d}-{m:02d}-{d:02d}",
    "day first": "{d} {month} {y}",
    "month first": "{month} {d}, {y}",
    "numeric": "{m}/{d}/{y}",
    "numeric, padded": "{m:02d}/{d:02d}/{y}",
}
_SHORT_DATES = {"day first": "{d} {month}", "month first": "{month} {d}"}
#: Ends of words whose plural has ``es``; and the last letters of words whose plural is not the word with an ``s``.
_ES_ENDS, _PLURAL_ENDS = ("s", "x", "z", "ch", "sh"), frozenset("sxzhy")
_MIN_PLURAL_LENGTH, _GROUP_DIGITS = 3, 3
_MIN_NAME_WORDS = 2
#: A tag, and the other brackets and separators in which replies write one. Without brackets, ``person 1`` may be a
#: phrase of the reply itself.
_TAG = re.compile(r"\[([\w-]+) (\d+)\]")
TAG_NOTATIONS = ("[{}{}]", "[{}_{}]", "[{}-{}]", "({} {})", "({}{})", "({}_{})", "{{{} {}}}", "{{{}{}}}", "{{{}_{}}}")
TAG, BARE_TAG = "tag", "bare tag"
#: Prefixes of notations. The name of the inflection follows, or the text that replaces the word before the surrogate.
_INFLECTION, _ELISION = "inflection ", "elision "
#: Notations of a person's name with initials (``_write_initials``).
_INITIALS_NOTATIONS = frozenset((
    "initial", "initial without dot", "initials", "initials without blanks", "initial last", "initial after Dear",
    "initial after Hi",
))  # fmt: skip
_WORD_IN_FORM = re.compile(r"[^\W\d_]+(?:\s|['\u2019])")
_WORD_BEFORE = re.compile(r"(\w[\w'\u2019]*)[^\w$\u20ac\u00a3\u00a5#]{1,3}\Z|([$\u20ac\u00a3\u00a5#])\Z")
#: Number of characters that are kept in memory before a position, to find the word before it.
LOOKBEHIND_CHARACTERS = 48


class SurrogatePair(NamedTuple):
    """A surrogate (replacement) in a sanitized text, and the original that it replaces.

    Attributes:
        output: The surrogate as spelled; in lower case if its case carries no information.
        original: The original text.
        lead: Number of characters at the start of ``output`` that restoring replaces by the original. The rest of
            ``output`` is context: it must occur in the reply, and stays there. 0 means all characters.
        weak: Whether the surrogate is so short, such as ``7``, that it may also be a word of the reply itself. Then the
            surrogate is restored only next to the same words as in the sanitized text.
        before: Normalized spelling of the word or sign that must precede a surrogate with ``weak``; empty if any word
            may precede it. In a pair with ``after``: the text before the surrogate in the sanitized text.
        after: The text after the surrogate in the sanitized text. The surrogate is restored only where a reply repeats
            the text around it (see ``textveil.text.quotations``). ``None`` for pairs without this condition.
    """

    output: str
    original: str
    lead: int = 0
    weak: bool = False
    before: str = ""
    after: str | None = None


#: A form of a surrogate: its pair, and its notation. The notation is empty for the surrogate as it was sent.
SurrogateForm = tuple[SurrogatePair, str]


def inflect_original(form: SurrogateForm, written: str, rules: ReplyRules = NO_REPLY_RULES) -> str:
    """Write the original in the form, such as the plural, in which the reply writes its replacement.

    Example: ``clinic`` is the surrogate (replacement) of ``hospital``. If the reply has ``Clinics``, the result is
    ``Hospitals``.

    Args:
        form: The pair of surrogate and original, and how the reply writes the surrogate, such as ``plural``.
        written: The surrogate as written in the reply; its case is applied to the original.
        rules: Inflection rules of the language, as for ``iterate_forms``.
    """
    pair, notation = form
    output, original = pair.output[: pair.lead or None], pair.original
    if not notation:  # most surrogates
        return match_case(written, output, original)
    if notation.startswith(_INFLECTION):
        name = notation.removeprefix(_INFLECTION)
        return match_case(written, rules.inflect(output, name), rules.inflect(original, name))
    if notation.startswith(_ELISION):
        before, name = split_elision(written)
        word = notation.removeprefix(_ELISION)
        if before[0].isupper():
            word = word.upper() if len(name) > 1 and name.isupper() else word.capitalize()
        return word + match_case(name, output, original)
    if notation == TAG:
        return original
    if notation in _INITIALS_NOTATIONS:
        shortened = _write_initials(original)[notation] if original.split() else original
        return shortened.upper() if written.isupper() else shortened
    if notation == "plural":
        return match_case(written, _make_plural(output), _make_plural(original))
    if notation == "number":
        return _match_number_notation(written, output, original)
    date = _parse_date(original)
    return match_case(written, output, original) if date is None else _format_date(date).get(notation, original)


def fold_text(text: str) -> str:
    """Normalize ``text`` for searches in a reply: case folded, in NFKD, with plain apostrophes.

    The result may have another length. A caller that needs positions must fold one character at a time.
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold()).replace("\u2019", "'")


def split_elision(written: str) -> tuple[str, str]:
    """Split a text such as ``d'Anna`` into the short word at its start and the surrogate (replacement) after it.

    The short word includes its blank or apostrophe.

    >>> split_elision("de Keller"), split_elision("d'Anna")
    (('de ', 'Keller'), ("d'", 'Anna'))
    """
    match = _WORD_IN_FORM.match(written)
    return ("", written) if match is None else (match[0], written[match.end() :])


def is_inflection(form: SurrogateForm) -> bool:
    """Return whether a spelling in a reply is an inflection, such as ``Kellers``, by the rules of a language."""
    return form[1].startswith(_INFLECTION)


def is_elision(form: SurrogateForm) -> bool:
    """Return whether a form (spelling in a reply) includes a short word before the replacement, as in ``d'Anna``."""
    return form[1].startswith(_ELISION)


def iterate_forms(pair: SurrogatePair, rules: ReplyRules = NO_REPLY_RULES) -> Iterator[tuple[str, str]]:
    """Yield each spelling of a surrogate that a reply may use, with the name of this form, such as ``plural``.

    A surrogate is the replacement of a hidden word. The spellings are case folded (see ``fold_text``). The first form
    is the surrogate itself, with an empty name. A pair with ``lead`` or ``weak`` has only this form.

    Args:
        pair: The surrogate, with its original.
        rules: Inflection rules of the language. They add inflections. They also add forms with the word before the
            surrogate, if that word is spelled differently before the original. If the surrogate ``Keller`` replaces
            ``Anna``, then ``de Keller`` becomes ``d'Anna``.
    """
    output = pair.output
    folded = fold_text(output)
    folded = output if folded == output else folded  # one string in memory, not two
    yield " ".join(folded.split()), ""
    if pair.lead or pair.weak:
        return
    if rules is NO_REPLY_RULES and output.isalpha() and output.isascii():  # most surrogates
        if len(output) >= _MIN_PLURAL_LENGTH:
            yield f"{folded}s", "plural"
            if folded[-1] in _PLURAL_ENDS and (plural := _make_plural(output).lower()) != f"{folded}s":
                yield plural, "plural"
        return
    if output[:1] == "[" and (tag := _TAG.fullmatch(output)) is not None:
        public_type, number = fold_text(tag[1]), fold_text(tag[2])
        for notation in TAG_NOTATIONS:
            yield notation.format(public_type, number), TAG
        yield f"{public_type} {number}", BARE_TAG
        return
    if " " in output:
        for way, written in _find_initials(output).items():
            yield fold_text(written), way
    if rules is not NO_REPLY_RULES:
        yield from _iterate_language_forms(pair, folded, rules)
    if output.replace(" ", "").isalpha():
        if len(output) >= _MIN_PLURAL_LENGTH:
            simple, plural = f"{folded}s", fold_text(_make_plural(output))
            yield simple, "plural"
            if plural != simple:
                yield plural, "plural"
        return
    if (number := _NUMBER.fullmatch(output)) is not None:
        whole, decimals = number[1].replace(",", ""), number[2] or ""
        is_short = len(whole) <= _GROUP_DIGITS and whole.isascii()
        grouped = whole if is_short or whole[0] == "0" else f"{int(whole):,}"
        for written in (whole,) if grouped == whole else (whole, grouped):
            yield written + decimals, "number"
            if not decimals:
                yield written + ".00", "number"
    elif (phone := _PHONE.fullmatch(output)) is not None:
        for way in ("({}) {}-{}", "{}.{}.{}", "{} {} {}", "{}{}{}"):
            yield way.format(*phone.groups()), way
    elif (date := _parse_date(output)) is not None:
        for way, written in _format_date(date).items():
            yield fold_text(written), way


def _iterate_language_forms(pair: SurrogatePair, folded: str, rules: ReplyRules) -> Iterator[tuple[str, str]]:
    """Yield the spellings of a surrogate that the rules of a language add: inflections, and elisions (``d'Anna``).

    Args:
        pair: The surrogate (replacement word), with its original.
        folded: The surrogate, case folded.
        rules: Inflection rules of the language.
    """
    output = pair.output
    if len(output) >= _MIN_PLURAL_LENGTH and output.replace(" ", "").isalpha():
        for name in rules.list_inflections(output):
            yield fold_text(rules.inflect(output, name)), f"{_INFLECTION}{name}"
    sent, needed = rules.is_elided_before(output), rules.is_elided_before(pair.original)
    if needed is None or sent == needed:
        return
    for clitic, words in rules.elisions.items():
        if needed:
            yield from ((f"{word} {folded}", f"{_ELISION}{clitic}") for word in words)
        elif len(words) == 1:  # the gender of the original is unknown
            yield f"{clitic}{folded}", f"{_ELISION}{words[0]} "


def _find_initials(name: str) -> dict[str, str]:
    """Return the spellings of a name with initials: for ``Anna Novak`` among others ``"initial": "A. Novak"``.

    The keys are the names of the forms of spelling. The result is empty unless the name has two or more words, all
    capitalized.
    """
    words = name.split(" ")
    if len(words) < _MIN_NAME_WORDS or not all(word[:1].isupper() and word.rstrip(".").isalpha() for word in words):
        return {}
    return _write_initials(name)


def _write_initials(name: str) -> dict[str, str]:
    """Return the spellings of a name with initials by the name of the form: for example ``"initial": "A. Novak"``."""
    words = name.split()
    given = [word[0].upper() for word in words[:-1] or words if word[0].isalpha()] or ["?"]
    first, last = given[0], words[-1]
    return {
        "initial": f"{first}. {last}",
        "initial without dot": f"{first} {last}",
        "initials": f"{'. '.join(given)}. {last}",
        "initials without blanks": f"{'.'.join(given)}. {last}",
        "initial last": f"{last}, {first}.",
        "initial after Dear": f"Dear {first}.,",
        "initial after Hi": f"Hi {first}.,",
    }


def match_case(written: str, output: str, original: str) -> str:
    """Return the original in the same case (such as capitals) as its surrogate (replacement) in the reply.

    The original keeps its own spelling in three cases: ``output`` has capitals, and ``written`` has the same case
    pattern; the original or the surrogate is not a plain word but, for example, an address or a number; or the original
    has capitals of its own, such as ``iPhone``. Otherwise the original gets the case pattern of ``written``.

    Args:
        written: The surrogate as written in the reply.
        output: The surrogate in the sanitized text, to which the reply answers.
        original: The original.
    """
    if written[:1] == "[":
        return original
    pattern, sent_pattern = find_case_pattern(written), find_case_pattern(output)
    if pattern == sent_pattern and any(map(str.isupper, output)):
        return original
    if is_string(original) or is_string(output) or not any(map(str.isalpha, written)):
        return original
    original_pattern = find_case_pattern(original)
    if original_pattern == pattern or (
        pattern == TITLE and (sent_pattern == UPPER or apply_case(fold_word(original), original_pattern) != original)
    ):
        return original  # some words have a case of their own, such as iPhone
    if pattern == TITLE or " " in original:
        return original.upper() if pattern == UPPER else original[:1].upper() + original[1:] if pattern else original
    return apply_case(fold_word(original), pattern)


def _make_plural(word: str) -> str:
    small = word.lower()
    if small.endswith(_ES_ENDS):
        end = "es"
    elif word == small and small.endswith("y") and small[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    else:
        end = "s"
    return word + (end.upper() if len(word) > 1 and word.isupper() else end)


def _match_number_notation(written: str, output: str, original: str) -> str:
    """Return the original number in the same notation as its surrogate (replacement number) in the reply.

    Example: the sanitized text has ``4500`` (``output``), and the reply writes ``4,500.00`` (``written``). Then the
    original number gets commas and ``.00`` too.
    """
    original_number = _NUMBER.fullmatch(original)
    if original_number is None or original_number[1][0] == "0":
        return original
    whole, decimals = original_number[1].replace(",", ""), original_number[2] or ""
    if "," in written:
        whole = f"{int(whole):,}"
    elif "," not in output:
        whole = original_number[1]
    return whole + (decimals or (".00" if written.endswith(".00") and "." not in output else ""))


@cache
def _number_months() -> dict[str, int]:
    """Map the full name and the short names of each month, in lower case, to the number of the month (1 to 12)."""
    numbers = {name[:length].lower(): place for place, name in enumerate(_MONTHS, 1) for length in (3, len(name))}
    return numbers | load_data(RULES)["months"]["short"]


def _parse_date(text: str) -> tuple[int | None, int, int] | None:
    """Parse a date, and return its year (``None`` if it has no year), month and day.

    The result is ``None`` if the text is not a date, or if the order of day and month is not clear.
    """
    match = _ISO.fullmatch(text) or _DAY_FIRST.fullmatch(text) or _MONTH_FIRST.fullmatch(text)
    if match is None:
        return None
    fields = match.groupdict()
    month = int(fields["m"]) if "m" in fields else _number_months().get(fields["month"].lower(), 0)
    if not (1 <= month <= 12 and 1 <= int(fields["d"]) <= 31):
        return None
    return int(fields["y"]) if fields["y"] else None, month, int(fields["d"])


def _format_date(date: tuple[int | None, int, int]) -> dict[str, str]:
    year, month, day = date
    notations = _SHORT_DATES if year is None else _WHOLE_DATES
    return {way: form.format(y=year, m=month, d=day, month=_MONTHS[month - 1]) for way, form in notations.items()}


def find_word_before(text: str) -> str:
    """Return the last word of ``text``, case folded, or the currency or number sign at its end; else "".

    After the word, the text must end with one to three punctuation marks or blanks. A sign must be its last character.
    """
    match = _WORD_BEFORE.search(text[-LOOKBEHIND_CHARACTERS:])
    return "" if match is None else fold_text(match[1] or match[2])


def are_alike(one: str, other: str) -> bool:
    """Return whether two originals are equal except for case and the kind of apostrophe.

    A mathematical letter such as U+1D465 is not equal to the plain letter, although both get the same replacement.
    """
    return one == other or _fold_case(one) == _fold_case(other)


def _fold_case(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower().replace("\u2019", "'")
