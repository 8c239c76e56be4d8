"""Learn clusters of unlabeled texts: spherical k-means over the vectors of a user's own texts.

    cluster(x) = argmax over k of <c_k, v(x) - m>,    |c_k| = 1

Here ``v`` is the vector of a text, ``m`` the mean vector and ``c_k`` the center of cluster ``k``. The vectors come from
word embeddings (``word_embeddings``), fitted to MiniLM if it is installed, or from MiniLM itself. MiniLM's vectors are
first projected onto their main directions ``P``. Then k-means finds centers of the projected vectors, and ``c_k`` is
``P`` times such a center. Since all centers have length 1, the nearest center is the one with the largest inner
product. The inner products are linear in ``v``, so a bundle (folder with the model for devices) stores clusters in the
same form as classes: as a linear map.

The extractor, which computes the vector of a text, is ``static`` (word embeddings; a device needs numpy only) or
``minilm`` (untuned, int8 ONNX). This module quantizes the extractor together with its map to cluster labels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil_export.label import quantize_static_parts

from textveil_training.data.splits import fold_words
from textveil_training.encoder.extractors import (
    MINILM,
    SAMPLE,
    TrainedExtractor,
    describe_words,
    export_minilm,
    load_exported,
    require_minilm_packages,
)
from textveil_training.encoder.k_means import find_centers, find_main_directions, normalize_vectors, sum_by_cluster
from textveil_training.encoder.minilm_settings import MinilmSettings
from textveil_training.encoder.resume_cache import Arrays, ResumeCache
from textveil_training.encoder.static_extractor import StaticSettings
from textveil_training.encoder.teacher import NO_TEACHER, choose_teacher_texts, compute_teacher_vectors
from textveil_training.encoder.word_embeddings import (
    DIRECTIONS,
    PUBLIC_NUMBERS,
    RARE_NUMBERS,
    find_word_ids,
    fit_to_teacher,
    load_public_words,
    weight_by_rarity,
)
from textveil_training.errors import InvalidClasses
from textveil_training.progress import ProgressCallback

Floats = NDArray[np.float64]
#: Smallest number of different texts in total, and in each cluster.
MIN_TEXTS, MIN_CLUSTER_TEXTS = 1000, 20
MIN_CLUSTERS, MAX_CLUSTERS = 8, 256


@dataclass(frozen=True, slots=True)
class Codebook:
    """Learned clusters, as a linear map from the vector of a text to one score for each cluster.

    Attributes:
        weight: Matrix of the map, float32, shape ``(clusters, dimension)``.
        bias: Constants that are added to the scores, float32, shape ``(clusters,)``.
        sizes: Number of different training texts in each cluster, at least ``MIN_CLUSTER_TEXTS``.
    """

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    sizes: tuple[int, ...]


def count_needed_texts(clusters: int) -> int:
    """Return the smallest number of different texts that is enough for ``clusters`` clusters."""
    return max(MIN_TEXTS, MIN_CLUSTER_TEXTS * clusters)


def deduplicate_texts(texts: Sequence[str], clusters: int) -> list[str]:
    """Remove repeated texts, and check that enough texts remain for the number of clusters.

    Args:
        texts: Training texts.
        clusters: Number of clusters to learn, from 8 to 256.

    Raises:
        InvalidClasses: There are fewer than 1,000 different texts, or fewer than 20 for each cluster.
    """
    if not MIN_CLUSTERS <= clusters <= MAX_CLUSTERS:
        raise InvalidClasses(f"the number of clusters must be from {MIN_CLUSTERS} to {MAX_CLUSTERS}")
    different = list({fold_words(text): text for text in reversed(texts)}.values())[::-1]
    if len(different) < (needed := count_needed_texts(clusters)):
        raise InvalidClasses(f"{clusters} clusters need {needed} different texts, but the data have {len(different)}")
    return different


def find_main_space(vectors: Floats, numbers: int) -> tuple[Floats, Floats]:
    """Return the mean of vectors, and the directions of largest variance around the mean.

    Args:
        vectors: Vectors, shape ``(texts, dimension)``.
        numbers: Number of directions; at most ``dimension`` are returned.

    Returns:
        The mean, shape ``(dimension,)``, and the directions, shape ``(dimension, numbers)``.
    """
    center = vectors.mean(axis=0)
    return center, find_main_directions(normalize_vectors(vectors - center), numbers)


def learn_codebook(
    vectors: Floats, clusters: int, seed: int, report: ProgressCallback, *, directions: int | None = None
) -> Codebook:
    """Learn at most ``clusters`` clusters of texts from their vectors, by spherical k-means.

    The function removes clusters with fewer than 20 texts, and their texts move to other clusters.

    Args:
        vectors: Vectors of different texts, shape ``(texts, dimension)``.
        clusters: Number of clusters to learn.
        seed: Seed of k-means.
        report: Called with the stage, the finished runs and the total.
        directions: Number of main directions onto which to project the vectors; ``None`` to use the vectors unchanged.

    Raises:
        InvalidClasses: The texts are too similar to form the clusters.
    """
    center, main = (vectors.mean(axis=0), None) if directions is None else find_main_space(vectors, directions)
    seen = normalize_vectors(vectors - center if main is None else (vectors - center) @ main)
    centers = find_centers(seen, clusters, seed, report)
    assigned = (seen @ centers.T).argmax(axis=1)
    while (sizes := np.bincount(assigned, minlength=len(centers))).min() < MIN_CLUSTER_TEXTS:
        centers = np.delete(centers, sizes.argmin(), axis=0)
        assigned = (seen @ centers.T).argmax(axis=1)
    if len(centers) < 2:
        raise InvalidClasses("the texts are too similar for a codebook: only one cluster has 20 texts or more")
    # Compute the centers again after the last assignment, so that each is the mean of the texts of its own cluster.
    centers = normalize_vectors(sum_by_cluster(seen, assigned, len(centers)))
    weight = centers if main is None else centers @ main.T
    return Codebook(weight.astype(np.float32), (-weight @ center).astype(np.float32), tuple(sizes.tolist()))


#: Largest share of cluster labels that int8 quantization may change. A changed cluster label is not a wrong one.
MAX_CHANGED = 0.05


def train_static_codebook(
    texts: Sequence[str],
    clusters: int,
    settings: StaticSettings,
    minilm: MinilmSettings,
    kept: ResumeCache | None,
    report: ProgressCallback,
) -> TrainedExtractor:
    """Compute word embeddings, learn clusters of the texts' mean embeddings, and quantize both to int8.

    Args:
        texts: Different texts.
        clusters: Number of clusters to learn.
        settings: Settings of the word embeddings.
        minilm: Settings of the teacher, the model to whose vectors the embeddings are fitted. Its ``encoder`` is
            ``minilm``, a folder, a hub id, or ``none`` for no teacher.
        kept: Cache of the teacher's vectors, or ``None``.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Raises:
        InvalidClasses: The texts are too similar to form the clusters.
        CheckpointError: The teacher cannot be loaded.
        ResumeError, OutputError: The cache cannot be read or written.
    """
    taught = minilm.encoder != NO_TEACHER
    public = load_public_words(PUBLIC_NUMBERS if taught else RARE_NUMBERS)
    ids = find_word_ids(texts, public, settings.max_characters)
    made: dict[str, Any] = {"min_texts": settings.min_texts}
    if taught:
        chosen = choose_teacher_texts(len(texts))
        vectors = _load_teacher_vectors([texts[int(at)] for at in chosen], minilm, kept, report)
        rows = fit_to_teacher([ids[at] for at in chosen], vectors, public, settings.min_texts, settings.pairs)
        made |= {"pairs": settings.pairs, "taught_by": {**_describe_minilm(minilm, len(texts)), "texts": len(chosen)}}
    else:
        rows = weight_by_rarity(ids, public, settings.min_texts)
    book = learn_codebook(rows.embed_texts(ids), clusters, settings.seed, report)
    parts = quantize_static_parts(
        public.words, rows.words.astype(np.float32), rows.pairs.astype(np.float32), settings.max_characters
    )
    made |= {"dimension": rows.words.shape[1], "max_characters": settings.max_characters}
    provenance = {"min_texts_of_a_cluster": min(book.sizes), **describe_words(public), **made}
    return TrainedExtractor(parts=parts, weight=book.weight, bias=book.bias, provenance=provenance)


def train_minilm_codebook(
    texts: Sequence[str], clusters: int, settings: MinilmSettings, kept: ResumeCache, report: ProgressCallback
) -> TrainedExtractor:
    """Learn clusters in the main directions of MiniLM's vectors, and export MiniLM as int8.

    The function tries several ways to quantize MiniLM to int8. It uses the first one whose ONNX graph is small enough
    and changes at most 5 % of the cluster labels of 1,000 evenly spaced texts.

    Args:
        texts: Different texts.
        clusters: Number of clusters to learn.
        settings: Encoder and maximum length of its texts; ``seed`` is the seed of k-means.
        kept: Cache of the vectors and the ONNX graph, from which an interrupted run resumes.
        report: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Raises:
        MissingExtra: The packages that MiniLM needs are not installed.
        InvalidClasses: The texts are too similar to form the clusters.
        CheckpointError: The encoder cannot be loaded.
        ExportError: onnxruntime is missing, or the exporter or onnxruntime refuses the model.
        ResumeError, OutputError: The cache cannot be read or written.
    """
    with require_minilm_packages():
        from textveil_training.encoder.exportable import check_exportable
        from textveil_training.encoder.minilm import load_untuned_minilm
    check_exportable(settings.encoder)
    vectors = _load_teacher_vectors(texts, settings, kept, report).astype(np.float64)

    def make() -> tuple[Arrays, Mapping[str, Any]]:
        book = learn_codebook(vectors, clusters, settings.seed, report, directions=DIRECTIONS)
        spread = np.linspace(0, len(texts) - 1, min(SAMPLE, len(texts)))
        sample = [(0, texts[int(at)]) for at in spread]  # the class 0 is ignored, since texts have no class
        arrays, facts = export_minilm(
            load_untuned_minilm(settings), book.weight, book.bias, sample, report, max_changed=MAX_CHANGED
        )
        return arrays, {**facts, "smallest": min(book.sizes)}

    arrays, facts = kept.load_or_make(MINILM, make)
    provenance = {"min_texts_of_a_cluster": int(facts["smallest"]), **_describe_minilm(settings, len(texts))}
    provenance["directions"] = min(DIRECTIONS, vectors.shape[1])
    return load_exported(arrays, facts, settings.max_tokens, provenance)


def _load_teacher_vectors(
    texts: Sequence[str], minilm: MinilmSettings, kept: ResumeCache | None, report: ProgressCallback
) -> NDArray[np.float32]:
    def ask() -> tuple[Arrays, Mapping[str, Any]]:
        return {"vectors": compute_teacher_vectors(texts, minilm, report)}, {}

    return (kept.load_or_make("vectors", ask) if kept is not None else ask())[0]["vectors"]


def _describe_minilm(minilm: MinilmSettings, texts: int) -> dict[str, Any]:
    """Return a description of an untuned model for the model card."""
    found = replace(minilm, tuned=False).describe(texts)
    return {name: value for name, value in found.items() if name != "tuned"}
