"""Language packs: separately installed word lists and rules of a language for hiding names (mode ``names``).

For example, the Spanish pack is the distribution ``textveil-es`` with the folder ``textveil_es/bundle``. A pack
contains only data. This module searches for a pack only when a caller requests its language, and runs no code of the
pack.
"""

import hashlib
import importlib.util
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from textveil.bundle.components import NamesFiles
from textveil.bundle.layout import MANIFEST
from textveil.bundle.reply_rules import join_reply_rules
from textveil.bundle.rules import Clitics, Rules
from textveil.errors import BundleDamaged, BundleNotFound, OptionError
from textveil.lazy import ENTITY_TYPES, load_data

if TYPE_CHECKING:
    from textveil.bundle.names_files import NamesLists
    from textveil.bundle.text_bundle import TextBundle

#: Language of the built-in bundle.
BUILTIN_LANGUAGE = "en"
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_MAX_LANGUAGES = 4
#: Entity types whose lists contain names. A joined bundle replaces a word if one pack lists it as a name and does not
#: leave it unchanged.
_NAME_TYPES = (*load_data(ENTITY_TYPES)["closed"], *load_data(ENTITY_TYPES)["whole"])


def split_languages(language: str) -> list[str]:
    """Split the value of the option ``language``, such as ``es`` or ``de+en``, into language tags.

    Raises:
        OptionError: A part of the value is not a language tag, or a language occurs twice.

    >>> split_languages("de+en")
    ['de', 'en']
    """
    languages = language.split("+") if isinstance(language, str) else []
    if not languages or not all(map(_LANGUAGE.fullmatch, languages)) or len(languages) > _MAX_LANGUAGES:
        raise OptionError("language must be two or three letters such as de, or several languages such as de+en")
    if len(set(languages)) < len(languages):
        raise OptionError("language: name each language once")
    return languages


def find_language_pack(language: str) -> Path:
    """Return the bundle folder of an installed language pack, without running code of the pack.

    Args:
        language: Language tag of two or three letters, such as ``es``.

    Raises:
        BundleNotFound: The pack is not installed. The message contains the command that installs the pack.
    """
    spec = importlib.util.find_spec(f"textveil_{language}")  # finds a package at the top level without importing it
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        if (Path(folder) / "bundle" / MANIFEST).is_file():
            return Path(folder) / "bundle"
    raise BundleNotFound(
        f"no pack for the language {language} is installed, and no package index has one yet: build its wheel in "
        f"a clone (packs/README.md), then pip install textveil_{language}-*.whl"
    )


@dataclass(frozen=True, eq=False, repr=False)
class JoinedNamesFiles(NamesFiles):
    """Word lists for texts with several languages: the files of the first language, and the joined lists of all."""

    joined: "NamesLists | None" = None

    @property
    def lists(self) -> "NamesLists":  # pyright: ignore[reportIncompatibleVariableOverride]
        """Return the word lists for hiding names, joined from the lists of all languages."""
        assert self.joined is not None
        return self.joined


def join_bundles(bundles: Sequence["TextBundle"]) -> "TextBundle":
    """Join the bundles (data folders) of several languages into one bundle for texts with several languages.

    The joined bundle is for the mode ``names``, which hides names. A word is left unchanged if at least one language
    leaves it unchanged and no other language hides it as a name. Function words, such as "the", of all languages are
    left unchanged. Surrogates (replacements) and patterns are those of the first language. The joined bundle has no
    mechanism that replaces words at random, and no rules for public facts (numbers and dates that are left unchanged).
    Its content hash is the SHA-256 of the content hashes of the bundles, in their order.
    """
    first = next((bundle for bundle in bundles if not bundle.is_builtin), bundles[0])
    hashes = "+".join(bundle.content_hash for bundle in bundles)
    files = bundles[0].names_files
    assert files is not None
    joined = join_lists([bundle.get_names_lists() for bundle in bundles])
    return replace(
        first,
        path=bundles[0].path,
        content_hash=hashlib.sha256(hashes.encode("ascii")).hexdigest(),
        names_files=JoinedNamesFiles(files.entity_types, files.pool_types, files.contents, joined=joined),
        staircase_files=None,
        santext_table=None,
    )


