"""How many guesses a model may try through the results of tools.

A result shares the mapping of the conversation, so each string of the model's own in it is a test: the upstream sees
whether it is equal to a hidden one. Strings are counted where the model writes them, in the arguments of its calls:
to count them in the results would be a test itself.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from textveil.errors import OptionError
from textveil.text.forms import Pair

#: Strings of its own that a model may write into one call, and into all calls of a conversation, while results share
#: the mapping.
MOST_A_CALL, MOST_IN_ALL = 3, 32
_HIGHEST = 1_000_000


class ToolGuesses:
    """Counts the strings that a model wrote into calls of tools.

    Args:
        limits: The most for one call and for all calls of a conversation; 0 and 0 where no result with a string of the
            model's own may share the mapping.

    Raises:
        OptionError: The limits are not two whole numbers, the first no larger than the second.
    """

    def __init__(self, limits: tuple[int, int] = (MOST_A_CALL, MOST_IN_ALL)) -> None:
        is_pair = isinstance(limits, tuple | list) and len(limits) == 2
        if (
            not is_pair
            or not all(type(limit) is int for limit in limits)
            or not 0 <= limits[0] <= limits[1] <= _HIGHEST
        ):
            raise OptionError(
                f"tool_guesses takes two whole numbers, the first no larger: ({MOST_A_CALL}, {MOST_IN_ALL})"
            )
        self.limits = int(limits[0]), int(limits[1])
        self._calls: dict[str, set[str]] = {}
        self._restored: dict[str, list[Pair]] = {}
        self._all: set[str] = set()

    def add(self, call: str, strings: Iterable[str], restored: Iterable[Pair] = ()) -> None:
        """Count the strings of a call; a call whose identifier is known has those of both.

        Args:
            call: Its identifier.
            strings: A hash of each string that the rules hide, less the surrogates that were restored into the call.
            restored: The pairs by which its arguments were restored.
        """
        known = self._calls.setdefault(call, set())
        more = self.limits[1] + 1 - len(known)
        known.update(islice(strings, max(0, more)))
        self._all.update(known if len(self._all) <= self.limits[1] else ())
        self._restored[call] = list(dict.fromkeys([*self._restored.get(call, ()), *restored]))

    def are_shared(self, calls: Iterable[str]) -> bool:
        """Return whether the results of all these calls may share the mapping."""
        known = [self._calls.get(call) for call in calls]
        return len(self._all) <= self.limits[1] and all(
            strings is not None and len(strings) <= self.limits[0] for strings in known
        )

    def restored_into(self, calls: Iterable[str]) -> list[Pair]:
        """Return the pairs by which the arguments of these calls were restored."""
        return [pair for call in calls for pair in self._restored.get(call, ())]

    def state(self) -> dict[str, Any]:
        """Return all of it as plain values for JSON. It is as private as the conversation."""
        return {
            "limits": self.limits,
            "calls": {call: [sorted(strings), self._restored.get(call, [])] for call, strings in self._calls.items()},
            "all": sorted(self._all),
        }

    @classmethod
    def of_state(cls, state: Mapping[str, Any]) -> "ToolGuesses":
        """Continue where a state was taken."""
        found = cls(tuple(state["limits"]))
        for call, (strings, restored) in state["calls"].items():
            found._calls[call] = set(strings)
            found._restored[call] = [Pair(*pair) for pair in restored]
        found._all = set(state["all"])
        return found
