"""Options that select the parts of a model's reply in which original words are put back."""

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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RestoreOptions:
    """Options that permit original words in other parts of a model's reply than running text, such as code."""

    heading: ClassVar[str] = "Restoring"
    restore_places: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PLACE",
            help="Restore originals also in code, json or math; repeatable. Use all only if no client displays the "
            "reply or fetches its links.",
        ),
    ] = None
    restore_hosts: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST",
            help="Restore originals also in links to this host (with its port, if links have one); repeatable.",
        ),
    ] = None

    def make_keywords(self) -> dict[str, Any]:
        """Return the options as the keyword arguments ``restore_places`` and ``restore_hosts`` of ``Conversation``.

        Raises:
            OptionError: A value of ``--restore-places`` is unknown, or a value of ``--restore-hosts`` is not a host
                name.
        """
        places, hosts = self.restore_places or (), self.restore_hosts or ()
        _check_policy(_PLACES_ERROR, restore_places=places)
        _check_policy(_HOSTS_ERROR, restore_hosts=hosts)
        return {"restore_places": places, "restore_hosts": hosts}

    def warn_about_all_places(self, report: Callable[[str], None]) -> None:
        """Print a warning if the options permit original words everywhere in a reply, even in links."""
        if self.parse_policy().permits_everything:
            report(_ALL_PLACES_WARNING)

    def parse_policy(self) -> RestorePolicy:
        """Convert the options to a ``RestorePolicy``, which selects the parts of a reply that get original words.

        Raises:
            OptionError: A value of ``--restore-places`` is unknown, or a value of ``--restore-hosts`` is not a host
                name.
        """
        return RestorePolicy.parse(**RestoreOptions.make_keywords(self))


def _check_policy(message: str, **keywords: Any) -> None:
    try:
        RestorePolicy.parse(**keywords)
    except OptionError:
        raise OptionError(message) from None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ToolRestoreOptions(RestoreOptions):
    """Options for original words in replies and tool calls of a model, with limits on the guesses of the model.

    A *guess* is a name or number in a tool call that the model did not copy from the texts. If the tool result repeats
    the guess, and the gateway replaces this text, the model learns that the guess is a hidden word. The limits bound
    how much the model can learn in this way.
    """

    restore_tools: Annotated[
        list[str] | None,
        typer.Option(metavar="TOOL", help="Restore originals in the arguments of calls to this tool; repeatable."),
    ] = None
    tool_guesses: Annotated[
        tuple[int, int] | None,
        typer.Option(
            metavar="CALL ALL",
            help="Maximum number of strings that the model wrote itself, in one tool call and in all calls of a "
            f"conversation; {MAX_GUESSES_PER_CALL} {MAX_GUESSES_PER_CONVERSATION} if left out. Above it, tool "
            "results do not share the mapping, since each such string lets the model test a guess.",
        ),
    ] = None

    def make_keywords(self) -> dict[str, Any]:
        """Return keyword arguments of ``Conversation``: those of the base class and ``restore_tools``.

        The caller passes ``tool_guesses`` itself (``get_guess_limits``).

        Raises:
            OptionError: A value of ``--restore-places`` is unknown, or a value of ``--restore-hosts`` is not a host
                name.
        """
        return super().make_keywords() | {"restore_tools": self.restore_tools or ()}

    def get_guess_limits(self) -> tuple[int, int]:
        """Return how many guesses of hidden words a model may make in one tool call, and in a whole conversation.

        A guess is a name or number in a tool call that the model did not copy from the texts.

        Raises:
            OptionError: The first number is larger than the second, or negative.
        """
        per_call, all_calls = self.tool_guesses or (MAX_GUESSES_PER_CALL, MAX_GUESSES_PER_CONVERSATION)
        if not 0 <= per_call <= all_calls:
            raise OptionError(_GUESSES_ERROR)
        return per_call, all_calls

    def refuse_without_mapping(self, protect: str) -> None:
        """Raise ``OptionError`` if the user gave options for restoring originals in a mode that cannot restore them.

        Args:
            protect: The protection mode, ``words`` or ``all``.
        """
        names = ("restore_places", "restore_hosts", "restore_tools", "tool_guesses")
        present = ["--" + name.replace("_", "-") for name in names if getattr(self, name)]
        if present:
            raise OptionError(
                f"{', '.join(present)} need{'s' * (len(present) == 1)} --protect names: the mode "
                f"{protect} restores nothing"
            )
