"""Limits on the guesses that a model may test through the results of tools.

A result shares the mapping of the conversation, so each string of the model's own in it is a test: the upstream sees
whether it equals a hidden one. Strings are counted in the arguments of the model's calls:
counting them in the results would be a test itself.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from textveil.errors import OptionError
from textveil.text.forms import Pair

#: Maximum number of strings of its own that a model may write into one call, and into all calls of a conversation,
#: while results share the mapping.
MOST_A_CALL, MOST_IN_ALL = 3, 32
_HIGHEST = 1_000_000


class ToolGuesses:
    """Counter of the strings that a model wrote into calls of tools.

    Args:
        limits: The maximum for one call and for all calls of a conversation; 0 and 0 if no result with a string of the
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
        #: Strings of tool names in calls whose arguments are not yet counted.
        self._early: dict[str, set[str]] = {}
        self._restored: dict[str, list[Pair]] = {}
        #: Words of the model's own in calls into which originals were restored.
        self._own: dict[str, dict[str, None]] = {}
        self._all: set[str] = set()
        self._is_closed = False
        #: Calls whose results the model wrote.
        self._refused: set[str] = set()

    def add(self, call: str, strings: Iterable[str], restored: Iterable[Pair] = (), own: Iterable[str] = ()) -> None:
        """Count the strings of a call; several calls with the same identifier add up.

        Args:
            call: Its identifier.
            strings: A hash of each string that the rules hide, without the surrogates restored into the call.
            restored: The pairs that restored its arguments.
            own: The words that the model wrote beside the restored surrogates, if there are any.
        """
        known = self._calls.setdefault(call, set())
        known |= self._early.pop(call, set())
        more = self.limits[1] + 1 - len(known)
        known.update(islice(strings, max(0, more)))
        self._all.update(known if len(self._all) <= self.limits[1] else ())
        self._own.setdefault(call, {}).update(dict.fromkeys(own))
        self._restored[call] = list(dict.fromkeys([*self._restored.get(call, ()), *restored]))

    def add_name(self, call: str, strings: Iterable[str]) -> None:
        """Count the strings of a tool's name.

        If only the name of a call is counted, its result does not share the mapping.
        """
        if call in self._calls:
            self.add(call, strings)
        else:
            known = self._early.setdefault(call, set())
            known.update(islice(strings, max(0, self.limits[1] + 1 - len(known))))

    def close(self) -> None:
        """Exclude all later results from the mapping: a call has uncounted strings."""
        self._is_closed = True

    def refuse(self, call: str) -> None:
        """Exclude the results of a call from the mapping: the model wrote one of them in a reply."""
        self._refused.add(call)

    def are_shared(self, calls: Iterable[str]) -> bool:
        """Return whether the results of all these calls may share the mapping."""
        calls = [*calls]
        known = [self._calls.get(call) for call in calls]
        is_open = not self._is_closed and len(self._all) <= self.limits[1] and not self.are_own_hidden(calls)
        is_open = is_open and self._refused.isdisjoint(calls)
        return is_open and all(strings is not None and len(strings) <= self.limits[0] for strings in known)

    def are_own_hidden(self, calls: Iterable[str]) -> bool:
        """Return whether results of calls also hide the model's own words.

        They do if the words are more than the limit of a call. The result hides the words of an original. So each other
        word would test whether it is one of them.
        """
        return any(len(self._own.get(call, ())) > self.limits[0] for call in calls)

    def own_words(self, calls: Iterable[str]) -> list[str]:
        """Return the model's own words in these calls, for calls with restored originals."""
        return [word for call in calls for word in self._own.get(call, ())]

    def restored_into(self, calls: Iterable[str]) -> list[Pair]:
        """Return the pairs that restored the arguments of these calls."""
        return [pair for call in calls for pair in self._restored.get(call, ())]

    @property
    def count(self) -> int:
        """Number of stored strings of calls and of restored pairs."""
        return sum(map(len, (*self._calls.values(), *self._early.values()))) + sum(map(len, self._restored.values()))

    def state(self) -> dict[str, Any]:
        """Return the whole state as plain values for JSON.

        Privacy:
            The state is as private as the conversation.
        """
        return {
            "limits": self.limits,
            "calls": {call: [sorted(strings), self._restored.get(call, [])] for call, strings in self._calls.items()},
            "early": {call: sorted(strings) for call, strings in self._early.items()},
            "all": sorted(self._all),
            "closed": self._is_closed,
            "refused": sorted(self._refused),
            "own": {call: [*words] for call, words in self._own.items() if words},
        }

    @classmethod
    def of_state(cls, state: Mapping[str, Any]) -> "ToolGuesses":
        """Return an object that continues from a saved state."""
        found = cls(tuple(state["limits"]))
        for call, (strings, restored) in state["calls"].items():
            found._calls[call] = set(strings)
            found._restored[call] = [Pair(*pair) for pair in restored]
        found._early = {call: set(strings) for call, strings in state.get("early", {}).items()}
        found._all, found._is_closed = set(state["all"]), state["closed"]
        found._refused = set(state.get("refused", ()))
        found._own = {call: dict.fromkeys(words) for call, words in state["own"].items()}
        return found
