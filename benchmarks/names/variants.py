"""Rewrite texts in lower case, in capitals and with typing errors, and adjust the offsets of their spans."""

import random
import re
from collections.abc import Callable
from dataclasses import replace

from names.data import Row, Span

#: Share of the words of four letters or more that get a typing error.
ERRORS = 0.1
_LONG = re.compile(r"[^\W\d_]{4,}")
_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBORS = {letter: row[max(0, at - 1) : at] + row[at + 1 : at + 2] for row in _KEYS for at, letter in enumerate(row)}


def _by_character(row: Row, change: Callable[[str], str]) -> Row:
    """Change characters one by one. A character that would become several is kept, so that offsets stay the same."""
    changed = (new if len(new := change(letter)) == 1 else letter for letter in row.text)
    return replace(row, text="".join(changed))


def _wrong(word: str, source: random.Random) -> str:
    """Make one error after the first letter of a word: swap, drop or double a letter, or type a neighboring key."""
    at = source.randrange(1, len(word) - 1)
    error = source.choice(("swap", "omit", "double", "neighbor"))
    letter = word[at]
    if error == "swap":
        return word[:at] + word[at + 1] + letter + word[at + 2 :]
    if error == "omit":
        return word[:at] + word[at + 1 :]
    near = source.choice(_NEIGHBORS.get(letter.lower(), letter))
    new = letter * 2 if error == "double" else near.upper() if letter.isupper() else near
    return word[:at] + new + word[at + 1 :]


def with_errors(row: Row, seed: int) -> Row:
    """Return a row with typing errors in a tenth of the longer words; equal seeds give equal errors."""
    source = random.Random(seed)
    text, moved, last = "", [0] * (len(row.text) + 1), 0
    for match in _LONG.finditer(row.text):
        new = _wrong(match.group(), source) if source.random() < ERRORS else match.group()
        for at in range(last, match.start() + 1):
            moved[at] = len(text) + at - last
        text += row.text[last : match.start()] + new
        for at in range(match.start() + 1, match.end()):
            moved[at] = min(len(text), len(text) - len(new) + at - match.start())
        last = match.end()
        moved[last] = len(text)
    for at in range(last, len(row.text) + 1):
        moved[at] = len(text) + at - last
    text += row.text[last:]

    def move_spans(spans: tuple[Span, ...]) -> tuple[Span, ...]:
        return tuple(replace(span, start=moved[span.start], end=moved[span.end]) for span in spans)

    return Row(text, move_spans(row.spans), move_spans(row.unmasked))


VARIANTS: dict[str, Callable[[list[Row]], list[Row]]] = {
    "as is": lambda rows: rows,
    "lower": lambda rows: [_by_character(row, str.lower) for row in rows],
    "capitals": lambda rows: [_by_character(row, str.upper) for row in rows],
    "errors": lambda rows: [with_errors(row, seed) for seed, row in enumerate(rows)],
}
