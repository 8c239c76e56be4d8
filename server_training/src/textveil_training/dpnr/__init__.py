"""Train and evaluate models that encode texts as noisy vectors (DPNR: Lyu, He and Li 2020)."""

from typing import TYPE_CHECKING

from textveil.lazy import make_lazy_getattr

if TYPE_CHECKING:
    from textveil_training.dpnr.accuracy import decide_released, load_or_compute_features, make_release_parameters
    from textveil_training.dpnr.checkpoint import RepresentationDescription, read_checkpoint
    from textveil_training.dpnr.classification_data import (
        ClassificationTask,
        ClassifiedSplit,
        load_classification_split,
        load_classification_task,
    )
    from textveil_training.dpnr.code_search import ClassCodes, CodeSearchSettings, search_best_dimension, search_codes
    from textveil_training.dpnr.features import StoredFeatures, find_stored_features
    from textveil_training.dpnr.networks import RepresentationClassifier, RepresentationModel
    from textveil_training.dpnr.noise_heads import replace_representation, train_head
    from textveil_training.dpnr.recipe import RepresentationRecipe, read_recipe
    from textveil_training.dpnr.training_noise import compute_noise_scale

__all__ = [
    "ClassCodes",
    "ClassificationTask",
    "ClassifiedSplit",
    "CodeSearchSettings",
    "RepresentationClassifier",
    "RepresentationDescription",
    "RepresentationModel",
    "RepresentationRecipe",
    "StoredFeatures",
    "compute_noise_scale",
    "decide_released",
    "find_stored_features",
    "load_classification_split",
    "load_classification_task",
    "load_or_compute_features",
    "make_release_parameters",
    "read_checkpoint",
    "read_recipe",
    "replace_representation",
    "search_best_dimension",
    "search_codes",
    "train_head",
]

__getattr__ = make_lazy_getattr(
    __name__,
    __all__,
    "accuracy",
    "checkpoint",
    "classification_data",
    "code_search",
    "features",
    "networks",
    "noise_heads",
    "recipe",
    "training_noise",
)
