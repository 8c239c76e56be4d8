"""Privacy statement of a released class label: one epsilon per text.

The proof is in docs/proofs/index-staircase.md.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from textveil.lazy import STATEMENTS, load_data
from textveil.mechanisms.staircase.label_staircase import LabelStaircase
from textveil.release import PrivacyLoss, ReleaseStatement, Spend, WholeText, compute_largest_odds, round_up

_TEXTS = load_data(STATEMENTS)["class_label"]


@dataclass(frozen=True)
class LabelStatement(ReleaseStatement):
    """Privacy statement of one released class label: a function of public parameters, safe to publish.

    Attributes:
        staircase: The mechanism for the randomizer and the epsilon.
        bundle: Content hash of the bundle.
        sentences: Number of public sentences, of which one is released in place of the class label; 0 for the label.

    Example:
        >>> from textveil import TextLabelEncoder
        >>> encoder = TextLabelEncoder.load()
        >>> statement = encoder.statement(epsilon=4)
        >>> statement.epsilon, statement.guess_gain
        ('4', Decimal('3.8'))
    """

    staircase: LabelStaircase
    bundle: str
    sentences: int = 0

    @property
    def sentence_description(self) -> str:
        """Return the explanation of a released sentence for those who read it."""
        return _TEXTS["sentence"].format(sentences=self.sentences)

    @property
    def randomizer(self) -> str:
        """Return the name of the randomizer."""
        return self.staircase.level.name

    @property
    def epsilon(self) -> str:
        """Return the epsilon per text, spelled as in the bundle."""
        return f"{self.staircase.level.epsilon:f}"

    @property
    def whole_text(self) -> WholeText:
        """Return the guarantee: epsilon for any two texts."""
        return WholeText(self.staircase.level.epsilon)

    @property
    def guess_gain(self) -> Decimal:
        """Return the largest factor by which a release raises the chance to guess the true label.

        The bound holds for any observer, on average over releases. It is rounded up to two decimals.
        """
        return Decimal(str(round_up(self.staircase.guess_gain, 2)))

    @property
    def bundle_hash(self) -> str:
        """Return the content hash of the bundle."""
        return self.bundle

    @property
    def mechanism(self) -> str:
        """Return the name of the mechanism: ``class label`` and the randomizer in parentheses."""
        return f"class label ({self.randomizer})"

    @property
    def spend(self) -> Spend:
        """Return the spend: the epsilon of the whole text."""
        return Spend.from_loss(self.whole_text)

    @property
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """Return the privacy loss of the whole text."""
        return (self.whole_text,)

    @property
    def not_protected(self) -> tuple[str, ...]:
        """Return the limits of the protection in plain words."""
        return tuple(_TEXTS["not_protected"])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        text = (
            {"sentences": self.sentences, "sentence_description": self.sentence_description} if self.sentences else {}
        )
        return text | {
            "randomizer": self.randomizer,
            "label_count": self.staircase.label_count,
            "epsilon_text": float(self.whole_text.epsilon),
            "delta_text": 0.0,
            "guess_gain": float(self.guess_gain),
            "bundle": self.bundle,
            "not_protected": list(self.not_protected),
        }

    def summary(self) -> str:
        """Return the summary: one line for a terminal."""
        label = _TEXTS["label"].format(labels=self.staircase.label_count)
        return _TEXTS["summary"].format(
            released=self.sentence_description if self.sentences else label,
            randomizer=self.randomizer,
            epsilon=f"{self.whole_text.epsilon.normalize():f}",
            odds=f"{compute_largest_odds(self.whole_text.epsilon):,}",
        )

    def _list_details(self) -> tuple[str, ...]:
        gain = _TEXTS["guess_gain"].format(gain=self.guess_gain)
        return (gain, _TEXTS["sentence_note"]) if self.sentences else (gain,)
