"""Fine-tune MiniLM on labeled texts, with mean pooling and a linear map to the classes.

    v = mean over pieces of BERT(text),    scores = W v + c

Here ``v`` is the vector of a text, and the matrix ``W`` and the vector ``c`` are learned. The training is that of
``textveil-train finetune``: the lowest layers are frozen, a part of the training texts selects the best epoch, and an
interrupted run can be resumed.
"""

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from textveil_export.encoder import PooledModel

from textveil_training.data import choose_share
from textveil_training.encoder.labeled_texts import LabeledPart, LabeledTexts
from textveil_training.encoder.minilm_settings import MinilmSettings
from textveil_training.engine.checkpoint import hash_weights
from textveil_training.engine.encoders import load_transformer
from textveil_training.engine.run import STATE, RunOptions
from textveil_training.engine.tokens import EncoderTokenizer
from textveil_training.finetune.finetuning_data import DEV_PERCENT, FinetuningSplit
from textveil_training.finetune.finetuning_data import FinetuningTask as FinetuneTask
from textveil_training.finetune.network import DESCRIPTION, read_model
from textveil_training.finetune.train import finetune
from textveil_training.progress import ProgressCallback

#: Smallest number of texts that select the best epoch, if 5 % of the texts are fewer; at most a fifth of the texts.
_DEV_TEXTS = 100


@dataclass(frozen=True, slots=True)
class MinilmWeights:
    """A tuned BERT model with mean pooling, and the linear classifier of its vectors.

    Attributes:
        model: The BERT model.
        weight: Matrix of the classifier, from a vector to one score for each class, float32, shape
            ``(classes, width)``.
        bias: Constants that are added to the scores, float32, shape ``(classes,)``.
    """

    model: PooledModel
    weight: NDArray[np.float32]
    bias: NDArray[np.float32]


def train_minilm(task: LabeledTexts, settings: MinilmSettings, folder: Path, report: ProgressCallback) -> MinilmWeights:
    """Fine-tune the encoder and a classifier, or fit only a classifier to the encoder's vectors.

    Args:
        task: Texts with their classes, divided into training, calibration and test texts.
        settings: Settings of the training.
        folder: Folder of the training. An interrupted training of the same texts and settings in it is resumed; the
            result of a finished one is loaded.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Raises:
        CheckpointError: The encoder cannot be used.
        ResumeError: The folder has an unfinished training of other texts or settings.
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    if not (folder / DESCRIPTION).is_file() or (folder / STATE).is_file():
        resume = (folder / STATE).is_file()
        if not resume and folder.exists():  # the training was interrupted before its first state was saved
            shutil.rmtree(folder)
        subject = {"data": {"texts": len(task.train.texts)}, "release": None}
        options = RunOptions(folder, resume)
        finetune(
            settings.make_finetuning_settings(len(task.train.texts)),
            _make_finetuning_task(task),
            subject,
            options,
            report,
        )
    network, description, vocabulary = read_model(folder)
    tokenizer = EncoderTokenizer(vocabulary, lowercase=description.lowercase, max_tokens=description.max_tokens)
    model = PooledModel(
        extractor=network.encoder.eval(),  # type: ignore[arg-type]
        vocabulary=tuple(tokenizer.ids),
        lowercase=description.lowercase,
        max_tokens=description.max_tokens,
        weights_hash=description.encoder_sha256,
    )
    head = network.head.out
    return MinilmWeights(model, *(part.detach().numpy().astype(np.float32) for part in (head.weight, head.bias)))


def load_untuned_minilm(settings: MinilmSettings) -> PooledModel:
    """Load the encoder without training, for texts without labels.

    Args:
        settings: Encoder, and maximum length of its texts.

    Raises:
        CheckpointError: The encoder cannot be used.
    """
    network, vocabulary, lowercase = load_transformer(settings.encoder, 0.0)
    pieces = EncoderTokenizer(vocabulary, lowercase=lowercase, max_tokens=settings.max_tokens).ids
    return PooledModel(
        extractor=network.eval(),  # type: ignore[arg-type]
        vocabulary=tuple(pieces),
        lowercase=lowercase,
        max_tokens=settings.max_tokens,
        weights_hash=hash_weights(vocabulary),
    )


def _make_finetuning_task(task: LabeledTexts) -> FinetuneTask:
    """Divide the training texts into train and dev for a fine-tuning.

    The function uses neither the test part nor the calibration part.
    """
    texts, classes = task.train.texts, task.train.classes
    held = np.array([choose_share(text, {"train": 100 - DEV_PERCENT, "dev": DEV_PERCENT}) == "dev" for text in texts])
    if held.sum() < _DEV_TEXTS:  # too few texts to select an epoch
        order = sorted(range(len(texts)), key=lambda n: hashlib.sha256(texts[n].encode("utf-8", "replace")).digest())
        held[:] = False
        held[order[: max(1, min(_DEV_TEXTS, len(texts) // 5))]] = True
    train, dev = (LabeledPart(tuple(np.array(texts, dtype=object)[rows]), classes[rows]) for rows in (~held, held))
    return FinetuneTask(
        task.labels, False, {"train": _make_split(train), "dev": _make_split(dev), "test": _make_split(dev)}
    )


def _make_split(part: LabeledPart) -> FinetuningSplit:
    digest = hashlib.sha256()
    for text, label in zip(part.texts, part.classes.tolist(), strict=True):
        digest.update(f"{label}\t{text}\n".encode("utf-8", "surrogatepass"))
    texts = tuple((text,) for text in part.texts)
    return FinetuningSplit(
        texts=texts,
        targets=torch.from_numpy(part.classes),
        attributes=torch.zeros(len(texts), 0),
        sha256=digest.hexdigest(),
    )
