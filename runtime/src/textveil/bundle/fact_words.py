"""Words of a language, such as units, for rules that find public facts (numbers that are safe to leave unchanged).

A rules file has these words in its object ``optional.facts`` (docs/format-rules.md).
"""

from dataclasses import dataclass

#: Units that are written with a capital.
CASED_UNITS = frozenset(
    (
        *"BPM D DPI FPS GB GHz GPa GW GWh Gbps GiB Hz K KB Kbps KiB MB MHz MJ MPH MPa MW MWh Mbps MeV MiB PB".split(),
        *"PSI RPM TB THz TiB Wh cL dB dBi dBm dL eV hPa kA kB kHz kJ kN kPa kV kW kWh keV mA mAh mL mM mV".split(),
        *("mmHg", "pH", "\u03bcL"),
    )
)
#: Scales of temperature after the degree sign.
DEGREES = frozenset(("C", "F"))
_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, repr=False)
class FactWords:
    """Words with which rules recognize public facts: numbers, dates and words that are safe to leave unchanged.

    For example, the number in ``5 km`` is a public fact, but not the number in ``room 5``. All words are lookup keys
    (``fold``: lower case with one kind of apostrophe). A set is empty if the file with the rules does not list its
    words.

    Attributes:
        units: Units after a number: singular nouns, abbreviations and signs, such as ``km`` and ``%``.
        counters: Words before a number that counts or measures, as in ``version 3`` and ``at least 5``.
        secret_words: Words before a secret, such as ``password`` and ``token``.
        address_words: Words near the number of an address, an account or a document, such as ``room`` and ``order``.
        weak_address_words: Words that count as address words only in a sentence with another address word, such as
            ``ends`` in ``card ends in``.
        roles: Words for occupations and relations of persons, such as ``manager`` and ``patient``.
        kin: Words for relatives and friends, such as ``brother`` in ``Anna's brother``.
        identifier_pieces: Parts of identifiers in source code that are not common words, such as ``idx``.
        starts: Common words that may also be names of persons or of groups of people (``left``). At the start of a
            sentence they are left unchanged only before a comma or a word of ``start_followers``.
        start_followers: Determiners, pronouns, auxiliary verbs, prepositions and question words.
        clause_subjects: Pronouns and determiners after an auxiliary verb that is also a name: ``May I``.
        not_plurals: Words that end in *s* but are not plurals of nouns.
        plurals: Plurals that do not end in *s*, such as ``people``.
        joining_words: Words that join two numbers, such as *and* in ``3 and 4 km``.
        range_words: Words between the two numbers of a range, such as a word for *to*.
        number_words: Words for numbers that may be left unchanged in a text.
        age_ends: Words after a number of years that make it an age, such as a word for *old*.
        currencies: Words for money.
        month_leads: Words before a month without a year, such as ``in``.
        language_leads: Words before the name of a language.
        language_nouns: Words after the name of a language.
        request_words: Words of a request to write in a language, such as ``translate`` and ``answer``.
        language_varieties: Words before the name of a language, as in ``Brazilian Portuguese`` and ``US English``.
        determined_nouns: Nouns that may also be parts of names or initials, such as ``van``.
        determiners: Words before one of ``determined_nouns``, such as ``the`` and ``my``.
        label_nouns: Nouns before a letter that labels them, as in ``option B`` and ``vitamin C``.
        error_words: Words before the code of an error, such as ``error`` and ``status``.
        version_words: Words before the number of a version, such as ``version`` and ``python``.
        phone_labels: Short forms before a telephone number, such as ``tel``.
        heading_leads: Words before a single word in Title case that is not the name of a person.
        institution_ends: Words that end the name of an institution or a street, such as ``home`` and ``rd``, and are
            not on any other word list.
        street_leads: Words before a street or a place, such as *on*, in addition to ``names.place_prepositions``.
        code_constants: Constants, types and classes of programming languages, such as ``true`` and ``string``.
        comma_words: Common words, such as ``best``, that are also family names, but have their common meaning before a
            comma and a name, as in ``Best, Anna``.
        platforms: Widely used programs and platforms, such as ``youtube``.
        firm_leads: Words before a company that may be an employer or a business partner, such as ``at``.
        work_words: Words near the name of an employer, such as ``job`` and ``internship``. An entry with a hyphen at
            its start is a word after the name and at least one more word: ``-me``, as in ``IBM let me go``.
        party_words: Words directly before a phrase of common words that is a name (``contact`` in ``contact Clear
            Path``), or before ``in`` and the name (``live``). An entry with a hyphen at its start is a word directly
            after a name (``-pays``). Entries with a hyphen at the end (``dear-``, ``-cried-``) count for the names of
            companies too, since only a person can be addressed or act so.
        name_leads: Words before the name of a person, as in ``my name is``.
        name_cues: One or two words before the name of a person. A blank follows them, or the comma or colon at the end
            of the entry: ``hi``, ``this is``, ``regards,``, ``name:``.
        name_followers: Words that may follow a name behind one of ``name_cues``, such as ``and``.
        name_prefixes: Prefixes of family names, such as ``mc`` and ``van``.
        field_words: Words of fields in forms and templates, such as ``name``. Many are also family names.
        phrases: Greetings, closings and other phrases with words that are also names: ``best regards``, ``et al``. An
            entry with a hyphen or a colon at its end is a word before that mark: ``co-``, ``q:``.
        technical_names: Short names in technology that are also names, or have a digit, such as ``ui`` and ``ipv4``.
        foreign_words: Function words of other languages, such as ``de`` and ``und``.
        joined_words: Words of languages without blanks between words, such as the Chinese word for *translate*. They
            may be left unchanged, and so may a text that consists of them.
        elisions: Shortened words of other languages before an apostrophe, such as ``l`` and ``dell``.
        decimal_marks: A comma if decimals follow a comma and thousands a full stop (``1.500,50``); otherwise empty.
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
    clause_subjects: frozenset[str] = _NONE
    not_plurals: frozenset[str] = _NONE
    plurals: frozenset[str] = _NONE
    joining_words: frozenset[str] = _NONE
    range_words: frozenset[str] = _NONE
    number_words: frozenset[str] = _NONE
    age_ends: frozenset[str] = _NONE
    currencies: frozenset[str] = _NONE
    month_leads: frozenset[str] = _NONE
    language_leads: frozenset[str] = _NONE
    language_nouns: frozenset[str] = _NONE
    request_words: frozenset[str] = _NONE
    language_varieties: frozenset[str] = _NONE
    determined_nouns: frozenset[str] = _NONE
    determiners: frozenset[str] = _NONE
    label_nouns: frozenset[str] = _NONE
    error_words: frozenset[str] = _NONE
    version_words: frozenset[str] = _NONE
    phone_labels: frozenset[str] = _NONE
    heading_leads: frozenset[str] = _NONE
    institution_ends: frozenset[str] = _NONE
    street_leads: frozenset[str] = _NONE
    code_constants: frozenset[str] = _NONE
    comma_words: frozenset[str] = _NONE
    platforms: frozenset[str] = _NONE
    firm_leads: frozenset[str] = _NONE
    work_words: frozenset[str] = _NONE
    party_words: frozenset[str] = _NONE
    name_leads: frozenset[str] = _NONE
    name_cues: frozenset[str] = _NONE
    name_followers: frozenset[str] = _NONE
    name_prefixes: frozenset[str] = _NONE
    field_words: frozenset[str] = _NONE
    phrases: frozenset[str] = _NONE
    technical_names: frozenset[str] = _NONE
    foreign_words: frozenset[str] = _NONE
    joined_words: frozenset[str] = _NONE
    elisions: frozenset[str] = _NONE
    decimal_marks: frozenset[str] = _NONE


#: Keys of ``optional.facts`` that this release reads.
FACT_WORD_KEYS = tuple(FactWords.__dataclass_fields__)
