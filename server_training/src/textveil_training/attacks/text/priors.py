"""Priors: what an attacker believes of a token before seeing its output, as distributions over the inputs.

The public prior is the Zipf-Mandelbrot one that the statistics of a bundle use (``textveil_export.leakage.zipf``).
"""

import numpy as np
from textveil_export.leakage import zipf

from textveil_training.token_randomizer import Doubles, Ids

#: Names of the priors in records.
ZIPF, TEXT = "zipf", "text"


def of_text(tokens: Ids, inputs: int) -> Doubles:
    """Returns the relative frequencies of the attacked tokens themselves, shape ``(inputs,)``.

    No outsider knows as much: a word that the text lacks is never guessed. Words in one piece and parts of words are
    counted together.
    """
    return np.bincount(tokens, minlength=inputs) / len(tokens)


def both(tokens: Ids, inputs: int) -> dict[str, Doubles]:
    """Returns both priors by name, the public one first."""
    return {ZIPF: zipf(inputs), TEXT: of_text(tokens, inputs)}
