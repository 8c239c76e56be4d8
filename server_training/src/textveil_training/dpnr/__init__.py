"""Representations with noise: recipes, training, release, measurement (Lyu, He and Li 2020)."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil_training.dpnr.accuracy import decided, features_of, release_parameters
    from textveil_training.dpnr.checkpoint import Description, read_checkpoint
    from textveil_training.dpnr.classification_data import Split, Task, load_split, load_task
    from textveil_training.dpnr.code_search import Placement, Search, best_placement, place
    from textveil_training.dpnr.features import StoredFeatures, holds_features
    from textveil_training.dpnr.networks import Classifier, Model
    from textveil_training.dpnr.noise_heads import train_head, with_representation
    from textveil_training.dpnr.recipe import Recipe, read_recipe
    from textveil_training.dpnr.training_noise import noise_scale

__all__ = [
    "Classifier",
    "Description",
    "Model",
    "Placement",
    "Recipe",
    "Search",
    "Split",
    "StoredFeatures",
    "Task",
    "best_placement",
    "decided",
    "features_of",
    "holds_features",
    "load_split",
    "load_task",
    "noise_scale",
    "place",
    "read_checkpoint",
    "read_recipe",
    "release_parameters",
    "train_head",
    "with_representation",
]

__getattr__ = lazy_names(
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
