"""Old spellings of options, refused with the name of the new one."""

from typing import Any

import typer

from textveil_training.errors import SettingError


def renamed(old: str, new: str) -> Any:
    """Returns a hidden option that says how an option is called now.

    Raises:
        SettingError: The old spelling is used.
    """

    def refuse(value: str | None) -> None:
        if value is not None:
            raise SettingError(f"{old} is called {new} now")

    return typer.Option(old, hidden=True, callback=refuse)
