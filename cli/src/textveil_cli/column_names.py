"""Names of columns in errors and warnings.

Errors suggest the column closest to a misspelled one; warnings list columns whose headings concern people. Functions
print a name only if it looks like the heading of a column. Text that a user typed in place of a column name, and the
first row of a file without a header, mostly do not look like one.
"""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

#: Shape of a column heading: at most 40 characters, of which the first is a letter.
HEADING_PATTERN = re.compile(r"[^\W\d][\w \-./()#%:]{0,39}")
#: A personal number has five digits in a row; a heading does not.
_FIVE_DIGITS = re.compile(r"\d{5}")
_MAX_WORDS, _MAX_NAMES, _MAX_NAME_LENGTH = 4, 20, 30
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
#: Words in the headings of columns that name or number a person.
_PERSONAL_WORDS = frozenset(
    "account accountholder address agent applicant assignee attendee author beneficiary birth birthdate birthday "
    "borrower buyer caller card citizen client contact customer debtor dob doctor email employee employer family "
    "father firstname forename fullname guardian handle holder iban imei insured ip lastname lawyer "
    "license login mail manager member mobile mother name names nhs nickname nurse owner participant passport "
    "patient payee payer person phone physician postcode recipient reporter requester respondent seller sender "
    "signature ssn street student subscriber supervisor surname tax teacher telephone tenant therapist user "
    "userid username visitor voter witness zip zipcode".split()
)
#: Words next to which ``name`` is not the name of a person.
_IMPERSONAL_WORDS = frozenset(
    "file column product item brand project event table field sheet host domain display model".split()
)


def describe_column_option(option: str, typed: str, number: int = 1, total: int = 1) -> str:
    """Return an option for an error message, with its column name or its number.

    ``typed`` may be private text: unless it looks like a heading, the message leaves it out and gives the position
    among the ``total`` columns instead.
    """
    if _is_heading(typed):
        return f"{option} {_shorten_name(typed)}"
    return f"{option} {number} of {total}" if total > 1 else option


def list_columns(names: Sequence[str]) -> str:
    """Return the first 20 names of a header, shortened, and the number of the others.

    Return an empty string if one of the names may be data rather than a heading.
    """
    if not names or not all(map(_is_heading, names)):
        return ""
    more = len(names) - _MAX_NAMES
    return ", ".join(map(_shorten_name, names[:_MAX_NAMES])) + (f" and {more:,} more" if more > 0 else "")


def suggest_column(typed: str, names: Sequence[str]) -> str:
    """Return a suggestion, starting with a semicolon, of the column closest to ``typed``, or ""."""
    if "," in typed and {*typed.split(",")} <= {*names}:
        return "; repeat the option for each column"
    folded = {name.strip().casefold(): name for name in reversed(names)}
    folded_typed = typed.strip().casefold()
    with_same_start = [
        each
        for each in folded
        if len(folded_typed) > 2 and (each.startswith(folded_typed) or folded_typed in re.split(r"\W|_", each))
    ]
    closest = get_close_matches(folded_typed, folded, 1) or with_same_start[:1]
    return "".join(f"; did you mean {folded[each]}?" for each in closest if folded[each].isprintable())


def find_personal_columns(names: Iterable[str]) -> list[str]:
    """Return the columns whose headings contain a word for a person, address or number.

    The words are those for people, addresses and personal numbers. A heading ``id`` alone does not count: most tables
    have one.
    """
    return [name for name in names if _is_personal([word.lower() for word in _WORD.findall(name)])]


def _is_heading(name: str) -> bool:
    fits = HEADING_PATTERN.fullmatch(name) is not None and name.isprintable() and len(name.split()) <= _MAX_WORDS
    return fits and _FIVE_DIGITS.search(name) is None


def _shorten_name(name: str) -> str:
    return name if len(name) <= _MAX_NAME_LENGTH else name[: _MAX_NAME_LENGTH - 1] + "…"


def _is_personal(words: list[str]) -> bool:
    personal = _PERSONAL_WORDS.intersection(words)
    return bool(personal) and not (personal <= {"name", "names"} and _IMPERSONAL_WORDS.intersection(words))
