"""Settings of a pretraining, apart from the data and the release; and recipes for it."""

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

    start: str = declare_setting("minilm", "minilm, a folder or a hub id: an encoder or a masked language model.")
    steps: int = declare_setting(0, "Optimizer steps; 0 for those of --num-epochs.", lambda n: n >= 0)
    num_epochs: int = declare_setting(1, "Passes over the texts, without --steps.", lambda n: n >= 1)
    batch_size: int = declare_setting(64, "Texts per step, of all processes together.", lambda n: n >= 1)
    accumulate: int = declare_setting(
        1, "Parts a batch is computed in: less memory, the same gradient.", lambda n: n >= 1
    )
    max_tokens: int = declare_setting(128, "Longer texts are cut, [CLS] and [SEP] counted.", lambda n: 5 <= n <= 512)
    learning_rate: float = declare_setting(
        0.0, "Peak for the encoder; 0 for 3e-4 with a new head, else 5e-5.", lambda rate: 0 <= rate < 1
    )
    head_learning_rate: float = declare_setting(
        0.0, "Peak for the head; 0 for 2e-3 for a new head, else 5e-5.", lambda rate: 0 <= rate < 1
    )
    weight_decay: float = declare_setting(
        0.01, "Decay of matrices, decoupled (Loshchilov and Hutter 2019).", lambda decay: decay >= 0
    )
    warmup: float = declare_setting(
        0.06, "Share of the steps in which the rates rise; then they fall.", lambda x: 0 <= x < 1
    )
    clip_norm: float = declare_setting(
        1.0, "Largest norm of a gradient; longer ones are scaled down.", lambda norm: norm > 0
    )
    dropout: float = declare_setting(0.0, "Dropout of hidden states and attention.", lambda x: 0 <= x < 1)
    mask_probability: float = declare_setting(
        0.15, "How often a word is predicted (Devlin et al. 2019).", lambda p: 0 < p < 1
    )
    unchanged_share: float = declare_setting(
        0.1, "Of the predicted words, how many are shown and not hidden.", lambda x: 0 <= x <= 1
    )
    measure_every: int = declare_setting(0, "Steps between two measurements; 0 for 20 in all.", lambda n: n >= 0)
    held_out_percent: int = declare_setting(
        2, "Texts that are measured on and not trained on, by their hash.", lambda n: 1 <= n <= 50
    )
    seed: int = declare_setting(0, "Seed of order and masks; what the mechanism draws has no seed.")
    precision: str = declare_setting(
        "bfloat16", "float32, or bfloat16 where the device computes in it.", lambda name: name in PRECISIONS
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PretrainingRecipe:
    """Settings of a published pretraining.

    Attributes:
        name: Name of the recipe, printable.
        kind: ``pretrain``.
        note: Sentence that says what it is for.
        raw: Whether raw text is masked instead of sanitized text.
        training: Settings; ``start`` may be the name of another recipe, whose folder the command line names.
    """

    name: str
    kind: str
    note: str
    raw: bool
    training: PretrainingSettings


def read_pretraining_recipe(path: Path) -> PretrainingRecipe:
    """Read a recipe of a pretraining.

    Raises:
        RecipeError: The file cannot be read or is not TOML, a key is missing or unknown, a value is of another type,
            or the recipe is of another kind.
        SettingError: A setting is out of range.
    """
    return read_recipe_of_kind(path, PretrainingRecipe, KIND)
