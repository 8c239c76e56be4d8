"""From a file of labeled texts to a bundle whose devices release an index."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

# Imported now, since the module and the function have one name: the package has the function.
from textveil_training.encoder.k_means import RESTARTS, STEPS, k_means, unit

if TYPE_CHECKING:
    from textveil_training.encoder.codebook import main_space, static_codebook, texts_needed, texts_once
    from textveil_training.encoder.extractors import TrainedExtractor, train_static_extractor
    from textveil_training.encoder.labeled_texts import Part, Task, divided
    from textveil_training.encoder.minilm_settings import MinilmSettings
    from textveil_training.encoder.static_extractor import StaticSettings
    from textveil_training.encoder.teacher import NO_TEACHER, asked
    from textveil_training.encoder.word_embeddings import (
        DECAY,
        DIRECTIONS,
        PAIR_WEIGHT,
        PUBLIC_NUMBERS,
        RARE_NUMBERS,
        PublicWords,
        public_words,
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
    "MinilmSettings",
    "Part",
    "PublicWords",
    "StaticSettings",
    "Task",
    "TrainedExtractor",
    "asked",
    "divided",
    "k_means",
    "main_space",
    "public_words",
    "static_codebook",
    "texts_needed",
    "texts_once",
    "train_static_extractor",
    "unit",
]

__getattr__ = lazy_names(
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
