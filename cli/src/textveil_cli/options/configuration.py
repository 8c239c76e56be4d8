"""The options that one repeats, from a file: ``--config FILE``, or ``config.toml`` in the user's own folder.

A table for each command, with the long names of its options::

    [sanitize]
    level = "moderate"
    deny = "names.txt"

No other place is looked at, so a file that lies about changes no promise. What the command line says comes first, and
whatever a file changes is named in the statement.
"""

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer
from textveil.errors import ConfigurationError

from textveil_cli.console.messages import say_unless

_MOST_BYTES = 100_000
#: What is said anew every time.
_PER_RUN = {"files", "text", "word", "output", "keep_mapping", "quarantine", "resume", "config"}
#: Paths are relative to the folder of the file.
_PATHS = {"bundle", "deny"}
#: Of these the command line's one switches off that of the file.
_EXCLUSIVE = ({"level", "epsilon"}, {"document", "document_key"}, {"csv", "tsv", "jsonl", "parquet", "plain"})


def user_file() -> Path:
    """Returns where the configuration of this user is: ``~/.config/textveil/config.toml`` on Linux."""
    return Path(typer.get_app_dir("textveil"), "config.toml")


def say_configured(context: typer.Context, quiet: bool = False) -> None:
    """Names the options that were taken from a configuration file, where there are any."""
    changed = configured(context)
    if changed:
        say_unless(f"from the configuration file: {', '.join(changed)}", quiet)


def configured(context: typer.Context) -> list[str]:
    """Returns the options that were taken from a configuration file, by their long names."""
    return [
        max(parameter.opts, key=len)
        for parameter in context.command.params
        if parameter.name and getattr(context.get_parameter_source(parameter.name), "name", None) == "DEFAULT_MAP"
    ]


class _Defaults(dict[str, Any]):
    """Options of a file, as long as the command line has none that excludes them; it is read first."""

    def __init__(self, options: dict[str, Any], context: typer.Context) -> None:
        super().__init__(options)
        self._context = context

    def get(self, name: str, default: Any = None) -> Any:
        given = self._context.params
        for group in _EXCLUSIVE:
            if name in group and any(given.get(other) not in (None, False) for other in group - {name}):
                return default
        return super().get(name, default)


def _load(context: typer.Context, path: Path | None) -> Path | None:
    """Makes the options of a file the defaults of a command."""
    if context.resilient_parsing:  # a shell that completes a word
        return path
    own = user_file()
    if path is None and not own.is_file():
        return None
    found = _read(own if path is None else path, own=path is None)
    commands = getattr(context.parent.command, "commands", {}) if context.parent is not None else {}
    for table, options in found.items():
        if table not in commands or not isinstance(options, dict):
            raise ConfigurationError(
                "the configuration file has a table for each command, such as [sanitize], and no more"
            )
    options = found.get(context.info_name or "", {})
    context.default_map = _Defaults(_checked(context, options, (own if path is None else path).parent), context)
    return path


def _read(path: Path, *, own: bool) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if own and os.name == "posix" and (status.st_uid != os.geteuid() or status.st_mode & 0o022):
                raise ConfigurationError("the configuration file can be written to by others: chmod 600")
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ConfigurationError("no configuration file there that can be read") from error
    try:
        if len(content) <= _MOST_BYTES:
            return tomllib.loads(content.decode())
    except (ValueError, RecursionError):
        pass
    raise ConfigurationError("the configuration file is no TOML")


def _checked(context: typer.Context, options: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The options of a command by the names of its parameters."""
    known = {
        option.lstrip("-"): parameter.name
        for parameter in context.command.params
        for option in parameter.opts
        if parameter.name and parameter.name not in _PER_RUN and option.startswith("--")
    }
    checked: dict[str, Any] = {}
    for number, (option, value) in enumerate(options.items(), 1):
        name = known.get(option.replace("_", "-"))
        if name is None:
            raise ConfigurationError(
                f"option {number} of the command's table is none that a configuration file can have"
            )
        items = value if isinstance(value, list) else [value]
        if not all(isinstance(item, str | int | float) for item in items):
            raise ConfigurationError(f"option {number} of the command's table has a value that is none")
        checked[name] = str(folder / value) if name in _PATHS and isinstance(value, str) else value
    return checked


ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        is_eager=True,
        callback=_load,
        help="Read defaults of options from this TOML file, and not from the user's own folder.",
    ),
]
