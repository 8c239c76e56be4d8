"""Define the settings of attacks on sanitized text, except the attacked mechanism and the texts."""

from dataclasses import dataclass

from textveil_training.engine.settings import PRECISIONS, declare_setting
from textveil_training.engine.settings import CheckedSettings as RunSettings
from textveil_training.errors import SettingError

#: Names of the attacks, in the order in which they run.
ATTACKS = ("nearest", "bayes", "repeated", "frequent", "mask", "contextual", "words")
WITH_MODEL = ("mask", "contextual")


@dataclass(frozen=True, kw_only=True)
class TextAttackSettings(RunSettings):
    """Settings of the attacks on sanitized text.

    Raises:
        SettingError: A value is out of range, or an attack needs a language model and the settings name none.
    """

    model: str | None = declare_setting(
        None, "Masked language model for the attacks mask and contextual: a folder (of pretrain), or a hub id."
    )
    attacks: tuple[str, ...] = declare_setting(ATTACKS, "Names of the attacks.")
    vectors: str | None = declare_setting(None, "A file of word vectors for words, a word and its numbers a line.")
    draws: int = declare_setting(3, "Number of releases for the attack words; its +- is over these.", lambda n: n >= 1)
    texts: int = declare_setting(0, "Maximum texts, chosen by the seed; 0: all.", lambda n: n >= 0)
    tokens: int = declare_setting(
        4000, "Maximum tokens for the attacks mask, contextual and repeated.", lambda n: n >= 1
    )
    seed: int = declare_setting(0, "Seed of the choice of texts and tokens; releases have no seed.", lambda n: n >= 0)
    batch_size: int = declare_setting(64, "Texts per batch of the model.", lambda n: n >= 1)
    max_tokens: int = declare_setting(
        128, "Maximum tokens; longer texts are truncated around the mask.", lambda n: n >= 5
    )
    precision: str = declare_setting(
        "bfloat16", "Precision of the model: float32 or bfloat16.", lambda name: name in PRECISIONS
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.attacks or not set(self.attacks) <= set(ATTACKS):
            raise SettingError(f"--attacks must list names among {', '.join(ATTACKS)}")
        if self.model is None and set(self.attacks) != set(ATTACKS) and set(self.attacks) & set(WITH_MODEL):
            raise SettingError(f"{' and '.join(WITH_MODEL)} need a masked language model: pass one with --model")
