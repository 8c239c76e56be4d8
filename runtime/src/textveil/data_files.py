"""Data that the Python and the TypeScript package share: rules of English, tables of characters, texts of statements.

- ``rules.json``: words, patterns and surrogates of a language. A bundle may have a file of its own in this format.
- ``entity_types.json``: lists and pools of the mode ``names``, and how the types relate.
- ``character_tables.json``: Unicode tables, punctuation, and the gaps between words that join them.
- ``statements.json``: texts of privacy statements; names in braces are replaced by figures.

The TypeScript package has byte-for-byte copies (``web/scripts/data.mjs``).
"""

import json
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

ENTITY_TYPES, CHARACTERS, STATEMENTS = "entity_types.json", "character_tables.json", "statements.json"


def read_data(name: str) -> bytes:
    """Return the content of a data file."""
    return (Path(__file__).parent / "data" / name).read_bytes()


@cache
def load_data(name: str) -> dict[str, Any]:
    """Parse a data file at the first call; callers must not change the result."""
    return json.loads(read_data(name))


def decode_table(lines: "list[str]") -> list[int]:
    """Return the first code point of each range and the first one after it, alternating.

    A table has the number of code points outside and inside of each range, in turn: ``48 10`` are the ASCII digits.
    """
    return [*accumulate(map(int, " ".join(lines).split()))]
