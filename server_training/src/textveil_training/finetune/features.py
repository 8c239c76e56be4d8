"""Compute an encoder's vectors of single texts or pairs, and fit a linear classifier or regression to them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textveil_training.engine.tokens import EncoderTokenizer, compute_vectors
from textveil_training.finetune.network import FinetunedNetwork, LinearHead
from textveil_training.progress import ProgressCallback, ignore_progress


@dataclass(frozen=True, slots=True)
class EncodedSequence:
    """A sequence of WordPieces with [CLS] and [SEP].

    Attributes:
        pieces: WordPiece ids, shape ``(length,)``.
        types: 0 for the first text, 1 for the second, shape ``(length,)``.
    """

    pieces: Tensor = field(repr=False)
    types: Tensor = field(repr=False)


def join_texts(tokenizer: EncoderTokenizer, texts: Sequence[str]) -> EncodedSequence:
    """Tokenize one text or a pair of texts to one sequence, cut to the maximum length.

    The form is ``[CLS] a [SEP]`` or ``[CLS] a [SEP] b [SEP]``. If a pair is too long, its longer text is cut first.

    Args:
        tokenizer: The encoder's tokenizer.
        texts: One text, or two.
    """
    parts = [tokenizer.split_into_pieces(text).pieces.tolist() for text in texts]
    room = tokenizer.max_tokens - 1 - len(parts)
    while sum(map(len, parts)) > room:
        longest = max(parts, key=len)
        excess = sum(map(len, parts)) - room
        second = max((len(part) for part in parts if part is not longest), default=0)
        del longest[max(len(longest) - excess, min(second, len(longest) - 1)) :]
    pieces, types = [tokenizer.first], [0]
    for number, part in enumerate(parts):
        pieces += [*part, tokenizer.last]
        types += [number] * (len(part) + 1)
    return EncodedSequence(torch.tensor(pieces), torch.tensor(types))


def pad_sequences(sequences: Sequence[EncodedSequence], padding: int) -> tuple[Tensor, Tensor, Tensor]:
    """Pad sequences to the longest one, and return ids, attention mask and types.

    Args:
        sequences: The sequences of a batch.
        padding: Id of [PAD].

    Returns:
        Three int64 tensors of shape ``(rows, tokens)``. The mask is 1 for a WordPiece and 0 for padding.
    """
    pad = torch.nn.utils.rnn.pad_sequence
    ids = pad([sequence.pieces for sequence in sequences], batch_first=True, padding_value=padding)
    mask = pad([torch.ones_like(sequence.pieces) for sequence in sequences], batch_first=True)
    return ids, mask, pad([sequence.types for sequence in sequences], batch_first=True)


_AT_ONCE = 128
STRENGTHS = (0.001, 0.01, 0.1, 1.0, 10.0)
"""Inverse strengths of the penalty, from which the best one on dev is chosen."""

Floats = NDArray[np.float64]


def pool_texts(
    network: FinetunedNetwork,
    tokenizer: EncoderTokenizer,
    texts: Sequence[Sequence[str]],
    device: torch.device,
    precision: str,
    report: ProgressCallback = ignore_progress,
    stage: str = "vectors",
) -> Tensor:
    """Compute the pooled vector (mean encoder output) of each text or pair with a network in evaluation mode.

    Args:
        network: The network.
        tokenizer: Tokenizer of the network's vocabulary.
        texts: One or two texts per row; two texts form one sequence.
        device: Device of the network.
        precision: ``float32`` or ``bfloat16``.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.
        stage: Name of the stage in progress reports.

    Returns:
        Pooled vectors, float32, shape ``(rows, width)``.
    """
    sequences = [join_texts(tokenizer, row) for row in texts]

    def of(batch: Tensor) -> Tensor:
        ids, mask, types = pad_sequences([sequences[row] for row in batch.tolist()], tokenizer.padding)
        return network.pool(ids.to(device), mask.to(device), types.to(device), precision).cpu()

    network.eval()
    with torch.inference_mode():
        found = compute_vectors(sequences, _AT_ONCE, of, partial(report, stage))
    return found.clone()  # PyTorch cannot train on tensors of inference mode


def compute_features(
    network: FinetunedNetwork,
    tokenizer: EncoderTokenizer,
    texts: Sequence[Sequence[str]],
    device: torch.device,
    precision: str,
    report: ProgressCallback = ignore_progress,
    stage: str = "vectors",
) -> Tensor:
    """Compute the input of a linear classifier or regression for an encoder that is not fine-tuned.

    For a single text the input is the pooled vector (mean encoder output). For a pair with the pooled vectors u and v,
    the input is ``[u, v, |u - v|, u * v]``.

    Args:
        network: The encoder and its head.
        tokenizer: The encoder's tokenizer.
        texts: One text or a pair of texts for each row.
        device: Device of the network.
        precision: ``float32`` or ``bfloat16``.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.
        stage: Name of this work in progress reports.
    """
    columns = [
        pool_texts(network, tokenizer, [(row[column],) for row in texts], device, precision, report, stage)
        for column in range(len(texts[0]))
    ]
    if len(columns) == 1:
        return columns[0]
    u, v = columns
    return torch.cat([u, v, (u - v).abs(), u * v], 1)


def fit_head(train: Tensor, targets: Tensor, dev: Tensor, dev_targets: Tensor, classes: int) -> LinearHead:
    """Fit a logistic regression for classes, or a ridge regression for scores, to standardized features.

    Args:
        train: Training features, shape ``(rows, width)``.
        targets: Class ids or scores, shape ``(rows,)``.
        dev: Features of the dev split, on which the best regularization of ``STRENGTHS`` is chosen.
        dev_targets: Class ids or scores of the dev split.
        classes: Number of classes; 0 for scores.

    Returns:
        The fitted head for features that are not standardized; its weights include the standardization.
    """
    from sklearn.linear_model import LogisticRegression, Ridge

    center, spread = train.double().mean(0), train.double().std(0) + 1e-6
    x, held_out = (((part.double() - center) / spread).numpy() for part in (train, dev))
    y, wanted = targets.numpy(), dev_targets.numpy()
    best: tuple[float, Floats, Floats] | None = None
    for strength in STRENGTHS:
        if classes:
            model = LogisticRegression(C=strength, max_iter=500).fit(x, y)
            value = float((model.predict(held_out) == wanted).mean())
        else:
            model = Ridge(alpha=1 / strength).fit(x, y)
            value = compute_pearson(model.predict(held_out), wanted)
        if best is None or value > best[0]:
            best = value, np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    assert best is not None
    _, weight, bias = best
    if classes == 2:  # for two classes sklearn has one row of coefficients
        weight, bias = np.vstack([-weight / 2, weight / 2]), np.concatenate([-bias / 2, bias / 2])
    folded = torch.from_numpy(weight) / spread
    head = LinearHead(train.shape[1], max(1, classes))
    with torch.no_grad():
        head.out.weight.copy_(folded)
        head.out.bias.copy_(torch.from_numpy(bias) - folded @ center)
    return head


def compute_pearson(found: Floats, wanted: Floats) -> float:
    """Compute Pearson's correlation of two arrays; the result is 0 if one of them is constant.

    Args:
        found: Predicted values.
        wanted: True values.
    """
    if np.ptp(found) == 0 or np.ptp(wanted) == 0:
        return 0.0
    return float(np.corrcoef(found, wanted)[0, 1])
