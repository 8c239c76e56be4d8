"""Divide a data set into splits that are the same on every machine and in every run.

**By hash.** The split of an example is a function of its key and a seed: integer arithmetic on a SHA-256 digest,
without random generators, floats or the order of examples. So examples with equal keys stay together, and if a row is
added or removed, no other row moves. In return, the sizes are only approximately in the requested proportions.

**By group.** Copies, contained texts and texts that share long passages get into the same split. Two texts are linked
if they are equal in lower case without punctuation, if one with at least ``CONTAINED_WORDS`` words is a passage of the
other, or if they share ``SHARED_WORDS`` words in a row. A group is a connected set of texts, and it is never split.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from textveil_training.data.examples import LabeledExample
from textveil_training.errors import DataOptionError, MissingSplit


def join_texts(example: LabeledExample) -> str:
    """Join all texts of an example to one string; it is the key by which equal examples get the same split."""
    return "\t".join(example.texts)


def choose_share(key: str, shares: Mapping[str, int], seed: int = 0) -> str:
    """Choose one of several parts of the data (*shares*), such as ``train`` and ``test``, from the hash of a key.

    The names are sorted, ``w_1 .. w_n`` are their weights, and ``h`` is ``SHA-256(seed, key)`` as an integer. The
    result is the first name, with the number ``i``, for which ``floor(h * sum(w) / 2**256) < w_1 + .. + w_i``.

    Args:
        key: The key to hash.
        shares: Weight of each share by name, positive integers (``{"train": 80, "dev": 10, "test": 10}``). The order of
            the mapping does not matter.
        seed: Seed of the division; divisions with different seeds are independent.

    Raises:
        DataOptionError: ``shares`` is empty, or a weight is not a positive integer.
    """
    if not shares or any(type(weight) is not int or weight < 1 for weight in shares.values()):
        raise DataOptionError("each share must be a positive integer, and at least one is needed")
    digest = hashlib.sha256(f"{seed}\n{key}".encode("utf-8", "surrogatepass")).digest()
    point = int.from_bytes(digest, "big") * sum(shares.values()) >> 256
    names = iter(sorted(shares))
    name = next(names)
    upper = shares[name]
    while point >= upper:
        name = next(names)
        upper += shares[name]
    return name


def split_examples(
    examples: Iterable[LabeledExample],
    shares: Mapping[str, int],
    *,
    seed: int = 0,
    key: Callable[[LabeledExample], str] = join_texts,
) -> dict[str, list[LabeledExample]]:
    """Split examples into named parts (*shares*), each in the order of the examples.

    Args:
        examples: The examples.
        shares: Weight of each share by name, positive integers.
        seed: Seed of the division.
        key: Function that returns the key of an example; examples with equal keys get the same share. By default the
            key is all texts. For example, ``lambda pair: pair.texts[0]`` keeps the rows of one QNLI question together.

    Returns:
        The examples of each share, by name, in the order of ``shares``.

    Raises:
        DataOptionError: ``shares`` is empty, or a weight is not a positive integer.
        MissingSplit: A share got no example.

    Example:
        >>> examples = [LabeledExample(texts=(f"text {number}",)) for number in range(100)]
        >>> splits = split_examples(examples, {"train": 80, "test": 20})
        >>> sum(map(len, splits.values())), splits == split_examples(examples, {"test": 20, "train": 80})
        (100, True)
    """
    shares_of_examples: dict[str, list[LabeledExample]] = {name: [] for name in shares}
    for example in examples:
        shares_of_examples[choose_share(key(example), shares, seed)].append(example)
    for number, share in enumerate(shares_of_examples.values(), start=1):
        if not share:
            raise MissingSplit(
                f"share {number} of {len(shares_of_examples)} has no example: use fewer or larger shares, or more data"
            )
    return shares_of_examples


#: Number of words in a row that texts in different splits never share.
SHARED_WORDS = 8
#: Smallest number of words of a text that is linked to texts that contain it; shorter phrases occur everywhere.
CONTAINED_WORDS = 4
#: A group with more than this share of all texts gets into the first split, whatever its hash.
_LARGE_GROUP = 0.02
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class TextGroups:
    """Groups of similar texts; a division into train and test keeps the texts of a group together.

    Attributes:
        group_ids: For each text the id of its group, which is the index of the group's first text, shape ``(texts,)``.
        keys: For each group id a key: the alphabetically first text of the group, in lower case without punctuation.
            The hash of the key determines the part (train or test) to which the group belongs.
        duplicates: Number of texts that equal an earlier one in lower case without punctuation.
    """

    group_ids: tuple[int, ...]
    keys: Mapping[int, str]
    duplicates: int

    @property
    def largest_size(self) -> int:
        """Number of texts in the largest group."""
        return max(self.count_sizes().values())

    def count_sizes(self) -> dict[int, int]:
        """Return the number of texts of each group, by group id."""
        sizes = dict.fromkeys(self.keys, 0)
        for group in self.group_ids:
            sizes[group] += 1
        return sizes


def fold_words(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case, without punctuation."""
    return tuple(_WORD.findall(text.lower()))


