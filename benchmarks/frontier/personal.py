"""How much of a person's data comes out as it went in, by the kind of span (data of presidio-research)."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from release import Release
from textveil.text import is_gap, segments

#: Spans by the name in the data, as the table calls them.
SPANS = {
    "PERSON": "persons",
    "GPE": "places",
    "STREET_ADDRESS": "addresses",
    "ORGANIZATION": "organizations",
}
_SHORTEST = 3
_COMMONEST = 12


def measure(
    release: Release, records: Sequence[dict[str, Any]], function_words: frozenset[str], vocabulary: frozenset[str]
) -> dict[str, dict[str, Any]]:
    """Draws all sentences once and counts spans and their words that came out as they were, in their places.

    Returns:
        By kind of span: ``spans``, ``whole`` (all of the span came out), ``any`` (a content word of at least three
        letters did), ``words`` (content words in the vocabulary), ``same`` (how many of these came out) and
        ``commonest`` (which of these came out most often).
    """
    cut = [segments(record["text"]) for record in records]
    reading = release.read(cut)
    outputs = release.draw(reading)
    same_element = outputs == reading.word
    total = sum(map(len, cut))
    same = np.ones(total, dtype=bool)
    np.logical_and.at(same, reading.segment, same_element)
    commonest: dict[str, Counter[str]] = defaultdict(Counter)
    found: dict[str, dict[str, Any]] = defaultdict(lambda: dict.fromkeys(("spans", "whole", "any", "words", "same"), 0))
    first = 0
    for record, pieces in zip(records, cut, strict=True):
        starts = np.cumsum([0, *map(len, pieces)])
        for span in record["spans"]:
            inside = [
                number
                for number, piece in enumerate(pieces)
                if not is_gap(piece) and starts[number] < span["end"] and starts[number + 1] > span["start"]
            ]
            if not inside:
                continue
            content = [
                n
                for n in inside
                if sum(map(str.isalpha, pieces[n])) >= _SHORTEST and pieces[n].lower() not in function_words
            ]
            known = [n for n in content if pieces[n].lower() in vocabulary]
            came_out = {n for n in inside if same[first + n]}
            of = found[SPANS.get(span["type"], "others")]
            of["spans"] += 1
            of["whole"] += len(came_out) == len(inside)
            of["any"] += any(n in came_out for n in content)
            of["words"] += len(known)
            of["same"] += sum(n in came_out for n in known)
            commonest[SPANS.get(span["type"], "others")].update(pieces[n].lower() for n in known if n in came_out)
        first += len(pieces)
    for name, of in found.items():
        of["commonest"] = commonest[name].most_common(_COMMONEST)
    return dict(found)
