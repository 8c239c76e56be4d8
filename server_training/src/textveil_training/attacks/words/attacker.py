"""Guess original words by several attacks, from the weakest to the strongest, with similar raw texts.

``bayes`` has no context (``candidates.py``). ``trigrams`` is forward-backward with the exact probabilities of the
mechanism (``forward_backward.py``). ``network`` is a denoiser (``denoiser.py``). ``sum`` adds the log scores of all,
with weights that are fitted on known texts. To add a stronger attack, add its scores of the candidates to
``WordAttacker.score_candidates``.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from textveil.text import fold_word, is_gap, split_clitic

from textveil_training.attacks.words import denoiser
from textveil_training.attacks.words.candidates import CandidateFinder, Candidates
from textveil_training.attacks.words.denoiser import (
    LEARNED,
    RANKED,
    Denoiser,
    DenoiserInput,
    TrainingDraw,
    make_word_vectors,
)
from textveil_training.attacks.words.forward_backward import compute_posterior
from textveil_training.attacks.words.kneser_ney import TrigramModel
from textveil_training.attacks.words.splits import (
    SegmentedTexts,
    choose_held_out_rows,
    drop_contained_rows,
    find_near_texts,
)
from textveil_training.attacks.words.word_release import RANDOMIZED, SURROGATE, ReadElements, WordRelease

Ints = NDArray[Any]
Bits = NDArray[np.bool_]
#: Number of known texts on which the weights of the combined attack are fitted.
TUNED_ON = 700
#: Smallest and largest number of passes over the known texts, and the number of elements from which it is computed.
#: Every pass randomizes the texts again; short texts get more passes.
_FEWEST, _MOST, _ELEMENTS = 3, 12, 4_000_000
#: Number of texts that are randomized at a time for training.
_AT_ONCE = 4_000


class WordAttacker:
    """An attacker who learns from raw texts: a trigram model, and a neural network that is trained on outputs.

    Args:
        cut: Raw texts that are similar to the attacked ones, split into segments (words, punctuation marks and gaps).
        prior: Public texts that are similar to the attacked ones, split into segments.
        releases: Mechanisms on whose outputs the network is trained; all use the same table of word ids.
        vectors: Words with their initial vectors in the network; ``None`` for random vectors.
        trigrams_alone: Whether to train no network, so that only trigrams use the context of a word.
        report: Called with the number of trained parts and the total.
    """

    def __init__(
        self,
        cut: SegmentedTexts,
        prior: SegmentedTexts,
        releases: Sequence[WordRelease],
        vectors: Iterable[tuple[str, Any]] | None,
        *,
        trigrams_alone: bool = False,
        report: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        self.cut = [*cut, *prior]
        self.tune = choose_held_out_rows(cut, TUNED_ON, seed=2)
        # The texts that fit the weights must not be similar to the texts that train the attacks.
        close = find_near_texts(self.cut, [self.cut[row] for row in self.tune])
        if close.mean() > 0.5:  # with very similar texts too few would remain for training
            close[:] = False
        close[self.tune] = True
        self.count = drop_contained_rows(self.cut, np.flatnonzero(~close))
        self._read: dict[str, ReadElements] = {}
        self._prepared: tuple[WordRelease, CandidateFinder, Ints] | None = None
        words = releases[0].words
        counted = [self.read_known(release).take_documents(self.count) for release in releases]
        self.trigrams = TrigramModel(counted[0], len(words.spellings))
        self.network: Denoiser | None = None
        if trigrams_alone:
            return
        learned = [(release, of, CandidateFinder(release, of)) for release, of in zip(releases, counted, strict=True)]
        table = make_word_vectors(words, vectors)
        passes = min(_MOST, max(_FEWEST, _ELEMENTS // len(counted[0].word)))
        draws = _plan_draws(learned, len(table), passes)
        told = [partial(_report_draw, draw, report, number, len(draws)) for number, draw in enumerate(draws)]
        self.network = denoiser.train_denoiser(Denoiser(table), told)

    def read_known(self, release: WordRelease) -> ReadElements:
        """Convert the attacker's own texts to arrays of words, in the form that the given mechanism processes."""
        if release.rule not in self._read:
            self._read[release.rule] = release.read(self.cut)
        return self._read[release.rule]

    def score_candidates(self, reading: ReadElements, outputs: Ints, found: Candidates) -> dict[str, Ints]:
        """Compute, by each attack, the log probabilities of the possible originals of each hidden (replaced) word.

        The result has an array of shape ``(n, RANKED)`` for each attack, by name of the attack.

        Args:
            reading: The texts as arrays of words.
            outputs: Output of each word and punctuation mark of the texts.
            found: Possible originals (candidates) of the hidden words.
        """
        of: dict[str, Ints] = {"trigrams": compute_posterior(self.trigrams, reading, found)}
        if self.network is not None:
            of["network"] = self.network.score_candidates(
                DenoiserInput.from_release(reading, outputs, found, len(self.network.vectors))
            )
        return of

    def prepare_release(self, release: WordRelease) -> tuple[CandidateFinder, Ints]:
        """Fit the attack ``sum`` to a mechanism; calling this again for the same mechanism reuses the result.

        Returns:
            A finder of possible originals for each output, and the weights with which ``sum`` adds the other attacks.
        """
        if self._prepared is None or self._prepared[0] is not release:
            read = self.read_known(release)
            considered, tune = CandidateFinder(release, read.take_documents(self.count)), read.take_documents(self.tune)
            outputs, found = _draw_candidates(release, considered, tune)
            truth = found.words == tune.word[found.places][:, None]
            weights = fit_weights(_list_sum_parts(self.score_candidates(tune, outputs, found), found), truth)
            self._prepared = release, considered, weights
        return self._prepared[1:]


