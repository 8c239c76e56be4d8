"""Train a bundle (folder with a model and its settings) on a file of texts.

Devices with the bundle encode a text as a randomized class label or cluster label, for a server.
"""

from typing import TYPE_CHECKING

from textveil.lazy import make_lazy_getattr

# Imported now, since the module and the function have one name: the package has the function.
from textveil_training.encoder.k_means import RESTARTS, STEPS, find_centers, normalize_vectors

if TYPE_CHECKING:
    from textveil_training.encoder.codebook import (
        count_needed_texts,
        deduplicate_texts,
        find_main_space,
        train_static_codebook,
    )
    from textveil_training.encoder.extractors import TrainedExtractor, train_static_extractor
    from textveil_training.encoder.labeled_texts import LabeledPart, LabeledTexts, split_labeled_texts
    from textveil_training.encoder.minilm_settings import MinilmSettings
    from textveil_training.encoder.static_extractor import StaticSettings
    from textveil_training.encoder.teacher import NO_TEACHER, choose_teacher_texts
    from textveil_training.encoder.word_embeddings import (
        DECAY,
        DIRECTIONS,
        PAIR_WEIGHT,
        PUBLIC_NUMBERS,
        RARE_NUMBERS,
        PublicWords,
        load_public_words,
    )

__all__ = [
    "DECAY",
    "DIRECTIONS",
    "NO_TEACHER",
    "PAIR_WEIGHT",
    "PUBLIC_NUMBERS",
    "RARE_NUMBERS",
    "RESTARTS",
    "STEPS",
    "LabeledPart",
    "LabeledTexts",
    "MinilmSettings",
    "PublicWords",
    "StaticSettings",
    "TrainedExtractor",
    "choose_teacher_texts",
    "count_needed_texts",
    "deduplicate_texts",
    "find_centers",
    "find_main_space",
    "load_public_words",
    "normalize_vectors",
    "split_labeled_texts",
    "train_static_codebook",
    "train_static_extractor",
]

__getattr__ = make_lazy_getattr(
    __name__,
    __all__,
    "codebook",
    "extractors",
    "minilm_settings",
    "static_extractor",
    "labeled_texts",
    "teacher",
    "word_embeddings",
)
