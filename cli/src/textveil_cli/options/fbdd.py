"""Options for estimating how FBDD, a mechanism that randomizes words, changes words.

The estimates come from samples, since FBDD has no exact output probabilities. FBDD works at any epsilon, so a bundle
(folder with word lists and settings) contains no list of epsilons for it.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import typer
from textveil.errors import OptionError

if TYPE_CHECKING:
    from textveil.bundle import TextBundle
    from textveil.mechanisms.baselines import Fbdd


@dataclass(frozen=True, kw_only=True, repr=False)
class FbddOptions:
    """Options for estimating from samples which words FBDD outputs (noise on a word vector, then the nearest word)."""

    heading: ClassVar[str] = "Calibration of FBDD"
    mechanism: Annotated[
        Literal["fbdd"] | None,
        typer.Option("--mechanism", "-m", help="fbdd: estimate its figures from samples, at any epsilon."),
    ] = None
    epsilon: Annotated[
        str | None,
        typer.Option(
            "--epsilon",
            "-e",
            help="Comma-separated epsilons of fbdd; default: six that suit the vectors.",
        ),
    ] = None
    unit: Annotated[
        Literal["median", "vectors"],
        typer.Option(
            help="Unit of distance of these epsilons. median: the median distance of two words, as for --epsilon of "
            "the command textveil sanitize. vectors: the unit of the original vectors, as in papers."
        ),
    ] = "median"
    words: Annotated[int, typer.Option(min=1, help="Number of words, evenly spaced by frequency.")] = 30
    draws: Annotated[int, typer.Option(min=1, help="Samples of each word at each epsilon.")] = 100
    eta: Annotated[
        float,
        typer.Option(
            help="Share of the samples that S_w ignores, the rarest first. S_w is the number of different outputs of a "
            "word; a larger eta makes S_w smaller."
        ),
    ] = 0.0

    @property
    def is_requested(self) -> bool:
        """Return whether the user gave ``--mechanism fbdd``.

        Raises:
            OptionError: Another option of this group is given without ``--mechanism fbdd``.
        """
        if self.mechanism is None and self != FbddOptions():
            raise OptionError("--epsilon, --unit, --words, --draws and --eta need --mechanism fbdd")
        return self.mechanism is not None

    def make_mechanisms(self, bundle: "TextBundle") -> "list[Fbdd]":
        """Return one FBDD mechanism for each epsilon that the user gave, in the same order.

        Raises:
            UnknownMechanism: The bundle has no word vectors.
            OptionError: An epsilon is not a number in range, or the bundle does not contain the median distance of its
                word vectors.
        """
        from textveil.mechanisms.baselines import Fbdd, suggest_fbdd_epsilons

        bundle.check_mechanism("fbdd")
        scale = 1.0
        if self.unit == "vectors":
            if bundle.median_distance is None:
                raise OptionError(
                    "this bundle does not state the median distance of its vectors: build it again with "
                    "textveil-export table, or omit --unit"
                )
            scale = bundle.median_distance
        if self.epsilon is None:
            epsilons = suggest_fbdd_epsilons(bundle.metric.rows.shape[1])
        else:
            epsilons = [_parse_number(value) * scale for value in self.epsilon.split(",")]
        return [Fbdd.from_table(bundle.table, bundle.metric, Decimal(epsilon)) for epsilon in epsilons]


def _parse_number(text: str) -> float:
    """Parse a finite number.

    Raises:
        OptionError: The text is not a finite number.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise OptionError("--epsilon must be numbers separated by commas, such as 30,50")
    return value
