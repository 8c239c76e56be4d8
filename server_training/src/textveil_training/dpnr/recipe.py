"""Recipes of private representations and their baselines, read into frozen dataclasses.

The command line names the data file, and the checkpoint that a recipe may start from.
"""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

from textveil_training.engine.settings import PRECISIONS, from_table, read_toml
from textveil_training.errors import RecipeError, printable

KINDS = ("clean", "adversarial", "dpnr")
MODES = ("none", "l1", "l2", "box")
LOSSES = ("cross-entropy", "expected-error")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPart:
    """The data. ``dev_percent`` of the training share becomes dev when the format's own dev split is the test.

    Attributes:
        format: Name of a format of ``textveil_training.data.FORMATS``.
        train: Split that is trained on.
        dev: Split that decides which epoch is kept; the same as ``train`` with ``dev_percent`` above 0.
        test: Split that is only measured, at the end.
        dev_percent: Share of ``train`` taken away for dev, decided by a hash of the text.
        max_tokens: Number of tokens that longer texts are cut to, [CLS] and [SEP] counted.
    """

    format: str
    train: str
    dev: str
    test: str
    dev_percent: int
    max_tokens: int


@dataclass(frozen=True, slots=True)
class ExtractorPart:
    """Where the encoder comes from and whether it learns.

    Attributes:
        source: ``minilm``, a folder or a hub id; or ``start``: the checkpoint the command line names.
        tuned: Whether the encoder's weights are trained; otherwise its features are computed once and kept.
        dropout: Dropout of the encoder while it is tuned.
    """

    source: str
    tuned: bool
    dropout: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RepresentationPart:
    """The release that a model is trained for.

    Attributes:
        mode: ``none`` (no bound, no noise: the pooled vector itself), ``l1``, ``l2`` or ``box``.
        dimension: Numbers in the vector, k; 0 for the pooled vector.
        head_hidden: Number of units between the pooled vector and the bound; 0 for a linear head.
        levels: Whole-text epsilons as decimal strings; one extractor is trained for all of them.
        delta: Delta of mode ``l2``; the empty string elsewhere.
        word_dropout: Probability that a word is removed, as a decimal string.
        classifier_hidden: Number of units of the server's classifier; 0 for a linear one.
    """

    mode: str
    dimension: int
    head_hidden: int
    levels: tuple[str, ...]
    delta: str
    word_dropout: str
    classifier_hidden: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPart:
    """How it learns.

    Attributes:
        seed: Seed of everything random in training.
        num_epochs: Number of passes over the texts that train the encoder too; 0 if it is not tuned.
        batch_size: Examples per step.
        learning_rate: Peak learning rate of the encoder's top layer.
        layer_decay: Factor of the rate from each layer to the one below.
        head_learning_rate: Peak learning rate of head and classifier.
        weight_decay: Decay of matrices, decoupled (Loshchilov and Hutter 2019).
        warmup: Share of the steps in which the rate rises; it falls linearly to 0 afterwards.
        clip_norm: Largest norm of a step's gradient; longer ones are scaled down to it.
        label_smoothing: Label smoothing of the cross entropy.
        loss: Loss of the head and tuned stages: ``cross-entropy`` or ``expected-error``, the mean of ``1 - p(y)``,
            which wins no credit for being less sure and so moves vectors to where the noise hurts least.
        placed_epochs: Number of passes over stored features that send every text to the code of its class first.
        head_epochs: Number of passes over stored features that train head and classifier under noise after that.
        noise_draws: Number of noise draws per example and step.
        dev_draws: Number of noise draws per example when dev decides.
        precision: Precision of the encoder's forward pass in training: ``float32`` or ``bfloat16``.
    """

    seed: int
    num_epochs: int
    batch_size: int
    learning_rate: float
    layer_decay: float
    head_learning_rate: float
    weight_decay: float
    warmup: float
    clip_norm: float
    label_smoothing: float
    loss: str
    placed_epochs: int
    head_epochs: int
    noise_draws: int
    dev_draws: int
    precision: str


