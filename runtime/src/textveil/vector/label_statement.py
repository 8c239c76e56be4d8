"""Privacy statement of a randomized class label, with one epsilon per text (docs/proofs/index-staircase.md)."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from textveil.lazy import STATEMENTS, load_data
from textveil.mechanisms.staircase.label_staircase import LabelStaircase
from textveil.release import PrivacyLoss, ReleaseStatement, Spend, WholeText, compute_largest_odds, round_up

_TEXTS = load_data(STATEMENTS)["class_label"]


@dataclass(frozen=True)
class LabelStatement(ReleaseStatement):
    """Privacy statement of one randomized class label. It depends only on public parameters: it is safe to publish.

    Attributes:
        staircase: The mechanism, which replaces the true label at random.
        bundle: Content hash of the bundle (data folder).
        sentences: Number of public sentences, one of which is sent in place of the class label; 0 if the label itself
            is sent.

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
        """Return a phrase for readers of the output: a public sentence was sent in place of the class label."""
        return _TEXTS["sentence"].format(sentences=self.sentences)

    @property
    def randomizer(self) -> str:
        """Return the name of the rule that replaced the true label at random, such as ``counts``."""
        return self.staircase.level.name

    @property
    def epsilon(self) -> str:
        """Return the epsilon per text as a string, such as ``4``."""
        return f"{self.staircase.level.epsilon:f}"

    @property
    def whole_text(self) -> WholeText:
        """Return the privacy guarantee (an epsilon) for any two texts, however different they are."""
        return WholeText(self.staircase.level.epsilon)

    @property
    def guess_gain(self) -> Decimal:
        """Return the largest factor by which an output raises an observer's chance of guessing the text's true label.

        The bound holds for any observer, averaged over outputs. It is rounded up to two decimals.
        """
        return Decimal(str(round_up(self.staircase.guess_gain, 2)))

    @property
    def bundle_hash(self) -> str:
        """Return the content hash of the bundle (data folder) that was used."""
        return self.bundle

    @property
    def mechanism(self) -> str:
        """Return the name of the mechanism, such as ``class label (counts)``."""
        return f"class label ({self.randomizer})"

    @property
    def spend(self) -> Spend:
        """Return the epsilon of the label for the whole text, to record in the privacy ledger (a file of sums)."""
        return Spend.from_loss(self.whole_text)

    @property
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """Return the privacy losses that the statement lists: only that of the whole text."""
        return (self.whole_text,)

    @property
    def not_protected(self) -> tuple[str, ...]:
        """Return sentences that state what the class label does not protect, for the user of the device."""
        return tuple(_TEXTS["not_protected"])

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain values for JSON."""
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
        """Return one line for a terminal that summarizes the statement: mechanism and epsilon."""
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
