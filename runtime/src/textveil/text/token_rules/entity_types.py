"""Entity types of the mode ``words``: names, places, numbers, addresses and others.

The output reveals the type of an entity and nothing else about it.

A type applies either to the words of a public list, or to the strings of a *shape*, such as email or date
(``textveil.text.segmentation.segments.classify_shape``). The replacements (*surrogates*) of a type are sampled from a
public list, independently of the token.
"""

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textveil.bundle.word_lists import CAPITALIZED, MEMBER_FLAGS, RECOGNIZED_ONLY
from textveil.errors import BundleDamaged
from textveil.text import segmentation
from textveil.text.segmentation import LOWER, segments
from textveil.text.segmentation.segments import SHAPES, classify_shape

#: Beginning of flags with ``CAPITALIZED``. ``list_surrogates`` recognizes ``RECOGNIZED_ONLY`` by its last letter and by
#: the tab or comma before it, since no other text after an entry ends that way.
_CAPITALIZED_MARK = f"\t{CAPITALIZED}".encode()
#: Hash code of an entry: the XOR of its first eight bytes and its next eight, as big-endian integers.
_HALF_BYTES = 8
_HEAD, _HALVES = Struct(f"{2 * _HALF_BYTES}s"), Struct(">QQ")
_TAB, _LINE_FEED = b"\t\n"
#: Number of entries per batch of the check. Larger batches are faster, but need more memory.
_CHECKED_ENTRIES = 1 << 8


class EntityType(NamedTuple):
    """One entity type. It applies either to the words of a list, or to tokens of a shape such as email or date.

    Attributes:
        name: Name of the type, as printed in outputs and statements.
        shape: A name of ``SHAPES``, such as ``email``; ``None`` for a type of listed words.
        lines: Bytes of the list file: normalized words, each followed by its flags. Empty for a type with a shape.
        surrogates: The possible replacements, in lower case. All have the same probability.
    """

    name: str
    shape: str | None
    lines: bytes
    surrogates: tuple[str, ...]


class EntityTypes:
    r"""The entity types of a bundle (folder of word lists and settings), to look up the type of a word.

    If several types list a word, the first one applies.

    Args:
        entity_types: Any number of types. Either all shapes (such as email or date) have a type, or none has. If only
            dates had one, a word next to a date would be treated differently from a word next to an email address.

    Raises:
        BundleDamaged: Two types share a name or a shape, or some shapes are missing.

    >>> color = parse_entity_type("color", None, b"red\nblue\n")
    >>> EntityTypes([color]).find_word_type("blue", LOWER)
    0
    """

    def __init__(self, entity_types: Sequence[EntityType]) -> None:
        self.entity_types: tuple[EntityType, ...] = tuple(entity_types)
        shapes = [kind.shape for kind in entity_types if kind.shape is not None]
        if len({kind.name for kind in entity_types}) < len(entity_types) or len(set(shapes)) < len(shapes):
            raise BundleDamaged("two entity types have the same name or shape")
        if shapes and set(shapes) != {*SHAPES}:
            raise BundleDamaged("each shape of strings, such as email or date, needs an entity type: some are missing")
        #: Index of the type of each shape; empty if the bundle has no types of strings.
        self.index_by_shape: dict[str, int] = {
            kind.shape: index for index, kind in enumerate(entity_types) if kind.shape is not None
        }
        self._word_index = ListedWordIndex([kind.lines for kind in entity_types])

    def find_word_type(self, key: str, case: int) -> int | None:
        """Return the index of the first entity type that lists a word; ``None`` if no type lists the word.

        Args:
            key: Normalized spelling (lower case, NFKC) of the word.
            case: Case pattern of the word: ``LOWER``, ``TITLE`` or ``UPPER``. Some entries apply only to capitalized
                words.
        """
        return self._word_index.find_list(key, case)

    def find_word_types(self, keys: Sequence[str], cases: Sequence[int]) -> list[int | None]:
        """Return the result of ``find_word_type`` for each of many words, in one fast pass.

        Args:
            keys: Normalized spellings (lower case, NFKC) of the words.
            cases: Case patterns of the words, each ``LOWER``, ``TITLE`` or ``UPPER``.
        """
        return self._word_index.find_lists(keys, cases)


