"""Reproduce Tables 2, 4 and 7 of Lyu, He and Li (2020).

The tables are about accuracy, private attributes and fairness of noisy vectors.
"""

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from textveil_training.attacks.vectors import (
    AttributeAttackSettings,
    attack_checkpoint,
    get_attributes,
    infer_attributes,
    infer_from_frequency,
)
from textveil_training.dpnr.accuracy import decide_released
from textveil_training.dpnr.classification_data import ClassificationTask
from textveil_training.dpnr.features import compute_pooled_features, read_features, write_features
from textveil_training.dpnr.networks import RepresentationClassifier, RepresentationModel
from textveil_training.dpnr.noise_heads import TrainedHead, train_head
from textveil_training.dpnr.training_noise import bound_vectors
from textveil_training.encoder.vector_bundle import VectorBundleSettings, choose_codes, make_private_recipe
from textveil_training.engine.checkpoint import hash_weights
from textveil_training.engine.encoders import load_transformer
from textveil_training.engine.tokens import EncoderTokenizer
from textveil_training.errors import CheckpointError, RecipeError
from textveil_training.finetune.features import fit_head
from textveil_training.reproduce.inputs import ReproductionInputs, load_attribute_task
from textveil_training.reproduce.published import PublishedStudy
from textveil_training.reproduce.results import ReproducedRow, Reproduction

PER_COORDINATE = (".05", ".1", ".5", "1")
"""The paper's epsilons, of one coordinate."""
PER_TEXT = ("1", "2", "4", "8")
"""Epsilons of the whole text for the noise of this package."""


@dataclass(frozen=True, kw_only=True)
class VectorTask:
    """Data with the stored output vectors of an encoder that was not fine-tuned.

    Attributes:
        task: The data.
        attributes: Names of the private attributes.
        features: Mean output vectors of the encoder, by split, shape (1, texts, width).
        clean: Linear classifier of these vectors, without noise.
    """

    task: ClassificationTask
    attributes: tuple[str, ...]
    features: dict[str, Tensor]
    clean: RepresentationClassifier

    @property
    def width(self) -> int:
        """Return the number of coordinates of the encoder's output vector."""
        return int(self.features["train"].shape[-1])

    def decide_clean(self, split: str) -> Tensor:
        """Return the classes that the linear classifier predicts for a split without noise."""
        with torch.inference_mode():
            return self.clean(self.features[split][0], None).argmax(-1)


def load_vector_task(study: PublishedStudy, inputs: ReproductionInputs) -> VectorTask:
    """Load the data, compute the encoder's vectors or read stored ones, and fit the classifier.

    Raises:
        DataError, EmptyClass, CheckpointError: An input cannot be used.
    """
    task, attributes = load_attribute_task(study, inputs)
    encoder, vocabulary, lowercase = load_transformer(inputs.model, 0.0)
    key = hash_weights(vocabulary)
    tokenizer = EncoderTokenizer(vocabulary, lowercase=lowercase, max_tokens=inputs.max_tokens)
    model = RepresentationModel(
        encoder,
        mode="none",
        dimension=0,
        head_hidden=0,
        classifier_hidden=0,
        classes=len(task.labels),
        dropout=0.0,
    )
    features = {}
    for name, split in task.get_splits().items():
        path = inputs.work / f"features-{split.sha256[:16]}.safetensors"
        try:
            found = read_features(path, split, key)
        except CheckpointError:  # no vectors are stored, or those of another encoder
            words = [tokenizer.split_into_pieces(text) for text in split.texts]
            found = compute_pooled_features(model, tokenizer, words, torch.device("cpu"), inputs.report)
            write_features(path, found, split, key)
        features[name] = found[None]
    train, dev = task.train, task.dev
    inputs.report("fitting the classifier", 0, 1)
    head = fit_head(features["train"][0], train.labels, features["dev"][0], dev.labels, len(task.labels))
    clean = RepresentationClassifier(features["train"].shape[-1], 0, len(task.labels))
    clean.out.load_state_dict(head.out.state_dict())
    return VectorTask(task=task, attributes=attributes, features=features, clean=clean.eval())


def train_noise(part: VectorTask, mode: str, dimension: int, epsilon: str, seed: int) -> TrainedHead:
    """Train a head (which computes a short vector) and a classifier, with noise of one epsilon per text.

    Args:
        part: The data, with the stored output vectors of the encoder.
        mode: ``l1``, ``l2`` or ``box``.
        dimension: Number of coordinates of the noisy vector.
        epsilon: Epsilon per text, a decimal string.
        seed: Seed of the training.
    """
    texts, labels = len(part.task.train.texts), len(part.task.labels)
    settings = VectorBundleSettings(name="study", mode=mode, levels=(epsilon,), seed=seed)
    recipe = make_private_recipe(settings, labels, texts)
    recipe = replace(recipe, representation=replace(recipe.representation, dimension=dimension))
    codes = choose_codes(recipe, part.task, part.features, part.clean)
    return train_head(recipe, part.task, part.features, part.clean, codes)


