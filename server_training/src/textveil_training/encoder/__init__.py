"""From a file of labeled texts to a bundle whose devices release an index."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

# Two modules are called as what they are for: the names of the package are the functions.
from textveil_training.encoder.k_means import RESTARTS, STEPS, k_means, unit
from textveil_training.encoder.public_words import PUBLIC_NUMBERS, PublicWords, public_words

if TYPE_CHECKING:
    from textveil_training.encoder.codebook import main_space, texts_needed, texts_once
    from textveil_training.encoder.codebook_extractors import static_codebook
    from textveil_training.encoder.extractors import TrainedExtractor, train_static_extractor
    from textveil_training.encoder.labeled_texts import Part, Task, divided
    from textveil_training.encoder.minilm_settings import MinilmSettings
    from textveil_training.encoder.static_extractor import StaticSettings
    from textveil_training.encoder.teacher import NO_TEACHER, asked
    from textveil_training.encoder.word_rows import DECAY, DIRECTIONS, PAIR_WEIGHT, RARE_NUMBERS

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
    "codebook_extractors",
    "extractors",
    "minilm_settings",
    "public_words",
    "static_extractor",
    "labeled_texts",
    "teacher",
    "word_rows",
)
