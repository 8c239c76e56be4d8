"""Divides texts so that copies, contained texts and texts that share long passages are on one side.

Two texts are linked if they are equal after folding, if one with at least ``CONTAINED_WORDS`` words is a passage of the
other, or if they share ``SHARED_WORDS`` words in a row. Groups are what links connect, and a group is never divided.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from textveil_training.data.hash_split import share_of

#: Words in a row that two texts of different sides never share.
SHARED_WORDS = 8
#: A text of fewer words is only linked to its copies: short phrases are everywhere.
CONTAINED_WORDS = 4
#: A group with more than this share of all texts goes to the first side, whatever its hash says.
_LARGE_GROUP = 0.02
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Groups:
    """What belongs together.

    Attributes:
        of: Group of each text: the number of its first text, shape ``(texts,)``.
        keys: What decides of a group: its smallest folded text, by group.
        duplicates: Texts that are equal to an earlier one after folding.
    """

    of: tuple[int, ...]
    keys: Mapping[int, str]
    duplicates: int

    @property
    def largest(self) -> int:
        """Texts of the largest group."""
        return max(self.sizes().values())

    def sizes(self) -> dict[int, int]:
        """Returns the number of texts of each group."""
        sizes = dict.fromkeys(self.keys, 0)
        for group in self.of:
            sizes[group] += 1
        return sizes


def fold(text: str) -> tuple[str, ...]:
    """Returns the words of a text in lower case, without punctuation."""
    return tuple(_WORD.findall(text.lower()))


def group_texts(texts: Sequence[str]) -> Groups:
    """Finds the groups of some texts. Time and memory are linear in the words, up to a factor of 8."""
    folded = [fold(text) for text in texts]
    parents = list(range(len(texts)))
    first: dict[tuple[str, ...], int] = {}
    duplicates = 0
    for number, words in enumerate(folded):
        duplicates += words in first
        _join(parents, first.setdefault(words, number), number)
    short = {words for words in first if CONTAINED_WORDS <= len(words) < SHARED_WORDS}
    lengths = sorted({len(words) for words in short})
    passages: dict[tuple[str, ...], int] = {}
    for words, number in first.items():
        for passage in _passages(words, SHARED_WORDS):
            _join(parents, passages.setdefault(passage, number), number)
        for length in lengths:
            for passage in _passages(words, length):
                if passage in short:
                    _join(parents, first[passage], number)
    of = tuple(_root(parents, number) for number in range(len(texts)))
    keys: dict[int, str] = {}
    for words, group in zip(folded, of, strict=True):
        key = " ".join(words)
        keys[group] = min(key, keys.get(group, key))
    return Groups(of, keys, duplicates)


def divide(groups: Groups, shares: Mapping[str, int], seed: int = 0) -> dict[str, list[int]]:
    """Divides texts by the hash of their group's key; large groups go to the first share.

    Args:
        groups: Groups of the texts.
        shares: Weight of each share by name.
        seed: Another seed gives another division.

    Returns:
        Numbers of the texts of each share, ascending.
    """
    large = max(1.0, _LARGE_GROUP * len(groups.of))
    sizes = groups.sizes()
    first = next(iter(shares))
    side = {group: first if sizes[group] > large else share_of(key, shares, seed) for group, key in groups.keys.items()}
    divided: dict[str, list[int]] = {name: [] for name in shares}
    for number, group in enumerate(groups.of):
        divided[side[group]].append(number)
    return divided


def _passages(words: tuple[str, ...], length: int) -> Iterator[tuple[str, ...]]:
    return (words[start : start + length] for start in range(len(words) - length + 1))


def _root(parents: list[int], number: int) -> int:
    while parents[number] != number:
        parents[number] = parents[parents[number]]
        number = parents[number]
    return number


def _join(parents: list[int], one: int, other: int) -> None:
    """The smaller number becomes the root of both."""
    least, most = sorted((_root(parents, one), _root(parents, other)))
    parents[most] = least
