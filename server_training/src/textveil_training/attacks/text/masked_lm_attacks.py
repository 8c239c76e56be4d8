"""Guess the words of sanitized text with a masked language model, alone or combined with Bayes' rule.

**Mask-token inference** (Yue et al. 2021, section 5.3). [MASK] replaces each token of the sanitized text in turn, and
the model's likeliest WordPiece is compared with the ORIGINAL token. ``top1`` is the share of matches among all tokens,
changed or not; ``defense`` is the paper's defense rate ``1 - top1``. A match is possible only if the original is a
single WordPiece of the model's vocabulary. For ``first_piece`` a match of the original's first WordPiece is enough.
``clean_top1`` and ``clean_first_piece`` are the same rates in the raw text, without any protection.

**Contextual Bayes.** For a token with output y in the sanitized context c the posterior is ``p(x | c) Pr[M(x) = y]``,
normalized, and the guess is the likeliest x. The sanitized neighbors are the context; the token itself is masked,
because the mechanism gives the exact likelihood of its output. The prior over the inputs of the bundle comes from the
model's prediction of WordPieces,

    p(x | c) = (1 - u(<unk>)) sum_s p_LM(first(s) | c) u(s) / U(first(s)) / C,    p(<unk> | c) = u(<unk>),

over the spellings s of x. Here ``p_LM`` is the model's prediction, ``first(s)`` the first WordPiece of s, and u the
unigram prior (the spellings of a merged symbol share its prior). ``U(f)`` is the sum of u over spellings whose first
WordPiece is f, and C the sum of p_LM over first WordPieces with U > 0, so that the probabilities sum to 1. Two more
attackers on the same tokens show the effect of context: the prior alone (no output) and the context-free Bayes attack
(no context).

A model that reads sanitized text is overconfident. An attacker who knows this gives it less weight,
``p(x | c)^w u(x)^(1 - w) Pr[M(x) = y]``: w = 1 is the attack above, w = 0 the context-free one. For each half of the
texts the tuned rate uses the w that is best on the other half; a real attacker would tune w on their own texts.

The likeliest of all inputs is often a common word, so an attacker who maximizes accuracy rarely guesses rare words. The
*targeted* rates belong to an attacker who only guesses words that the mechanism always randomizes, with context (w = 1)
and without (w = 0).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from textveil_training.attacks.rates import compute_rates
from textveil_training.attacks.text.context_free import TEXT, ZIPF
from textveil_training.attacks.text.masked_lm_reader import MaskedLMReader, Pieces
from textveil_training.attacks.text.released import ReleasedTexts
from textveil_training.token_randomizer import Doubles, Ids, TokenRandomizer


class MaskInference:
    """Attack that predicts original tokens with a masked language model, from the sanitized text around them.

    Args:
        reader: The masked language model.
        released: Raw texts with one sanitized output each.
        sample: Indices of the attacked tokens.
    """

    def __init__(self, reader: MaskedLMReader, released: ReleasedTexts, sample: Ids) -> None:
        self._released, self._sample = released, sample
        self._unknown = reader.tokenizer.ids["[UNK]"]
        texts = {text: reader.get_original_pieces(released.texts[text]) for text in set(released.text[sample].tolist())}
        tokens = zip(released.text[sample].tolist(), released.position[sample].tolist(), strict=True)
        self._originals: Sequence[Pieces] = [texts[text][position] for text, position in tokens]
        self._guesses = {clean: np.full(len(sample), -1) for clean in (False, True)}

    def add_guesses(self, numbers: Tensor, logits: Tensor, *, clean: bool) -> None:
        """Store the likeliest WordPiece for each token.

        Args:
            numbers: Positions of the tokens in ``sample``.
            logits: Logits of all WordPieces for each token.
            clean: Whether the model predicted them from the raw texts; otherwise from the sanitized ones.
        """
        self._guesses[clean][numbers.numpy()] = logits.argmax(dim=1).numpy()

    def compute_result(self) -> dict[str, Any]:
        """Return how often the predictions were right as a dictionary for JSON.

        The rates are ``defense`` (tokens that are not predicted), ``top1`` (the whole word) and ``first_piece`` (its
        first WordPiece). The names with ``clean_`` are for predictions from the raw texts.
        """
        first = np.array([self._unknown if not pieces else pieces[0] for pieces in self._originals])
        single = np.array([len(pieces) == 1 for pieces in self._originals])
        values = {}
        for clean, name in ((False, ""), (True, "clean_")):
            found = (self._guesses[clean] == first) & (first != self._unknown)
            values |= {f"{name}top1": found & single, f"{name}first_piece": found}
        values = {"defense": ~values["top1"]} | values
        sample = self._sample
        return compute_rates(values, self._released.example[sample], self._released.sensitive[sample])


#: Length of the longer list of guesses.
LISTED = 10
#: Weights w of the context to try: 0 is the context-free attack, 1 the contextual one.
WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
_PRIOR = "prior"
_TARGETED = {"targeted_": 1.0, "targeted_context_free_": 0.0}
"""Weight of the context in each targeted rate, by the prefix of the name of the rate."""


class WordPrior:
    """Function object that converts WordPiece logits of a language model to probabilities of a vocabulary's words.

    Args:
        randomizer: The mechanism with its bundle.
        reader: The masked language model.
        unigram: Probability of each word without its context, shape ``(inputs,)``.
    """

    def __init__(self, randomizer: TokenRandomizer, reader: MaskedLMReader, unigram: Doubles) -> None:
        entries = [
            (x, pieces[0])
            for spelling, x in randomizer.bundle.symbol_ids.items()
            if (pieces := reader.get_pieces(spelling))
        ]
        symbol, first = (np.array(column) for column in zip(*entries, strict=True))
        weight = unigram[symbol] / np.bincount(symbol, minlength=len(unigram))[symbol]
        under_first = np.bincount(first, weight, minlength=len(reader.tokenizer.ids))
        share = np.divide(weight, under_first[first], out=np.zeros_like(weight), where=under_first[first] > 0)
        self._symbol, self._first = torch.from_numpy(symbol), torch.from_numpy(first)
        self._share = torch.from_numpy(share).float()
        self._unknown = float(unigram[-1])
        self._inputs = len(unigram)

    def __call__(self, logits: Tensor) -> Tensor:
        """Convert logits ``(n, vocabulary)`` to priors ``(n, inputs)``; each row sums to 1."""
        pieces = logits.softmax(dim=1)
        found = torch.zeros(len(logits), self._inputs)
        found.index_add_(1, self._symbol, pieces[:, self._first] * self._share)
        found *= (1 - self._unknown) / found.sum(dim=1, keepdim=True)
        found[:, -1] = self._unknown
        return found


class ContextualBayes:
    """Attack that combines the output's exact probability with a language model's prediction, by Bayes' rule.

    Args:
        randomizer: The mechanism.
        reader: The masked language model.
        released: Raw texts with one sanitized output each.
        sample: Indices of the attacked tokens.
        unigrams: Prior probabilities of the words by name (``zipf``, ``text``), shape ``(inputs,)`` each.
    """

    def __init__(
        self,
        randomizer: TokenRandomizer,
        reader: MaskedLMReader,
        released: ReleasedTexts,
        sample: Ids,
        unigrams: Mapping[str, Doubles],
    ) -> None:
        self._released, self._sample = released, sample
        self._priors = {name: WordPrior(randomizer, reader, unigram) for name, unigram in unigrams.items()}
        self._unigrams = {name: torch.from_numpy(unigram).float() for name, unigram in unigrams.items()}
        self._inputs = torch.from_numpy(released.inputs[sample])
        self._never_kept = torch.from_numpy(~randomizer.keepable_ids)
        outputs, self._row = np.unique(released.outputs[sample], return_inverse=True)
        blocks = randomizer.get_distribution().iterate_column_blocks(outputs)
        self._likelihoods = torch.cat([torch.from_numpy(block.astype(np.float32)) for _, block in blocks])
        kinds = [(name, kind) for name in unigrams for kind in (_PRIOR, *WEIGHTS, *_TARGETED)]
        self._ranks = {kind: np.zeros(len(sample), np.int64) for kind in kinds}

    def rank_tokens(self, numbers: Tensor, logits: Tensor) -> None:
        """Compute the ranks of the original tokens among all guesses, for some of the attacked tokens.

        Args:
            numbers: Positions of the tokens in ``sample``.
            logits: The model's logits of all WordPieces for each token.
        """
        likelihoods = self._likelihoods[torch.from_numpy(self._row[numbers.numpy()])]
        truth = self._inputs[numbers]
        for name, of_context in self._priors.items():
            prior, unigram = of_context(logits), self._unigrams[name]
            self._ranks[name, _PRIOR][numbers.numpy()] = _rank_truth(prior, truth)
            for weight in WEIGHTS:
                scores = prior.pow(weight).mul_(unigram.pow(1 - weight)).mul_(likelihoods)
                self._ranks[name, weight][numbers.numpy()] = _rank_truth(scores, truth)
                for kind, of_weight in _TARGETED.items():
                    if weight == of_weight:
                        self._ranks[name, kind][numbers.numpy()] = _rank_truth(scores * self._never_kept, truth)

    def compute_result(self) -> dict[str, Any]:
        """Return the success rates of the attack for JSON, by what the attacker knows about word frequencies.

        The main rates use a public Zipf distribution; ``text_prior`` uses the frequencies in the attacked texts.
        """
        return self._compute_rates(ZIPF) | {"text_prior": self._compute_rates(TEXT)}

    def _compute_rates(self, name: str) -> dict[str, Any]:
        tuned, chosen = self._tune_weights(name)
        kinds = {
            "": self._ranks[name, WEIGHTS[-1]],
            "prior_": self._ranks[name, _PRIOR],
            "context_free_": self._ranks[name, WEIGHTS[0]],
            "tuned_": tuned,
        }
        values = {f"{kind}top{most}": rank < most for kind, rank in kinds.items() for most in (1, LISTED)}
        sample = self._sample
        targeted = {f"{kind}top1": self._ranks[name, kind] < 1 for kind in _TARGETED}
        found = compute_rates(values, self._released.example[sample], self._released.sensitive[sample], targeted)
        return found | {"tuned_weights": chosen}

    def _tune_weights(self, name: str) -> tuple[Ids, list[float]]:
        """Choose the weight of the language model's prediction against the prior without context, by cross-validation.

        For each half of the texts the weight is the one that is best on the other half.

        Returns:
            The ranks of the true inputs under these weights, and the weights of both halves.
        """
        half = self._released.example[self._sample] % 2
        found, chosen = self._ranks[name, WEIGHTS[-1]].copy(), [WEIGHTS[-1]] * 2
        for mine in (0, 1):
            if (half == mine).any() and (half != mine).any():
                hits = [np.count_nonzero(self._ranks[name, weight][half != mine] < 1) for weight in WEIGHTS]
                chosen[mine] = WEIGHTS[int(np.argmax(hits))]
                found[half == mine] = self._ranks[name, chosen[mine]][half == mine]
        return found, chosen


def _rank_truth(scores: Tensor, truth: Tensor) -> Ids:
    """Return the rank of the true input in each row: the number of scores that are larger.

    An equal score counts as larger if its index is smaller.

    Args:
        scores: Scores of all inputs, one row per token.
        truth: Index of the true input in each row.
    """
    own = scores.gather(1, truth[:, None])
    before = torch.arange(scores.shape[1]) < truth[:, None]
    return ((scores > own) | ((scores == own) & before)).sum(dim=1).numpy()
