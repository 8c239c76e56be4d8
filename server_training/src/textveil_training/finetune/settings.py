"""What decides a fine-tuning, apart from the data; and recipes for it. The defaults are those of Yue et al. 2021."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from textveil_training.engine.settings import PRECISIONS, recipe_of_kind
from textveil_training.engine.settings import Settings as RunSettings

KIND = "finetune"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(RunSettings):
    """Settings of one fine-tuning.

    Attributes:
        encoder: ``minilm``, a folder or a hub id.
        tuned: Whether the encoder learns; otherwise its pooled vectors are computed once, and a linear model is
            fitted to them.
        max_tokens: Number of tokens that longer inputs are cut to, [CLS] and [SEP] counted.
        num_epochs: Number of passes over the training examples.
        batch_size: Examples per step.
        learning_rate: Peak learning rate of the encoder.
        head_learning_rate: Peak learning rate of the new linear layer.
        weight_decay: Decay of matrices, decoupled (Loshchilov and Hutter 2019).
        warmup: Share of the steps in which the rates rise; they fall linearly to 0 afterwards.
        clip_norm: Largest norm of a step's gradient; longer ones are scaled down to it.
        dropout: Dropout of the encoder and of the pooled vector.
        train_examples: Largest number of training examples, the same rows for every seed and every sanitized copy;
            0 for all.
        seed: Seed of everything random in training.
        precision: Precision of the encoder's forward pass: ``float32`` or ``bfloat16``.
        frozen_layers: Lowest layers of a tuned encoder that stay as they are, and the embeddings with them; all learn
            if left out.

    Raises:
        SettingError: A value is out of range.
    """

    encoder: str = "minilm"
    tuned: bool = True
    max_tokens: int = 128
    num_epochs: int = 3
    batch_size: int = 64
    learning_rate: float = 2e-5
    head_learning_rate: float = 1e-3
    weight_decay: float = 0.01
    warmup: float = 0.1
    clip_norm: float = 1.0
    dropout: float = 0.1
    train_examples: int = 0
    seed: int = 0
    precision: str = "bfloat16"
    frozen_layers: int | None = None

    def ranges(self) -> dict[str, bool]:
        """Returns for each setting that has a range whether its value is in it."""
        return {
            "max_tokens": 5 <= self.max_tokens <= 512,
            "num_epochs": self.num_epochs >= 1,
            "batch_size": self.batch_size >= 1,
            "learning_rate": 0 < self.learning_rate < 1,
            "head_learning_rate": 0 < self.head_learning_rate < 1,
            "weight_decay": self.weight_decay >= 0,
            "warmup": 0 <= self.warmup < 1,
            "clip_norm": self.clip_norm > 0,
            "dropout": 0 <= self.dropout < 1,
            "train_examples": self.train_examples >= 0,
            "precision": self.precision in PRECISIONS,
            "frozen_layers": self.frozen_layers is None or self.frozen_layers >= 1,
        }

    def described(self) -> dict[str, Any]:
        """Returns what a record says: settings that have an effect, and of a folder its name alone."""
        found = asdict(self)
        if self.frozen_layers is None:
            del found["frozen_layers"]
        if not self.tuned:
            found = {name: found[name] for name in ("encoder", "tuned", "max_tokens", "train_examples", "precision")}
        if Path(self.encoder).is_dir():
            found["encoder"] = Path(self.encoder).resolve().name
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Runs that a published result has: every data set, as every release, from every start, with every seed.

    Attributes:
        data: Names of data sets.
        releases: Names in ``nlp-releases.toml``, or ``raw`` for raw text.
        starts: Encoders to start from: ``minilm`` or names of pretraining recipes.
        seeds: Number of seeds, 0, 1, ...; each trains on a sanitized copy of its own.
    """

    data: tuple[str, ...]
    releases: tuple[str, ...]
    starts: tuple[str, ...]
    seeds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One published result: settings of its fine-tunings, and what they run on.

    Attributes:
        name: Name of the recipe, printable.
        kind: ``finetune``.
        note: Sentence that says what it is for.
        training: Settings; encoder and seed are those of the first run.
        runs: Runs of the result, in parts.
    """

    name: str
    kind: str
    note: str
    training: Settings
    runs: tuple[Runs, ...]


def read_recipe(path: Path) -> Recipe:
    """Reads a recipe of a fine-tuning.

    Raises:
        RecipeError: The file cannot be read or is not TOML, a key is missing or unknown, a value is of another type,
            or the recipe is of another kind.
        SettingError: A setting is out of range.
    """
    return recipe_of_kind(path, Recipe, KIND)
