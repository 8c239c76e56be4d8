"""Priors: what an attacker believes of a token before seeing its output, as distributions over the inputs."""

import numpy as np

from textveil_training.text_channel import Doubles, Ids

#: Names of the priors in records.
ZIPF, TEXT = "zipf", "text"
#: Shift of ranks in the Zipf-Mandelbrot law of English words.
OFFSET = 2.7


def zipf(inputs: int) -> Doubles:
    """Returns the public Zipf-Mandelbrot prior ``pi(x)``, proportional to ``1 / (rank + 2.7)``, shape ``(inputs,)``.

    Rank 1 is the first line of the vocabulary, which is in the order of a public corpus; ``<unk>`` has the last rank.
    The statistics that a bundle carries use the same prior.
    """
    shares = 1 / (np.arange(1, inputs + 1) + OFFSET)
    return shares / shares.sum()


def of_text(tokens: Ids, inputs: int) -> Doubles:
    """Returns the relative frequencies of the attacked tokens themselves, shape ``(inputs,)``.

    No outsider knows as much: a word that the text lacks is never guessed. Words in one piece and parts of words are
    counted together.
    """
    return np.bincount(tokens, minlength=inputs) / len(tokens)


def both(tokens: Ids, inputs: int) -> dict[str, Doubles]:
    """Returns both priors by name, the public one first."""
    return {ZIPF: zipf(inputs), TEXT: of_text(tokens, inputs)}
