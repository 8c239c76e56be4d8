"""What an attacker believes of a token before seeing anything: distributions over the inputs, ``<unk>`` last."""

import numpy as np

from textveil_training.likelihoods import Doubles, Ids

#: Names of the priors.
ZIPF, TEXT = "zipf", "text"
#: Zipf-Mandelbrot's shift of ranks, for words of English text.
OFFSET = 2.7


def zipf(inputs: int) -> Doubles:
    """The public prior ``pi(x)`` proportional to ``1 / (rank + 2.7)``, shape ``(inputs,)``.

    Rank 1 is the first line of the vocabulary, which is ordered by a public corpus; ``<unk>`` has the last rank. It is
    the prior of the statistics that a bundle carries.
    """
    shares = 1 / (np.arange(1, inputs + 1) + OFFSET)
    return shares / shares.sum()


def of_text(tokens: Ids, inputs: int) -> Doubles:
    """The frequencies of these very tokens, shape ``(inputs,)``: an attacker who knows how often each word is there.

    More than anybody outside knows: a word that the text lacks is never guessed. Words and parts of words are counted
    together (module ``bayes`` counts them apart).
    """
    return np.bincount(tokens, minlength=inputs) / len(tokens)


def both(tokens: Ids, inputs: int) -> dict[str, Doubles]:
    """Both priors by name, the public one first."""
    return {ZIPF: zipf(inputs), TEXT: of_text(tokens, inputs)}
