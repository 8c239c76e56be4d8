"""All attacks that name words, on SST-2: without context, by a bigram model, and learned."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from candidates import Candidates, Considered
from chain import Bigrams, posterior
from corpora import Part, held_out_rows, near, whole
from inversion import Inversion
from numpy.typing import NDArray
from release import DRAWN, KIND, Reading, Release
from textveil.text import is_gap, key, split_clitic

Ints = NDArray[Any]
#: Sentences of train on which the learned attack weighs its features.
TUNED_ON = 700


class Known:
    """What the attacker has: raw train texts, in a part to count and a part to weigh."""

    def __init__(self, train: Part) -> None:
        self.tune = held_out_rows(train.cut, TUNED_ON, seed=2)
        close = near(train.cut, self.tune)
        close[self.tune] = True
        self.count = whole(train.cut, np.flatnonzero(~close))


class Asked:
    """Segments of the attacked texts that words are named of.

    Attributes:
        words: Which segments are words or strings: the denominator of "all".
        content: Which of them are no function words.
        known: Which content words are in the vocabulary.
    """

    def __init__(self, cut: Sequence[Sequence[str]], function_words: frozenset[str], vocabulary: Any) -> None:
        flat = [segment for segments in cut for segment in segments]
        stems = [key(segment) for segment in flat]
        for number, stem in enumerate(stems):
            while parts := split_clitic(stem):
                stem = parts[0]
            stems[number] = stem
        self.words = np.array([not is_gap(segment) for segment in flat], dtype=bool)
        self.content = self.words & np.array([stem not in function_words for stem in stems], dtype=bool)
        self.known = self.content & np.array([stem in vocabulary for stem in stems], dtype=bool)

    def shares(self, reading: Reading, guess: Ints) -> dict[str, float]:
        """Returns the share of words, content words and known content words whose every element is right."""
        right = np.ones(len(self.words), dtype=bool)
        np.logical_and.at(right, reading.segment, guess == reading.word)
        names = ("words", "content", "known")
        return {name: float(right[mask].mean()) for name, mask in zip(names, self._masks, strict=True)}

    @property
    def _masks(self) -> tuple[Ints, Ints, Ints]:
        return self.words, self.content, self.known


def attack(
    release: Release, known: Known, read: dict[str, Reading], asked: Asked, function_words: frozenset[str]
) -> dict[str, Any]:
    """Runs all attacks on one release of the test texts.

    Args:
        release: The release.
        known: What the attacker has.
        read: Train and test as the release reads them.
        asked: What is to be named.
        function_words: What is no content word.

    Returns:
        By attack the shares of ``Asked``; ``unchanged`` for taking what came out, ``closed_form`` for context-free
        Bayes over the train texts' drawn content words.
    """
    reading, target = read["train"], read["test"]
    counted, weighed = reading.part(known.count), reading.part(known.tune)
    considered, bigrams = Considered(release, counted), Bigrams(counted, len(release.words.spelled))
    inversion = Inversion(counted, release.draw)

    def prepared(of: Reading) -> tuple[Ints, Candidates, Any]:
        outputs = release.draw(of)
        found = considered.of(of, outputs)
        return outputs, found, posterior(bigrams, of, found)

    inversion.learn(weighed, *prepared(weighed))
    outputs, found, chained = prepared(target)
    rows = np.arange(len(found.places))
    guesses = {
        "bayes": found.bayes,
        "chain": found.words[rows, chained.argmax(axis=1)],
        "learned": inversion.guess(target, outputs, found, chained),
    }
    result: dict[str, Any] = {"unchanged": asked.shares(target, outputs)}
    for name, guess in guesses.items():
        everywhere = target.word.copy()
        everywhere[found.places] = guess
        result[name] = asked.shares(target, everywhere)
    content = np.array([word not in function_words for word in release.words.spelled])
    result["closed_form"] = considered.closed_form(content)
    result["hidden"] = float(np.isin(target.role, (DRAWN, KIND)).mean())
    return result