Learned = Sequence[tuple[WordRelease, ReadElements, CandidateFinder]]


def _plan_draws(releases: Learned, rows: int, passes: int) -> list[Callable[[], list[TrainingDraw]]]:
    """Return functions that create the training data of the attacker's network, one batch of texts each.

    The network is trained on the results of all functions, one after the other. Each function randomizes its batch anew
    (``_draw_texts``). Every pass over the texts needs several functions, which together sanitize each text once.

    Args:
        releases: For each mechanism a triple: the mechanism, the texts as arrays of words, and an object that finds the
            possible originals of an output.
        rows: Number of words with a vector in the network.
        passes: Number of passes over the texts.
    """
    rng, texts = np.random.default_rng(), releases[0][1].documents
    orders = (np.array_split(rng.permutation(texts), -(-texts // _AT_ONCE)) for _ in range(passes))
    return [partial(_draw_texts, releases, rows, chosen) for order in orders for chosen in order]


def _report_draw(
    draw: Callable[[], list[TrainingDraw]], report: Callable[[int, int], None], done: int, total: int
) -> list[TrainingDraw]:
    report(done, total)
    return draw()


def _draw_texts(releases: Learned, rows: int, texts: Ints) -> list[TrainingDraw]:
    """Create training data of the attacker's network: sanitize each text by a randomly chosen mechanism.

    Args:
        releases: For each mechanism a triple: the mechanism, the texts as arrays of words, and an object that finds
            the possible originals of an output.
        rows: Number of rows in the table of word vectors.
        texts: Indices of the texts.
    """
    by = np.random.default_rng().integers(len(releases), size=len(texts))
    found: list[TrainingDraw] = []
    for number, (release, reading, considered) in enumerate(releases):
        part = reading.take_documents(np.sort(texts[by == number]))
        outputs, candidates = _draw_candidates(release, considered, part)
        candidates = candidates.take_first(LEARNED)
        right = candidates.words == part.word[candidates.places][:, None]
        seen = DenoiserInput.from_release(part, outputs, candidates, rows)
        found.append((seen, np.where(right.any(axis=1), right.argmax(axis=1), -1)))
    return found


def _draw_candidates(
    release: WordRelease, considered: CandidateFinder, reading: ReadElements
) -> tuple[Ints, Candidates]:
    outputs = release.draw(reading)
    return outputs, considered.find_candidates(reading, outputs).take_first(RANKED)


def _list_sum_parts(scores: dict[str, Ints], found: Candidates) -> list[Ints]:
    """Return the arrays of scores that the attack ``sum`` adds: one of each attack, and last the one without context.

    Args:
        scores: Log probabilities of the possible originals, by name of the attack that computed them.
        found: The possible originals of each hidden (replaced or randomized) word.
    """
    return [*scores.values(), found.likelihood + found.prior]


def add_parts(parts: Sequence[Ints], weights: Ints) -> Ints:
    """Return the weighted sum of log scores; the sum is -inf for padding, where the last array has -inf.

    Args:
        parts: Log scores of possible words, one array per attack, all of one shape. The last array has the scores of
            the attack that uses no context. Scores below -30 count as -30.
        weights: Weight of each array.
    """
    total = sum(weight * np.maximum(part, -30) for weight, part in zip(weights.tolist(), parts, strict=True))
    return np.where(np.isneginf(parts[-1]), -np.inf, total)


def fit_weights(parts: Sequence[Ints], right: Bits) -> Ints:
    """Fit the weights with which the attack ``sum`` adds the scores of the other attacks.

    The weights maximize the likelihood of the true words (conditional logit).

    Args:
        parts: For each attack the log scores of candidates (possible originals), shape ``(n, candidates)``; -inf where
            there is no candidate.
        right: True for the candidate that is the true word, in the same shape; rows without a true word are ignored.

    Returns:
        One weight for each score array.
    """
    usable = right.any(axis=1)
    none = torch.from_numpy(np.isneginf(parts[-1][usable]))
    stack = torch.from_numpy(np.stack([np.maximum(part[usable], -30) for part in parts], axis=-1).astype(np.float32))
    truth = torch.from_numpy(right[usable].argmax(axis=1))
    weights = torch.full((len(parts),), 1 / len(parts), requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=40, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        scores = (stack @ weights).masked_fill(none, -torch.inf)
        value = torch.nn.functional.cross_entropy(scores, truth) + 1e-4 * (weights**2).sum()
        value.backward()
        return value

    optimizer.step(loss)
    return weights.detach().numpy()


class WordTargets:
    """The words of the attacked texts that the attacks try to guess, in three nested groups.

    Attributes:
        document: Index of the text of each segment (word, punctuation mark or gap between words).
        words: Boolean for each segment: whether it is a word, not a gap. The attacks guess only words.
        content: Boolean for each segment: whether it is a content word, which is a word but no function word.
        known: Boolean for each segment: whether it is a content word in the vocabulary of the mechanism.
    """

    def __init__(self, cut: SegmentedTexts, function_words: frozenset[str], vocabulary: Any) -> None:
        flat = [segment for segments in cut for segment in segments]
        self.document = np.repeat(np.arange(len(cut)), [len(segments) for segments in cut])
        stems = [fold_word(segment) for segment in flat]
        for number, stem in enumerate(stems):
            while parts := split_clitic(stem):
                stem = parts[0]
            stems[number] = stem
        self.words = np.array([not is_gap(segment) for segment in flat], dtype=bool)
        self.content = self.words & np.array([stem not in function_words for stem in stems], dtype=bool)
        self.known = self.content & np.array([stem in vocabulary for stem in stems], dtype=bool)

    def mark_right(self, reading: ReadElements, guess: Ints) -> Bits:
        """Return a boolean for each segment: whether the attack guessed the segment right.

        A segment is a word, a punctuation mark or a gap. A word of several elements, such as *don't*, must be right in
        all. Gaps count as right.

        Args:
            reading: The attacked texts as arrays of elements (words and punctuation).
            guess: Guessed word id of each element.
        """
        found = np.ones(len(self.words), dtype=bool)
        np.logical_and.at(found, reading.segment, guess == reading.word)
        return found

    def compute_shares(self, reading: ReadElements, guess: Ints) -> dict[str, float]:
        """Return the success rate of an attack in each of three groups of words.

        The groups are all words; content words, which are no function words; and content words in the vocabulary of the
        mechanism.

        Args:
            reading: The attacked texts as arrays of elements (words and punctuation).
            guess: Guessed word id of each element.
        """
        right = self.mark_right(reading, guess)
        return {name: float(right[mask].mean()) for name, mask in self.masks.items()}

    @property
    def masks(self) -> dict[str, Bits]:
        """Return for each group of words a boolean for each segment: whether the segment belongs to the group.

        The groups are ``words``, ``content`` and ``known``; see the attributes.
        """
        return {"words": self.words, "content": self.content, "known": self.known}


def guess_words(release: WordRelease, attacker: WordAttacker, target: ReadElements) -> dict[str, Ints]:
    """Sanitize the attacked texts once, run all attacks on the output, and return the guesses of each attack.

    Args:
        release: The mechanism.
        attacker: The attacker's texts and models.
        target: The attacked texts as arrays of words. The attacks use only the outputs for hidden (replaced or
            randomized) words, not the words themselves.

    Returns:
        For each attack, by its name, the guess for every word and punctuation mark, as word ids. The attack
        ``unchanged`` guesses that the output is the original.
    """
    considered, weights = attacker.prepare_release(release)
    outputs, found = _draw_candidates(release, considered, target)
    unread = len(release.words.spellings)  # erase hidden words, so that no attack can use them
    shown = replace(target, word=np.where(np.isin(target.role, (RANDOMIZED, SURROGATE)), unread, target.word))
    scores = attacker.score_candidates(shown, outputs, found)
    scores["sum"] = add_parts(_list_sum_parts(scores, found), weights)
    rows = np.arange(len(found.places))
    guesses = {"bayes": found.bayes} | {name: found.words[rows, score.argmax(axis=1)] for name, score in scores.items()}
    everywhere = {"unchanged": outputs}
    for name, guess in guesses.items():
        everywhere[name] = target.word.copy()
        everywhere[name][found.places] = guess
    return everywhere


def attack_release(
    release: WordRelease,
    attacker: WordAttacker,
    target: ReadElements,
    asked: WordTargets,
    function_words: frozenset[str],
) -> dict[str, Any]:
    """Sanitize the attacked texts once, run all word attacks on the output, and return the attacks' success rates.

    Args:
        release: The mechanism.
        attacker: The attacker's texts and models.
        target: The attacked texts as arrays of words.
        asked: The words that the attacks try to guess.
        function_words: Words of grammar such as *the*. All other words are content words.

    Returns:
        A dictionary with these keys:

        - The name of each attack (``unchanged``, ``bayes``, ``trigrams``, ``network``, ``sum``): its rates of right
          guesses, one for each group of words (``WordTargets.compute_shares``). The attack ``unchanged`` guesses that
          each output is the original.
        - ``closed_form``: the rate that ``bayes``, which ignores the other words of the text, has on randomized content
          words of the attacker's own texts. The rate is exact, from probabilities instead of sampled outputs.
        - ``hidden``: the share of the words and punctuation marks of the attacked texts that are replaced or
          randomized.
        - ``weights``: the weights with which the attack ``sum`` adds the scores of the others.
    """
    guesses = guess_words(release, attacker, target)
    result: dict[str, Any] = {name: asked.compute_shares(target, guess) for name, guess in guesses.items()}
    content = np.array([word not in function_words for word in release.words.spellings])
    considered, weights = attacker.prepare_release(release)
    result["closed_form"] = considered.compute_closed_form(content)
    result["hidden"] = float(np.isin(target.role, (RANDOMIZED, SURROGATE)).mean())
    result["weights"] = {"sum": [round(weight, 3) for weight in weights.tolist()]}
    return result
