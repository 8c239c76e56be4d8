"""Compute the encoder's output vectors for whole splits once, and store them in files.

A *pooled vector* is the mean of the encoder's outputs over the tokens of a text. With word dropout there are several
copies of a split. Each copy comes from the texts with different words removed.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from textveil.mechanisms.noise import WordDropout
from torch import Tensor

from textveil_training.dpnr import checkpoint as files
from textveil_training.dpnr.classification_data import ClassificationTask, ClassifiedSplit
from textveil_training.dpnr.networks import RepresentationClassifier, RepresentationModel
from textveil_training.engine.checkpoint import write_tensors
from textveil_training.engine.tokens import EncoderTokenizer, TextPieces, compute_vectors
from textveil_training.errors import CheckpointError, EmptyClass
from textveil_training.file_hashes import hash_file
from textveil_training.progress import ProgressCallback, ignore_progress

BATCH = 64


def compute_pooled_features(
    model: RepresentationModel,
    tokenizer: EncoderTokenizer,
    texts: Sequence[TextPieces],
    device: torch.device,
    report: ProgressCallback = ignore_progress,
) -> Tensor:
    """Compute the mean output vectors of an encoder for texts, float32 on the CPU, shape ``(texts, width)``.

    Args:
        model: Networks; only the encoder is used.
        tokenizer: Tokenizer of the encoder's vocabulary.
        texts: The texts.
        device: Device of the encoder.
        report: Called after each batch.
    """

    def of(batch: Tensor) -> Tensor:
        ids, mask = tokenizer.make_batch([texts[index] for index in batch.tolist()])  # (batch, tokens)
        return model.pool_texts(ids.to(device), mask.to(device)).cpu()

    model.eval()
    with torch.inference_mode():
        found = compute_vectors(texts, BATCH, of, partial(report, "features"))
    return found.clone()  # PyTorch cannot train on tensors of inference mode


def write_features(path: Path, features: Tensor, split: ClassifiedSplit, encoder: str) -> None:
    """Write the pooled vectors (mean encoder outputs) of a split to a safetensors file.

    Args:
        path: The file.
        features: Pooled vectors, in the order of the split's texts.
        split: Split with the hash of its texts.
        encoder: SHA-256 of the encoder's weights.

    Raises:
        OutputError: The file cannot be written.
    """
    header = {"split_sha256": split.sha256, "encoder_sha256": encoder}
    write_tensors(path, {"features": features}, header)


def read_features(path: Path, split: ClassifiedSplit, encoder: str) -> Tensor:
    """Read the pooled vectors (mean encoder outputs) of a split from a file of ``write_features``.

    Args:
        path: The file.
        split: Split with the hash of its texts.
        encoder: SHA-256 of the encoder's weights.

    Raises:
        CheckpointError: The file is missing or damaged, or its vectors are from other texts or another encoder.
    """
    try:
        with safe_open(path, "pt") as file:
            header = file.metadata() or {}
            features = file.get_tensor("features")
    except (OSError, SafetensorError) as error:
        raise CheckpointError(
            "a file of features is missing or damaged: omit --features, or write them again (--write-features)"
        ) from error
    if header.get("split_sha256") != split.sha256 or header.get("encoder_sha256") != encoder:
        raise CheckpointError(
            "the features belong to other texts or another encoder: write them again (--write-features)"
        )
    return features


def remove_random_words(text: TextPieces, dropout: WordDropout) -> TextPieces:
    """Remove each word of a text with probability ``dropout``."""
    if not len(text.pieces):
        return text
    kept = torch.from_numpy(~dropout.draw_dropped(int(text.word_numbers[-1]) + 1))[text.word_numbers]
    return TextPieces(text.pieces[kept], text.word_numbers[kept])


#: Number of copies of each split, each with other words removed. The test split has several, so that the accuracy
#: depends less on chance.
COPIES = {"train": 1, "dev": 1, "test": 3}


class StoredFeatures:
    """Cache of pooled vectors (mean encoder outputs) in files, for each split and each word dropout.

    If a file is missing, the class computes the vectors and writes the file.

    Args:
        start: Checkpoint (folder with a trained model) whose encoder computes the vectors.
        task: Data with texts and labels.
        cache: Folder for the files.
        features: Folder with stored vectors of this encoder, ``features-SPLIT.safetensors``; ``None`` if there is none.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Raises:
        CheckpointError: The checkpoint cannot be used.
        EmptyClass: The checkpoint was trained for other classes.
    """

    def __init__(
        self,
        start: Path,
        task: ClassificationTask,
        cache: Path,
        features: Path | None = None,
        report: ProgressCallback = ignore_progress,
    ) -> None:
        self.model, self.description = files.read_checkpoint(start)
        if self.description.labels != task.labels:
            raise EmptyClass("the checkpoint was trained for other classes: pass a checkpoint of these data")
        self._task, self._cache, self._given, self._report = task, cache, features, report
        self._encoder = hash_file(start / files.EXTRACTOR / "model.safetensors")
        self._tokenizer = EncoderTokenizer(
            start / files.VOCABULARY,
            lowercase=self.description.lowercase,
            max_tokens=self.description.max_tokens,
        )
        self._held: dict[tuple[str, str], Tensor] = {}

    @property
    def clean_classifier(self) -> RepresentationClassifier:
        """Return the classifier of the start checkpoint (trained model), which must have been trained without noise.

        Raises:
            CheckpointError: The checkpoint was trained with noise.
        """
        if self.description.mode != "none":
            raise CheckpointError("--start must be a checkpoint trained without noise (a recipe of the kind clean)")
        return self.model.classifier

    def __call__(self, word_dropout: str) -> dict[str, Tensor]:
        """Return the pooled vectors (mean encoder outputs) of all splits by name (see ``get_split``)."""
        return {name: self.get_split(name, word_dropout) for name in self._task.get_splits()}

    def get_split(self, name: str, word_dropout: str = "0") -> Tensor:
        """Return the pooled vectors (mean encoder outputs) of a split, shape (copies, texts, width).

        Without word dropout there is one copy, with it the number in ``COPIES``.

        Args:
            name: ``train``, ``dev`` or ``test``.
            word_dropout: Probability that a word is removed, a decimal string.

        Raises:
            CheckpointError: A file is damaged, or its vectors are from other texts or another encoder.
            OutputError: The cache cannot be written.
            OptionError: ``word_dropout`` is not a number from 0 to 1.
        """
        if (name, word_dropout) not in self._held:
            self._held[name, word_dropout] = self._read_or_compute(name, WordDropout(word_dropout))
        return self._held[name, word_dropout]

    def _read_or_compute(self, name: str, dropout: WordDropout) -> Tensor:
        part = self._task.get_splits()[name]
        if not dropout.exact and self._given is not None:
            return read_features(self._given / f"features-{name}.safetensors", part, self._encoder)[None]
        gaps = f"-dropout-{dropout.mu}" if dropout.exact else ""
        path = self._cache / f"features-{name}{gaps}.safetensors"
        if path.exists():
            found = read_features(path, part, self._encoder)
            return found if dropout.exact else found[None]
        words = [self._tokenizer.split_into_pieces(text) for text in part.texts]
        copies = [
            compute_pooled_features(
                self.model,
                self._tokenizer,
                [remove_random_words(text, dropout) for text in words] if dropout.exact else words,
                torch.device("cpu"),
                lambda _, done, total: self._report(f"features of {name}{gaps}", done, total),
            )
            for _ in range(COPIES[name] if dropout.exact else 1)
        ]
        found = torch.stack(copies)
        self._cache.mkdir(parents=True, exist_ok=True)
        write_features(path, found if dropout.exact else found[0], part, self._encoder)
        return found


def find_stored_features(folder: Path) -> Path | None:
    """Return ``folder`` if pooled vectors (mean encoder outputs) are stored in it, else ``None``."""
    return folder if (folder / "features-train.safetensors").is_file() else None
