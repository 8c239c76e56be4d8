"""All attacks that name words, on SST-2: without context, by bigrams, by counts, by a network and by MiniLM."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import minilm
import network
import numpy as np
from candidates import Candidates, Considered
from chain import Bigrams, crossed, posterior
from corpora import Part, folds, held_out_rows, near, whole
from inversion import Inversion
from network import RANKED, Seen, word_vectors
from numpy.typing import NDArray
from release import DRAWN, KIND, NOTHING, Cut, Reading, Release
from textveil.text import is_gap, key, split_clitic

Ints = NDArray[Any]
#: Sentences of train on which the attack by counts weighs its features.
TUNED_ON = 700
#: Parts of the train texts; the network learns from each with bigrams of the others.
FOLDS = 4


class Known:
    """Raw train texts, in a part to count and a part to weigh counts on; the first has nothing close to the second."""

    def __init__(self, train: Part) -> None:
        self.tune = held_out_rows(train.cut, TUNED_ON, seed=2)
        close = near(train.cut, self.tune)
        close[self.tune] = True
        self.count = whole(train.cut, np.flatnonzero(~close))


class Attacker(Known):
    """What an attacker has and learns: raw texts, a bigram model, and one network, or two, for all releases.

    Args:
        train: SST-2's train texts.
        general: Texts of other kinds.
        releases: Releases whose draws the network learns from, of one ``Words``.
        vectors: File of word vectors.
        encoder: Whether MiniLM is tuned as an attacker too.
    """

    def __init__(
        self, train: Part, general: Cut, releases: Sequence[Release], vectors: Path, *, encoder: bool = False
    ) -> None:
        super().__init__(train)
        self._train, self._read = train, {}
        of_general = releases[0].read(general)
        counted = [self.reading(release).part(self.count) for release in releases]
        self.vectors = word_vectors(releases[0].words, vectors)
        size = len(releases[0].words.spelled)
        fold = folds(train.cut, self.count, FOLDS)
        models = [Bigrams(counted[0].part(np.flatnonzero(fold != n)), size, of_general) for n in range(FOLDS)]
        copies = [self._copy(release, models, fold, of) for release, of in zip(releases, counted, strict=True)]
        self.network = network.train(self.vectors, copies)
        # MiniLM learns nothing new from blanks: the others hide as many words.
        drawn = [copy for release, copy in zip(releases, copies, strict=True) if release.channels is not None]
        self.reader = minilm.train(releases[0].words.spelled, self.vectors, drawn) if encoder else None
        self.bigrams = Bigrams(counted[0], size, of_general)

    def reading(self, release: Release) -> Reading:
        """Returns the train texts as a release reads them."""
        if release.rule not in self._read:
            self._read[release.rule] = release.read(self._train.cut)
        return self._read[release.rule]

    def _copy(self, release: Release, models: Sequence[Bigrams], fold: Ints, of: Reading) -> tuple[Seen, Ints]:
        outputs = release.draw(of)
        found = Considered(release, of).of(of, outputs).first(RANKED)
        seen = Seen.of(self.vectors, of, outputs, found, crossed(models, fold, of, found))
        right = found.words == of.word[found.places][:, None]
        return seen, np.where(right.any(axis=1), right.argmax(axis=1), -1)

    def network_scores(self, target: Reading, outputs: Ints, found: Candidates, chained: Ints) -> dict[str, Ints]:
        """Scores candidates by the network: from all outputs; from what is visible and the word's own output alone."""
        seen = Seen.of(self.vectors, target, outputs, found, chained)
        blind, hidden = found.unseen, np.full(len(outputs), NOTHING)
        alone = Seen.of(self.vectors, target, hidden, blind, posterior(self.bigrams, target, blind))
        masked = self.network.scores(alone) + np.maximum(found.likelihood, -1e9)
        found_by = {"masked": masked, "network": self.network.scores(seen)}
        return found_by | ({"minilm": self.reader.scores(seen)} if self.reader else {})


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
    release: Release, attacker: Attacker, target: Reading, asked: Asked, function_words: frozenset[str]
) -> dict[str, Any]:
    """Runs all attacks on one release of the test texts.

    Args:
        release: The release.
        attacker: What the attacker has.
        target: The test texts as the release reads them.
        asked: What is to be named.
        function_words: What is no content word.

    Returns:
        By attack the shares of ``Asked``; ``unchanged`` for taking what came out, ``closed_form`` for context-free
        Bayes over the train texts' drawn content words.
    """
    reading = attacker.reading(release)
    counted, weighed = reading.part(attacker.count), reading.part(attacker.tune)
    considered = Considered(release, counted)
    inversion = Inversion(counted, release.draw)

    def prepared(of: Reading) -> tuple[Ints, Candidates, Any]:
        outputs = release.draw(of)
        found = release.in_context(of, outputs, considered.of(of, outputs))
        return outputs, found, posterior(attacker.bigrams, of, found)

    inversion.learn(weighed, *prepared(weighed))
    outputs, found, chained = prepared(target)
    few = found.first(RANKED)
    scores = {
        "chain": chained,
        "counts": inversion.scores(target, outputs, found, chained),
        **attacker.network_scores(target, outputs, few, chained),
    }
    scores["both"] = scores["counts"][:, :RANKED] + scores["network"]
    if "minilm" in scores:
        scores["all"] = scores["both"] + scores["minilm"]
    rows = np.arange(len(found.places))
    guesses = {name: found.words[rows, score.argmax(axis=1)] for name, score in scores.items()}
    result: dict[str, Any] = {"unchanged": asked.shares(target, outputs)}
    for name, guess in {"bayes": found.bayes, **guesses}.items():
        everywhere = target.word.copy()
        everywhere[found.places] = guess
        result[name] = asked.shares(target, everywhere)
    content = np.array([word not in function_words for word in release.words.spelled])
    # Where the base follows the text there is no one channel to compute it from.
    result["closed_form"] = considered.closed_form(content) if type(release) is Release else None
    result["hidden"] = float(np.isin(target.role, (DRAWN, KIND)).mean())
    return result
