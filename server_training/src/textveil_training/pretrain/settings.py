"""What decides a pretraining, apart from the data and the release; and recipes for it."""

from dataclasses import dataclass
from pathlib import Path

from textveil_training.engine.settings import PRECISIONS, recipe_of_kind
from textveil_training.engine.settings import Settings as RunSettings

KIND = "pretrain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(RunSettings):
    """Settings of one pretraining.

    Attributes:
        start: ``minilm``, a folder or a hub id: an encoder, or a masked language model.
        steps: Number of optimizer steps in all; 0 for ``num_epochs``.
        num_epochs: Number of passes over the texts, where no steps are given.
        batch_size: Texts per step, of all processes together.
        accumulate: Number of parts that each process cuts its share of a batch into; the gradient is that of the
            whole.
        max_tokens: Number of tokens that longer texts are cut to, [CLS] and [SEP] counted.
        learning_rate: Peak learning rate of the encoder; 0 for 3e-4 where the head is new, so that the encoder has
            never been a masked language model (or no longer is), else for 5e-5.
        head_learning_rate: Peak learning rate of the head's transform and bias; 0 for 2e-3 where the head is new,
            else for 5e-5.
        weight_decay: Decay of matrices, decoupled (Loshchilov and Hutter 2019).
        warmup: Share of the steps in which the rates rise; they fall linearly to 0 afterwards.
        clip_norm: Largest norm of a step's gradient; longer ones are scaled down to it.
        dropout: Dropout of hidden states and attention.
        mask_probability: Probability that a word is predicted (Devlin et al. 2019: .15).
        unchanged_share: Share of the predicted words that are shown as they stand in the sanitized text (.1).
        measure_every: Steps between two measurements; 0 for 20 measurements in all.
        held_out_percent: Share of the texts, by their hash, that is measured on and never trained on.
        seed: Seed of the order, the masks, dropout and the division. What the mechanism draws has no seed.
        precision: Precision of the forward pass: ``float32`` or ``bfloat16``.

    Raises:
        SettingError: A value is out of range.
    """

    start: str = "minilm"
    steps: int = 0
    num_epochs: int = 1
    batch_size: int = 64
    accumulate: int = 1
    max_tokens: int = 128
    learning_rate: float = 0.0
    head_learning_rate: float = 0.0
    weight_decay: float = 0.01
    warmup: float = 0.06
    clip_norm: float = 1.0
    dropout: float = 0.0
    mask_probability: float = 0.15
    unchanged_share: float = 0.1
    measure_every: int = 0
    held_out_percent: int = 2
    seed: int = 0
    precision: str = "bfloat16"

    def ranges(self) -> dict[str, bool]:
        """Returns for each setting that has a range whether its value is in it."""
        return {
            "steps": self.steps >= 0,
            "num_epochs": self.num_epochs >= 1,
            "batch_size": self.batch_size >= 1,
            "accumulate": 1 <= self.accumulate <= self.batch_size,
            "max_tokens": 5 <= self.max_tokens <= 512,
            "learning_rate": 0 <= self.learning_rate < 1,
            "head_learning_rate": 0 <= self.head_learning_rate < 1,
            "weight_decay": self.weight_decay >= 0,
            "warmup": 0 <= self.warmup < 1,
            "clip_norm": self.clip_norm > 0,
            "dropout": 0 <= self.dropout < 1,
            "mask_probability": 0 < self.mask_probability < 1,
            "unchanged_share": 0 <= self.unchanged_share <= 1,
            "measure_every": self.measure_every >= 0,
            "held_out_percent": 1 <= self.held_out_percent <= 50,
            "precision": self.precision in PRECISIONS,
        }


@dataclass(frozen=True, slots=True)
class Runs:
    """What a published pretraining reads.

    Attributes:
        data: Data sets as ``NAME:FORMAT:SPLITS``, where the name is a file or folder of published data.
        release: Name in ``nlp-releases.toml``: it sanitizes, or where raw text is masked it measures.
    """

    data: tuple[str, ...]
    release: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One published pretraining.

    Attributes:
        name: Name of the recipe, printable.
        kind: ``pretrain``.
        note: Sentence that says what it is for.
        raw: Whether raw text is masked instead of sanitized text.
        training: Settings; ``start`` may be the name of another recipe, whose folder the command line names.
        runs: What it reads.
    """

    name: str
    kind: str
    note: str
    raw: bool
    training: Settings
    runs: Runs


def read_recipe(path: Path) -> Recipe:
    """Reads a recipe of a pretraining.

    Raises:
        RecipeError: The file cannot be read or is not TOML, a key is missing or unknown, a value is of another type,
            or the recipe is of another kind.
        SettingError: A setting is out of range.
    """
    return recipe_of_kind(path, Recipe, KIND)
