"""Cells of a row of CSV: which are texts, and how a text is written back (RFC 4180)."""

import re
from collections.abc import Callable, Collection

from textveil_training.errors import FileLocation, WrongColumnCount, WrongLayout

Cut = Callable[[str, FileLocation], list[str]]
"""Turns a row and its location into an odd number of parts: carried, text, carried, ..., carried."""

_QUOTED_CELL, _PLAIN_CELL = re.compile(r'(?>(?:"[^"]*+")+)'), re.compile(r'[^,"\r\n]*')
_TO_QUOTE = re.compile(r'[,"\r\n]')


def cells(width: int, texts: Collection[int]) -> Cut:
    """Returns how rows of so many cells are cut; ``texts`` are the places of those that are texts, from 0.

    Other cells keep their quotes. A quote inside a cell that does not begin with one is refused.
    """

    def cut(row: str, location: FileLocation) -> list[str]:
        if not row:
            return [row]
        parts: list[str] = []
        carried, place, at = "", 0, 0
        while True:
            match = (_QUOTED_CELL if row.startswith('"', at) else _PLAIN_CELL).match(row, at)
            if match is None or (match.end() < len(row) and row[match.end()] != ","):
                raise WrongLayout("the line is no CSV", location)
            if place in texts:
                cell = match[0]
                parts += [carried, cell[1:-1].replace('""', '"') if cell.startswith('"') else cell]
                carried = ""
            else:
                carried += match[0]
            place, at = place + 1, match.end() + 1
            if match.end() == len(row):
                break
            carried += ","
        if place != width:
            raise WrongColumnCount(f"the row has {place} columns instead of {width}", location)
        return [*parts, carried]

    return cut


def quoted(text: str) -> str:
    """Returns a cell of CSV, in quotes where it needs them."""
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if not text or _TO_QUOTE.search(text) else text
