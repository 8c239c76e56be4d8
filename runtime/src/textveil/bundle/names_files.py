"""Reader of the lists of the mode ``names``: common words to keep, and names by entity type.

Opening a bundle hashes these files and counts their entries. They are parsed at the first use of the mode.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass

from textveil.bundle.files import is_printable
from textveil.bundle.layout import (
    COMMON_WORDS,
    MAX_LINE_BYTES,
    NAMES_KIND,
    NAMES_MARKS,
    NAMES_POOL,
    RULES,
    SHOWN_CAPITALS,
    SYMBOLS,
)
from textveil.bundle.rules import Rules, english_rules, fold, read_rules
from textveil.errors import BundleDamaged, BundleTooLarge
from textveil.lazy import ENTITY_TYPES, load_data

#: Flags of common words (docs/format.md): kept in a text without capitals too; kept at the start of a sentence; kept in
#: ALL CAPS; a word that opens sentences; also a name; a function word; a rare word (``start`` holds in ALL CAPS only).
STRICT, START, EMPHASIS, OPENER, NAME, FUNCTION, RARE = (1 << bit for bit in range(len(NAMES_MARKS)))
#: Entity types with a complete list of members. Common words are kept in lower case, so only flagged members of these
#: types may also be common words.
CLOSED_KINDS = tuple(load_data(ENTITY_TYPES)["closed"])

_BITS = {mark: 1 << bit for bit, mark in enumerate(NAMES_MARKS)}
#: Flags of a member that is also a common word, in lists of names and in word lists of rules.
_MEMBER_MARKS = frozenset({"capitalized", "common"})
#: Flag letters (regional indicators) and skin tones: symbols that reveal personal information.
_FLAGS_AND_TONES = frozenset(map(chr, (*range(0x1F1E6, 0x1F200), *range(0x1F3FB, 0x1F400))))


@dataclass(frozen=True, kw_only=True)
class NamesLists:
    """Lists of the mode ``names``, checked.

    Attributes:
        common: Common words, folded, in order of code points, with their flags as bits.
        capitals: Words that are kept in this spelling, with capitals.
        symbols: Single characters that are kept.
        kinds: By entity type its listed members, folded; a member may be a phrase.
        pools: By entity type its surrogates as printed, most frequent first.
        rules: Rules of the language: those of the bundle, or of English.
    """

    common: dict[str, int]
    capitals: frozenset[str]
    symbols: frozenset[str]
    kinds: dict[str, frozenset[str]]
    pools: dict[str, tuple[str, ...]]
    rules: Rules

    @property
    def shown_names(self) -> tuple[str, ...]:
        """Return the common words that are also names and are kept nevertheless."""
        return tuple(word for word, marks in self.common.items() if marks & NAME)


def read_names(kinds: Iterable[str], pools: Iterable[str], contents: Mapping[str, bytes]) -> NamesLists:
    """Parse the lists of the mode ``names``.

    Args:
        kinds: Entity types with listed members, in their public order.
        pools: Entity types with a surrogate pool.
        contents: The bytes of the files, by name.

    Raises:
        BundleDamaged: A list or the file of rules is malformed. The message has the file and the line.
        BundleTooLarge: A line or the file of rules is too long.
    """
    rules = read_rules(contents[RULES]) if RULES in contents else english_rules()
    common = _common_words(contents)
    members = {kind: _marked(contents, NAMES_KIND.format(kind), _MEMBER_MARKS) for kind in kinds}
    for kind in CLOSED_KINDS:
        never = {entry for entry, marks in members.get(kind, {}).items() if not marks}
        if shown := never.intersection(common):
            raise _damaged(COMMON_WORDS, list(common).index(min(shown)) + 1, f"is a {kind}, which is never shown")
    return NamesLists(
        common=common,
        capitals=frozenset(_sorted(contents, SHOWN_CAPITALS)),
        symbols=_symbols(contents),
        kinds={kind: frozenset(found) for kind, found in members.items()},
        pools={kind: _outputs(contents, NAMES_POOL.format(kind)) for kind in pools},
        rules=rules,
    )


def _common_words(contents: Mapping[str, bytes]) -> dict[str, int]:
    found = _marked(contents, COMMON_WORDS, _BITS.keys())
    bits = {marks: sum(_BITS[mark] for mark in marks) for marks in set(found.values())}
    return {word: bits[marks] for word, marks in found.items()}


def _marked(contents: Mapping[str, bytes], name: str, known: Set[str]) -> dict[str, tuple[str, ...]]:
    """Return the entries of a lookup list, in order of code points, with their flags."""
    found: dict[str, tuple[str, ...]] = {}
    checked: dict[str, tuple[str, ...]] = {"": ()}  # cache by the text after an entry: few differ
    before = ""
    for number, line in _lines(contents, name, tabs=1):
        entry, tab, marked = line.partition("\t")
        _require_order(name, number, before, entry)
        if not entry.isascii() or entry.lower() != entry:
            _require_folded(name, number, entry)
        if tab + marked not in checked:
            marks = tuple(marked.split(","))
            if len(set(marks)) < len(marks) or not known >= set(marks):
                raise _damaged(name, number, "has an unknown mark")
            checked[tab + marked] = marks
        found[entry] = checked[tab + marked]
        before = entry
    return found


def _outputs(contents: Mapping[str, bytes], name: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for number, output in _lines(contents, name):
        if output in found:
            raise _damaged(name, number, "is there twice")
        found[output] = None
    return tuple(found)


def _symbols(contents: Mapping[str, bytes]) -> frozenset[str]:
    symbols = _sorted(contents, SYMBOLS)
    for number, symbol in enumerate(symbols, 1):
        if not _is_symbol(symbol):
            raise _damaged(SYMBOLS, number, "is not a single symbol")
    return frozenset(symbols)


def _is_symbol(symbol: str) -> bool:
    """Return whether a string is one symbol that is safe to keep.

    Letters, digits, separators, combining marks, and control, format and private-use characters are not, nor are flag
    letters and skin tones.
    """
    if len(symbol) != 1 or symbol in _FLAGS_AND_TONES:
        return False
    category = unicodedata.category(symbol)
    return category[0] not in "LMNZ" and category not in ("Cc", "Cf", "Co")


def _sorted(contents: Mapping[str, bytes], name: str) -> list[str]:
    """Return the entries of a list that is in order of code points."""
    found: list[str] = []
    for number, entry in _lines(contents, name):
        _require_order(name, number, found[-1] if found else "", entry)
        found.append(entry)
    return found


def _lines(contents: Mapping[str, bytes], name: str, tabs: int = 0) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line; a line is printable except for ``tabs`` tabs.

    A line has no blanks at its ends.

    Raises:
        BundleDamaged: The file is empty, the last line is incomplete, or a line is malformed.
        BundleTooLarge: A line is too long.
    """
    lines = contents[name].split(b"\n")
    if lines.pop() != b"" or not lines:
        raise BundleDamaged(f"{name}: is empty, or the last line is incomplete")
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LINE_BYTES:
            raise BundleTooLarge(f"{name}: line {number} has more than {MAX_LINE_BYTES:,} bytes")
        try:
            entry = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise _damaged(name, number, "is not UTF-8") from error
        if not entry or entry != entry.strip(" ") or not is_printable(entry.replace("\t", "", tabs)):
            raise _damaged(name, number, "is empty, or holds what cannot be printed")
        yield number, entry


def _require_order(name: str, number: int, before: str, entry: str) -> None:
    if entry <= before:
        raise _damaged(name, number, "is there twice, or out of order")


def _require_folded(name: str, number: int, entry: str) -> None:
    """Raise an error if an entry differs from its lookup key, so that no lookup finds it."""
    if fold(entry) != entry:
        raise _damaged(name, number, "is not in lower case, or not as words are looked up")


def _damaged(name: str, number: int, what: str) -> BundleDamaged:
    return BundleDamaged(f"{name}: line {number} {what}")
