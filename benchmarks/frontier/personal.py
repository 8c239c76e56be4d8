"""Count the marked personal data that outputs still contain, by type of span (data of presidio-research)."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from textveil.text import is_gap, split_text
from textveil_training.attacks.words import WordRelease

#: Types of spans in the table, by their name in the data.
SPANS = {
    "PERSON": "persons",
    "GPE": "places",
    "STREET_ADDRESS": "addresses",
    "ORGANIZATION": "organizations",
}
_SHORTEST = 3
_COMMONEST = 12


class Span:
    """Marked span of a sentence.

    Attributes:
        kind: Type of the span in the data set.
        inside: Numbers of the tokens of the span, without gaps, counted over all sentences.
        content: Numbers of those tokens with at least three letters that are not function words.
        known: Number and word of those content tokens that are in the vocabulary.
    """

    def __init__(
        self, span: dict[str, Any], pieces: list[str], first: int, visible: frozenset[str], vocabulary: frozenset[str]
    ) -> None:
        starts = np.cumsum([0, *map(len, pieces)])
        inside = [
            number
            for number, piece in enumerate(pieces)
            if not is_gap(piece) and starts[number] < span["end"] and starts[number + 1] > span["start"]
        ]
        content = [
            n for n in inside if sum(map(str.isalpha, pieces[n])) >= _SHORTEST and pieces[n].lower() not in visible
        ]
        self.kind = SPANS.get(span["type"], "others")
        self.inside = [first + n for n in inside]
        self.content = [first + n for n in content]
        self.known = {first + n: pieces[n].lower() for n in content if pieces[n].lower() in vocabulary}


def measure(
    release: WordRelease,
    records: Sequence[dict[str, Any]],
    function_words: frozenset[str],
    vocabulary: frozenset[str],
    draws: int = 1,
) -> dict[str, dict[str, Any]]:
    """Release all sentences, and count spans and their words that are unchanged in their places.

    Returns:
        By type of span, sums over the draws: ``spans``, ``whole`` (the whole span is unchanged), ``any`` (a content
        word of at least three letters is unchanged), ``words`` (content words in the vocabulary), ``same`` (how many of
        these words are unchanged) and ``commonest`` (which of these words are unchanged most often).
    """
    cut = [split_text(record["text"]) for record in records]
    firsts = np.cumsum([0, *map(len, cut)])
    spans = [
        Span(span, pieces, int(first), function_words, vocabulary)
        for record, pieces, first in zip(records, cut, firsts, strict=False)
        for span in record["spans"]
    ]
    reading = release.read(cut)
    commonest: dict[str, Counter[str]] = defaultdict(Counter)
    found: dict[str, dict[str, Any]] = defaultdict(lambda: dict.fromkeys(("spans", "whole", "any", "words", "same"), 0))
    for _ in range(draws):
        same = np.ones(firsts[-1], dtype=bool)
        np.logical_and.at(same, reading.segment, release.draw(reading) == reading.word)
        for span in spans:
            if not span.inside:
                continue
            came_out = [word for number, word in span.known.items() if same[number]]
            of = found[span.kind]
            of["spans"] += 1
            of["whole"] += bool(same[span.inside].all())
            of["any"] += bool(same[span.content].any())
            of["words"] += len(span.known)
            of["same"] += len(came_out)
            commonest[span.kind].update(came_out)
    for name, of in found.items():
        of["commonest"] = commonest[name].most_common(_COMMONEST)
    return dict(found)
