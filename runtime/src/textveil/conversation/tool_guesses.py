"""Limits on the guesses that a model may test through the results of tools.

Before the result of a tool is sent, surrogates of the conversation replace its private strings. If the model wrote a
string into the call and the result repeats it, the upstream learns whether the string equals a hidden string. Each such
string is therefore a guess. The module counts the guesses in the arguments of calls, not in the results: if the limit
depended on the results, reaching the limit would reveal which guesses are right.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from textveil.errors import OptionError
from textveil.text.inflections import SurrogatePair

#: Maximum number of guesses in one call, and in all calls of a conversation. Results of calls with more guesses are
#: rewritten with unlinked surrogates.
MAX_GUESSES_PER_CALL, MAX_GUESSES_PER_CONVERSATION = 3, 32
_MAX_LIMIT = 1_000_000


class ToolGuesses:
    """Counts guesses (strings that a model itself writes into tool calls), and limits their number.

    Args:
        limits: Maximum number of guesses in one call, and in all calls of a conversation. With ``(0, 0)``, only results
            of calls without guesses get the surrogates (replacements) of the conversation.

    Raises:
        OptionError: The limits are not two integers of which the first is at most the second.
    """

    def __init__(self, limits: tuple[int, int] = (MAX_GUESSES_PER_CALL, MAX_GUESSES_PER_CONVERSATION)) -> None:
        is_pair = isinstance(limits, tuple | list) and len(limits) == 2
        if (
            not is_pair
            or not all(type(limit) is int for limit in limits)
            or not 0 <= limits[0] <= limits[1] <= _MAX_LIMIT
        ):
            raise OptionError(
                f"tool_guesses must be two integers, of which the first is at most the second, such as "
                f"({MAX_GUESSES_PER_CALL}, {MAX_GUESSES_PER_CONVERSATION})"
            )
        self.limits: tuple[int, int] = int(limits[0]), int(limits[1])
        self._strings_by_call: dict[str, set[str]] = {}
        #: Guesses in tool names, by call, for calls whose arguments are not yet counted.
        self._early_name_strings: dict[str, set[str]] = {}
        self._pairs_by_call: dict[str, list[SurrogatePair]] = {}
        #: Words that the model itself wrote, by call, for calls in which originals were restored.
        self._model_words_by_call: dict[str, dict[str, None]] = {}
        self._all_strings: set[str] = set()
        self._excludes_all = False
        #: Calls for which the model itself wrote a result.
        self._excluded_calls: set[str] = set()

    def add_strings(
        self, call: str, strings: Iterable[str], pairs: Iterable[SurrogatePair] = (), model_words: Iterable[str] = ()
    ) -> None:
        """Count the guesses (strings that the model itself wrote) in the arguments of a tool call.

        Guesses of several calls with the same identifier add up.

        Args:
            call: Hash of the identifier of the call.
            strings: Hashes of the guesses.
            pairs: Surrogates (replacements) in the arguments that were replaced by originals, each with its original.
            model_words: Words that the model itself wrote, if originals were restored in the call.
        """
        known = self._strings_by_call.setdefault(call, set())
        known |= self._early_name_strings.pop(call, set())
        free_count = self.limits[1] + 1 - len(known)
        known.update(islice(strings, max(0, free_count)))
        self._all_strings.update(known if len(self._all_strings) <= self.limits[1] else ())
        self._model_words_by_call.setdefault(call, {}).update(dict.fromkeys(model_words))
        self._pairs_by_call[call] = list(dict.fromkeys([*self._pairs_by_call.get(call, ()), *pairs]))

    def add_name_strings(self, call: str, strings: Iterable[str]) -> None:
        """Count the guesses (strings that the model itself wrote) in the name of a called tool.

        Until ``add_strings`` has counted the arguments of the call too, the result of the call gets new surrogates
        (replacements), which are never restored.

        Args:
            call: Hash of the identifier of the call.
            strings: Hashes of the guesses.
        """
        if call in self._strings_by_call:
            self.add_strings(call, strings)
        else:
            known = self._early_name_strings.setdefault(call, set())
            known.update(islice(strings, max(0, self.limits[1] + 1 - len(known))))

    def exclude_all_results(self) -> None:
        """Rewrite all later tool results with new surrogates, because the guesses of a call were not counted.

        A guess is a string that the model itself wrote into a call. New surrogates (replacements) are never restored.
        """
        self._excludes_all = True

    def exclude_result(self, call: str) -> None:
        """Rewrite all later results of a call with new surrogates (replacements), which are never restored.

        Call this method if a reply contains a result of the call: the model itself wrote this result.

        Args:
            call: Hash of the identifier of the call.
        """
        self._excluded_calls.add(call)

    def may_share_mapping(self, calls: Iterable[str]) -> bool:
        """Return whether the results of tool calls may contain the surrogates of the conversation.

        Surrogates are replacements of hidden words. In the conversation, equal words have equal surrogates, so the
        model can see whether the result has the same word as a message. The method returns ``False`` if guesses
        (strings that the model itself wrote) exceed a limit, if the guesses of a call were not counted, or if the model
        itself wrote a result of a call.

        Args:
            calls: Hashes of the identifiers of the calls.
        """
        calls = [*calls]
        known = [self._strings_by_call.get(call) for call in calls]
        is_open = (
            not self._excludes_all and len(self._all_strings) <= self.limits[1] and not self.hides_model_words(calls)
        )
        is_open = is_open and self._excluded_calls.isdisjoint(calls)
        return is_open and all(strings is not None and len(strings) <= self.limits[0] for strings in known)

    def hides_model_words(self, calls: Iterable[str]) -> bool:
        """Return whether results of calls must also hide the words that the model wrote into the calls.

        The result is ``True`` if the model wrote more words than the limit for one call. Each word of an original
        (hidden string) is hidden in a result. So if the result showed a word of the model, the model would learn that
        no original has this word.
        """
        return any(len(self._model_words_by_call.get(call, ())) > self.limits[0] for call in calls)

    def list_model_words(self, calls: Iterable[str]) -> list[str]:
        """Return the words that the model itself wrote into those calls that also contained a restored surrogate.

        A surrogate is the replacement of a hidden string; the tool received the hidden string instead.
        """
        return [word for call in calls for word in self._model_words_by_call.get(call, ())]

    def list_restored_pairs(self, calls: Iterable[str]) -> list[SurrogatePair]:
        """Return the surrogates (replacements) that were restored in the arguments of calls, each with its original."""
        return [pair for call in calls for pair in self._pairs_by_call.get(call, ())]

    @property
    def stored_count(self) -> int:
        """Number of stored guesses (strings that the model wrote), plus that of surrogates (replacements) in calls."""
        return sum(map(len, (*self._strings_by_call.values(), *self._early_name_strings.values()))) + sum(
            map(len, self._pairs_by_call.values())
        )

    def export_state(self) -> dict[str, Any]:
        """Return the whole state as plain values for JSON.

        Privacy:
            The state is as private as the conversation.
        """
        return {
            "limits": self.limits,
            "calls": {
                call: [sorted(strings), self._pairs_by_call.get(call, [])]
                for call, strings in self._strings_by_call.items()
            },
            "name_strings": {call: sorted(strings) for call, strings in self._early_name_strings.items()},
            "all_strings": sorted(self._all_strings),
            "excludes_all": self._excludes_all,
            "excluded_calls": sorted(self._excluded_calls),
            "model_words": {call: [*words] for call, words in self._model_words_by_call.items() if words},
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "ToolGuesses":
        """Create an object from a state that ``export_state`` returned."""
        guesses = cls(tuple(state["limits"]))
        for call, (strings, restored) in state["calls"].items():
            guesses._strings_by_call[call] = set(strings)
            guesses._pairs_by_call[call] = [SurrogatePair(*pair) for pair in restored]
        guesses._early_name_strings = {call: set(strings) for call, strings in state["name_strings"].items()}
        guesses._all_strings, guesses._excludes_all = set(state["all_strings"]), state["excludes_all"]
        guesses._excluded_calls = set(state["excluded_calls"])
        guesses._model_words_by_call = {call: dict.fromkeys(words) for call, words in state["model_words"].items()}
        return guesses