def parse_entity_type(name: str, shape: str | None, utf_8: bytes, *, is_checked: bool = False) -> EntityType:
    r"""Parse the files that list the words or the replacements of an entity type.

    Args:
        name: Name of the type.
        shape: Its shape, such as ``email``; ``None`` for a type of listed words.
        utf_8: Lines of all files: one entry per line, optionally followed by a tab and its flags.
        is_checked: Whether the entries were checked before, so that this function skips their checks. This is so for
            the built-in bundle, whose content hash identifies it.

    Raises:
        BundleDamaged: The file has no surrogate (possible replacement), repeats an entry, or has an invalid entry or an
            unknown flag; or the shape is unknown.

    >>> parse_entity_type("color", None, b"red\nblue\tmember-only\n").surrogates
    ('red',)
    """
    if shape is not None and shape not in SHAPES:
        raise BundleDamaged("an entity type has a shape that the format does not define")
    lines = utf_8 if utf_8.endswith(b"\n") else utf_8 + b"\n"
    if not is_checked:
        _check_lines(lines[:-1].decode("utf-8").split("\n"), shape)
    surrogates = list_surrogates(lines)
    if not surrogates:
        raise BundleDamaged("an entity type has no surrogates")
    return EntityType(name, shape, lines if shape is None else b"", surrogates)


def _check_lines(lines: Sequence[str], shape: str | None) -> None:
    parts = [line.partition("\t") for line in lines]
    entries = [entry for entry, _, _ in parts]
    for number, (_, tab, flags) in enumerate(parts, 1):
        if tab and (shape is not None or flags not in MEMBER_FLAGS):
            raise BundleDamaged(f"line {number} of an entity type has an unknown flag")
    wrong = _find_first_invalid(lines, entries, shape)
    if wrong is None and len(set(entries)) < len(entries):
        first = {entry: n for n, entry in reversed([*enumerate(entries)])}
        wrong = next(n for n, entry in enumerate(entries) if first[entry] < n)
    if wrong is not None:
        raise BundleDamaged(f"line {wrong + 1} of an entity type occurs twice, or is not an entry in lower case")


def _find_first_invalid(lines: Sequence[str], entries: Sequence[str], shape: str | None) -> int | None:
    """Return the index of the first invalid entry of a list; ``None`` if all entries are valid.

    An entry of a list of surrogates (possible replacements) must be a single word.

    Args:
        lines: All lines of the lists of one entity type.
        entries: The entry in each line.
        shape: The shape that the entries must have, such as ``email``; ``None`` for lists of words.
    """
    if shape is not None:
        return next((n for n, entry in enumerate(entries) if not _is_surrogate(entry, shape)), None)
    for start in range(0, len(entries), _CHECKED_ENTRIES):
        block = entries[start : start + _CHECKED_ENTRIES]
        for n in _find_suspicious(block):
            is_phrase = " " in block[n] and lines[start + n].endswith(RECOGNIZED_ONLY)
            if not (_is_phrase(block[n]) if is_phrase else _is_listable(block[n])):
                return start + n
    return None


def _find_suspicious(entries: Sequence[str]) -> Sequence[int]:
    """Return the indices of the entries of a word list that need a full check for validity.

    Entries of letters need none if all entries are normalized (lower case, NFKC). If one is not, or is empty, all
    entries need the check.
    """
    together = "\n".join(entries)  # A line feed stays the same in lookup keys, and combines with no character.
    if not (all(entries) and segmentation.is_folded(together)):
        return range(len(entries))
    marks = {mark for mark in set(together) if not segments.is_letters(mark)} - {"\n"}
    return [n for n, entry in enumerate(entries) if not marks.isdisjoint(entry)] if marks else []


def _is_listable(entry: str) -> bool:
    """Return whether an entry is a single, normalized word, without a clitic such as ``'s``.

    Only such an entry can match a token of a text.
    """
    if not entry or segmentation.fold_word(entry) != entry:
        return False
    if segments.is_letters(entry):
        return True
    if segmentation.split_text(entry) != [entry]:
        return False
    return not (segments.is_string(entry) or segments.is_gap(entry)) and segmentation.split_clitic(entry) is None


def _is_phrase(entry: str) -> bool:
    """Return whether an entry consists of normalized words (lower case, NFKC) with single blanks between them."""
    return all(entry.split(" ")) and segmentation.fold_word(entry) == entry


def _is_surrogate(entry: str, shape: str) -> bool:
    """Return whether an entry can be a surrogate (replacement) for tokens of a shape, such as ``email``.

    The entry must be one token of that shape, in lower case. Emoticons cannot be surrogates, because the segmentation
    recognizes them only between blanks.
    """
    if not entry or segmentation.fold_word(entry) != entry:
        return False
    if segments.is_solid(entry):
        return classify_shape(entry) == shape
    if segmentation.split_text(entry) != [entry]:
        return False
    return segments.is_string(entry) and not segments.is_emoticon(entry) and classify_shape(entry) == shape


