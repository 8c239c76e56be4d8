"""Texts and what came out for them, token beside token: what the attacks are measured on."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from textveil_training.errors import EmptyData
from textveil_training.text_channel import Ids, TextChannel, Tokens

Bits = NDArray[np.bool_]


@dataclass(frozen=True)
class Released:
    """Some texts and one output of each. The arrays have one entry for every token of all texts, in order.

    Attributes:
        texts: What was read.
        drawn: Output ids of each text.
        text: Which text a token is of.
        place: Where in it.
        example: Which example the text is of; tokens of one example are not independent.
        inputs: Input ids, ``<unk>`` last.
        outputs: Output ids.
        whole: Whether it is a word in one piece, as anybody sees. Where all tokens are words, all are: an unknown one,
            which the device does not call whole, is never kept either way.
        sensitive: Whether the coin of common words never keeps it.
    """

    texts: tuple[Tokens, ...] = field(repr=False)
    drawn: tuple[Ids, ...] = field(repr=False)
    text: Ids = field(repr=False)
    place: Ids = field(repr=False)
    example: Ids = field(repr=False)
    inputs: Ids = field(repr=False)
    outputs: Ids = field(repr=False)
    whole: Bits = field(repr=False)
    sensitive: Bits = field(repr=False)

    def __len__(self) -> int:
        """Tokens of all texts."""
        return len(self.inputs)


def release(channel: TextChannel, examples: Sequence[Sequence[str]]) -> Released:
    """Reads texts and draws an output of each.

    Args:
        channel: The law.
        examples: The texts of each example.

    Raises:
        EmptyData: No text has a token.

    Privacy:
        A release of every text.
    """
    texts = tuple(channel.read(text) for example in examples for text in example)
    owner = np.array([number for number, example in enumerate(examples) for _ in example], np.int64)
    sizes = np.array([len(text.inputs) for text in texts], np.int64)
    if not sizes.sum():
        raise EmptyData("no text has a token")
    drawn = tuple(channel.draw(texts))
    text = np.repeat(np.arange(len(texts)), sizes)
    inputs, whole = np.concatenate([t.inputs for t in texts]), np.concatenate([t.whole for t in texts])
    whole |= not channel.pieces
    return Released(
        texts=texts,
        drawn=drawn,
        text=text,
        place=np.arange(len(text)) - np.repeat(np.cumsum(sizes) - sizes, sizes),
        example=owner[text],
        inputs=inputs,
        outputs=np.concatenate(drawn),
        whole=whole,
        sensitive=~(channel.plan.keepable[inputs] & whole),
    )
