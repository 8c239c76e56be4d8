"""Find columns that probably identify people, by the words of their headings alone."""

import re
from collections.abc import Iterable

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
#: Words of headings of columns that name or number a person.
_IDENTIFYING = frozenset(
    "account accountholder address agent applicant assignee attendee author beneficiary birth birthdate birthday "
    "borrower buyer caller card citizen client contact customer debtor dob doctor email employee employer family "
    "father firstname forename fullname guardian handle holder iban imei insured ip lastname lawyer "
    "license login mail manager member mobile mother name names nhs nickname nurse owner participant passport "
    "patient payee payer person phone physician postcode recipient reporter requester respondent seller sender "
    "signature ssn street student subscriber supervisor surname tax teacher telephone tenant therapist user "
    "userid username visitor voter witness zip zipcode".split()
)
#: Words behind which a name is not that of a person.
_THINGS = frozenset("file column product item brand project event table field sheet host domain display model".split())


def find_identifying(names: Iterable[str]) -> list[str]:
    """Return the columns whose headings have a word that stands for a person, an address or a number of a person.

    A lone ``id`` is none: most tables have one.
    """
    return [name for name in names if _is_identifying([word.lower() for word in _WORD.findall(name)])]


def _is_identifying(words: list[str]) -> bool:
    found = _IDENTIFYING.intersection(words)
    return bool(found) and not (found <= {"name", "names"} and _THINGS.intersection(words))