def _list_levels(part: VectorTask) -> list[tuple[str, str, str, str, int]]:
    """Return for each row of the table: its name, the name of its line in the picture, and the vector's settings.

    The settings are mode, epsilon per text and dimension.
    """
    small, width = max(1, -(-len(part.task.labels) // 2)), part.width
    paper = [
        (f"box, epsilon {one} of a coordinate", "box, the paper's", "box", f"{float(one) * width:g}", width)
        for one in PER_COORDINATE
    ]
    ours = [(f"l1, k = {small}, epsilon {one} of the text", "l1", "l1", one, small) for one in PER_TEXT]
    return paper + ours


def measure_accuracies(study: PublishedStudy, inputs: ReproductionInputs) -> Reproduction:
    """Measure accuracy for two kinds of bounded and noisy vectors by epsilon (Table 2 of Lyu, He and Li 2020)."""
    part = load_vector_task(study, inputs)
    labels = part.task.test.labels
    majority = int(part.task.train.labels.bincount().argmax())
    clean = part.decide_clean("test")
    rows = [
        ReproducedRow(name="majority class", figures={"accuracy": _percent(labels == majority)}),
        ReproducedRow(
            name="without noise", figures={"accuracy": _percent(clean == labels)}, error=_error(clean, labels)
        ),
        ReproducedRow(
            name="box, one number for all coordinates, subtracted again",
            figures={"accuracy": _measure_undone_noise(part)},
        ),
    ]
    for number, (name, series, mode, epsilon, dimension) in enumerate(_list_levels(part)):
        inputs.report("heads", number, 2 * len(PER_TEXT))
        shares = []
        for seed in range(inputs.seeds):
            head = train_noise(part, mode, dimension, epsilon, seed)
            made = decide_released(head.model, head.description, part.features["test"][0], epsilon)
            shares.append(np.mean([_percent(decision == labels) for decision in made.decisions]))
        figures = {"accuracy": float(np.mean(shares)), "epsilon of the text": float(epsilon)}
        error = float(np.std(shares, ddof=1)) if inputs.seeds > 1 else None
        rows.append(
            ReproducedRow(
                name=name, figures=figures, error=error, series=series, position=float(np.log10(float(epsilon)))
            )
        )
    return Reproduction(
        rows=rows,
        axes=("decimal logarithm of the epsilon of the text", "accuracy in per cent"),
        notes=[
            _describe_data(part, inputs),
            "The row with one number for all coordinates is the share of test texts whose class is the same after "
            "the published noise is subtracted.",
        ],
        facts=_collect_facts(part, inputs),
    )


def measure_attribute_privacy(study: PublishedStudy, inputs: ReproductionInputs) -> Reproduction:
    """Measure how well an attacker infers private attributes from noisy vectors (Table 4 of Lyu, He and Li 2020)."""
    part = load_vector_task(study, inputs)
    present = get_attributes(part.task)
    if not all(bits.any(axis=0).all() and not bits.all(axis=0).any() for bits in present.values()):
        raise RecipeError(
            "for each attribute, each split needs texts that have it and texts that do not: pass data with more rows"
        )
    settings = AttributeAttackSettings()
    stored = {name: found[0].numpy() for name, found in part.features.items()}
    leaks = {
        "majority class": infer_from_frequency(present).to_dict(),
        "without noise": infer_attributes(stored.__getitem__, present, settings).to_dict(),
    }
    rows = [ReproducedRow(name=name, figures=_choose_attack_figures(leak)) for name, leak in leaks.items()]
    for number, (name, series, mode, epsilon, dimension) in enumerate(_list_levels(part)):
        inputs.report("heads and attackers", number, 2 * len(PER_TEXT))
        head = train_noise(part, mode, dimension, epsilon, 0)
        found = attack_checkpoint(head.model, head.description, part.features, part.task, epsilon, settings)
        figures = _choose_attack_figures(found["vectors"]) | {
            "AUC, its label alone": 100 * found["label_response"]["auc"],
            "epsilon of the text": float(epsilon),
        }
        position = float(np.log10(float(epsilon)))
        rows.append(ReproducedRow(name=name, figures=figures, series=series, position=position))
    return Reproduction(
        rows=rows,
        axes=("decimal logarithm of the epsilon of the text", "1-F in per cent: higher is more private"),
        notes=[
            _describe_data(part, inputs),
            "1-F is 100 minus the attacker's F-score over all attributes, 1-X 100 minus its accuracy: higher is more "
            "private, and 100 means that it names no attribute. "
            "1-F is at a threshold of .5, as in the paper; AUC needs no threshold, and 50 is chance. The last AUC is "
            "of an attacker who sees only a class, randomized at the same epsilon.",
        ],
        facts=_collect_facts(part, inputs),
    )


def measure_fairness(study: PublishedStudy, inputs: ReproductionInputs) -> Reproduction:
    """Measure accuracy on texts with and without each private attribute (Table 7 of Lyu, He and Li 2020)."""
    part = load_vector_task(study, inputs)
    labels, bits = part.task.test.labels, part.task.test.attributes > 0.5
    clean = part.decide_clean("test")
    rows = [_make_fairness_row("without noise", [clean], labels, bits, part.attributes, "", None)]
    for number, (name, series, mode, epsilon, dimension) in enumerate(_list_levels(part)):
        inputs.report("heads", number, 2 * len(PER_TEXT))
        head = train_noise(part, mode, dimension, epsilon, 0)
        made = decide_released(head.model, head.description, part.features["test"][0], epsilon)
        position = float(np.log10(float(epsilon)))
        rows.append(_make_fairness_row(name, made.decisions, labels, bits, part.attributes, series, position))
    return Reproduction(
        rows=rows,
        axes=("decimal logarithm of the epsilon of the text", "mean gap in points, with minus without"),
        notes=[
            _describe_data(part, inputs),
            "A gap is the accuracy on texts with the attribute minus that without, in points; the mean gap is that of "
            "absolute values.",
        ],
        facts=_collect_facts(part, inputs),
    )


def _make_fairness_row(
    name: str,
    decisions: list[Tensor],
    labels: Tensor,
    bits: Tensor,
    attributes: tuple[str, ...],
    series: str,
    position: float | None,
) -> ReproducedRow:
    right = torch.stack([decision == labels for decision in decisions]).double()  # (draws, texts)
    gaps = {}
    for column, attribute in enumerate(attributes):
        having = bits[:, column]
        if having.any() and not having.all():
            gaps[attribute] = 100 * float(right[:, having].mean() - right[:, ~having].mean())
    mean = {"mean gap": float(np.mean(np.abs(list(gaps.values()))))} if gaps else {}
    return ReproducedRow(
        name=name, figures={**mean, "accuracy": 100 * float(right.mean()), **gaps}, series=series, position=position
    )


def _measure_undone_noise(part: VectorTask) -> float:
    """Measure how often one can remove the noise in the DPNR authors' code by subtracting the smallest coordinate.

    That code adds the same random number to all coordinates.

    Returns:
        Percentage of test texts that get the same class as without noise.
    """
    boxed = {name: bound_vectors(found[0].double(), "box") for name, found in part.features.items()}
    train, dev = part.task.train, part.task.dev
    head = fit_head(boxed["train"].float(), train.labels, boxed["dev"].float(), dev.labels, len(part.task.labels))
    uniform = torch.rand(len(boxed["test"]), 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64) - 0.5
    noisy = boxed["test"] - 20 * uniform.sign() * torch.log1p(-2 * uniform.abs())  # epsilon .05
    undone = noisy - noisy.amin(-1, keepdim=True)
    with torch.inference_mode():
        return _percent(head(undone.float()).argmax(-1) == head(boxed["test"].float()).argmax(-1))


def _choose_attack_figures(leak: dict[str, Any]) -> dict[str, float]:
    names = {"1-F": "privacy", "1-X": "demographic_privacy", "AUC": "auc"}
    return {column: 100 * float(leak[name]) for column, name in names.items()}


def _percent(right: Tensor) -> float:
    return 100 * right.double().mean().item()


def _error(decided: Tensor, labels: Tensor) -> float:
    share = (decided == labels).double().mean().item()
    return 100 * (share * (1 - share) / len(labels)) ** 0.5


def _describe_data(part: VectorTask, inputs: ReproductionInputs) -> str:
    sizes = " / ".join(f"{len(split.texts):,}" for split in part.task.get_splits().values())
    seeds = f"{inputs.seeds} seeds" if inputs.seeds > 1 else "one seed"
    return f"Texts (train / dev / test): {sizes}; {seeds}; 20 releases of each test text by the code of the device."


def _collect_facts(part: VectorTask, inputs: ReproductionInputs) -> dict[str, Any]:
    digest = hashlib.sha256(part.features["test"].numpy().tobytes()).hexdigest()
    return {"data": part.task.describe(), "encoder_width": part.width, "seeds": inputs.seeds, "vectors_sha256": digest}
