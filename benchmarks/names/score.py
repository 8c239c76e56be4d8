"""Count the personal data that stays, and the other words that are changed, with 95 % intervals.

words.py defines the counted words.

Each measure is a share:

- *stays*: content words of marked spans that no hidden span touches, as a share of all content words of marked spans;
  also by type, by group of types, and for the words with a capital.
- *entities seen*: marked spans in which a content word of at least three letters stays.
- *entities whole*: marked spans in which all content words stay.
- *changed*: content words outside marked spans that a hidden span touches; also without numbers, without numbers and
  parts of addresses, handles and hashtags (*plain*), and for the plain words in lower case. Each is a share of the
  words of the same class.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from names.data import DIRECT, Row, Span, kind
from names.words import WORD, addresses, is_content, is_number

Counts = Counter[tuple[str, bool]]
Hidden = Sequence[tuple[int, int]]
DRAWS, SEED = 2000, 20170


def _cover(length: int, spans: Hidden) -> bytearray:
    covered = bytearray(length)
    for start, end in spans:
        covered[start:end] = b"\1" * (end - start)
    return covered


def _names_of(span: Span) -> list[str]:
    """Return the names of the measures that count a word of a span."""
    of = kind(span)
    names = ["stays", f"stays: {of}", f"stays: type {span.type}"]
    if of != "title":
        names.append("stays: without titles")
    if of in DIRECT:
        names.append("stays: direct")
    return names


def count_words(row: Row, hidden: Hidden) -> Counts:
    """Count the words of a row.

    Args:
        row: The text with its spans.
        hidden: Offsets of the parts that the output replaces.

    Returns:
        For each measure, the numbers of words or spans that do not stay or change (False), and that do (True).
    """
    size = len(row.text)
    covered, address = _cover(size, hidden), _cover(size, addresses(row.text))
    unmasked = _cover(size, [(span.start, span.end) for span in row.unmasked])
    owner: list[Span | None] = [None] * size
    for span in sorted(row.spans, key=lambda span: span.start - span.end):
        for at in range(span.start, span.end):
            owner[at] = owner[at] or span
    counts: Counts = Counter()
    words: dict[Span, list[tuple[str, bool]]] = {}
    for match in WORD.finditer(row.text):
        word, start, end = match.group(), *match.span()
        if not is_content(word):
            continue
        out = not any(covered[start:end])
        span = next(filter(None, owner[start:end]), None)
        if span is not None:
            words.setdefault(span, []).append((word, out))
            for name in _names_of(span):
                counts[name, False] += 1
                counts[name, True] += out
            counts["stays: capitals", False] += 1
            counts["stays: capitals", True] += out and word[0].isupper()
        elif not any(unmasked[start:end]):
            names = ["changed"]
            if not is_number(word):
                names.append("changed: no numbers")
                if not any(address[start:end]):
                    names.append("changed: plain")
                    if word.islower():
                        names.append("changed: lower")
            for name in names:
                counts[name, False] += 1
                counts[name, True] += not out
    for span, found in words.items():
        seen = any(out and len(re.sub(r"\d", "", word)) >= 3 for word, out in found)
        for name, true in (("seen", seen), ("whole", all(out for _, out in found))):
            for group in ("", f": {kind(span)}"):
                counts[f"entities {name}{group}", False] += 1
                counts[f"entities {name}{group}", True] += true
    return counts


def summary(rows: Sequence[Counts]) -> dict[str, dict[str, Any]]:
    """Return share, interval and number of words of every measure.

    The interval is from a bootstrap over rows, since the words of a text are not independent. The bootstrap has a fixed
    seed.
    """
    names = sorted({name for counts in rows for name, _ in counts})
    table = np.array([[[counts[name, part] for part in (True, False)] for name in names] for counts in rows], float)
    total = table.sum(axis=0)
    weights = np.random.default_rng(SEED).multinomial(len(rows), np.full(len(rows), 1 / len(rows)), DRAWS)
    drawn = np.einsum("dr,rmp->dmp", weights.astype(float), table)
    with np.errstate(invalid="ignore"):
        shares = drawn[..., 0] / drawn[..., 1]
    low, high = np.nanpercentile(shares, (2.5, 97.5), axis=0)
    return {
        name: {
            "share": round(float(total[at, 0] / total[at, 1]), 5),
            "interval": [round(float(low[at]), 5), round(float(high[at]), 5)],
            "of": int(total[at, 1]),
        }
        for at, name in enumerate(names)
    }
