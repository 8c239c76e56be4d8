"""Randomize the tokens of a text, and return the pairs of input and output token.

Training on sanitized text, and attacks on it, need to know which input token became which output token. A device never
stores these pairs. Here they come from public text, or from text that belongs to the caller.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import ExpectedBundle, TextBundle, find_artifact, open_bundle
from textveil.mechanisms import IsolatedSlots, Randomizer, random_uint64
from textveil.text import Options, is_gap, make_plan, split_text

from textveil_training.errors import StaircaseUnsupported
from textveil_training.release_terms import describe_release_terms

Ids = NDArray[np.int64]
Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizedText:
    """The tokens of one text, as input of a mechanism that randomizes tokens.

    Attributes:
        inputs: Input id of each token, shape ``(n,)``; the last id stands for unknown words (``<unk>``).
        whole_words: Whether each token is a whole word, not a part of one, shape ``(n,)``.
        spellings: Spelling of each token in the text, in lower case, also of unknown words.
        gaps: The ``n + 1`` strings before each token and after the last one, which a mechanism never changes.
    """

    inputs: Ids = field(repr=False)
    whole_words: NDArray[np.bool_] = field(repr=False)
    spellings: tuple[str, ...] = field(repr=False)
    gaps: tuple[str, ...] = field(repr=False)


class TokenRandomizer:
    """A mechanism of a bundle (folder with word lists and settings), applied token by token.

    Args:
        bundle: Folder of a bundle; ``None`` for `artifacts/english-santext`.
        pins: Expected content hash and signer of the bundle.
        options: Options as in ``Sanitizer.sanitize``. If they name no mechanism, the bundle's default SanText mechanism
            is used, since the staircase mechanism does not work token by token.

    Attributes:
        bundle: The opened bundle.
        plan: Rules, mechanism and epsilon that the options select.

    Raises:
        BundleError, OptionError: For the same reasons as in ``Sanitizer.load`` and ``Sanitizer.sanitize``.
        StaircaseUnsupported: The options name the staircase mechanism, or the bundle has no other mechanism.
    """

    def __init__(
        self, bundle: Path | None = None, *, pins: ExpectedBundle | None = None, **options: Unpack[Options]
    ) -> None:
        self.bundle = open_bundle(
            find_artifact("english-santext") if bundle is None else bundle, TextBundle, **(pins or {})
        )
        if options.get("mechanism") is None and self.bundle.default_mechanism == "staircase":
            options["mechanism"] = self.bundle.default_table_mechanism or "staircase"
        if options.get("mechanism") == "staircase":
            raise StaircaseUnsupported(
                "the staircase mechanism depends on the text around a word, but this training sanitizes single words: "
                "use another mechanism with a bundle that has it, or sanitize a corpus first (sanitize-corpus) and "
                "pass it to pretrain"
            )
        self.plan = make_plan(self.bundle, **options)

    @property
    def unknown_id(self) -> int:
        """Return the input id of ``<unk>``, the token of all unknown words. This id is never an output."""
        return self.bundle.symbol_count

    def tokenize(self, text: str) -> TokenizedText:
        """Split a text into tokens and gaps (the text between two tokens)."""
        inputs: list[int] = []
        whole: list[bool] = []
        spellings: list[str] = []
        gaps = [""]
        rule, bare = self.plan.rule, self.plan.terms.sanitize_punctuation
        for segment in split_text(text, lone_clitics=self.plan.joins_lone_clitics):
            if is_gap(segment):
                tokens = [rule.classify_mark(mark) for mark in segment if bare and not mark.isspace()]
            else:
                tokens = [token for _, token in rule.classify_token(segment, starts_sentence=False)]
            if not tokens:
                gaps[-1] += segment
            ids = [self.plan.find_symbol_id(token) for token in tokens]
            gaps += [""] * len(ids)
            inputs += ids
            whole += [token.is_whole for token in tokens]
            spellings += [segment.lower()] if len(ids) == 1 else [self.spell_token(symbol) for symbol in ids]
        return TokenizedText(
            inputs=np.array(inputs, np.int64),
            whole_words=np.array(whole, bool),
            spellings=tuple(spellings),
            gaps=tuple(gaps),
        )

    def randomize_texts(self, texts: Sequence[TokenizedText]) -> list[Ids]:
        """Randomize texts with the distribution of ``Sanitizer.sanitize``, and return each text's output ids.

        Privacy:
            Each call samples new outputs of every text, and so spends epsilon again if they are published.
        """
        if not texts:
            return []
        inputs = np.concatenate([text.inputs for text in texts])
        outputs = self.randomize_ids(inputs, np.concatenate([text.whole_words for text in texts]))
        return np.split(outputs, np.cumsum([len(text.inputs) for text in texts])[:-1])

    def randomize_ids(self, inputs: Ids, whole: NDArray[np.bool_]) -> Ids:
        """Randomize tokens, and return their output ids in the same order.

        Args:
            inputs: Input ids, shape ``(n,)``.
            whole: Whether each token is a whole word, not a part of one, shape ``(n,)``.

        Privacy:
            Each call samples a new output of every token, and so spends epsilon again if they are published.
        """
        return self.plan.mechanism.draw_symbols(
            inputs, IsolatedSlots(np.zeros(len(inputs), bool), whole), random_uint64
        )

    @property
    def has_distribution(self) -> bool:
        """Whether the exact probability of each output is available; for the mechanism ``fbdd`` it is not."""
        return self.plan.terms.mechanism != "fbdd"

    @cached_property
    def keepable_ids(self) -> NDArray[np.bool_]:
        """Return a boolean for each input id: whether SanText+ leaves the word unchanged with some probability.

        The shape is ``(symbols + 1,)``; the last entry is for ``<unk>``, which stands for unknown words.
        """
        kept = getattr(self.get_distribution(), "is_keepable", None) if self.has_distribution else None
        return np.zeros(self.unknown_id + 1, bool) if kept is None else kept

    @property
    def release_terms(self) -> dict[str, Any]:
        """Return mechanism and privacy guarantee as a dictionary, for the JSON record of a run."""
        return describe_release_terms(self.plan.terms, self.bundle)

    def spell_token(self, token: int) -> str:
        """Return the spelling of a token id in the vocabulary; ``<unk>`` for the id of unknown words."""
        return "<unk>" if token == self.unknown_id else self.bundle.vocabulary[token]

    def get_distribution(self) -> Randomizer:
        """Return the mechanism's output distribution ``Pr[M(x) = y]``.

        The distribution is that of whole words. It includes the probability with which SanText+ leaves a word unchanged
        instead of randomizing it.

        Raises:
            OptionError: The mechanism has no integer weights (``fbdd``).
        """
        return self.plan.mechanism.get_randomizer(whole=True)
