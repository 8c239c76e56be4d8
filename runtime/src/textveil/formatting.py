"""Formatting of counts and paths in messages and privacy statements."""

import os
import re


def format_count(count: int, noun: str) -> str:
    """Return a count with a noun in the singular or plural, such as ``1 document`` or ``2 documents``."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def format_path_name(path: str | os.PathLike[str]) -> str:
    """Return the last part of a path, for a message; an empty string if this part does not look like a file name.

    Any other string may be a private text that was passed as a path by mistake.
    """
    name = os.path.basename(os.path.normpath(path))
    return repr(name) if re.fullmatch(r"[\w.+-]{1,60}", name) else ""
