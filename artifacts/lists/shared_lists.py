"""Add to every list the marks that the modes `words` and `all` read, and assign lists to their entity types.

The words of a list come from the lists of the mode `names`. Their marks come from `template_lists`: which words count
only with a capital, and which words are surrogates in the modes `words` and `all`.
"""

from collections.abc import Iterator, Mapping

import template_lists
from sources import DESIGNATIONS
from template_lists import Marks

#: Entity types of the modes `words` and `all` in their order, each with its lists. The first type with a word wins.
TEMPLATE_TYPES = {
    "weekday": ("weekday",),
    "month": ("month",),
    "ordinal": ("ordinal",),
    "number-word": ("number-word",),
    "country": ("country", "the-country", "country-part"),
    "group": ("group",),
    "given-name": ("given",),
    "family-name": ("family",),
    "city": ("city", "state", "place"),
    "organization-word": ("organization-word",),
    "organization": ("organization",),
    "street-word": ("street-word",),
    "unit-word": ("unit-word",),
    "place-word": ("place-word",),
    "institution-word": ("institution-word",),
}
#: Types whose list in `template_lists` has another name.
_OLD_NAMES = {"group": "nationality"}
#: Types whose words in lower case are replaced in the mode `names` unless they are common words.
_CLOSED = frozenset(("weekday", "month", "group"))
#: Words of names of several words that the mode `names` reads as phrases; the other modes read single words.
PARTS = "country-part"
#: An abbreviation with dots, which the mode `names` reads as an acronym.
_DOTTED = "u.n"
MEMBER_ONLY, CAPITALIZED = "member-only", "capitalized"


def mark_lists(names_lists: Mapping[str, Marks], common: set[str]) -> dict[str, Marks]:
    """Return the lists with the marks of all modes, and the lists that only the modes `words` and `all` read.

    Args:
        names_lists: Words of each list of the mode `names`, with the marks of this mode.
        common: Common words of the mode `names`.
    """
    old = {name: template_lists.get_marked_entries(_OLD_NAMES.get(name, name)) for name in TEMPLATE_TYPES}
    marked = {name: dict(entries) for name, entries in names_lists.items()}
    for type_name, names in TEMPLATE_TYPES.items():
        for name in names:
            entries = marked.get(name, {})
            marked[name] = {entry: _find_mark(entry, name, old[type_name], old, common) for entry in entries}
    marked["ordinal"] = dict(old["ordinal"])
    marked["organization-word"] = {**old["organization-word"], _DOTTED: f"{CAPITALIZED},{MEMBER_ONLY}"}
    known = {entry for names in TEMPLATE_TYPES.values() for name in names for entry in marked[name]}
    marked[PARTS] = {entry: mark for entry, mark in old["country"].items() if entry not in known}
    return marked


def list_own_names(names_lists: Mapping[str, Marks]) -> Iterator[str]:
    """Yield the names of the lists that only the modes `words` and `all` read."""
    yield from (name for names in TEMPLATE_TYPES.values() for name in names if name not in names_lists)


def _find_mark(entry: str, name: str, of_type: Marks, old: Mapping[str, Marks], common: set[str]) -> str:
    """Return the marks of an entry of a list for the modes `words` and `all`.

    If `template_lists` has the entry in the same type, its marks are taken from there, except for common words of
    closed types such as weekdays. Any other entry is never a surrogate (`member-only`). It counts only with a capital
    (`capitalized`) if it is a designation such as *street* or a common word of a closed type, or if `template_lists`
    requires the capital.
    """
    if entry in of_type and not (name in _CLOSED and entry in common):
        return of_type[entry]
    if " " in entry:
        return MEMBER_ONLY
    if others := [entries[entry] for entries in old.values() if entry in entries]:
        needs_capital = CAPITALIZED in others[0] or (name in _CLOSED and entry in common)
    else:
        needs_capital = entry in common if name in _CLOSED else template_lists.get_builder().is_common(entry)
    needs_capital |= name in DESIGNATIONS
    return f"{CAPITALIZED},{MEMBER_ONLY}" if needs_capital else MEMBER_ONLY
