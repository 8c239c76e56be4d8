"""The promise of a released index: one epsilon, for the whole text (docs/proofs/index-staircase.md)."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from textveil.mechanisms.staircase.index import IndexStaircase
from textveil.release import Charge, Loss, Statement, WholeText, largest_odds, round_up

_NOT_PROTECTED = (
    "that a text was encoded, and with what parameters",
    "encoding the same text again: each release is drawn afresh, and their epsilons add up",
    "to whoever can time the device: how long the text is",
)


@dataclass(frozen=True)
class IndexStatement(Statement):
    """The promise of one released index: a function of public parameters alone, safe to publish beside it.

    Attributes:
        staircase: The mechanism of its channel and level.
        bundle: Identity of the bundle.
        sentences: Of how many public sentences one is released in the place of the index; 0 for the index itself.
    """

    staircase: IndexStaircase
    bundle: str
    sentences: int = 0

    @property
    def kind_of_text(self) -> str:
        """What a released sentence is, for whoever reads it."""
        return f"one of {self.sentences} public sentences, not the author's words"

    @property
    def channel(self) -> str:
        """Name of the channel."""
        return self.staircase.level.name

    @property
    def epsilon(self) -> str:
        """The level, as the bundle spells it."""
        return f"{self.staircase.level.epsilon:f}"

    @property
    def whole_text(self) -> WholeText:
        """The promise: epsilon for any two texts."""
        return WholeText(self.staircase.level.epsilon)

    @property
    def guess_gain(self) -> Decimal:
        """``C``: a right guess of the code, by anybody, becomes at most so many times likelier on average."""
        return Decimal(str(round_up(self.staircase.guess_gain, 2)))

    @property
    def identity(self) -> str:
        """Identity of the bundle."""
        return self.bundle

    @property
    def mechanism(self) -> str:
        """``index`` and the channel."""
        return f"index {self.channel}"

    @property
    def charge(self) -> Charge:
        """Epsilon of the whole text."""
        return Charge.of(self.whole_text)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The loss of the whole text."""
        return (self.whole_text,)

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What the release does not do, in plain words."""
        return _NOT_PROTECTED

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON."""
        text = {"sentences": self.sentences, "kind_of_text": self.kind_of_text} if self.sentences else {}
        return text | {
            "channel": self.channel,
            "indices": self.staircase.codes,
            "epsilon_whole_text": float(self.whole_text.epsilon),
            "delta_whole_text": 0.0,
            "guess_gain": float(self.guess_gain),
            "bundle": self.bundle,
            "not_protected": list(self.not_protected),
        }

    def summary(self) -> str:
        """Returns one line for a terminal."""
        released = self.kind_of_text if self.sentences else f"one of {self.staircase.codes} indices"
        odds = f"odds between two texts shift at most {largest_odds(self.whole_text.epsilon):,}-fold"
        return f"{released} (channel {self.channel}): {self.whole_text}; {odds}"

    def _details(self) -> tuple[str, ...]:
        guess = f"a right guess of the text's code becomes at most {self.guess_gain} times likelier, on average"
        fixed = "the sentences were fixed before the text: none is a paraphrase, and one of a wrong class reads as well"
        return (guess, fixed) if self.sentences else (guess,)