class ListedWordIndex:
    """Index that finds the first of several word lists that has a word. It needs little memory.

    The index refers to the bytes of the list files, because Python objects would need five times the memory. The index
    sorts the lines of all lists by the hash code of their entry. If entries share a hash code, the index compares their
    bytes.

    Args:
        lists: Content of each list in UTF-8, one entry per line, optionally followed by a tab and its flags. The last
            line ends with a line feed.
    """

    def __init__(self, lists: Sequence[bytes]) -> None:
        starts = [_find_lines(lines)[0] for lines in lists]
        hashes = np.concatenate([np.empty(0, np.uint64), *map(_hash_entries, lists, starts)])
        order, lengths = np.argsort(hashes, kind="stable"), np.array([len(found) for found in starts], np.intp)
        self._lists = lists
        self._hashes = array("Q", hashes[order].tobytes())
        self._numbers = array("I", np.repeat(np.arange(len(lists), dtype=np.uint32), lengths)[order].tobytes())
        self._starts = array("I", np.concatenate([np.empty(0, np.uint32), *starts])[order].tobytes())

    def find_list(self, word: str, case: int) -> int | None:
        """Return the index of the first list that contains a word; ``None`` if no list contains it.

        Args:
            word: Normalized spelling (lower case, NFKC) of the word.
            case: Case pattern of the word: ``LOWER``, ``TITLE`` or ``UPPER``. Some entries apply only to capitalized
                words.
        """
        entry, hashes = word.encode("utf-8", "surrogatepass"), self._hashes
        first, second = _HALVES.unpack(_HEAD.pack(entry))
        entry_hash = first ^ second
        index = bisect_left(hashes, entry_hash)
        return (
            self._find_first_list(index, entry, case) if index < len(hashes) and hashes[index] == entry_hash else None
        )

    def find_lists(self, words: Sequence[str], cases: Sequence[int]) -> list[int | None]:
        """Return the result of ``find_list`` for each of many words."""
        entries = [word.encode("utf-8", "surrogatepass") for word in words]
        halves, listed = np.array(entries, f"S{2 * _HALF_BYTES}").view(">u8"), np.frombuffer(self._hashes, np.uint64)
        hashes = halves[::2] ^ halves[1::2]
        places = np.searchsorted(listed, hashes)
        hits = np.flatnonzero(listed.take(places, mode="clip") == hashes) if len(listed) else np.empty(0, np.intp)
        list_numbers: list[int | None] = [None] * len(words)
        for number, index in zip(hits.tolist(), places[hits].tolist(), strict=True):
            list_numbers[number] = self._find_first_list(index, entries[number], cases[number])
        return list_numbers

    def _find_first_list(self, index: int, entry: bytes, case: int) -> int | None:
        """Return the index of the first list that contains an entry; ``None`` if no list contains it.

        Args:
            index: The first position of the entry's hash code in ``_hashes``.
            entry: The entry in UTF-8.
            case: Case pattern of the word: ``LOWER``, ``TITLE`` or ``UPPER``.
        """
        hashes, entry_hash = self._hashes, self._hashes[index]
        while index < len(hashes) and hashes[index] == entry_hash:
            number, start = self._numbers[index], self._starts[index]
            lines, stop = self._lists[number], start + len(entry)
            is_it = lines.startswith(entry, start) and lines[stop] in (_TAB, _LINE_FEED)  # the entry ends here
            if is_it and (case != LOWER or not lines.startswith(_CAPITALIZED_MARK, stop)):
                return number
            index += 1
        return None


def list_surrogates(lines: bytes) -> tuple[str, ...]:
    """Return the entries of a list that may be surrogates (replacements): those without the flag ``member-only``."""
    starts, ends = _find_lines(lines)
    letters = np.frombuffer(lines, np.uint8)
    before = letters[ends - np.minimum(ends, len(RECOGNIZED_ONLY) + 1)]
    is_output = (letters[ends - 1] != ord(RECOGNIZED_ONLY[-1])) | ((before != _TAB) & (before != ord(",")))
    printed = letters[np.repeat(is_output, ends - starts + 1)].tobytes().decode("utf-8")
    return tuple(printed.replace(f"\t{CAPITALIZED}", "").split("\n")[:-1])


def _find_lines(lines: bytes) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the start and the end of every line of a list, as two arrays of shape ``(lines,)``."""
    ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == _LINE_FEED).astype(np.uint32)
    return np.insert(ends[:-1] + 1, 0, 0)[: len(ends)], ends


def _hash_entries(lines: bytes, starts: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Return the hash code of the entry of every line, shape ``(lines,)``.

    Args:
        lines: Bytes of a list.
        starts: Start of each line.
    """
    letters = np.frombuffer(lines + bytes(2 * _HALF_BYTES), np.uint8)
    hashes, inside = np.zeros(len(starts), np.uint64), np.ones(len(starts), np.bool_)
    for index in range(2 * _HALF_BYTES):
        letter = letters[starts + np.uint32(index)]
        inside &= letter > _LINE_FEED  # no entry has control characters
        hashes = (hashes << np.uint64(8) | hashes >> np.uint64(56)) ^ np.where(inside, letter, 0)
    return hashes
