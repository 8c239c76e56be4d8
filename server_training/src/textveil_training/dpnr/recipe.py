"""Read recipes (TOML files with all settings of a training) into frozen dataclasses.

A recipe describes a model that encodes texts as noisy vectors, or a baseline. The command line names the data file, and
the checkpoint from which the training may start.
"""

import hashlib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from textveil_training.engine.settings import PRECISIONS, declare_required, parse_table, read_toml
from textveil_training.errors import RecipeError, make_printable

KINDS = ("clean", "adversarial", "dpnr")
MODES = ("none", "l1", "l2", "box")
LOSSES = ("cross-entropy", "expected-error")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSection:
    """Section of a recipe (file of training settings) about the data.

    If the recipe uses the format's own dev split as the test split, ``dev_percent`` percent of the training texts
    become dev.
    """

    format: str = declare_required("Name of a format of ``textveil_training.data.FORMATS``.")
    train: str = declare_required("Name of the training split.")
    dev: str = declare_required("Split that selects the best epoch; ``train`` with ``dev_percent`` above 0.")
    test: str = declare_required("Split that is measured once, at the end.")
    dev_percent: int = declare_required(
        "Percentage of ``train`` that becomes dev, selected by a hash of the text.", lambda n: 0 <= n < 100
    )
    max_tokens: int = declare_required(
        "Maximum tokens, including [CLS] and [SEP]; longer texts are truncated.", lambda n: 3 <= n <= 512
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractorSection:
    """Section of a recipe (file of training settings) about the encoder: its source, and whether to train it."""

    source: str = declare_required("``minilm``, a folder or a hub id; or ``start``: the checkpoint of --start.")
    tuned: bool = declare_required("Whether the encoder is trained; otherwise its features are computed once.")
    dropout: float = declare_required("Dropout of the encoder while it is tuned.", lambda x: 0 <= x < 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepresentationSection:
    """Section of a recipe (file of training settings) about the vector of a text and its noise."""

    mode: str = declare_required("``none`` (no bound, no noise: the pooled vector itself), ``l1``, ``l2`` or ``box``.")
    dimension: int = declare_required("Numbers in the vector, k; 0 for the pooled vector.")
    head_hidden: int = declare_required("Units between the pooled vector and the bound; 0 for a linear head.")
    levels: tuple[str, ...] = declare_required(
        "Epsilons per text as decimal strings; one model is trained for all of them."
    )
    delta: str = declare_required("Delta of mode ``l2``; the empty string for other modes.")
    word_dropout: str = declare_required(
        "Probability that a word is removed, as a decimal string.", lambda text: 0 <= _parse_number(text) < 1
    )
    classifier_hidden: int = declare_required("Units of the server's classifier; 0 for a linear one.", lambda n: n >= 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSection:
    """Section of a recipe (file of training settings) about optimization.

    The loss ``expected-error`` is the mean of ``1 - p(y)``, where p(y) is the predicted probability of the true class.
    Unlike cross entropy it does not reward predictions that are less certain, so it moves vectors to positions where
    noise changes the fewest decisions.
    """

    seed: int = declare_required("Seed of all random choices in training.")
    num_epochs: int = declare_required("Passes over the texts that train the encoder too; 0 if it is not tuned.")
    batch_size: int = declare_required("Examples per step.", lambda n: n >= 1)
    learning_rate: float = declare_required("Peak learning rate of the encoder's top layer.", lambda rate: rate >= 0)
    layer_decay: float = declare_required(
        "Learning rate of a layer divided by that of the layer above.", lambda x: 0 < x <= 1
    )
    head_learning_rate: float = declare_required("Peak learning rate of head and classifier.", lambda rate: rate > 0)
    weight_decay: float = declare_required(
        "Decoupled weight decay of matrices (Loshchilov and Hutter 2019).", lambda decay: decay >= 0
    )
    warmup: float = declare_required(
        "Share of the steps in which the rates rise; then they fall to 0.", lambda x: 0 <= x < 1
    )
    clip_norm: float = declare_required(
        "Maximum norm of a gradient; larger ones are scaled down.", lambda norm: norm > 0
    )
    label_smoothing: float = declare_required("Label smoothing of the cross entropy.", lambda x: 0 <= x < 1)
    loss: str = declare_required("Loss of the stages head and tuned.", lambda name: name in LOSSES)
    placed_epochs: int = declare_required(
        "Passes that train the head to map stored features to the code of their class."
    )
    head_epochs: int = declare_required("Passes that then train the head with noise on stored features.")
    noise_draws: int = declare_required("Noise samples per example and step.", lambda n: n >= 1)
    dev_draws: int = declare_required("Noise samples per example for measurements on dev.", lambda n: n >= 1)
    precision: str = declare_required("Precision of the encoder in training.", lambda name: name in PRECISIONS)


@dataclass(frozen=True, slots=True)
class AdversarySection:
    """Section of a recipe (file of training settings) about a simulated attacker; the encoder is trained against it.

    Only recipes of the kind ``adversarial`` have this section.
    """

    hidden: int = declare_required("Units of each of the adversary's two layers.")
    learning_rate: float = declare_required("Learning rate of the adversary.")
    weight: float = declare_required("Weight of the adversary's loss in the encoder's loss.")


@dataclass(frozen=True, slots=True, kw_only=True)
class RepresentationRecipe:
    """All settings for training one model that encodes texts as vectors.

    Attributes:
        name: Name of the recipe, printable.
        kind: ``clean`` (training without noise), ``adversarial`` (against a simulated attacker) or ``dpnr`` (with
            noise).
        note: One sentence about the purpose of the recipe.
        sha256: SHA-256 of the recipe's file.
    """

    name: str
    kind: str
    note: str
    data: DataSection
    extractor: ExtractorSection
    representation: RepresentationSection
    training: TrainingSection
    adversary: AdversarySection | None = None
    sha256: str = ""


def read_recipe(path: Path) -> RepresentationRecipe:
    """Read a recipe (TOML file of training settings), and check its values.

    Raises:
        RecipeError: The file cannot be read or is not TOML, a key is missing or unknown, or a value is of another
            type or out of range. The message names the file and the key.
    """
    content, sha256 = read_toml(path)
    name = make_printable(path.name)
    if "sha256" in content:
        raise RecipeError(f"{name}: the key sha256 is unknown: remove it")
    recipe = parse_table(RepresentationRecipe, content | {"sha256": sha256}, name)
    check_recipe(recipe, name)
    return recipe


def replace_seed(recipe: RepresentationRecipe, seed: int) -> RepresentationRecipe:
    """Return a copy of a recipe (training settings) with another seed and a new hash."""
    digest = hashlib.sha256(f"{recipe.sha256}\n{seed}".encode()).hexdigest()
    return replace(recipe, training=replace(recipe.training, seed=seed), sha256=digest)


def check_recipe(recipe: RepresentationRecipe, file_name: str) -> None:
    """Check that the settings in a recipe (file of training settings) are in range and do not contradict each other.

    Raises:
        RecipeError: A value is out of range or two values contradict each other.
    """
    data, representation, training = recipe.data, recipe.representation, recipe.training
    private = representation.mode != "none"
    delta = representation.delta
    levels = [_parse_number(level) for level in representation.levels]
    rules = {
        "kind": recipe.kind in KINDS,
        "adversary": (recipe.kind == "adversarial") == (recipe.adversary is not None),
        **_check_ranges("data", data),
        "data.dev": (data.dev == data.train) == (data.dev_percent > 0),
        "data.test": data.test not in (data.train, data.dev),
        **_check_ranges("extractor", recipe.extractor),
        "extractor.tuned": recipe.extractor.tuned or recipe.kind == "dpnr",
        **_check_ranges("representation", representation),
        "representation.mode": representation.mode in MODES and private == (recipe.kind == "dpnr"),
        "representation.dimension": representation.dimension >= (2 if representation.mode == "box" else 1)
        if private
        else representation.dimension == 0,
        "representation.head_hidden": representation.head_hidden >= 0 and (private or representation.head_hidden == 0),
        "representation.levels": all(0 < level < 1000 for level in levels) and bool(levels) == private,
        "representation.delta": (0 < _parse_number(delta) < 1) if representation.mode == "l2" else delta == "",
        **_check_ranges("training", training),
        "training.num_epochs": training.num_epochs >= 0 and (training.num_epochs > 0) == recipe.extractor.tuned,
        "training.placed_epochs": training.placed_epochs >= 0 and (private or training.placed_epochs == 0),
        "training.head_epochs": training.head_epochs >= 0 and (private or training.head_epochs == 0),
    }
    for key, holds in rules.items():
        if not holds:
            raise RecipeError(f"{file_name}: {key} has an unsupported value: see the recipes of the repository")


def _check_ranges(name: str, part: Any) -> dict[str, bool]:
    """Check all settings of a section of a recipe (file of training settings); return for each one if it is in range.

    Args:
        name: Name of the recipe's section.
        part: The section.
    """
    ranges = {one.name: one.metadata["holds"] for one in fields(part) if one.metadata["holds"] is not None}
    return {f"{name}.{key}": holds(getattr(part, key)) for key, holds in ranges.items()}


def _parse_number(text: str) -> float:
    """Parse a decimal string; for anything else return NaN, which fails every comparison."""
    try:
        return float(text) if text.isascii() and "_" not in text else float("nan")
    except ValueError:
        return float("nan")
