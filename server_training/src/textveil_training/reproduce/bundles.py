"""Build the bundles (folders with words and settings) with which the tables of the SanText paper are reproduced.

The epsilons of that paper (Yue et al. 2021) are per unit of distance between word vectors.
"""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np

from textveil_training.errors import MissingExtra
from textveil_training.reproduce.inputs import ReproductionInputs

_NEEDS_EXPORT = "this study builds a bundle: install textveil-export (in a clone: pip install -e ./export)"
_SAMPLE_WORDS = 3_000
_SAMPLE_MEDIAN = 5.6
"""Median distance to which the built-in vectors are scaled: that of GloVe 50d."""


@dataclass(frozen=True, kw_only=True)
class WordBundle:
    """A bundle with the word mechanisms SanText and FBDD, and the scale of its word vectors.

    Attributes:
        folder: Folder of the bundle.
        median: Median distance of two words in units of the vectors. The bundle's epsilons are per median distance.
        levels: Name of the epsilon in the bundle, by the epsilon in the paper.
        words: Number of words.
    """

    folder: Path
    median: float
    levels: dict[str, str]
    words: int

    def convert_epsilon(self, epsilon: str) -> str:
        """Convert an epsilon per unit of distance between word vectors to one per median distance.

        The mechanism FBDD (Feyisetan et al. 2020) uses the second form.
        """
        return f"{float(epsilon) * self.median:.6g}"


def build_word_bundle(inputs: ReproductionInputs, epsilons: tuple[str, ...]) -> WordBundle:
    """Build a bundle with SanText at the epsilons of a paper.

    SanText samples a word at distance d with a probability proportional to ``exp(-epsilon d / 2)``. A bundle needs the
    exponent per median distance, which is half the epsilon times the median distance.

    Args:
        inputs: The vectors, and the folder of the bundle.
        epsilons: Epsilons per unit of the vectors, ascending.

    Raises:
        MissingExtra: textveil-export is not installed.
        SourceError, ExportError: The vectors cannot be used.
    """
    try:
        from textveil_export.text import (
            LISTS,
            TextBundleRecipe,
            WordPolicy,
            build_text_bundle,
            quantize_vectors,
            read_vectors,
            write_bundle,
        )
    except ImportError as error:
        raise MissingExtra(_NEEDS_EXPORT) from error
    sample = inputs.vectors is None
    most = min(_SAMPLE_WORDS, inputs.max_words) if sample else inputs.max_words
    source = read_vectors(inputs.vectors or LISTS / "words" / "english-3-vectors.txt.gz", most, inputs.report)
    step = float(np.abs(source.vectors).max()) / 127
    median = step * _measure_median(quantize_vectors(source.vectors))
    if sample:  # the scale of the built-in vectors is arbitrary
        median = _SAMPLE_MEDIAN
    exponents = {epsilon: Decimal(f"{float(epsilon) * median / 2:.4f}") for epsilon in epsilons}
    names = {epsilon: f"{(2 * alpha).normalize():f}" for epsilon, alpha in exponents.items()}
    recipe = TextBundleRecipe(
        name="reproduction",
        policy=WordPolicy(share=0.9, sensitive=frozenset(), allow=frozenset(), never_output=frozenset()),
        levels={names[epsilon]: alpha for epsilon, alpha in exponents.items()},
        license="not stated",
    )
    folder = inputs.work / "bundle"
    write_bundle(build_text_bundle(source, recipe, inputs.report), folder, force=True)
    return WordBundle(folder=folder, median=median, levels=names, words=len(source.words))


def _measure_median(rows: np.ndarray) -> float:
    """Estimate the median distance of two different rows from 200,000 random pairs."""
    generator = np.random.default_rng(0)
    first, second = generator.integers(0, len(rows), (2, 200_000))
    different = first != second
    away = rows[first[different]].astype(np.int64) - rows[second[different]]
    return float(np.median(np.sqrt((away**2).sum(axis=1))))
