"""Privacy statement of a noisy vector, with epsilons per text, per coordinate and per word.

Each of the three kinds of epsilon has a class of its own (``textveil.release``). Proofs: docs/proofs/representation.md.
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

from textveil.lazy import STATEMENTS, load_data
from textveil.mechanisms.noise.parameters import BOX, L2, ReleaseParameters, WordDropout
from textveil.mechanisms.noise.vector import bound_gaussian_delta, build_noise
from textveil.release import PerCoordinate, PerWord, PrivacyLoss, ReleaseStatement, Spend, WholeText

_TEXTS = load_data(STATEMENTS)["vector"]
# Number of digits of the decimal arithmetic, and an upper bound of its rounding error in a logarithm.
_DIGITS, _ROUNDING = 60, Decimal("1e-40")


@dataclass(frozen=True)
class VectorStatement(ReleaseStatement):
    """Privacy statement of one noisy vector. It depends only on public parameters, so it is safe to publish.

    Attributes:
        parameters: Mode, dimension, grid, nominal epsilon and delta.
        word_dropout: Probability ``mu`` of removing a word, as the caller stated it.
        bundle: Content hash of the vector bundle.

    Example:
        >>> parameters = ReleaseParameters(mode="l1", dimension=2, grid=100, epsilon="4")
        >>> print(VectorStatement(parameters, "0", bundle=64 * "0").summary())
        l1, 2 coordinates: epsilon 4 for the whole text (any two texts)
    """

    parameters: ReleaseParameters
    word_dropout: str
    bundle: str

    @property
    def whole_text(self) -> WholeText:
        """Return the privacy guarantee (epsilon and delta) for any two texts. It does not depend on word dropout."""
        return WholeText(Decimal(self.parameters.epsilon), Decimal(self.parameters.delta or 0))

    @property
    def realized(self) -> WholeText:
        """Return the exact epsilon and delta that the sampled noise has. They never exceed the stated guarantee."""
        return compute_realized_loss(self.parameters)

    @property
    def per_coordinate(self) -> PerCoordinate | None:
        """Return the epsilon of one coordinate in the modes ``l1`` and ``box``; ``None`` in the mode ``l2``.

        For the Gaussian noise of the mode ``l2``, there is a bound only for the whole vector.
        """
        if self.parameters.mode == L2:
            return None
        return PerCoordinate(_round_up(self.parameters.coordinate_loss))

    @property
    def per_word(self) -> PerWord:
        """Return the epsilon and the delta for two texts that differ in one word only (``compute_word_loss``)."""
        return compute_word_loss(self.whole_text, WordDropout(self.word_dropout))

    @property
    def bundle_hash(self) -> str:
        """Return the content hash of the bundle (folder with the model) that was used."""
        return self.bundle

    @property
    def mechanism(self) -> str:
        """Return the name of the mechanism, such as ``vector l1``: the word ``vector`` and the norm that is bounded."""
        return f"vector {self.parameters.mode}"

    @property
    def spend(self) -> Spend:
        """Return the epsilon and the delta for the whole text, to record in the privacy ledger (a file of sums)."""
        return Spend.from_loss(self.whole_text)

    @property
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """Return the privacy losses for the whole text, for one word and (except in mode ``l2``) for one coordinate."""
        coordinate = self.per_coordinate
        return (self.whole_text, self.per_word, *([coordinate] if coordinate else []))

    @property
    def not_protected(self) -> tuple[str, ...]:
        """Return sentences that state what the noisy vector does not protect, for the user of the device."""
        items: list[str] = list(_TEXTS["not_protected"])
        if self.parameters.mode == L2:
            items.append(_TEXTS["not_protected_delta"])
        if self.parameters.mode == BOX:
            items.append(_TEXTS["not_protected_coordinate"].format(times=self.parameters.dimension))
        if WordDropout(self.word_dropout).exact:
            items.append(_TEXTS["not_protected_dropout"])
        return tuple(items)

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain values for JSON.

        The key of each epsilon states what the epsilon applies to, such as the whole text or one word.
        """
        parameters, coordinate = self.parameters, self.per_coordinate
        return {
            "noise_mode": parameters.mode,
            "dimension": parameters.dimension,
            "grid": parameters.grid,
            "noise": _describe_noise(parameters),
            "epsilon_text": float(self.whole_text.epsilon),
            "delta_text": float(self.whole_text.delta),
            "realized_epsilon_text": float(self.realized.epsilon),
            "realized_delta_text": float(self.realized.delta),
            "epsilon_per_coordinate": float(coordinate.epsilon) if coordinate else None,
            "word_dropout": self.word_dropout,
            "epsilon_per_word": float(self.per_word.epsilon),
            "delta_per_word": float(self.per_word.delta),
            "bundle": self.bundle,
            "not_protected": list(self.not_protected),
        }

    def summary(self) -> str:
        """Return one line for a terminal that summarizes the statement: mode, number of coordinates and epsilon."""
        count = self.parameters.dimension
        size = "1 coordinate" if count == 1 else f"{count} coordinates"
        coordinate = f"; {self.per_coordinate}" if self.parameters.mode == BOX else ""
        dropout = WordDropout(self.word_dropout)
        word = f"; {self.per_word} (word dropout {self.word_dropout})" if dropout.exact else ""
        return f"{self.parameters.mode}, {size}: {self.whole_text}{coordinate}{word}"

    def _list_details(self) -> tuple[str, ...]:
        return (f"noise: {_describe_noise(self.parameters)}",)


