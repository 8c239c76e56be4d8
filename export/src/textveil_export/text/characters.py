"""The classes of characters that text is cut by, for readers that have no Unicode tables of the same version."""

import importlib.metadata
import json
import re
import sys
from functools import cache

import regex
from textveil.bundle import layout

from textveil_export.errors import ExportError

_VERSION = re.compile(r"supports Unicode ([0-9]+\.[0-9]+\.[0-9]+)")


@cache
def characters_json() -> str:
    """Returns ``characters.json``: the ranges of every class as the installed ``regex`` has it, a line for each class.

    Raises:
        ExportError: The library does not say which Unicode it has.
    """
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    lines = []
    for name, pattern in layout.CHARACTER_CLASSES.items():
        runs = regex.finditer(f"{pattern}+", everything, regex.V1)
        ranges = [place for run in runs for place in (run.start(), run.end() - 1)]
        lines.append(f"  {json.dumps(name)}: {json.dumps(ranges, separators=(',', ':'))}")
    classes = ",\n".join(lines)
    return f'{{\n "unicode": "{_unicode_version()}",\n "classes": {{\n{classes}\n }}\n}}\n'


def _unicode_version() -> str:
    found = _VERSION.search(importlib.metadata.distribution("regex").read_text("METADATA") or "")
    if found is None:
        raise ExportError("the installed regex does not say which version of Unicode it has")
    return found[1]