@dataclass(frozen=True, slots=True)
class AdversaryPart:
    """The simulated attacker of adversarial training (kind ``adversarial`` only).

    Attributes:
        hidden: Number of units of each of its two layers.
        learning_rate: Its learning rate.
        weight: Weight of its loss in the encoder's.
    """

    hidden: int
    learning_rate: float
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One training, whole.

    Attributes:
        name: Name of the recipe, printable.
        kind: ``clean``, ``adversarial`` or ``dpnr``.
        note: Sentence that says what it is for.
        sha256: SHA-256 of the file it was read from.
    """

    name: str
    kind: str
    note: str
    data: DataPart
    extractor: ExtractorPart
    representation: RepresentationPart
    training: TrainingPart
    adversary: AdversaryPart | None = None
    sha256: str = ""


def read_recipe(path: Path) -> Recipe:
    """Reads a recipe.

    Raises:
        RecipeError: The file cannot be read or is not TOML, a key is missing or unknown, or a value is of another
            type or out of range. The message names the file and the key.
    """
    content, sha256 = read_toml(path)
    name = printable(path.name)
    if "sha256" in content:
        raise RecipeError(f"{name}: the key sha256 is unknown")
    recipe = from_table(Recipe, content | {"sha256": sha256}, name)
    check(recipe, name)
    return recipe


def with_seed(recipe: Recipe, seed: int) -> Recipe:
    """Returns the same recipe with another seed; the hash changes with it."""
    digest = hashlib.sha256(f"{recipe.sha256}\n{seed}".encode()).hexdigest()
    return replace(recipe, training=replace(recipe.training, seed=seed), sha256=digest)


def check(recipe: Recipe, file_name: str) -> None:
    """Checks what types do not say.

    Raises:
        RecipeError: A value is out of range or two values contradict each other.
    """
    data, representation, training = recipe.data, recipe.representation, recipe.training
    private = representation.mode != "none"
    delta = representation.delta
    dropout = _number(representation.word_dropout)
    levels = [_number(level) for level in representation.levels]
    rules = {
        "kind": recipe.kind in KINDS,
        "adversary": (recipe.kind == "adversarial") == (recipe.adversary is not None),
        "data.dev": (data.dev == data.train) == (data.dev_percent > 0),
        "data.test": data.test not in (data.train, data.dev),
        "data.dev_percent": 0 <= data.dev_percent < 100,
        "data.max_tokens": 3 <= data.max_tokens <= 512,
        "extractor.tuned": recipe.extractor.tuned or recipe.kind == "dpnr",
        "extractor.dropout": 0 <= recipe.extractor.dropout < 1,
        "representation.mode": representation.mode in MODES and private == (recipe.kind == "dpnr"),
        "representation.dimension": representation.dimension >= (2 if representation.mode == "box" else 1)
        if private
        else representation.dimension == 0,
        "representation.head_hidden": representation.head_hidden >= 0 and (private or representation.head_hidden == 0),
        "representation.levels": all(0 < level < 1000 for level in levels) and bool(levels) == private,
        "representation.delta": (0 < _number(delta) < 1) if representation.mode == "l2" else delta == "",
        "representation.word_dropout": 0 <= dropout < 1,
        "representation.classifier_hidden": representation.classifier_hidden >= 0,
        "training.num_epochs": training.num_epochs >= 0 and (training.num_epochs > 0) == recipe.extractor.tuned,
        "training.batch_size": training.batch_size >= 1,
        "training.learning_rate": training.learning_rate >= 0,
        "training.layer_decay": 0 < training.layer_decay <= 1,
        "training.head_learning_rate": training.head_learning_rate > 0,
        "training.weight_decay": training.weight_decay >= 0,
        "training.warmup": 0 <= training.warmup < 1,
        "training.clip_norm": training.clip_norm > 0,
        "training.label_smoothing": 0 <= training.label_smoothing < 1,
        "training.loss": training.loss in LOSSES,
        "training.placed_epochs": training.placed_epochs >= 0 and (private or training.placed_epochs == 0),
        "training.head_epochs": training.head_epochs >= 0 and (private or training.head_epochs == 0),
        "training.noise_draws": training.noise_draws >= 1,
        "training.dev_draws": training.dev_draws >= 1,
        "training.precision": training.precision in PRECISIONS,
    }
    for key, holds in rules.items():
        if not holds:
            raise RecipeError(f"{file_name}: {key} has a value that makes no sense here")


def _number(text: str) -> float:
    """Returns the number that a decimal string spells; NaN, which fails every comparison, for anything else."""
    try:
        return float(text) if text.isascii() and "_" not in text else float("nan")
    except ValueError:
        return float("nan")