def make_vector_statement(parameters: ReleaseParameters, word_dropout: str, bundle: str) -> VectorStatement:
    """Create the privacy statement of a noisy vector.

    Args:
        parameters: Parameters of the noisy vector.
        word_dropout: Probability ``mu`` of removing a word, a decimal number in ``[0, 1)``.
        bundle: Content hash of the vector bundle.

    Raises:
        OptionError: ``word_dropout`` is out of range, or no noise table is possible for the parameters.

    Example:
        >>> parameters = ReleaseParameters(mode="l1", dimension=2, grid=100, epsilon="4")
        >>> statement = make_vector_statement(parameters, "0.5", 64 * "0")
        >>> print(statement.whole_text)
        epsilon 4 for the whole text (any two texts)
        >>> round(statement.per_word.epsilon, 2)
        Decimal('3.33')
    """
    build_noise(parameters)
    return VectorStatement(parameters, WordDropout(word_dropout).mu, bundle)


@cache
def compute_realized_loss(parameters: ReleaseParameters) -> WholeText:
    """Compute the exact privacy loss for any two texts from the integer noise table.

    In the modes ``l1`` and ``box``, let ``r`` be the largest factor by which the probability of an output changes if
    the input changes by one step; it is an exact rational number. A change by ``sensitivity`` steps in total changes a
    probability by at most the factor ``r ** sensitivity``, so epsilon is ``sensitivity * ln(r)``. In the mode ``l2``,
    epsilon is the nominal epsilon. Its delta follows from zCDP (zero-concentrated differential privacy) and the
    rounding of the table.

    Raises:
        OptionError: No noise table is possible for the parameters.
    """
    noise = build_noise(parameters)
    if noise.variance is not None:
        delta = bound_gaussian_delta(parameters, noise.variance, noise.table.reach)
        return WholeText(Decimal(parameters.epsilon), _round_up(delta, digits=6))
    ratio = noise.table.compute_largest_ratio(noise.margin)
    with localcontext(prec=_DIGITS):
        logarithm = (Decimal(ratio.numerator) / ratio.denominator).ln() + _ROUNDING
        # Use more digits than a nominal epsilon has, because rounding must not lift the exact epsilon above it.
        return WholeText(_round_up(Fraction(parameters.sensitivity * logarithm), digits=40))


def compute_word_loss(whole: WholeText, dropout: WordDropout) -> PerWord:
    """Compute the privacy loss for two texts that differ in one word.

    If words are removed with probability ``mu``, the epsilon is ``ln((1 - mu) exp(epsilon) + mu)`` and the delta is
    ``(1 - mu) delta``, where ``epsilon`` and ``delta`` are the guarantee for any two texts (Lyu, He, Li 2020, Theorem
    2). No smaller bound holds for all mechanisms.

    Args:
        whole: Epsilon and delta for any two texts.
        dropout: Word dropout with the probability ``mu``.
    """
    mu = dropout.exact
    if not mu:
        return PerWord(whole.epsilon, whole.delta)
    with localcontext(prec=_DIGITS):
        kept = Decimal((1 - mu).numerator) / (1 - mu).denominator
        epsilon = (kept * whole.epsilon.exp() + (1 - kept)).ln() + _ROUNDING
    return PerWord(min(_round_up(Fraction(epsilon), 9), whole.epsilon), _round_up((1 - mu) * Fraction(whole.delta)))


def _describe_noise(parameters: ReleaseParameters) -> str:
    noise = build_noise(parameters)
    if noise.variance is not None:
        return f"discrete Gaussian of parameter sigma^2 = {noise.variance} steps squared on every coordinate"
    return f"discrete Laplace of scale {float(parameters.scale):g} steps on every coordinate"


def _round_up(value: Fraction, digits: int = 12) -> Decimal:
    """Return ``value``, rounded up to ``digits`` significant decimal digits."""
    with localcontext(prec=digits, rounding=ROUND_CEILING):
        return Decimal(value.numerator) / value.denominator
