"""Reader of the word lists of the mode ``names``, which hides names and numbers.

The lists have common words, which the mode leaves unchanged, and names by entity type. Opening a bundle (data folder)
hashes these files and counts their entries. The files are parsed when the mode is first used.
"""

import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice, repeat

from textveil.bundle.common_words import CommonWords, ListedWords
from textveil.bundle.layout import (
    COMMON_WORD_FLAGS,
    COMMON_WORDS,
    ENTITY_LIST,
    FACT_KINDS,
    FACT_LIST,
    KEPT_CAPITALS,
    MAX_LINE_BYTES,
    RULES,
    SURROGATE_POOL,
    SYMBOLS,
)
from textveil.bundle.parsers import is_printable
from textveil.bundle.rules import Rules, english_rules, read_rules
from textveil.bundle.word_lists import CAPITALIZED, MEMBER_FLAGS, fold
from textveil.errors import BundleDamaged, BundleTooLarge
from textveil.lazy import ENTITY_TYPES, load_data

#: Flags of common words, as bits (docs/format.md):
#: ``STRICT``: kept also in a text without capitals. ``START``: kept at the start of a sentence. ``EMPHASIS``: kept in
#: ALL CAPS. ``OPENER``: often the first word of a sentence. ``NAME``: also a name. ``FUNCTION``: function word.
#: ``RARE``: rare word, for which ``START`` applies only in ALL CAPS. ``CENSUS``: also a name in a census or of another
#: country, even a rare name. ``NOUN``: noun of a language that capitalizes nouns.
STRICT, START, EMPHASIS, OPENER, NAME, FUNCTION, RARE, CENSUS, NOUN = (
    1 << bit for bit in range(len(COMMON_WORD_FLAGS))
)
#: Entity types whose lists are complete. A common word may be on such a list only with the flag ``capitalized``,
#: because common words in lower case stay unchanged.
CLOSED_TYPES = tuple(load_data(ENTITY_TYPES)["closed"])

#: For the kinds of fact lists with printed spellings: the required form of an entry, and the problem in the error
#: message. The lists of the other kinds have lookup keys.
_FACT_FORMS = {
    "capital": (re.compile(r".*[A-Z].*"), "has no capital of ASCII"),
    "company": (re.compile(r".*[A-Z].*"), "has no capital of ASCII"),
    "acronym": (re.compile(r"[A-Z]{2,6}"), "is not two to six capitals of ASCII"),
}
#: A valid list of facts with more bytes than this is not parsed at first, but searched in its bytes: parsing takes tens
#: of milliseconds.
_MAX_PARSED_BYTES = 1 << 18
_FLAG_BITS = {mark: 1 << bit for bit, mark in enumerate(COMMON_WORD_FLAGS)}
#: Symbols that reveal personal information: letters of flags (regional indicators) and skin tones.
_FLAGS_AND_TONES = frozenset(map(chr, (*range(0x1F1E6, 0x1F200), *range(0x1F3FB, 0x1F400))))


#: Function that returns the flags of an entry as bits, or ``None`` if a flag is unknown.
_FlagParser = Callable[[str], int | None]


