"""Reads the lists of the rung ``names``: common words, which are shown, and lists of the rest.

Opening a bundle hashes these files and counts their lines. They are parsed when the rung is first used.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass

from textveil.bundle.files import is_printable
from textveil.bundle.layout import COMMON_WORDS, NAMES_KIND, NAMES_MARKS, NAMES_POOL, SHOWN_CAPITALS, SYMBOLS
from textveil.bundle.lists import MAX_LINE_BYTES
from textveil.errors import BundleDamaged, BundleTooLarge

#: What a common word is marked as (docs/format.md): shown in a text without capitals too; shown where a sentence
#: starts; shown in ALL CAPS; a word that opens sentences; a name of something as well; a function word; a rare one.
STRICT, START, EMPHASIS, OPENER, NAME, FUNCTION, RARE = (1 << bit for bit in range(len(NAMES_MARKS)))
#: Kinds all of whose members are listed. A common word is shown in lower case, so only marked members may be one.
CLOSED_KINDS = ("weekday", "month", "title", "group")

#: What a key has U+0027 for.
_APOSTROPHES = dict.fromkeys(map(ord, "\u2019\u2018\u02bc"), "'")
_BITS = {mark: 1 << bit for bit, mark in enumerate(NAMES_MARKS)}
#: Marks of a member that is a common word too: of lists of names, and of lists of words that rules read.
_MEMBER_MARKS = frozenset({"capitalized", "common"})
#: Letters that flags are spelled with, and tones of skin: symbols that tell more than symbols should.
_FLAGS_AND_TONES = frozenset(map(chr, (*range(0x1F1E6, 0x1F200), *range(0x1F3FB, 0x1F400))))


@dataclass(frozen=True, kw_only=True)
class NamesLists:
    """The lists of the rung ``names``, checked.

    Attributes:
        common: Common words, folded, in order of code points, with their marks as bits.
        capitals: Words that are shown as they are written here, with their capitals.
        symbols: Single characters that are shown.
        kinds: By kind, its members by list, folded; a member may be a phrase.
        pools: By kind, its outputs as they are printed, most frequent first.
    """

    common: dict[str, int]
    capitals: frozenset[str]
    symbols: frozenset[str]
    kinds: dict[str, frozenset[str]]
    pools: dict[str, tuple[str, ...]]

    @property
    def shown_names(self) -> tuple[str, ...]:
        """The common words that are a name of something as well, and are shown all the same."""
        return tuple(word for word, marks in self.common.items() if marks & NAME)


def read_names(kinds: Iterable[str], pools: Iterable[str], contents: Mapping[str, bytes]) -> NamesLists:
    """Reads the lists of the rung.

    Args:
        kinds: Kinds with members by list, in their public order.
        pools: Kinds with outputs.
        contents: The bytes of the files, by name.

    Raises:
        BundleDamaged: One is malformed. The message names the file and the line.
    """
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
    )


def _common_words(contents: Mapping[str, bytes]) -> dict[str, int]:
    found = _marked(contents, COMMON_WORDS, _BITS.keys())
    bits = {marks: sum(_BITS[mark] for mark in marks) for marks in set(found.values())}
    return {word: bits[marks] for word, marks in found.items()}


def _marked(contents: Mapping[str, bytes], name: str, known: Set[str]) -> dict[str, tuple[str, ...]]:
    """The entries of a list that are looked up in texts, in order of code points, with their marks."""
    found: dict[str, tuple[str, ...]] = {}
    checked: dict[str, tuple[str, ...]] = {"": ()}  # by what stands behind an entry: few differ
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
    """One character; no letter, digit, blank, mark that joins what is before it, or what nobody sees."""
    if len(symbol) != 1 or symbol in _FLAGS_AND_TONES:
        return False
    category = unicodedata.category(symbol)
    return category[0] not in "LMNZ" and category not in ("Cc", "Cf", "Co")


def _sorted(contents: Mapping[str, bytes], name: str) -> list[str]:
    """The entries of a list that is in order of code points."""
    found: list[str] = []
    for number, entry in _lines(contents, name):
        _require_order(name, number, found[-1] if found else "", entry)
        found.append(entry)
    return found


def _lines(contents: Mapping[str, bytes], name: str, tabs: int = 0) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers: each can be printed but for tabs, and has no blanks at its ends."""
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
    """Refuses an entry that is not its own key: it could never be found."""
    folded = entry if entry.isascii() else unicodedata.normalize("NFKC", entry).translate(_APOSTROPHES)
    if folded.lower() != entry:
        raise _damaged(name, number, "is not in lower case, or not as words are looked up")


def _damaged(name: str, number: int, what: str) -> BundleDamaged:
    return BundleDamaged(f"{name}: line {number} {what}")
