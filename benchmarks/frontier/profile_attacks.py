"""Identify the author of a text by its function words, and the text by its equal words.

Both attacks use WikiText-2: an article is in the role of an author, and a paragraph in that of a text by the author.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil_training.attacks.words import MARK, NOTHING, ReadElements, WordRelease

Ints = NDArray[Any]
ARTICLES = 50
#: Smallest number of elements of a paragraph.
_SHORTEST = 60


def choose_paragraphs(articles: Sequence[Sequence[list[str]]]) -> tuple[list[list[str]], Ints]:
    """Return long paragraphs, and the article of each, from the first articles with at least four long paragraphs."""
    cut: list[list[str]] = []
    owner: list[int] = []
    number = 0
    for article in articles:
        long = [paragraph for paragraph in article if len(paragraph) >= 2 * _SHORTEST]
        if len(long) < 4 or number == ARTICLES:
            continue
        cut += long
        owner += [number] * len(long)
        number += 1
    return cut, np.array(owner)


def identify_by_style(
    release: WordRelease, reading: ReadElements, outputs: Ints, owner: Ints, function_words: frozenset[str]
) -> float:
    """Return how often the frequencies of function words in a paragraph identify its article.

    Every paragraph is compared with the mean of the other paragraphs of each article, released by the same mechanism
    (Burrows's Delta with the cosine: Smith, Aldridge 2011). If the mechanism randomizes function words, the attack
    counts the words of the outputs.
    """
    numbers = [release.words.get_id(word) for word in sorted(function_words)]
    column = np.full(len(release.words.spellings) + 1, -1)
    column[numbers] = np.arange(len(numbers))
    kept = (reading.role != MARK) & (outputs != NOTHING)
    place = column[outputs[kept]]
    document = reading.document[kept][place >= 0]
    counts = np.zeros((reading.documents, len(numbers)))
    np.add.at(counts, (document, place[place >= 0]), 1)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    used = shares.std(axis=0) > 0
    shares = (shares[:, used] - shares[:, used].mean(axis=0)) / shares[:, used].std(axis=0)
    members = np.eye(int(owner.max()) + 1)[owner]
    right = 0
    for number, row in enumerate(shares):
        others = members.copy()
        others[number] = 0
        centers = others.T @ shares / np.maximum(others.sum(axis=0), 1)[:, None]
        alike = centers @ row / np.maximum(np.linalg.norm(centers, axis=1) * np.linalg.norm(row), 1e-12)
        right += int(alike.argmax() == owner[number])
    return right / len(shares)


def identify_by_repeats(reading: ReadElements, outputs: Ints, length: int) -> float:
    """Return how often a paragraph is identified by the positions of equal words among its first randomized words.

    The attacker has all paragraphs. Of the released paragraph, the attacker learns only which randomized words are
    equal, but no outputs, no kept words and no punctuation. A paragraph is identified if no other one has its pattern.
    Under consistent randomization equal words have equal outputs, but different words may have equal outputs too. So a
    known paragraph matches if its equal words have equal outputs.

    Args:
        reading: The paragraphs.
        outputs: Their outputs under consistent randomization.
        length: Number of randomized words to compare.
    """
    known, seen = [], []
    for whole in _documents(reading, reading.role > 1):
        places = whole[:length]
        if len(places) == length:
            known.append(_equal(reading.word[places]))
            seen.append(_equal(outputs[places]))
    known_pairs, seen_pairs = np.array(known), np.array(seen)
    # Among the paragraphs whose equal words all have equal outputs, choose the one that explains most equal outputs.
    fits = (known_pairs.astype(np.float32) @ (~seen_pairs).astype(np.float32).T) == 0
    explains = np.where(fits, known_pairs.sum(axis=1)[:, None], -1)
    named = explains.argmax(axis=0)
    alone = (explains == explains.max(axis=0)).sum(axis=0) == 1
    return float(((named == np.arange(len(seen_pairs))) & alone).mean())


def identify_by_template(reading: ReadElements, outputs: Ints, length: int) -> float:
    """Return how often a paragraph is identified by the template of its first elements.

    All randomized words count as equal; case and spaces are ignored.
    """
    there = outputs != NOTHING
    seen: dict[tuple[Any, ...], int] = {}
    keys = []
    for whole in _documents(reading, there):
        places = whole[:length]
        shown = np.where(reading.role[places] < 2, reading.word[places], -reading.role[places])
        keys.append(tuple(shown.tolist()))
        seen[keys[-1]] = seen.get(keys[-1], 0) + 1
    return sum(seen[key] == 1 for key in keys) / len(keys)


def _documents(reading: ReadElements, mask: Ints) -> list[Ints]:
    """Return for each document the positions of the elements that a mask selects."""
    places = np.flatnonzero(mask)
    return np.split(places, np.searchsorted(reading.document[places], np.arange(1, reading.documents)))


def _equal(words: Ints) -> NDArray[np.bool_]:
    """Return a boolean for each pair of words: whether they are equal; shape ``(pairs,)``."""
    return (words[:, None] == words[None, :])[np.triu_indices(len(words), 1)]
