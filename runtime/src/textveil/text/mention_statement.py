"""The promise of a text that the staircase rewrote: so many nats per drawn mention, beside a skeleton that is visible.

A statement counts what the skeleton shows anyway. It never says how many mentions were changed or unknown: that would
be a second, unprotected release.
"""

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import Any

from textveil.release import Charge, Loss, PerToken, Statement, counted, round_up
from textveil.text.statement import PURE_LDP

#: What the bound is, in full.
NOTION = (
    "local differential privacy per drawn mention between texts of the same skeleton, "
    "against someone who knows every other word"
)
CONSISTENT_NOTION = (
    "local differential privacy per distinct drawn word of a document between texts of the same skeleton, "
    "against someone who knows every other word"
)


@dataclass(frozen=True)
class MentionTerms:
    """The parameters under which any number of texts is rewritten by the staircase.

    Attributes:
        mechanism: ``"staircase"``.
        level: Name of the level.
        epsilon: ``L``: nats per drawn mention.
        share: ``h``: the share of the base that the budget is, as it is in the bundle.
        near: ``p_near``: how often a word is drawn from its neighborhood, rounded up. Where the outputs depend on the
            case of their slot, the larger of two, and so is ``guess_gain``.
        guess_gain: ``C``: the most that the chance of a right guess grows on average, rounded up.
        visible: Which words stay visible: ``"function-words"`` or ``"none"``.
        kinds: Whether names, places, numbers and the like are drawn from their public lists.
        consistent: Whether equal words of a document become equal words.
        consistent_cap: The most drawn words, names and numbers that a document may have with ``consistent``.
        fluent: Whether words are drawn to fit the text around them.
        case: ``"carry"`` or ``"drop"``.
        sanitize_punctuation: Whether punctuation is drawn too, and white space is not passed through.
        bundle: Identity of the bundle.
    """

    mechanism: str
    level: str
    epsilon: Decimal
    share: str
    near: float
    guess_gain: float
    visible: str
    kinds: bool
    consistent: bool
    consistent_cap: int
    fluent: bool
    case: str
    sanitize_punctuation: bool
    bundle: str

    def statement(self, mentions: int) -> "MentionStatement":
        """Returns the promise for a text with so many drawn mentions."""
        return MentionStatement(self, mentions)

    @property
    def largest_odds(self) -> int:
        """``e**L``, rounded up: the factor by which the odds of two words change at most."""
        return largest_odds(self.epsilon)

    @property
    def unit(self) -> str:
        """What is charged."""
        return "distinct drawn word" if self.consistent else "drawn mention"

    @property
    def visible_parts(self) -> tuple[str, ...]:
        """What the text shows as it is: its skeleton."""
        parts = ["function words"] if self.visible != "none" else []
        parts += [] if self.sanitize_punctuation else ["punctuation and white space"]
        parts += ["case"] if self.case == "carry" and not self.sanitize_punctuation else []
        parts += ["kinds"] if self.kinds else []
        parts += ["the number and order of words"]
        parts += ["which mentions are equal"] if self.consistent else []
        return tuple(parts)

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What the release shows in spite of the noise, in plain words."""
        items = [
            f"visible as they are: {', '.join(self.visible_parts)}",
            "the bound is about one word, for someone who knows every other word; who only knows the language learns "
            "about a word from the words around it too",
            "the text as a whole: the sum over its mentions bounds next to nothing",
            "roughly what each drawn word means: it is drawn from its neighborhood most of the time",
        ]
        if self.visible != "none":
            items.append("the habits of its author, negation, tense and gender: function words show them")
        if self.fluent:
            items.append(
                "what fits: words are drawn to fit the text around them, so a drawn word is taken for a true one"
            )
        if self.consistent:
            items.append("a cipher: repeated words can be counted, and guessed by their pattern")
        return (*items, "repetition: the same text or word sanitized again is a second release, and weakens the first")


@dataclass(frozen=True)
class MentionStatement(Statement):
    """The promise of one rewritten text. Safe to publish beside the output.

    For any two texts of the same skeleton that differ in ``m`` drawn mentions (with ``consistent``: distinct drawn
    words), the probabilities of any output differ by a factor of at most ``exp(m L)``; two members of a kind, or two
    unknown words, do not count (docs/proofs/staircase.md). Texts of different skeletons have no bound.

    Attributes:
        terms: Level and options.
        mentions: Drawn mentions of the document; distinct ones with ``consistent``. The skeleton shows their number.
    """

    terms: MentionTerms
    mentions: int

    @property
    def identity(self) -> str:
        """Identity of the bundle."""
        return self.terms.bundle

    @property
    def mechanism(self) -> str:
        """Name of the mechanism."""
        return self.terms.mechanism

    @property
    def charge(self) -> Charge:
        """``L`` for every drawn mention (with ``consistent``: every distinct one); kinds cost nothing."""
        return Charge.of(PerToken(self.terms.epsilon), self.mentions)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The loss of one drawn mention."""
        return (PerToken(self.terms.epsilon),)

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What the release shows in spite of the noise, in plain words."""
        return self.terms.not_protected

    @property
    def epsilon_document(self) -> Decimal:
        """The sum over all drawn mentions: texts of the same skeleton that differ in every one of them."""
        return self.mentions * self.terms.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON."""
        terms = self.terms
        return {
            "mechanism": terms.mechanism,
            "level": terms.level,
            "epsilon": float(terms.epsilon),
            "epsilon_kind": PURE_LDP,
            "notion": CONSISTENT_NOTION if terms.consistent else NOTION,
            "share": terms.share,
            "near": terms.near,
            "guess_gain": terms.guess_gain,
            "largest_odds": terms.largest_odds,
            "visible": list(terms.visible_parts),
            "kinds": terms.kinds,
            "consistent": terms.consistent,
            "fluent": terms.fluent,
            "mentions": self.mentions,
            "epsilon_document": float(self.epsilon_document),
            "case": terms.case,
            "sanitize_punctuation": terms.sanitize_punctuation,
            "bundle": terms.bundle,
            "not_protected": list(terms.not_protected),
        }

    def summary(self) -> str:
        """Returns one paragraph for a terminal."""
        terms, nats, unit = self.terms, _plain(self.terms.epsilon), _nats(self.terms.epsilon)
        kinds = " A listed name or a number: nothing beyond its kind." if terms.kinds else ""
        fluent = (
            " Words are drawn to fit what is visible and what was drawn before, for no more nats."
            if terms.fluent
            else ""
        )
        return (
            f"{nats} {unit} per {terms.unit}. Visible as they are: {', '.join(terms.visible_parts)}.{kinds} "
            "An unknown string: nothing beyond being unknown, and that only within "
            f"the {nats} {unit}. Any other word, to someone who knows all the rest: odds times at most "
            f"{terms.largest_odds:,}.{fluent} Whole text: {nats} x {counted(self.mentions, terms.unit)} = "
            f"{_plain(self.epsilon_document)} {_nats(self.epsilon_document)}: no protection of the text as a whole."
        )


def largest_odds(epsilon: Decimal) -> int:
    """Returns ``e**L`` rounded up."""
    with localcontext(prec=50, rounding=ROUND_CEILING):
        return math.ceil(epsilon.exp() * (1 + Decimal(10) ** -40))


def guess_gain(exact: float) -> float:
    """Returns ``C`` rounded up to a tenth."""
    return round_up(exact * (1 + 1e-12), 1)


def _nats(value: Decimal) -> str:
    return "nat" if value == 1 else "nats"


def _plain(value: Decimal) -> str:
    return f"{value.normalize():,f}" if value else "0"
