"""Declare settings of runs with ranges and help texts, and read settings from recipes (TOML files).

A recipe has all settings on which a published result depends, except the files that the command line names. It has no
defaults and no inheritance: a missing key is an error, and so is an unknown one.
"""

import hashlib
import tomllib
from collections.abc import Callable
from dataclasses import MISSING, field, fields
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from textveil_training.errors import RecipeError, SettingError, make_printable

PRECISIONS = ("float32", "bfloat16")
"""Precisions of an encoder's forward pass in training."""


class CheckedSettings:
    """Base class of settings: a frozen dataclass that checks its values when it is created.

    Raises:
        SettingError: A value is out of range.
    """

    def __post_init__(self) -> None:
        for one in fields(self):  # type: ignore[arg-type]
            holds = one.metadata.get("holds")
            if holds is not None and not holds(getattr(self, one.name)):
                raise SettingError(f"{one.name} is out of range: {one.metadata['about']}")


def declare_required(about: str, holds: Callable[[Any], bool] | None = None) -> Any:
    """Create the dataclass field of a setting without a default; the field has a help text and a check of the range.

    Args:
        about: Help text, in one sentence.
        holds: Function that returns whether a value is in range; ``None`` if every value is.
    """
    return declare_setting(MISSING, about, holds)


def declare_setting(default: Any, about: str, holds: Callable[[Any], bool] | None = None) -> Any:
    """Create the dataclass field of a setting, with its default, its help text and a check of its range.

    Args:
        default: Value of the setting if a recipe or command does not give one.
        about: Help text, in one sentence.
        holds: Function that returns whether a value is in range; ``None`` if every value is.
    """
    return field(default=default, metadata={"about": about, "holds": holds})


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Read a recipe (file of training settings) in TOML.

    Returns:
        The content of the file, and its SHA-256.

    Raises:
        RecipeError: The file cannot be read or is not TOML in UTF-8.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise RecipeError("the recipe cannot be read: check its path and its permissions") from error
    try:
        return tomllib.loads(raw.decode()), hashlib.sha256(raw).hexdigest()
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RecipeError(f"{make_printable(path.name)}: not a TOML file in UTF-8") from error


def parse_table(kind: type[Any], content: dict[str, Any], file_name: str, prefix: str = "") -> Any:
    """Create a dataclass object from a TOML table whose keys are the field names.

    A key may be missing if the default of its field is ``None``.

    Args:
        kind: Dataclass to create. Its fields are numbers, strings, booleans, tuples of strings, dataclasses, or tuples
            of dataclasses.
        content: The table.
        file_name: Printable name of the file, for messages.
        prefix: Key of the table with a dot after it, for messages; empty for the whole file.

    Raises:
        RecipeError: A key is missing or unknown, or a value is of another type. The message names file and key.
        SettingError: A value of ``CheckedSettings`` is out of range.
    """
    hints = get_type_hints(kind)
    optional = {one.name for one in fields(kind) if one.default is None}
    missing = [name for name in hints if name not in content and name not in optional]
    if missing:
        raise RecipeError(f"{file_name}: the key {prefix}{missing[0]} is missing")
    unknown = [name for name in content if name not in hints]
    if unknown:
        raise RecipeError(
            f"{file_name}: the key {make_printable(prefix + unknown[0])} is unknown: remove it, or correct its name"
        )
    return kind(**{name: _parse_value(hints[name], content[name], file_name, prefix + name) for name in content})


def read_recipe_of_kind(path: Path, recipe: type[Any], kind: str) -> Any:
    """Read a recipe (TOML file of settings), and check that its key ``kind`` has the expected value.

    Args:
        path: The TOML file.
        recipe: Dataclass of the recipe.
        kind: Expected value of the key ``kind``.

    Raises:
        RecipeError: The file cannot be read or is not TOML, a key is missing or unknown, a value is of another type, or
            the recipe is of another kind.
        SettingError: A setting is out of range.
    """
    content, _ = read_toml(path)
    name = make_printable(path.name)
    if content.get("kind") != kind:
        raise RecipeError(f"{name}: kind must be {kind} for this command")
    return parse_table(recipe, content, name)


def _parse_value(hint: Any, value: Any, file_name: str, key: str) -> Any:
    if isinstance(hint, UnionType):
        hint = next(part for part in get_args(hint) if part is not type(None))
    if get_origin(hint) is tuple:
        item = get_args(hint)[0]
        if isinstance(value, list):
            return tuple(_parse_value(item, part, file_name, key) for part in value)
    elif hasattr(hint, "__dataclass_fields__"):
        if isinstance(value, dict):
            return parse_table(hint, value, file_name, f"{key}.")
    elif type(value) is hint or (hint is float and type(value) is int):
        return hint(value)
    raise RecipeError(f"{file_name}: {key} has a value of a wrong type")
