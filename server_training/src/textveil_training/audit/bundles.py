"""Audit the mechanisms of a bundle (folder with word lists and settings), by samples of their outputs.

Samples of the staircase mechanism are compared with its exact probabilities. SanText, another mechanism for words, is
tested like a mechanism whose code is unknown.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from textveil import Sanitizer
from textveil.bundle import ExpectedBundle, LabelBundle, TextBundle, open_bundle
from textveil.mechanisms.staircase import Staircase
from textveil.text import summarize_levels

from textveil_training.audit.claims import Claim
from textveil_training.audit.inputs import InputPair
from textveil_training.audit.sampler import SamplerAudit, audit_sampler
from textveil_training.audit.statistics import bound_pair_epsilon
from textveil_training.audit.subjects import FunctionMechanism
from textveil_training.errors import SettingError

#: Number of words from which pairs are chosen by their exact distributions.
_WORDS = 24
_PAIRS = 8


def audit_bundle_samplers(path: Path, draws: int, expected: ExpectedBundle | None = None) -> Iterator[SamplerAudit]:
    """Compare the samples of a bundle's staircase mechanism with its exact probabilities, for each epsilon.

    Args:
        path: Folder of the bundle.
        draws: Number of samples from each of two inputs at each epsilon.
        expected: Content hash and signer that the bundle must have.

    Yields:
        The result of ``audit_sampler`` for each epsilon.

    Raises:
        BundleError: The bundle cannot be used.
    """
    bundle = open_bundle(path, TextBundle, LabelBundle, **(expected or {}))
    for staircase in _list_staircases(bundle):
        yield audit_sampler(staircase, draws)


def _list_staircases(bundle: TextBundle | LabelBundle) -> Sequence[Staircase]:
    if isinstance(bundle, LabelBundle):
        return [staircase for levels in bundle.randomizers.values() for staircase in levels]
    table = bundle.staircase_table
    if table is None:
        return []
    outputs = table.get_output_mask(function_words_kept=bundle.default_mode == "words")
    return [Staircase.from_table(table, level, np.asarray(outputs)) for level in bundle.staircase_levels]


def make_bundle_audits(
    path: Path, draws: int, expected: ExpectedBundle | None = None, seed: int | None = None
) -> Iterator[tuple[FunctionMechanism, Claim, list[InputPair]]]:
    """Prepare an audit of SanText (a mechanism that randomizes words) for each epsilon of a text bundle.

    The claim to test is an epsilon per unit of distance between two words. Among two dozen random words the function
    selects the pairs for which the audit will probably report the largest bound. It computes this from their exact
    probabilities.

    Args:
        path: Folder of the bundle.
        draws: Number of draws from each input in the later audit.
        expected: Content hash and signer that the bundle must have.
        seed: Seed of the choice of words.

    Yields:
        For each epsilon the mechanism, its claim, and pairs of words.

    Raises:
        BundleError: The bundle cannot be used.
    """
    bundle = open_bundle(path, TextBundle, LabelBundle, **(expected or {}))
    if isinstance(bundle, LabelBundle) or not bundle.santext_levels:
        return
    sanitizer = Sanitizer.load(path, **(expected or {}))
    generator = np.random.default_rng(seed)
    plain = [word for word in bundle.vocabulary if word.isalpha() and word.islower()]
    chosen = [plain[place] for place in generator.choice(len(plain), _WORDS, replace=False)]
    for level in summarize_levels(bundle, "santext"):
        epsilon = f"{level.epsilon:g}"
        found = _choose_word_pairs(sanitizer, chosen, epsilon, draws)

        def rewrite(texts: Sequence[str], epsilon: str = epsilon) -> list[str]:
            results = sanitizer.sanitize_batch(texts, mechanism="santext", epsilon=epsilon)
            return [result.text for result in results]

        yield FunctionMechanism(rewrite, batched=True), Claim(epsilon=level.epsilon, per_distance=True), found


def _choose_word_pairs(sanitizer: Sanitizer, words: Sequence[str], epsilon: str, draws: int) -> list[InputPair]:
    """Return pairs of words for which an audit of SanText (random replacement) will probably report the largest bound.

    The expected bound is computed from the exact probabilities that the output is the first word of the pair.
    """
    distributions = {word: sanitizer.distribution(word, mechanism="santext", epsilon=epsilon) for word in words}
    scored = []
    for first in words:
        p = float(distributions[first].compute_probability(first))
        for second in words:
            distance = sanitizer.distance(first, second) if first != second else 0.0
            if distance <= 0:
                continue
            q = float(distributions[second].compute_probability(first))
            bound = float(bound_pair_epsilon(round(draws / 2 * p), round(draws / 2 * q), max(1, draws // 2), 0.001))
            scored.append((bound / distance, first, second, distance))
    if not scored:
        raise SettingError("the bundle has no two words at a positive distance: pass another bundle")
    best = sorted(scored, reverse=True)[:_PAIRS]
    return [InputPair((first, second), distance, "two words") for _, first, second, distance in best]