@dataclass(frozen=True, kw_only=True, repr=False)
class NamesLists:
    """Parsed and checked word lists of the mode ``names``, which hides names and numbers.

    A lookup key (``fold``) is a word in lower case and NFKC, in which ``'`` replaces all other apostrophes.

    Attributes:
        common_words: Flags (as bits) of each common word by its lookup key, in the order of code points.
        kept_capitals: Words that the mode leaves unchanged in exactly this spelling, with capitals.
        kept_symbols: Single characters that the mode leaves unchanged.
        members_by_type: Lookup keys of the known strings of each entity type, such as all listed cities.
        surrogate_pools: Possible surrogates (replacements) of each entity type in their spelling, most frequent first.
        fact_lists: Public facts, such as technical terms, which may be left unchanged, by kind (``FACT_KINDS``). A set
            is empty if the bundle (data folder) lacks the list. The entries of the kinds ``term``, ``language`` and
            ``foreign`` are lookup keys, all others are printed spellings.
        rules: Rules of the language. A bundle without a rules file has the rules of English.
    """

    common_words: Mapping[str, int]
    kept_capitals: frozenset[str]
    kept_symbols: frozenset[str]
    members_by_type: dict[str, frozenset[str]]
    surrogate_pools: dict[str, tuple[str, ...]]
    fact_lists: dict[str, AbstractSet[str]]
    rules: Rules

    @property
    def has_fact_words(self) -> bool:
        """Return whether the rules list words that announce secrets and words that occur in addresses.

        Without these words, such as ``password`` and ``room``, no public facts (such as the number in ``5 km``) are
        left unchanged: the rules would also leave passwords and numbers of addresses unchanged.
        """
        return bool(self.rules.facts.secret_words and self.rules.facts.address_words)

    @property
    def has_useful_words(self) -> bool:
        """Return whether the rules of the language support the option ``facts="useful"``.

        The rules support it if they have the list ``heading_leads`` (``FactWords``). Without this list, the option has
        at most the effect of ``facts="plain"``, because the rules for all other facts contain words of English. Facts
        are numbers, dates and words that are left unchanged.
        """
        return bool(self.rules.facts.heading_leads)

    @property
    def kept_names(self) -> tuple[str, ...]:
        """Return the common words that the mode ``names`` leaves unchanged although they are also names."""
        return tuple(word for word, marks in self.common_words.items() if marks & NAME)


def parse_names_lists(
    entity_types: Iterable[str], pool_types: Iterable[str], contents: Mapping[str, bytes], *, is_checked: bool = False
) -> NamesLists:
    """Parse the word lists of the mode ``names``, which hides names and numbers.

    Args:
        entity_types: Names of the entity types for which a file lists the known strings (such as cities), in the order
            of ``mechanism.json``.
        pool_types: Names of the entity types for which a file lists possible surrogates (replacements).
        contents: Dictionary from each file name of the bundle to the bytes of the file.
        is_checked: Whether the lists with flags are known to be valid, like those of the built-in bundle. If so, this
            function does not check them, and takes half the time.

    Raises:
        BundleDamaged: A list or the rules file is malformed. The message contains the file name, and the line number of
            a list.
        BundleTooLarge: A line or the rules file is too long.
    """
    rules = read_rules(contents[RULES]) if RULES in contents else english_rules()
    if is_checked:
        common: Mapping[str, int] = CommonWords(contents[COMMON_WORDS], _parse_common_flags)
        members = {kind: _split_members(contents[ENTITY_LIST.format(kind)]) for kind in entity_types}
    else:
        common, members = _parse_flagged_lists(entity_types, contents)
    return NamesLists(
        common_words=common,
        kept_capitals=frozenset(_parse_sorted(contents, KEPT_CAPITALS)),
        kept_symbols=_parse_symbols(contents),
        members_by_type=members,
        surrogate_pools={kind: _parse_surrogates(contents, SURROGATE_POOL.format(kind)) for kind in pool_types},
        fact_lists={kind: _parse_facts(contents, kind, is_checked) for kind in FACT_KINDS},
        rules=rules,
    )


def _split_members(content: bytes) -> frozenset[str]:
    """Return the entries of a list of names (such as cities), one per line, without the flag after a tab."""
    for flag_text in MEMBER_FLAGS:
        content = content.replace(f"\t{flag_text}\n".encode(), b"\n")
    return frozenset(_split_lines(content))


def _split_lines(content: bytes) -> list[str]:
    return content.decode("utf-8").removesuffix("\n").split("\n")


def _parse_flagged_lists(
    entity_types: Iterable[str], contents: Mapping[str, bytes]
) -> tuple[dict[str, int], dict[str, frozenset[str]]]:
    """Check and parse the list of common words with their flags, and the lists of names (such as cities) by type.

    Returns:
        Two dictionaries: from each common word to its flags (as bits), and from each type, such as ``city``, to its
        names.
    """
    common = _parse_flagged(contents, COMMON_WORDS, _parse_common_flags)
    members = {kind: _parse_flagged(contents, ENTITY_LIST.format(kind), MEMBER_FLAGS.get) for kind in entity_types}
    for kind in CLOSED_TYPES:
        unflagged = {entry for entry, bits in members.get(kind, {}).items() if not bits & MEMBER_FLAGS[CAPITALIZED]}
        if conflicts := unflagged.intersection(common):
            raise _make_line_error(
                COMMON_WORDS,
                list(common).index(min(conflicts)) + 1,
                f"is also a {kind}: the mode `names` replaces it, remove the line",
            )
    return common, {kind: frozenset(found) for kind, found in members.items()}


