"""Options that open places of replies, in which originals are then restored."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import typer
from textveil.text import RestorePolicy

_EVERY_PLACE = "--restore-places all: links of replies get the words of your users; no client may display or fetch them"


@dataclass(frozen=True, kw_only=True)
class RestoreOptions:
    """Places of a reply that are restored beside running text."""

    heading: ClassVar[str] = "Restoring"
    restore_places: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PLACE",
            help="Restore in this place too: code, json or math; all for replies that nothing displays or fetches; "
            "repeatable.",
        ),
    ] = None
    restore_hosts: Annotated[
        list[str] | None, typer.Option(metavar="HOST", help="Restore in links to this host too; repeatable.")
    ] = None

    def keywords(self) -> dict[str, Any]:
        """Return the options as ``Conversation`` takes them."""
        return {"restore_places": self.restore_places or (), "restore_hosts": self.restore_hosts or ()}

    def warn_of_every_place(self, report: Callable[[str], None]) -> None:
        """Warn whoever opens every place."""
        if self.parse_policy().everywhere:
            report(_EVERY_PLACE)

    def parse_policy(self) -> RestorePolicy:
        """Return the policy of the options.

        Raises:
            OptionError: A place is unknown, or a host is not a plain host name.
        """
        return RestorePolicy.parse(**self.keywords())
