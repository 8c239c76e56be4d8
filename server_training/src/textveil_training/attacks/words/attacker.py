"""The attacks that name words, from the weakest to the strongest, by somebody who has raw texts like those attacked.

``bayes`` has no context (``candidates.py``). ``chain`` is forward-backward with bigrams (``chain.py``). ``counts``
learns what stands around an output from sanitized copies of known texts (``inversion.py``), ``network`` from their word
vectors (``network.py``); ``both`` adds these two. ``minilm`` is an encoder that learns the same (``minilm.py``), and
``all`` adds all three. A stronger attack takes its place beside them: a score for each candidate, in ``named``.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.text import is_gap, key, split_clitic

from textveil_training.attacks.words import minilm, network
from textveil_training.attacks.words.candidates import Candidates, Considered
from textveil_training.attacks.words.chain import Bigrams, crossed, posterior
from textveil_training.attacks.words.division import Cut, folds, held_out_rows, near, whole
from textveil_training.attacks.words.inversion import Inversion
from textveil_training.attacks.words.network import RANKED, Seen, word_vectors
from textveil_training.attacks.words.release import DRAWN, KIND, NOTHING, Reading, Release

Ints = NDArray[Any]
Bits = NDArray[np.bool_]
#: Known texts on which the attack by counts weighs its features.
TUNED_ON = 700
#: Parts of the known texts; the network learns from each with bigrams of the others.
FOLDS = 4


class Known:
    """Raw texts, in a part to count and a part to weigh counts on; the first has nothing close to the second.

    Args:
        cut: The texts, each as its segments.
    """

    def __init__(self, cut: Cut) -> None:
        self.cut = cut
        self.tune = held_out_rows(cut, TUNED_ON, seed=2)
        close = near(cut, self.tune)
        close[self.tune] = True
        self.count = whole(cut, np.flatnonzero(~close))


class Attacker(Known):
    """What an attacker has and learns: raw texts, a bigram model, and one network, or two, for all releases.

    Args:
        cut: Raw texts like those that are attacked.
        general: Texts of other kinds, of which bigrams are counted too; None for none.
        releases: Releases whose draws the network learns from, of one ``Words``.
        vectors: Vectors of words, for the network; None for no network.
        encoder: Whether MiniLM is tuned as an attacker too; it needs vectors.
    """

    def __init__(
        self,
        cut: Cut,
        general: Cut | None,
        releases: Sequence[Release],
        vectors: Iterable[tuple[str, Any]] | None,
        *,
        encoder: bool = False,
    ) -> None:
        super().__init__(cut)
        self._read: dict[str, Reading] = {}
        self.network: network.Network | None = None
        self.reader: minilm.Reader | None = None
        words = releases[0].words
        of_general = None if general is None else releases[0].read(general)
        counted = [self.reading(release).part(self.count) for release in releases]
        if vectors is not None:
            self.vectors = word_vectors(words, vectors)
            fold = folds(cut, self.count, FOLDS)
            size = len(words.spelled)
            models = [Bigrams(counted[0].part(np.flatnonzero(fold != n)), size, of_general) for n in range(FOLDS)]
            copies = [self._copy(release, models, fold, of) for release, of in zip(releases, counted, strict=True)]
            self.network = network.train(self.vectors, copies)
            if encoder:
                # MiniLM learns nothing new from blanks: the others hide as many words.
                drawn = [copy for release, copy in zip(releases, copies, strict=True) if release.channels is not None]
                self.reader = minilm.train(words.spelled, self.vectors, drawn)
        self.bigrams = Bigrams(counted[0], len(words.spelled), of_general)

    def reading(self, release: Release) -> Reading:
        """Returns the known texts as a release reads them."""
        if release.rule not in self._read:
            self._read[release.rule] = release.read(self.cut)
        return self._read[release.rule]

    def _copy(self, release: Release, models: Sequence[Bigrams], fold: Ints, of: Reading) -> tuple[Seen, Ints]:
        outputs = release.draw(of)
        found = Considered(release, of).of(of, outputs).first(RANKED)
        seen = Seen.of(self.vectors, of, outputs, found, crossed(models, fold, of, found))
        right = found.words == of.word[found.places][:, None]
        return seen, np.where(right.any(axis=1), right.argmax(axis=1), -1)

    def network_scores(self, target: Reading, outputs: Ints, found: Candidates, chained: Ints) -> dict[str, Ints]:
        """Returns scores by the network: from all outputs; from what is visible and the output of the word alone."""
        if self.network is None:
            return {}
        seen = Seen.of(self.vectors, target, outputs, found, chained)
        blind, hidden = found.unseen, np.full(len(outputs), NOTHING)
        alone = Seen.of(self.vectors, target, hidden, blind, posterior(self.bigrams, target, blind))
        masked = self.network.scores(alone) + np.maximum(found.likelihood, -1e9)
        found_by = {"masked": masked, "network": self.network.scores(seen)}
        return found_by | ({"minilm": self.reader.scores(seen)} if self.reader else {})


class Asked:
    """Segments of the attacked texts that words are named of.

    Attributes:
        document: Text of each segment.
        words: Which segments are words or strings: the denominator of "all".
        content: Which of them are not function words.
        known: Which content words are in the vocabulary.
    """

    def __init__(self, cut: Cut, function_words: frozenset[str], vocabulary: Any) -> None:
        flat = [segment for segments in cut for segment in segments]
        self.document = np.repeat(np.arange(len(cut)), [len(segments) for segments in cut])
        stems = [key(segment) for segment in flat]
        for number, stem in enumerate(stems):
            while parts := split_clitic(stem):
                stem = parts[0]
            stems[number] = stem
        self.words = np.array([not is_gap(segment) for segment in flat], dtype=bool)
        self.content = self.words & np.array([stem not in function_words for stem in stems], dtype=bool)
        self.known = self.content & np.array([stem in vocabulary for stem in stems], dtype=bool)

    def right(self, reading: Reading, guess: Ints) -> Bits:
        """Tells of which segments every element is right."""
        found = np.ones(len(self.words), dtype=bool)
        np.logical_and.at(found, reading.segment, guess == reading.word)
        return found

    def shares(self, reading: Reading, guess: Ints) -> dict[str, float]:
        """Returns the share of words, content words and known content words whose every element is right."""
        right = self.right(reading, guess)
        return {name: float(right[mask].mean()) for name, mask in self.masks.items()}

    @property
    def masks(self) -> dict[str, Bits]:
        """The segments that a share is of, by its name."""
        return {"words": self.words, "content": self.content, "known": self.known}


def named(release: Release, attacker: Attacker, target: Reading) -> tuple[dict[str, Ints], Considered]:
    """Runs all attacks on one release of some texts.

    Args:
        release: The release.
        attacker: What the attacker has.
        target: The texts as the release reads them.

    Returns:
        By attack the word that it names for every element, ``unchanged`` for what came out; and what the context-free
        attack considers.
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
    if "network" in scores:
        scores["both"] = scores["counts"][:, :RANKED] + scores["network"]
    if "minilm" in scores:
        scores["all"] = scores["both"] + scores["minilm"]
    rows = np.arange(len(found.places))
    guesses = {"bayes": found.bayes} | {name: found.words[rows, score.argmax(axis=1)] for name, score in scores.items()}
    everywhere = {"unchanged": outputs}
    for name, guess in guesses.items():
        everywhere[name] = target.word.copy()
        everywhere[name][found.places] = guess
    return everywhere, considered


def attack(
    release: Release, attacker: Attacker, target: Reading, asked: Asked, function_words: frozenset[str]
) -> dict[str, Any]:
    """Runs all attacks on one release of some texts and counts.

    Args:
        release: The release.
        attacker: What the attacker has.
        target: The texts as the release reads them.
        asked: What is to be named.
        function_words: What is not a content word.

    Returns:
        By attack the shares of ``Asked``; ``unchanged`` for taking what came out, ``closed_form`` for context-free
        Bayes over the known texts' drawn content words, ``hidden`` for the share of elements that are.
    """
    guesses, considered = named(release, attacker, target)
    result: dict[str, Any] = {name: asked.shares(target, guess) for name, guess in guesses.items()}
    content = np.array([word not in function_words for word in release.words.spelled])
    # Where the base follows the text there is no one channel to compute it from.
    result["closed_form"] = considered.closed_form(content) if type(release) is Release else None
    result["hidden"] = float(np.isin(target.role, (DRAWN, KIND)).mean())
    return result
