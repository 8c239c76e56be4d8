"""Store texts, each with one sanitized output, aligned token by token, for the attacks."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from textveil_training.errors import EmptyData
from textveil_training.token_randomizer import Ids, TokenizedText, TokenRandomizer

Bits = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class ReleasedTexts:
    """Texts with one sanitized output each.

    Arrays have one entry per token, over all texts in order.

    Attributes:
        texts: Tokens of each text.
        outputs_by_text: Output ids of each text.
        text: Index of the text of each token.
        position: Position of each token in its text.
        example: Index of the example to which the text belongs; tokens of one example are not independent.
        inputs: Input id of each token, the last id for unknown words (``<unk>``).
        outputs: Output id of each token.
        sensitive: Whether the mechanism always randomizes the token; false for the common words that SanText+ leaves
            unchanged with some probability.
    """

    texts: tuple[TokenizedText, ...] = field(repr=False)
    outputs_by_text: tuple[Ids, ...] = field(repr=False)
    text: Ids = field(repr=False)
    position: Ids = field(repr=False)
    example: Ids = field(repr=False)
    inputs: Ids = field(repr=False)
    outputs: Ids = field(repr=False)
    sensitive: Bits = field(repr=False)

    def __len__(self) -> int:
        """Return the number of tokens in all texts."""
        return len(self.inputs)


def release_texts(randomizer: TokenRandomizer, examples: Sequence[Sequence[str]]) -> ReleasedTexts:
    """Tokenize texts and randomize each of them once.

    Args:
        randomizer: The mechanism.
        examples: Texts of each example.

    Raises:
        EmptyData: No text has a token.

    Privacy:
        Each call samples one more output of every text, and so spends epsilon again if the outputs are published.
    """
    texts = tuple(randomizer.tokenize(text) for example in examples for text in example)
    owner = np.array([number for number, example in enumerate(examples) for _ in example], np.int64)
    sizes = np.array([len(text.inputs) for text in texts], np.int64)
    if not sizes.sum():
        raise EmptyData("no text has a token, so there is nothing to attack: pass other texts")
    drawn = tuple(randomizer.randomize_texts(texts))
    text = np.repeat(np.arange(len(texts)), sizes)
    inputs = np.concatenate([t.inputs for t in texts])
    return ReleasedTexts(
        texts=texts,
        outputs_by_text=drawn,
        text=text,
        position=np.arange(len(text)) - np.repeat(np.cumsum(sizes) - sizes, sizes),
        example=owner[text],
        inputs=inputs,
        outputs=np.concatenate(drawn),
        sensitive=~randomizer.keepable_ids[inputs],
    )
