"""Train a head and a classifier on stored vectors of an encoder, which takes seconds instead of an hour.

The encoder is that of the model without noise, unchanged. Results of this module are labeled *frozen features*.
"""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from textveil_training.dpnr.checkpoint import RepresentationDescription
from textveil_training.dpnr.classification_data import ClassificationTask
from textveil_training.dpnr.code_search import ClassCodes
from textveil_training.dpnr.losses import StageBuilder, StoredSplit
from textveil_training.dpnr.networks import RepresentationClassifier, RepresentationModel
from textveil_training.dpnr.recipe import RepresentationRecipe, check_recipe
from textveil_training.dpnr.training_noise import TrainingNoise
from textveil_training.engine.loop import TrainingLoop, TrainingPosition


@dataclass(frozen=True, kw_only=True)
class TrainedHead:
    """Trained networks: the head, which computes a vector from the encoder's output, and the classifier.

    Attributes:
        model: Head and classifier of the best epoch, in evaluation mode, without an encoder.
        description: Content of ``checkpoint.json`` for these networks.
        dev: Mean accuracy of that epoch on dev over the epsilons, under the noise of training.
        wall_s: Duration of the training in seconds.
    """

    model: RepresentationModel
    description: RepresentationDescription
    dev: float
    wall_s: float


class _MissingEncoder(nn.Module):
    """Placeholder for the encoder, which is not needed since its vectors are stored."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.config = SimpleNamespace(hidden_size=width, num_hidden_layers=0)


def replace_representation(recipe: RepresentationRecipe, **changes: Any) -> RepresentationRecipe:
    """Return a copy of a recipe (training settings) with other settings of the noisy vector, or with another seed.

    Args:
        recipe: The recipe.
        changes: New values by name: ``mode`` (kind of noise), ``dimension``, ``levels`` (epsilons), ``delta``, word
            dropout or other fields of ``recipe.representation``; or ``seed``.

    Raises:
        RecipeError: The changed recipe is not valid.
    """
    seed = changes.pop("seed", recipe.training.seed)
    representation = replace(recipe.representation, **changes)
    found = replace(recipe, representation=representation, training=replace(recipe.training, seed=seed))
    check_recipe(found, "the representation")
    return found


def train_head(
    recipe: RepresentationRecipe,
    task: ClassificationTask,
    features: dict[str, Tensor],
    clean: RepresentationClassifier,
    placement: ClassCodes,
) -> TrainedHead:
    """Train head and classifier: first the head to map each class to a chosen vector, then both with noise.

    Args:
        recipe: Recipe of kind ``dpnr``; only its representation and the epochs of its head are used.
        task: Data with the labels of the splits.
        features: Mean output vectors of the encoder for ``train`` and ``dev``, shape (copies, texts, width). With word
            dropout, the copies come from texts with different words removed; otherwise there is one copy.
        clean: The classifier of the model without noise, on the same features.
        placement: The chosen vector (*code*) of each class, for the recipe's epsilons and dimension.
    """
    part, training = recipe.representation, recipe.training
    torch.manual_seed(training.seed)
    description = RepresentationDescription.from_recipe(recipe, task.labels, lowercase=True)
    model = RepresentationModel(
        _MissingEncoder(features["train"].shape[-1]),
        mode=part.mode,
        dimension=part.dimension,
        head_hidden=part.head_hidden,
        classifier_hidden=part.classifier_hidden,
        classes=len(task.labels),
        dropout=recipe.extractor.dropout,
    )
    noise = TrainingNoise(part.mode, part.dimension, [float(level) for level in part.levels], float(part.delta or 0))
    maker = StageBuilder(model, recipe, noise)
    device = torch.device("cpu")
    train, dev = (StoredSplit(features[name], task.get_splits()[name], recipe, device) for name in ("train", "dev"))
    stages = []
    if training.placed_epochs:
        stages.append(maker.build_placed(train, dev, clean, torch.tensor(placement.codes), training.placed_epochs))
    if training.head_epochs:
        stages.append(maker.build_head(train, dev, training.head_epochs))
    best: dict[str, Tensor] = {}

    def on_epoch(position: TrainingPosition, is_best: bool) -> None:
        if is_best:
            best.update({name: value.clone() for name, value in model.state_dict().items()})

    with tempfile.TemporaryDirectory() as folder:
        loop = TrainingLoop(stages, seed=training.seed, state=Path(folder) / "state", run_key="", on_epoch=on_epoch)
        loop.run()
    model.load_state_dict(best)
    return TrainedHead(
        model=model.eval(), description=description, dev=loop.position.best, wall_s=round(loop.position.wall_s, 1)
    )
