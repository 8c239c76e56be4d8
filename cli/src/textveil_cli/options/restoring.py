"""Options for the places of a reply in which originals are restored."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import typer
from textveil.conversation import MAX_GUESSES_PER_CALL, MAX_GUESSES_PER_CONVERSATION
from textveil.errors import OptionError
from textveil.text import RestorePolicy

_ALL_PLACES_WARNING = (
    "--restore-places all puts words of your users into links of replies: no client may display the replies or fetch "
    "their links"
)
_PLACES_ERROR = "--restore-places takes code, json, math or all; repeat it for several"
_HOSTS_ERROR = (
    "--restore-hosts takes a host name, with a port if links have one, such as docs.example.com; repeat it for several"
)
_GUESSES_ERROR = "--tool-guesses takes two whole numbers, the first no larger than the second, such as 3 32"


@dataclass(frozen=True, kw_only=True)
class RestoreOptions:
    """Options for the places of a reply that are restored beside running text."""

    heading: ClassVar[str] = "Restoring"
    restore_places: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PLACE",
            help="Restore also in code, json or math; all only if no client displays the reply or fetches its "
            "links; repeatable.",
        ),
    ] = None
    restore_hosts: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST",
            help="Restore also in links to this host (with port, if links have one); repeatable.",
        ),
    ] = None

    def make_keywords(self) -> dict[str, Any]:
        """Return the options as keyword arguments of ``Conversation``.

        Raises:
            OptionError: A place is unknown, or a host is not a bare host name.
        """
        places, hosts = self.restore_places or (), self.restore_hosts or ()
        _check_policy(_PLACES_ERROR, restore_places=places)
        _check_policy(_HOSTS_ERROR, restore_hosts=hosts)
        return {"restore_places": places, "restore_hosts": hosts}

    def warn_about_all_places(self, report: Callable[[str], None]) -> None:
        """Report a warning if the options restore in every place."""
        if self.parse_policy().permits_everything:
            report(_ALL_PLACES_WARNING)

    def parse_policy(self) -> RestorePolicy:
        """Return the policy of the options.

        Raises:
            OptionError: A place is unknown, or a host is not a bare host name.
        """
        return RestorePolicy.parse(**RestoreOptions.make_keywords(self))


def _check_policy(message: str, **keywords: Any) -> None:
    try:
        RestorePolicy.parse(**keywords)
    except OptionError:
        raise OptionError(message) from None


@dataclass(frozen=True, kw_only=True)
class ToolRestoreOptions(RestoreOptions):
    """Options for restored places and tool calls, and for limits of a model's guesses.

    The limits bound what a model can learn from the results of tools.
    """

    restore_tools: Annotated[
        list[str] | None,
        typer.Option(metavar="TOOL", help="Restore originals in the arguments of calls to this tool; repeatable."),
    ] = None
    tool_guesses: Annotated[
        tuple[int, int] | None,
        typer.Option(
            metavar="CALL ALL",
            help="Maximum strings of the model's own in one tool call, and in all calls of a conversation, "
            f"while tool results share the mapping; {MAX_GUESSES_PER_CALL} {MAX_GUESSES_PER_CONVERSATION} "
            "if left out. Each such string lets the model test a guess.",
        ),
    ] = None

    def make_keywords(self) -> dict[str, Any]:
        """Return the options as keyword arguments of ``Conversation``, without ``tool_guesses``.

        Raises:
            OptionError: A place is unknown, or a host is not a bare host name.
        """
        return super().make_keywords() | {"restore_tools": self.restore_tools or ()}

    def get_guess_limits(self) -> tuple[int, int]:
        """Return the maximum number of guesses in one tool call, and in all calls together.

        A guess is a string that the model wrote itself and did not copy from the texts.

        Raises:
            OptionError: The first number is larger than the second, or below 0.
        """
        per_call, all_calls = self.tool_guesses or (MAX_GUESSES_PER_CALL, MAX_GUESSES_PER_CONVERSATION)
        if not 0 <= per_call <= all_calls:
            raise OptionError(_GUESSES_ERROR)
        return per_call, all_calls

    def refuse_without_mapping(self, protect: str) -> None:
        """Raise ``OptionError`` for options of restoring in a mode that restores nothing."""
        names = ("restore_places", "restore_hosts", "restore_tools", "tool_guesses")
        present = ["--" + name.replace("_", "-") for name in names if getattr(self, name)]
        if present:
            raise OptionError(
                f"{', '.join(present)} need{'s' * (len(present) == 1)} --protect names: the mode "
                f"{protect} restores nothing"
            )
