"""Makes plans of a bundle from the options of calls, whatever the mechanism is."""

from functools import cached_property
from typing import TYPE_CHECKING, Unpack

from textveil.bundle.text import TextBundle
from textveil.errors import OptionError
from textveil.text.options import OF_NAMES, Options, given
from textveil.text.rewrite import DrawPlan
from textveil.text.staircase_plans import StaircasePlans

if TYPE_CHECKING:
    from textveil.text.names.also import Detector
    from textveil.text.names.plan import NamesPlan, NamesPlans
    from textveil.text.token_plans import TokenPlans


class Plans:
    """Makes the plans of one bundle.

    Args:
        bundle: The bundle.
        also: Hides more of what came out on the rung names.
    """

    def __init__(self, bundle: TextBundle, also: "Detector | None" = None) -> None:
        self._bundle, self._also = bundle, also
        if bundle.staircase is not None and not bundle.is_builtin:  # what its lists hold is looked at once
            _ = self.staircase

    @cached_property
    def staircase(self) -> StaircasePlans:
        """Makes plans of the staircase."""
        return StaircasePlans(self._bundle)

    @cached_property
    def everything(self) -> "TokenPlans":
        """Makes plans that draw everything; who draws by the staircase imports none of their mechanisms."""
        from textveil.text.token_plans import TokenPlans

        return TokenPlans(self._bundle)

    @cached_property
    def names(self) -> "NamesPlans":
        """Makes plans of the rung names; who draws words imports none of its rules."""
        from textveil.text.names.plan import NamesPlans

        return NamesPlans(self._bundle, self._also)

    def make(self, options: Options) -> "DrawPlan | NamesPlan":
        """Resolves options.

        Raises:
            UnknownMechanism, UnknownLevel, OptionError: An option has a value that the bundle or the mechanism does
                not have; the message lists those it has, and does not repeat the value.
        """
        found = given(options)
        if found.get("protect") == "names" and found.get("mechanism", "staircase") == "staircase":
            return self.names.plan(found)
        if own := sorted(OF_NAMES.intersection(found)):
            raise OptionError(f"{', '.join(own)}: only with protect names")
        if self._also is not None:
            raise OptionError("outside detectors read outputs of the rung names alone (protect names)")
        if found.get("mechanism", self._bundle.default_mechanism) != "staircase":
            return self.everything.plan(found)
        return self.staircase.plan(found)


def make_plan(bundle: TextBundle, **options: Unpack[Options]) -> DrawPlan:
    """Resolves options against a bundle, for whoever looks at draws: see ``Plans.make``.

    Raises:
        OptionError: Also for the rung names, which draws no symbols.
    """
    plan = Plans(bundle).make(options)
    if not isinstance(plan, DrawPlan):
        raise OptionError("the rung names has members of kinds, and no mechanism that draws symbols")
    return plan