def _parse_flagged(contents: Mapping[str, bytes], name: str, parse_flags: _FlagParser) -> dict[str, int]:
    """Parse a word list with flags, and return the flags (as bits) by word, in the order of the file.

    Args:
        contents: Dictionary from each file name of the bundle to the bytes of the file.
        name: Name of the file.
        parse_flags: Function that converts the flags in one line to an integer with one bit per flag.

    Raises:
        BundleDamaged: A line is malformed or out of order, or has an unknown flag.
        BundleTooLarge: A line is too long.
    """
    found = _parse_valid_flagged(contents[name], parse_flags)
    if found is not None:
        return found
    bits_by_entry: dict[str, int] = {}
    previous = ""
    for number, line in enumerate(_iterate_checked_lines(contents[name], name, tabs=1), 1):
        entry, tab, flag_text = line.partition("\t")
        _check_order(name, number, previous, entry)
        _check_folded(name, number, entry)
        bits = parse_flags(flag_text) if tab else 0
        if bits is None:
            raise _make_line_error(name, number, "has an unknown flag")
        bits_by_entry[entry] = bits
        previous = entry
    return bits_by_entry


def _parse_common_flags(flag_text: str) -> int | None:
    """Convert the flags of a common word, such as ``start,name``, to bits.

    Returns:
        An integer with one bit per flag, or ``None`` if a flag is unknown or occurs twice.
    """
    flags = flag_text.split(",")
    if len(set(flags)) < len(flags) or not _FLAG_BITS.keys() >= set(flags):
        return None
    return sum(_FLAG_BITS[flag] for flag in flags)


