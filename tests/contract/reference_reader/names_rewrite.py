"""The mode `names`: draws, tags and what is written (docs/names-rule.md, "Draws")."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .bundle import Bundle
from .draws import draw_staircase, uniform_below
from .names_kinds import CALLED, Named, Part, Reader
from .names_outputs import is_consistent, member, size
from .staircase import find_level

LARGEST_DEALT = 2**20
LIKE_A_TAG = re.compile(r"\[(?=[\w-]+\s+\d)")


@dataclass(eq=False)
class Draw:
    """One integer: below how many, and the deck that it is dealt from, if it is dealt from one."""

    below: int
    deck: str = ""
    drawn: int = -1


@dataclass(eq=False)
class DrawnWord:
    """A word of the list that is drawn, and what came out."""

    key: str
    drawn: str = ""


class Document:
    """What becomes of each slot of a document, and what is drawn for it."""

    def __init__(self, pools: dict[str, list[str]], options: dict[str, Any]) -> None:
        self.pools, self.options = pools, options
        self.draws: list[Draw] = []
        self.words: list[DrawnWord] = []
        self.consistent: dict[Part, Draw] = {}
        self.taken: Counter[str] = Counter()
        self.tags: dict[str, dict[tuple[object, ...], str]] = {}

    def plan(self, named: Named) -> str | DrawnWord | list[tuple[Part, Draw]]:
        """Return the final text of a slot, or its parts with their draws."""
        if named.parts[0].layout == "drawn":
            self.words.append(DrawnWord(named.parts[0].folded))
            return self.words[-1]
        called = CALLED.get(named.kind, named.kind)
        if called in self.options.get("drop", ()):
            return ""
        if self.options.get("style") != "tag" and called not in self.options.get("tag", ()):
            draws = [self.draw(part) for part in named.parts]
            if None not in draws:
                return [(part, draw) for part, draw in zip(named.parts, draws, strict=True) if draw]
        numbered = self.tags.setdefault(called, {})
        same = (named.slot.case == "JSON", *named.parts)
        return numbered.setdefault(same, f"[{called} {len(numbered) + 1}]")

    def draw(self, part: Part) -> Draw | None:
        """Return the draw of a part; nothing if its pool is used up."""
        members = size(self.pools, part.kind, part.layout)
        deck = f"{part.kind} {part.layout}"
        left = members - self.taken[deck]
        if not self.options.get("consistent", True):
            deck, left = "", members
        elif not is_consistent(self.pools, part.kind, part.layout):
            if members > LARGEST_DEALT or left == 0:
                deck, left = "", members
        elif part in self.consistent:
            return self.consistent[part]
        elif left == 0 or len(self.consistent) >= self.options.get("consistent_cap", 2000):
            return None
        else:
            self.consistent[part] = Draw(left, deck)
            self.taken[deck] += 1
            self.draws.append(self.consistent[part])
            return self.consistent[part]
        self.taken[deck] += 1
        self.draws.append(Draw(left, deck))
        return self.draws[-1]

    def deal(self) -> None:
        """Turn integers below the rest of a deck into surrogates."""
        decks: dict[str, dict[int, int]] = {}  # of each deck, the places whose entry is another than at first
        for draw in self.draws:
            if not draw.deck:
                continue
            deck = decks.setdefault(draw.deck, {})
            last = deck.pop(draw.below - 1, draw.below - 1)  # the deck has as many entries as the draw is from
            if draw.drawn < draw.below - 1:
                last, deck[draw.drawn] = deck.get(draw.drawn, draw.drawn), last
            draw.drawn = last

    def written(self, named: Named, planned: str | DrawnWord | list[tuple[Part, Draw]]) -> str:
        """Return the output for a slot."""
        if isinstance(planned, str):
            return planned
        if isinstance(planned, DrawnWord):
            return planned.drawn
        parts = []
        for place, (part, draw) in enumerate(planned):
            dot = "." if part.kind == "initial" and place < len(planned) - 1 else ""
            parts.append(member(self.pools, part.kind, part.layout, draw.drawn, named.slot.case) + dot)
        return " ".join(parts)


def rewrite_names(
    bundle: Bundle, documents: list[list[str]], options: dict[str, Any], words: Callable[[int], list[int]]
) -> tuple[list[list[str]], list[list[list[Any]]], list[int], int]:
    """Rewrites one batch of documents.

    Returns the texts of each, their templates, how many words of each are shown, and how many random words were taken.
    """
    assert bundle.names is not None
    taken: list[int] = []

    def take(count: int) -> list[int]:
        taken.append(count)
        return words(count)

    reader = reader_of(bundle, options)
    read = [reader.read(texts) for texts in documents]
    consistent = options.get("consistent", True)
    linked = [link_first_names(texts) if consistent else texts for texts, _ in read]
    rules = [Document(bundle.names["pools"], options) for _ in documents]
    plans = [
        [[entry if isinstance(entry, str) else (entry, rule.plan(entry)) for entry in text] for text in texts]
        for rule, texts in zip(rules, linked, strict=True)
    ]
    draws = [draw for rule in rules for draw in rule.draws]
    for draw, drawn in zip(draws, uniform_below([draw.below for draw in draws], take), strict=True):
        draw.drawn = drawn
    for rule in rules:
        rule.deal()
    draw_words(bundle, reader.tokens.drawn, options, [word for rule in rules for word in rule.words], take)
    outputs = [[joined(values_of_json(text, rule)) for text in texts] for rule, texts in zip(rules, plans, strict=True)]
    return outputs, [told(texts) for texts, _ in read], [shown for _, shown in read], sum(taken)


def link_first_names(texts: list[list[str | Named]]) -> list[list[str | Named]]:
    """Return the texts with each family name alone as a first name if it was one before, and no family name."""
    names: dict[str, set[str]] = {"given": set(), "family": set(), "initial": set()}
    found: list[list[str | Named]] = []
    for text in texts:
        found.append([])
        for entry in text:
            named = entry
            if isinstance(named, Named) and named.kind == "family":
                name = named.parts[0].folded
                if name in names["given"] - names["family"]:
                    named = named._replace(kind="given", parts=[Part("given", "", name)])
            if isinstance(named, Named) and named.kind in ("person", "given", "family"):
                for part in named.parts:
                    names[part.kind].add(part.folded)
            found[-1].append(named)
    return found


def draw_words(
    bundle: Bundle,
    listed: set[str],
    options: dict[str, Any],
    words: list[DrawnWord],
    take: Callable[[int], list[int]],
) -> None:
    """Draws the words of a list, each by itself."""
    if not words:
        return
    staircase = bundle.staircase
    assert staircase is not None
    outputs = {bundle.look_up(word) for word in listed} - {bundle.unknown}
    outputs = {y for y in outputs if bundle.spellings[y][0] in listed}
    level = find_level(staircase, options)
    level = level | {"share": str(max(Fraction(level["share"]), Fraction(10, len(outputs))))}
    alike = replace(staircase, base=(1,) * len(staircase.base))
    drawn = draw_staircase(alike, level, outputs, [bundle.look_up(word.key) for word in words], take)
    for word, y in zip(words, drawn, strict=True):
        word.drawn = bundle.spellings[y][0]


def values_of_json(text: list[Any], rule: Document) -> list[str]:
    """Return kept text and outputs in turn: for a number of JSON a tag is a string, and a dropped one is `null`."""
    found: list[str] = []
    for entry in text:
        if isinstance(entry, str):
            found.append(entry)
            continue
        named, planned = entry
        written = rule.written(named, planned)
        if named.slot.case == "JSON" and isinstance(planned, str):
            sign = "-" if found and found[-1].endswith("-") else ""
            found[-1] = found[-1].removesuffix(sign)
            written = f'"{sign}{written}"' if written else "null"
        found.append(written)
    return found


def joined(written: list[str]) -> str:
    """Return a text from kept text and outputs in turn; beside a tag, kept text never looks like one."""
    parts = [""]
    for place, entry in enumerate(written):
        if place % 2 and entry.startswith(("[", '"[', '"-[')):
            parts += [entry, ""]
        else:
            parts[-1] += entry
    if len(parts) > 1:
        parts[::2] = [LIKE_A_TAG.sub("[ ", part) for part in parts[::2]]
    return "".join(parts)


def read_names_templates(bundle: Bundle, documents: list[list[str]], options: dict[str, Any]) -> list[list[list[Any]]]:
    """Return the templates of the texts of documents."""
    reader = reader_of(bundle, options)
    return [told(reader.read(texts)[0]) for texts in documents]


def reader_of(bundle: Bundle, options: dict[str, Any]) -> Reader:
    """Return the reader of documents under the options of a request; it has no rules of facts."""
    assert bundle.names is not None
    assert options.get("facts") == "none"
    return Reader(bundle.names, options)


def told(texts: list[list[str | Named]]) -> list[list[Any]]:
    """Return the templates of texts, in the form of the golden vectors."""
    return [[entry if isinstance(entry, str) else entry.template for entry in text] for text in texts]
