"""Options for entity types that the user defines: regular expressions, and a file of known persons."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from textveil.errors import InputError, OptionError

from textveil_cli.console.text_io import refuse_missing_file

#: Largest file of listed persons.
MAX_KNOWN_BYTES = 1 << 24


def parse_patterns(arguments: Iterable[str], option: str = "--pattern") -> dict[str, str]:
    """Parse arguments of the form ``NAME=REGEX``, and return a dictionary from entity type to regular expression.

    Raises:
        OptionError: An argument has another form, or two arguments have the same name.

    >>> parse_patterns(["employee=EMP[0-9]{5}"])
    {'employee': 'EMP[0-9]{5}'}
    """
    patterns: dict[str, str] = {}
    for number, argument in enumerate(arguments, 1):
        name, equals, pattern = argument.partition("=")
        if not equals:
            raise OptionError(f"{option}: pattern {number} has no =: write NAME=REGEX, such as employee=EMP[0-9]{{5}}")
        if name in patterns:
            raise OptionError(
                f"{option}: pattern {number} has the same name as an earlier pattern: join both expressions with |"
            )
        patterns[name] = pattern
    return patterns


def read_known_persons(path: Path, option: str = "--known") -> list[str]:
    """Return all lines of a file with the names of persons that the user wants to replace.

    Blank lines and comments are included, so that a later error can give the correct line number.

    Raises:
        InputError: The file does not exist, cannot be read, is too large, or names no person. The error has no content
            of the file, and no cause, since a cause could contain content.
    """
    refuse_missing_file(path, option)
    content = None
    with suppress(OSError, UnicodeDecodeError):
        if path.stat().st_size > MAX_KNOWN_BYTES:
            raise InputError(f"{option}: the file is larger than {MAX_KNOWN_BYTES >> 20} MB: list fewer persons")
        content = path.read_text(encoding="utf-8-sig")
    if content is None or "\0" in content:
        raise InputError(f"{option}: cannot read the file as UTF-8 with one person per line")
    lines = content.splitlines()
    if not any(line.strip() and not line.strip().startswith("#") for line in lines):
        raise InputError(
            f"{option}: the file names no person: write one person per line, with commas between spellings"
        )
    return lines
