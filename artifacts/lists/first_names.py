"""Read given names of thirty locales.

The list only determines the type of a surrogate. It never decides whether a word is replaced.
"""

import importlib
from collections.abc import Iterable, Iterator

import sources as src

#: Thirty locales of `faker` whose first names have a form in Latin script. Frequent names of English speakers are on
#: the list `given`. Icelandic is left out: its rare names alone would be a third of the list.
LOCALES = (
    "cs_CZ da_DK de_DE en_IN en_KE es_ES es_MX et_EE fi_FI fr_FR hr_HR hu_HU id_ID it_IT ja_JP lt_LT lv_LV nl_NL no_NO"
    " pl_PL pt_BR pt_PT ro_RO sk_SK sl_SI sv_SE vi_VN yo_NG zh_CN zh_TW"
).split()
#: Names of the census of the USA may be those of lands and states too, as in "Virginia Woolf".
_CENSUS = ("dist.female.first", "dist.male.first")
#: Kinds of which an entry is no first name of this list.
_NEVER = (
    "weekday month group title office particle given firm-word institution-word street-word place-word first-word"
    " organization"
).split()
_UNLESS_CENSUS = ("country", "the-country", "state", "place")


def _flatten(names: object) -> Iterator[str]:
    if isinstance(names, str):
        yield names
    elif isinstance(names, Iterable):
        for name in names:
            yield from _flatten(name)


def read_locale(locale: str) -> set[str]:
    """Return the given names of a locale in Latin script, with and without accents."""
    provider = vars(importlib.import_module(f"faker.providers.person.{locale}").Provider)
    lists = (names for key, names in provider.items() if key.startswith("first_") and "abbreviated" not in key)
    return {word for names in lists for name in _flatten(names) for word in src.tokens(name)}


def choose_first_names(common: set[str], kinds: dict[str, dict[str, str]]) -> dict[str, str]:
    """Return the given names that are neither common words nor entries of another list.

    Args:
        common: Common words.
        kinds: The entries of the other lists, with their marks.
    """
    census = set(src.census(*_CENSUS))
    names = census.union(*map(read_locale, LOCALES))
    never = common.union(*(kinds[kind] for kind in _NEVER))
    lands = set[str]().union(*(kinds[kind] for kind in _UNLESS_CENSUS)) - census
    return dict.fromkeys(names - never - lands, "")
