"""Define the settings of a pretraining, and read them from recipes (TOML files)."""

from dataclasses import dataclass
from pathlib import Path

from textveil_training.engine.settings import PRECISIONS, declare_setting, read_recipe_of_kind
from textveil_training.engine.settings import CheckedSettings as RunSettings

KIND = "pretrain"


@dataclass(frozen=True, kw_only=True)
class PretrainingSettings(RunSettings):
    """Settings of one pretraining.

    Raises:
        SettingError: A value is out of range.
    """

    start: str = declare_setting(
        "minilm", "Encoder or masked language model to start from: minilm, a folder or a hub id."
    )
    steps: int = declare_setting(0, "Optimizer steps; 0: as --num-epochs requires.", lambda n: n >= 0)
    num_epochs: int = declare_setting(1, "Passes over the texts, without --steps.", lambda n: n >= 1)
    batch_size: int = declare_setting(64, "Texts per step, summed over all processes.", lambda n: n >= 1)
    accumulate: int = declare_setting(
        1, "Number of parts in which a batch is computed: less memory, same gradient.", lambda n: n >= 1
    )
    max_tokens: int = declare_setting(
        128, "Maximum tokens, including [CLS] and [SEP]; longer texts are truncated.", lambda n: 5 <= n <= 512
    )
    learning_rate: float = declare_setting(
        0.0, "Peak learning rate of the encoder; 0: 3e-4 with a new head, else 5e-5.", lambda rate: 0 <= rate < 1
    )
    head_learning_rate: float = declare_setting(
        0.0, "Peak learning rate of the head; 0: 2e-3 for a new head, else 5e-5.", lambda rate: 0 <= rate < 1
    )
    weight_decay: float = declare_setting(
        0.01, "Decoupled weight decay of matrices (Loshchilov and Hutter 2019).", lambda decay: decay >= 0
    )
    warmup: float = declare_setting(
        0.06, "Share of the steps with rising learning rates; then they fall.", lambda x: 0 <= x < 1
    )
    clip_norm: float = declare_setting(
        1.0, "Maximum norm of a gradient; larger ones are scaled down.", lambda norm: norm > 0
    )
    dropout: float = declare_setting(0.0, "Dropout of hidden states and attention.", lambda x: 0 <= x < 1)
    mask_probability: float = declare_setting(
        0.15, "Probability that a word is predicted (Devlin et al. 2019).", lambda p: 0 < p < 1
    )
    unchanged_share: float = declare_setting(
        0.1, "Share of the predicted words that the input contains unmasked.", lambda x: 0 <= x <= 1
    )
    measure_every: int = declare_setting(0, "Steps between measurements; 0: 20 measurements in all.", lambda n: n >= 0)
    held_out_percent: int = declare_setting(
        2, "Percentage of texts for measurements instead of training, selected by hash.", lambda n: 1 <= n <= 50
    )
    seed: int = declare_setting(0, "Seed of order and masks; the mechanism's samples have no seed.")
    precision: str = declare_setting(
        "bfloat16", "float32, or bfloat16 if the device supports it.", lambda name: name in PRECISIONS
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PretrainingRecipe:
    """Recipe (TOML file) with the settings of a published pretraining.

    Attributes:
        name: Name of the recipe, printable.
        kind: ``pretrain``.
        note: Sentence about the purpose of the recipe.
        raw: Whether raw text is masked instead of sanitized text.
        training: Settings. ``start`` may be the name of another recipe; the user then passes the output folder of that
            recipe on the command line.
    """

    name: str
    kind: str
    note: str
    raw: bool
    training: PretrainingSettings


def read_pretraining_recipe(path: Path) -> PretrainingRecipe:
    """Read the recipe (TOML file of settings) of a pretraining.

    Raises:
        RecipeError: The file cannot be read or is not TOML, a key is missing or unknown, a value is of another type, or
            the recipe is of another kind.
        SettingError: A setting is out of range.
    """
    return read_recipe_of_kind(path, PretrainingRecipe, KIND)
