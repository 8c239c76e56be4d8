"""Comparison of two texts word by word, in time proportional to their length.

Sanitizing replaces single words and preserves their order. The comparison therefore reads both texts in parallel. After
a difference, the comparison continues at the nearest position at which both texts agree again. Common diff algorithms
search for the best of all alignments instead, which takes minutes for long texts with repeated words.
"""

import re
from collections.abc import Iterator, Sequence

_WORD = re.compile(r"\w+|[^\w\s]|\s+")


def iterate_word_changes(original: str, rewritten: str) -> Iterator[tuple[str, str, bool]]:
    """Compare two texts word by word, and yield the equal and the changed parts in order.

    Equal parts and changed parts alternate.

    >>> [*iterate_word_changes("ask Anna Novak now", "ask [person 1] now")]
    [('ask ', 'ask ', True), ('Anna Novak', '[person 1]', False), (' now', ' now', True)]

    Args:
        original: The first text.
        rewritten: The second text.

    Yields:
        A part of the first text, the corresponding part of the second text, and whether both are equal.
    """
    words, others = _WORD.findall(original), _WORD.findall(rewritten)
    begun, place, other = 0, 0, 0
    while place < len(words) or other < len(others):
        if words[place : place + 1] == others[other : other + 1]:
            place, other = place + 1, other + 1
            continue
        if place > begun:
            yield (equal := "".join(words[begun:place])), equal, True
        end, other_end = _find_agreement(words, others, place, other)
        yield "".join(words[place:end]), "".join(others[other:other_end]), False
        begun, place, other = end, end, other_end
    if place > begun:
        yield (equal := "".join(words[begun:place])), equal, True


def _find_agreement(words: Sequence[str], others: Sequence[str], place: int, other: int) -> tuple[int, int]:
    """Return the nearest positions, one in each text, after a difference, from which both texts are equal again.

    The texts count as equal again if two entries in a row are equal. One equal entry is not enough, since it may be the
    blank inside a name. If the texts do not become equal again, return the end of each text.

    Args:
        words: Words, punctuation marks and blanks of the first text.
        others: Words, punctuation marks and blanks of the second text.
        place: Position of the difference in the first text.
        other: Position of the difference in the second text.
    """
    seen: dict[tuple[str, ...], int] = {}
    other_seen: dict[tuple[str, ...], int] = {}
    for distance in range(max(len(words) - place, len(others) - other) + 1):
        at, other_at = min(place + distance, len(words)), min(other + distance, len(others))
        pair, other_pair = tuple(words[at : at + 2]), tuple(others[other_at : other_at + 2])
        seen.setdefault(pair, at)
        other_seen.setdefault(other_pair, other_at)
        if pair in other_seen:
            return at, other_seen[pair]
        if other_pair in seen:
            return seen[other_pair], other_at
    raise AssertionError  # at the latest, both ends agree
