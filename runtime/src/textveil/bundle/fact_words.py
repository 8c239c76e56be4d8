"""Words of a language that the rules for public facts read, such as units and words before a secret.

They are the object ``optional.facts`` of a file of rules (docs/format-rules.md).
"""

from dataclasses import dataclass

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class FactWords:
    """Words of the rules for public facts, as lookup keys. A set is empty if the file of rules lacks it.

    Attributes:
        units: Units behind a number: singular nouns, abbreviations and signs, such as ``km`` and ``%``.
        counters: Words before a number that counts or measures, as in ``version 3`` and ``at least 5``.
        secret_words: Words before a secret, such as ``password`` and ``token``.
        address_words: Words near a number of an address, an account or a document, such as ``room`` and ``order``.
        weak_address_words: Words that count as address words only if their sentence has another address word, as in
            ``card ends in``.
        roles: Words for occupations and relations of persons, such as ``manager`` and ``patient``.
        kin: Words for relatives and friends, as in ``Anna's brother``.
        identifier_pieces: Pieces of identifiers in source code that are no common words, such as ``idx``.
        starts: Common words that may begin a sentence if a word of ``start_followers`` follows: those without the flag
            ``start``, and with it names of groups, as in *Left the parcel at the door*.
        start_followers: Determiners, pronouns, auxiliary verbs, prepositions and question words.
        not_plurals: Words that end in *s* but are not plurals of nouns.
        joining_words: Words that may be between two numbers of one group, such as a word for *and*.
        range_words: Words between the two numbers of a range.
        number_words: Number words that a text may keep.
        age_ends: Words that make the years before them an age.
        currencies: Words for money.
        month_leads: Words that may precede a month without a year, such as ``in``.
        language_leads: Words that precede the name of a language; ``language_nouns`` are words that follow it.
        language_varieties: Words before the name of a language, as in ``Brazilian Portuguese`` and ``US English``.
        determined_nouns: Nouns that are parts of names or initials too, such as ``van``, behind one of ``determiners``.
        heading_leads: Words that precede a single word in Title case that is not the name of a person.
        name_leads: Words before the name of a person, as in ``my name is``.
        name_prefixes: Beginnings of family names, such as ``mc`` and ``van``.
        foreign_words: Function words of other languages, such as ``de`` and ``und``.
        elisions: Beginnings of words of other languages that an apostrophe follows, such as ``l`` and ``dell``.
    """

    units: frozenset[str] = _NONE
    counters: frozenset[str] = _NONE
    secret_words: frozenset[str] = _NONE
    address_words: frozenset[str] = _NONE
    weak_address_words: frozenset[str] = _NONE
    roles: frozenset[str] = _NONE
    kin: frozenset[str] = _NONE
    identifier_pieces: frozenset[str] = _NONE
    starts: frozenset[str] = _NONE
    start_followers: frozenset[str] = _NONE
    not_plurals: frozenset[str] = _NONE
    joining_words: frozenset[str] = _NONE
    range_words: frozenset[str] = _NONE
    number_words: frozenset[str] = _NONE
    age_ends: frozenset[str] = _NONE
    currencies: frozenset[str] = _NONE
    month_leads: frozenset[str] = _NONE
    language_leads: frozenset[str] = _NONE
    language_nouns: frozenset[str] = _NONE
    language_varieties: frozenset[str] = _NONE
    determined_nouns: frozenset[str] = _NONE
    determiners: frozenset[str] = _NONE
    heading_leads: frozenset[str] = _NONE
    name_leads: frozenset[str] = _NONE
    name_prefixes: frozenset[str] = _NONE
    foreign_words: frozenset[str] = _NONE
    elisions: frozenset[str] = _NONE


#: Keys of ``optional.facts`` that this release reads.
FACT_WORD_KEYS = tuple(FactWords.__dataclass_fields__)
