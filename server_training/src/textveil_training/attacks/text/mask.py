"""Mask-token inference: a masked language model guesses each original token from the sanitized tokens around it.

Every token of the sanitized text is replaced by [MASK] in turn, and the model's likeliest piece is compared with the
ORIGINAL token (Yue et al. 2021, section 5.3). ``top1`` is the share of matches among all tokens, changed or not, and
the defense rate of the paper is ``1 - top1``, under the key ``defense``. A match needs the original to be one piece of
the model's vocabulary: a word of several pieces counts as not matched. ``first_piece`` is lenient: it is enough to
predict the first piece of the original. ``clean_top1`` and ``clean_first_piece`` are the same in the raw text, where
nothing is protected.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from textveil_training.attacks.rates import rates_of
from textveil_training.attacks.text.masked_lm_reader import Pieces, Reader
from textveil_training.attacks.text.released import Released
from textveil_training.token_randomizer import Ids


class MaskInference:
    """Collects the guesses for a sample of tokens.

    Args:
        reader: The masked language model.
        released: Texts and their outputs.
        sample: Indices of the attacked tokens.
    """

    def __init__(self, reader: Reader, released: Released, sample: Ids) -> None:
        self._released, self._sample = released, sample
        self._unknown = reader.tokenizer.ids["[UNK]"]
        texts = {text: reader.originals(released.texts[text]) for text in set(released.text[sample].tolist())}
        tokens = zip(released.text[sample].tolist(), released.position[sample].tolist(), strict=True)
        self._originals: Sequence[Pieces] = [texts[text][position] for text, position in tokens]
        self._guesses = {clean: np.full(len(sample), -1) for clean in (False, True)}

    def take(self, numbers: Tensor, logits: Tensor, *, clean: bool) -> None:
        """Keeps the likeliest pieces of some tokens, found in the raw texts (``clean``) or in the sanitized ones."""
        self._guesses[clean][numbers.numpy()] = logits.argmax(dim=1).numpy()

    def result(self) -> dict[str, Any]:
        """Returns the rates, as a record holds them."""
        first = np.array([self._unknown if not pieces else pieces[0] for pieces in self._originals])
        single = np.array([len(pieces) == 1 for pieces in self._originals])
        values = {}
        for clean, name in ((False, ""), (True, "clean_")):
            found = (self._guesses[clean] == first) & (first != self._unknown)
            values |= {f"{name}top1": found & single, f"{name}first_piece": found}
        values = {"defense": ~values["top1"]} | values
        sample = self._sample
        return rates_of(values, self._released.example[sample], self._released.sensitive[sample])