def _parse_valid_flagged(content: bytes, parse_flags: _FlagParser) -> dict[str, int] | None:
    """Parse a word list with flags, with one check for all lines.

    This is far faster than checking each line, but does not identify a malformed line.

    Returns:
        The flags (as bits) by word; ``None`` if a line is malformed.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    lines = text.split("\n")
    # A character has at most four bytes. A tab directly before a line feed is an error: the flags are missing.
    if lines.pop() or not lines or "\t\n" in text or max(map(len, lines)) > MAX_LINE_BYTES // 4:
        return None
    entries: list[str] = lines
    bits: Iterable[int] = repeat(0)
    if "\t" in text:
        entries, flag_texts = [], list[str]()
        for line in lines:  # a list of pairs would trigger the garbage collector, and take four times as long
            entry, _, flag_text = line.partition("\t")
            entries.append(entry)
            flag_texts.append(flag_text)
        bits_by_text = {"": 0}
        for flag_text in set(flag_texts) - {""}:
            parsed = parse_flags(flag_text)
            if parsed is None:
                return None
            bits_by_text[flag_text] = parsed
        bits = map(bits_by_text.__getitem__, flag_texts)
    joined = "\n".join(entries)
    if " \n" in joined or "\n " in joined or joined.strip(" ") != joined or not is_printable(joined.replace("\n", "")):
        return None
    if joined.lower() != joined or not _is_strictly_sorted(entries):
        return None
    if not joined.isascii():
        others = "\n".join(entry for entry in entries if not entry.isascii())
        if fold(others) != others:
            return None
    return dict(zip(entries, bits, strict=False))


def _is_strictly_sorted(entries: Sequence[str]) -> bool:
    return bool(entries) and entries[0] != "" and all(map(operator.lt, entries, islice(entries, 1, None)))


def _parse_surrogates(contents: Mapping[str, bytes], name: str) -> tuple[str, ...]:
    surrogates: dict[str, None] = {}
    for number, surrogate in enumerate(_read_lines(contents, name), 1):
        if surrogate in surrogates:
            raise _make_line_error(name, number, "occurs twice")
        surrogates[surrogate] = None
    return tuple(surrogates)


def _parse_facts(contents: Mapping[str, bytes], kind: str, is_checked: bool) -> AbstractSet[str]:
    """Parse one list of words that may be left unchanged, such as technical terms, and return its entries.

    The result is empty if the bundle (data folder) lacks the list.
    """
    name = FACT_LIST.format(kind)
    if name not in contents:
        return frozenset()
    if is_checked:
        is_long = len(contents[name]) > _MAX_PARSED_BYTES
        return ListedWords(contents[name]) if is_long else frozenset(_split_lines(contents[name]))
    if kind not in _FACT_FORMS:
        return frozenset(_parse_flagged(contents, name, {}.get))
    form, problem = _FACT_FORMS[kind]
    entries = _parse_sorted(contents, name)
    for number, entry in enumerate(entries, 1):
        if not form.fullmatch(entry):
            raise _make_line_error(name, number, problem)
    return frozenset(entries)


def _parse_symbols(contents: Mapping[str, bytes]) -> frozenset[str]:
    symbols = _parse_sorted(contents, SYMBOLS)
    for number, symbol in enumerate(symbols, 1):
        if not _is_symbol(symbol):
            raise _make_line_error(SYMBOLS, number, "is not a single symbol")
    return frozenset(symbols)


def _is_symbol(symbol: str) -> bool:
    """Return whether a string is a single symbol that reveals nothing if a text has it unchanged, such as ``€``.

    The result is ``False`` for letters, digits, separators, combining marks, letters of flags, skin tones, and
    characters for control, format and private use.
    """
    if len(symbol) != 1 or symbol in _FLAGS_AND_TONES:
        return False
    category = unicodedata.category(symbol)
    return category[0] not in "LMNZ" and category not in ("Cc", "Cf", "Co")


def _parse_sorted(contents: Mapping[str, bytes], name: str) -> list[str]:
    """Parse a list with one entry per line, and check that the entries are in ascending order of code points."""
    lines = _read_lines(contents, name)
    if isinstance(lines, list) and _is_strictly_sorted(lines):
        return lines
    entries: list[str] = []
    for number, entry in enumerate(lines, 1):
        _check_order(name, number, entries[-1] if entries else "", entry)
        entries.append(entry)
    return entries


def _read_lines(contents: Mapping[str, bytes], name: str) -> Iterable[str]:
    """Read the lines of a file, and check that they are printable and do not begin or end with a space.

    Returns:
        The lines, as a list if all are valid. Otherwise an iterator that yields the lines before the malformed one, and
        then raises the error.

    Raises:
        BundleDamaged: The file is empty, the last line is incomplete, or a line is malformed.
        BundleTooLarge: A line is too long.
    """
    try:
        text = contents[name].decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    valid_lines = text.split("\n")
    if (
        valid_lines.pop() == ""
        and valid_lines
        and not text.startswith(("\n", " "))
        and not any(bad in text for bad in ("\n\n", "\n ", " \n"))
        and max(map(len, valid_lines)) <= MAX_LINE_BYTES // 4  # a character has at most four bytes
        and is_printable(text.replace("\n", ""))
    ):
        return valid_lines
    return _iterate_checked_lines(contents[name], name, tabs=0)


def _iterate_checked_lines(content: bytes, name: str, *, tabs: int) -> Iterator[str]:
    """Check each line of a file and yield it. A line may have up to ``tabs`` tabs."""
    lines = content.split(b"\n")
    if lines.pop() != b"" or not lines:
        raise BundleDamaged(f"{name}: the file is empty, or its last line does not end in a line feed")
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LINE_BYTES:
            raise BundleTooLarge(f"{name}: line {number} has more than {MAX_LINE_BYTES:,} bytes")
        try:
            entry = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise _make_line_error(name, number, "is not UTF-8") from error
        if not entry or entry != entry.strip(" ") or not is_printable(entry.replace("\t", "", tabs)):
            raise _make_line_error(name, number, "is empty, has a blank at an end, or cannot be printed")
        yield entry


def _check_order(name: str, number: int, previous: str, entry: str) -> None:
    if entry <= previous:
        raise _make_line_error(name, number, "occurs twice, or is not in alphabetical order")


def _check_folded(name: str, number: int, entry: str) -> None:
    """Raise an error unless an entry of a word list has the normalized spelling (``fold``) for lookups."""
    if fold(entry) != entry:
        raise _make_line_error(name, number, "must be in lower case, with straight apostrophes and in NFKC")


def _make_line_error(name: str, number: int, what: str) -> BundleDamaged:
    return BundleDamaged(f"{name}: line {number} {what}")
