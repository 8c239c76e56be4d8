"""Rewrite whole texts with the staircase: read the template, sample outputs, and write the text."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .bundle import Bundle
from .draws import draw_slots, uniform_below
from .files import check
from .staircase import find_level
from .template import MEMBER, MENTION, VISIBLE, TemplateReader, Token

Words = Callable[[int], list[int]]


@dataclass
class Draw:
    """One draw, and the tokens that it stands in: places of tokens in all texts."""

    token: Token
    places: list[int]
    cases: set[str]


def group(tokens: list[tuple[int, Token]], consistent: bool, cap: int) -> dict[str, list[Draw]]:
    """Return the draws of mentions and of members in the order of the first (document, token)."""
    draws: dict[str, dict[Any, Draw]] = {MENTION: {}, MEMBER: {}}
    counted: dict[int, int] = {}
    for place, (document, token) in enumerate(tokens):
        if token.role == VISIBLE:
            continue
        alone = not consistent or token.equal is None
        if not alone:
            counted[document] = counted.get(document, 0) + 1
            check(counted[document] <= cap, "a document has more mentions and members than the cap")
        draw = draws[token.role].setdefault(place if alone else (document, token.equal), Draw(token, [], set()))
        draw.places.append(place)
        draw.cases.add(token.case)
    return {role: list(found.values()) for role, found in draws.items()}


def printed(word: str, case: str) -> str:
    """Return a word in a case pattern."""
    return word.upper() if case == "UPPER" else word[:1].upper() + word[1:] if case == "Title" else word


def written(items: list[str | list[Token]], spelled: Iterator[str], bare: bool) -> str:
    """Return a text from its gaps and the output of each of its tokens."""
    parts: list[str] = []
    for item in items:
        if isinstance(item, str):
            parts.append(item)
            continue
        for number, token in enumerate(item):
            glued = number == 0 or token.role == VISIBLE
            parts.append((" " if parts else "") * bare + " " * (not bare and not glued) + next(spelled))
    return "".join(parts)


def rewrite_batch(bundle: Bundle, texts: list[str], options: dict[str, Any], words: Words) -> tuple[list, list, int]:
    """Rewrite one batch of texts, each a document, with `words(count)` as the source of random 64-bit words.

    Options are those of `TemplateReader`, epsilon, consistent and consistent_cap. Where the order of draws
    is the reader's own, equal tokens are drawn in the order of the first of them. Returns the outputs, the numbers of
    mentions that are charged, and the number of random words consumed.
    """
    consumed = []

    def take(count: int) -> list[int]:
        consumed.append(count)
        return words(count)

    rule, staircase = TemplateReader(bundle, options), bundle.staircase
    assert staircase is not None
    level = find_level(staircase, options)
    read = [rule.read(text) for text in texts]
    tokens = [(n, token) for n, items in enumerate(read) for item in items if isinstance(item, list) for token in item]
    consistent, cap = options.get("consistent", False), options.get("consistent_cap", 2000)
    draws = group(tokens, consistent, cap)
    spelled = [token.key for _, token in tokens]
    slots = [(draw.token.symbol, draw.cases == {"lower"}) for draw in draws[MENTION]]
    symbols = draw_slots(staircase, level, rule.visible, slots, take)
    lists = [rule.outputs[draw.token.kind] for draw in draws[MEMBER]]
    chosen = uniform_below([len(outputs) for outputs in lists], take)
    drawn = [bundle.spellings[symbol][0] for symbol in symbols]
    drawn += [outputs[number] for outputs, number in zip(lists, chosen, strict=True)]
    for draw, word in zip(draws[MENTION] + draws[MEMBER], drawn, strict=True):
        for place in draw.places:
            spelled[place] = word
    each = iter([printed(word, token.case) for word, (_, token) in zip(spelled, tokens, strict=True)])
    outputs = [written(items, each, rule.bare) for items in read]
    counts = [0] * len(texts)
    for draw in draws[MENTION]:
        counts[tokens[draw.places[0]][0]] += 1
    return outputs, counts, sum(consumed)
