"""Makes plans of a bundle from the options of calls, whatever the mechanism is."""

from functools import cached_property
from typing import TYPE_CHECKING, Unpack

from textveil.bundle.text import TextBundle
from textveil.errors import OptionError
from textveil.text.options import OF_NAMES, Options, given
from textveil.text.rewrite import DrawPlan
from textveil.text.staircase_plans import StaircasePlans

if TYPE_CHECKING:
    from textveil.text.names.plan import NamesPlan, NamesPlans
    from textveil.text.token_plans import TokenPlans


class Plans:
    """Makes the plans of one bundle.

    Args:
        bundle: The bundle.
    """

    def __init__(self, bundle: TextBundle) -> None:
        self._bundle = bundle
        self._staircase = StaircasePlans(bundle) if bundle.staircase is not None else None

    @cached_property
    def everything(self) -> "TokenPlans":
        """Makes plans that draw everything; who draws by the staircase imports none of their mechanisms."""
        from textveil.text.token_plans import TokenPlans

        return TokenPlans(self._bundle)

    @cached_property
    def names(self) -> "NamesPlans":
        """Makes plans of the rung names; who draws words imports none of its rules."""
        from textveil.text.names.plan import NamesPlans

        return NamesPlans(self._bundle)

    def make(self, options: Options) -> "DrawPlan | NamesPlan":
        """Resolves options.

        Raises:
            UnknownMechanism, UnknownLevel, OptionError: An option has a value that the bundle or the mechanism does
                not have; the message lists those it has, and does not repeat the value.
        """
        found = given(options)
        by_names = found.get("protect") == "names"  # a bundle with its lists alone has no mechanism
        if not by_names and found.get("mechanism", self._bundle.default_mechanism) != "staircase":
            return self.everything.plan(found)
        if found.get("protect") == "names":
            return self.names.plan(found)
        if own := sorted(OF_NAMES.intersection(found)):
            raise OptionError(f"{', '.join(own)}: that is for protect names")
        return (self._staircase or StaircasePlans(self._bundle)).plan(found)


def make_plan(bundle: TextBundle, **options: Unpack[Options]) -> "DrawPlan | NamesPlan":
    """Resolves options against a bundle: see ``Plans.make``."""
    return Plans(bundle).make(options)