def group_texts(texts: Sequence[str]) -> TextGroups:
    """Group texts that share passages.

    Two texts are in one group if they are equal in lower case without punctuation, if they share 8 words in a row, or
    if one of them has at least 4 words and is a passage of the other. Texts that are linked only through others are in
    one group too.

    Time and memory are linear in the number of words: the function compares passages of at most 8 words only, since
    texts that share a longer passage also share one of 8 words.
    """
    folded = [fold_words(text) for text in texts]
    parents = list(range(len(texts)))
    first: dict[tuple[str, ...], int] = {}
    duplicates = 0
    for number, words in enumerate(folded):
        duplicates += words in first
        _join_groups(parents, first.setdefault(words, number), number)
    short = {words for words in first if CONTAINED_WORDS <= len(words) < SHARED_WORDS}
    lengths = sorted({len(words) for words in short})
    passages: dict[tuple[str, ...], int] = {}
    for words, number in first.items():
        for passage in _iterate_passages(words, SHARED_WORDS):
            _join_groups(parents, passages.setdefault(passage, number), number)
        for length in lengths:
            for passage in _iterate_passages(words, length):
                if passage in short:
                    _join_groups(parents, first[passage], number)
    group_ids = tuple(_find_root(parents, number) for number in range(len(texts)))
    keys: dict[int, str] = {}
    for words, group in zip(folded, group_ids, strict=True):
        key = " ".join(words)
        keys[group] = min(key, keys.get(group, key))
    return TextGroups(group_ids, keys, duplicates)


def split_groups(groups: TextGroups, shares: Mapping[str, int], seed: int = 0) -> dict[str, list[int]]:
    """Divide texts into parts (*shares*) such as ``train`` and ``test``; texts of one group get into the same part.

    The hash of the group's key chooses the share. A group with more than the fraction ``_LARGE_GROUP`` of all texts
    gets into the first of ``shares``.

    Args:
        groups: Groups of the texts.
        shares: Weight of each share by name.
        seed: Seed of the division.

    Returns:
        Indices of the texts of each share, ascending.
    """
    large = max(1.0, _LARGE_GROUP * len(groups.group_ids))
    sizes = groups.count_sizes()
    first = next(iter(shares))
    side = {
        group: first if sizes[group] > large else choose_share(key, shares, seed) for group, key in groups.keys.items()
    }
    divided: dict[str, list[int]] = {name: [] for name in shares}
    for number, group in enumerate(groups.group_ids):
        divided[side[group]].append(number)
    return divided


def _iterate_passages(words: tuple[str, ...], length: int) -> Iterator[tuple[str, ...]]:
    return (words[start : start + length] for start in range(len(words) - length + 1))


def _find_root(parents: list[int], number: int) -> int:
    while parents[number] != number:
        parents[number] = parents[parents[number]]
        number = parents[number]
    return number


def _join_groups(parents: list[int], one: int, other: int) -> None:
    """Join two groups; the smaller index becomes the id of the joined group.

    Args:
        parents: For each text the index of another text in its group, or its own index.
        one: Index of a text in the first group.
        other: Index of a text in the second group.
    """
    least, most = sorted((_find_root(parents, one), _find_root(parents, other)))
    parents[most] = least
