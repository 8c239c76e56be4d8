"""Count by position which words a tool changes and which private words stay.

The output is not searched for strings: the same word could occur in it at another place.

A *mask* has one byte per character of a text. The byte is 1 if the character stays.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from prompts.prompts import Prompt

Mask = bytearray
#: Function of a tool that returns the mask of a text, or ``None`` if there is no mask.
Keep = Callable[[str], Mask | None]
#: Words of two letters or more, and numbers.
WORD = re.compile(r"[^\W\d_]{2,}|\d+")
#: Words of marked texts, which may have letters and digits.
_MARKED_WORD = re.compile(r"[A-Za-z0-9]+")
_ADDRESS = re.compile(r"\S*(?:https?:|www\.|@)\S*")
#: Job titles are marked as personal data, but identify nobody.
_NOT_PRIVATE = "TITLE"


def read_function_words(path: Path) -> frozenset[str]:
    """Return the first column of a list of function words."""
    return frozenset(line.split("\t")[0] for line in path.read_text("utf-8").split("\n"))


def mark(length: int, spans: Iterable[tuple[int, int]]) -> Mask:
    """Return a mask of the given length with 1 inside the spans and 0 elsewhere."""
    mask = bytearray(length)
    for start, end in spans:
        mask[start:end] = b"\1" * (end - start)
    return mask


def find_unit(unit: str, lowered: str) -> list[tuple[int, int]]:
    """Return the spans of a private unit in a text in lower case, without spans next to a letter or digit."""
    if not unit.strip():
        return []
    return [match.span() for match in re.finditer(rf"(?<!\w){re.escape(unit.lower())}(?!\w)", lowered)]


def count_prompts(prompts: Iterable[Prompt], keep: Keep, function_words: frozenset[str]) -> dict[str, int]:
    """Count the changed words in prompts, and the private units that stay.

    Args:
        prompts: The prompts.
        keep: The tool.
        function_words: Words that do not count, in lower case.

    Returns:
        Numbers by name: ``prompts``; ``skipped``, the prompts without a mask; ``untouched``, the prompts in which no
        counted word outside private units changes; ``words`` and ``numbers`` outside of units, with ``words_changed``
        and ``numbers_changed``; ``units``, the private units that the texts contain, and ``units_whole``, the units
        that stay complete in at least one place; ``unit_words``, the content words and numbers of units, with
        ``unit_words_stay``.
    """
    counts: Counter[str] = Counter(
        dict.fromkeys(
            "prompts skipped untouched words words_changed numbers numbers_changed units units_whole unit_words "
            "unit_words_stay".split(),
            0,
        )
    )
    for prompt in prompts:
        counts["prompts"] += 1
        stay = keep(prompt.text)
        if stay is None:
            counts["skipped"] += 1
            continue
        places = [found for unit in prompt.units if (found := find_unit(unit, prompt.text.lower()))]
        counts["units"] += len(places)
        counts["units_whole"] += sum(any(all(stay[a:b]) for a, b in found) for found in places)
        private = mark(len(prompt.text), (span for found in places for span in found))
        damaged = False
        for match in WORD.finditer(prompt.text):
            start, end = match.span()
            if match.group().lower() in function_words:
                continue
            stays = all(stay[start:end])
            if any(private[start:end]):
                counts["unit_words"] += 1
                counts["unit_words_stay"] += stays
                continue
            kind = "numbers" if match.group().isdigit() else "words"
            counts[kind] += 1
            counts[f"{kind}_changed"] += not stays
            damaged |= not stays
        counts["untouched"] += not damaged
    return dict(counts)


def count_marked(rows: Iterable[dict[str, Any]], keep: Keep, function_words: frozenset[str]) -> dict[str, Any]:
    """Count the personal words of marked texts that stay, by type, and the other words that change.

    Args:
        rows: Objects of ``text`` and ``spans``, each with ``type``, ``start`` and ``end``.
        keep: The tool.
        function_words: Words that do not count, in lower case.

    Returns:
        ``texts``; ``skipped``, the texts without a mask; ``others``, the content words outside of spans and web
        addresses, and ``others_changed``, how many of them change; ``types``: for each type ``words``, ``words_stay``,
        ``spans`` and ``spans_whole``, the spans in which every counted word stays. Job titles are not counted.
    """
    counts: Counter[str] = Counter(dict.fromkeys(("texts", "skipped", "others", "others_changed"), 0))
    types: dict[str, Counter[str]] = {}
    for row in rows:
        text: str = row["text"]
        counts["texts"] += 1
        stay = keep(text)
        if stay is None:
            counts["skipped"] += 1
            continue
        spans = [(span["start"], span["end"], span["type"]) for span in row["spans"]]
        marked = mark(len(text), ((start, end) for start, end, _ in spans))
        address = mark(len(text), (match.span() for match in _ADDRESS.finditer(text)))
        of_span: dict[tuple[int, int, str], list[bool]] = {}
        for match in _MARKED_WORD.finditer(text):
            start, end = match.span()
            if match.group().lower() in function_words or end - start < 2:
                continue
            stays = all(stay[start:end])
            if any(marked[start:end]):
                owner = next(span for span in spans if span[0] < end and start < span[1])
                of_span.setdefault(owner, []).append(stays)
            elif not match.group().isdigit() and not address[start]:
                counts["others"] += 1
                counts["others_changed"] += not stays
        for (_, _, kind), words in of_span.items():
            if kind != _NOT_PRIVATE:
                of = types.setdefault(kind, Counter(dict.fromkeys(("words", "words_stay", "spans", "spans_whole"), 0)))
                of.update(words=len(words), words_stay=sum(words), spans=1, spans_whole=all(words))
    return {**counts, "types": {kind: dict(of) for kind, of in sorted(types.items())}}