def join_lists(lists: Sequence["NamesLists"]) -> "NamesLists":
    """Join the word lists of several languages by the rules of ``join_bundles``, and return the joined lists."""
    from textveil.bundle.names_files import FUNCTION

    common: dict[str, int] = {}
    names = [frozenset[str]().union(*(of.members_by_type.get(kind, ()) for kind in _NAME_TYPES)) for of in lists]
    for of in lists:
        for word, marks in of.common_words.items():
            is_name = any(
                word in listed and word not in other.common_words for other, listed in zip(lists, names, strict=True)
            )
            if not is_name or marks & FUNCTION:
                common[word] = common.get(word, 0) | marks
    first = lists[0]
    pools = {
        kind: tuple(name for name in pool if name.lower() not in common) or pool if kind.startswith("word") else pool
        for kind, pool in first.surrogate_pools.items()
    }
    return replace(
        first,
        common_words=dict(sorted(common.items())),
        kept_capitals=frozenset().union(*(of.kept_capitals for of in lists)),
        kept_symbols=frozenset().union(*(of.kept_symbols for of in lists)),
        members_by_type={
            kind: frozenset[str]().union(*(of.members_by_type.get(kind, ()) for of in lists))
            for kind in first.members_by_type
        },
        surrogate_pools=pools,
        fact_lists={kind: frozenset() for kind in first.fact_lists},
        rules=_join_rules([of.rules for of in lists]),
    )


def _join_rules(rules: Sequence[Rules]) -> Rules:
    """Join the rules of several languages: word lists of all languages, and all other rules of the first language."""
    first, clitics = rules[0], [of.clitics for of in rules]
    return replace(
        first,
        language="+".join(of.language for of in rules),
        clitics=Clitics(
            before=_join_sets(of.before for of in clitics),
            after=_join_sets(of.after for of in clitics),
            negation=next((of.negation for of in clitics if of.negation), ""),
            negation_stems=_join_sets(of.negation_stems for of in clitics),
        ),
        connectors=_join_sets(of.connectors for of in rules),
        abbreviations=_join_sets(of.abbreviations for of in rules),
        headline_words=_join_sets(of.headline_words for of in rules),
        legal_forms=_join_sets(of.legal_forms for of in rules),
        name_like=_join_sets(of.name_like for of in rules),
        also_persons=_join_sets(of.also_persons for of in rules),
        facts=type(first.facts)(),
        replies=join_reply_rules(of.replies for of in rules),
    )


def _join_sets(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*sets)


def check_language(bundle: "TextBundle", language: str) -> None:
    """Check that a bundle (data folder) is for the requested language.

    Args:
        bundle: The bundle.
        language: The requested language tag.

    Raises:
        OptionError: The bundle is for another language.
        BundleDamaged: The rules file of the bundle cannot be parsed.
    """
    found = read_language(bundle)
    if found != language:
        raise OptionError(
            f"this bundle is for the language {found}, not {language}: omit --language, or choose another bundle"
        )


def read_language(bundle: "TextBundle") -> str:
    """Return the language tag in the rules file of a bundle (data folder), or ``en`` without a rules file."""
    from textveil.bundle.layout import RULES
    from textveil.bundle.parsers import parse_json, parse_text

    files = bundle.names_files
    if files is None or RULES not in files.contents:
        return BUILTIN_LANGUAGE
    language = parse_text(parse_json(files.contents[RULES], RULES).get("language"), RULES)
    if not re.fullmatch(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*", language):
        raise BundleDamaged(f"{RULES}: language: is not a language tag such as en")
    return language
