"""Define the settings of a fine-tuning, and read them from recipes (TOML files).

The defaults are those of Yue et al. 2021.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from textveil_training.engine.settings import PRECISIONS, declare_setting, read_recipe_of_kind
from textveil_training.engine.settings import CheckedSettings as RunSettings

KIND = "finetune"


@dataclass(frozen=True, kw_only=True)
class FinetuningSettings(RunSettings):
    """Settings of one fine-tuning.

    If the encoder is not fine-tuned, its output vectors are computed once, and a linear model is fitted to these
    vectors.

    Raises:
        SettingError: A value is out of range.
    """

    encoder: str = declare_setting("minilm", "minilm, a model folder (also of pretrain), or a hub id.")
    tuned: bool = declare_setting(True, "Whether the encoder is trained.")
    max_tokens: int = declare_setting(
        128, "Maximum tokens, including [CLS] and [SEP]; longer inputs are truncated.", lambda n: 5 <= n <= 512
    )
    num_epochs: int = declare_setting(3, "Passes over the training rows.", lambda n: n >= 1)
    batch_size: int = declare_setting(64, "Rows per step.", lambda n: n >= 1)
    learning_rate: float = declare_setting(2e-5, "Peak learning rate of the encoder.", lambda rate: 0 < rate < 1)
    head_learning_rate: float = declare_setting(
        1e-3, "Peak learning rate of the new linear layer.", lambda rate: 0 < rate < 1
    )
    weight_decay: float = declare_setting(
        0.01, "Decoupled weight decay of matrices (Loshchilov and Hutter 2019).", lambda decay: decay >= 0
    )
    warmup: float = declare_setting(
        0.1, "Share of the steps with rising learning rates; then they fall.", lambda x: 0 <= x < 1
    )
    clip_norm: float = declare_setting(
        1.0, "Maximum norm of a gradient; larger ones are scaled down.", lambda norm: norm > 0
    )
    dropout: float = declare_setting(0.1, "Dropout of the encoder and of the pooled vector.", lambda x: 0 <= x < 1)
    train_examples: int = declare_setting(
        0, "Maximum training rows, the same for every seed and sanitized copy; 0: all.", lambda n: n >= 0
    )
    seed: int = declare_setting(0, "Seed of the training.")
    precision: str = declare_setting("bfloat16", "float32 or bfloat16.", lambda name: name in PRECISIONS)
    frozen_layers: int | None = declare_setting(
        None,
        "Number of lowest layers that are not trained, with the embeddings; all are trained if left out.",
        lambda n: n is None or n >= 1,
    )

    def describe(self) -> dict[str, Any]:
        """Return the settings that affect the result, for the JSON record of a run.

        Of an encoder's folder, only the last part of the path is included.
        """
        found = asdict(self)
        if self.frozen_layers is None:
            del found["frozen_layers"]
        if not self.tuned:
            found = {name: found[name] for name in ("encoder", "tuned", "max_tokens", "train_examples", "precision")}
        if Path(self.encoder).is_dir():
            found["encoder"] = Path(self.encoder).resolve().name
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class FinetuningRecipe:
    """Recipe (file of settings) with the fine-tuning settings of a published result.

    Attributes:
        name: Name of the recipe, printable.
        kind: ``finetune``.
        note: Sentence about the purpose of the recipe.
        training: Settings of the training.
    """

    name: str
    kind: str
    note: str
    training: FinetuningSettings


def read_finetuning_recipe(path: Path) -> FinetuningRecipe:
    """Read the recipe (TOML file of settings) of a fine-tuning.

    Raises:
        RecipeError: The file cannot be read or is not TOML, a key is missing or unknown, a value is of another type, or
            the recipe is of another kind.
        SettingError: A setting is out of range.
    """
    return read_recipe_of_kind(path, FinetuningRecipe, KIND)
