"""From a text to the inputs of a mechanism: units of one token."""

import unicodedata
from dataclasses import dataclass

import regex

from .bundle import Bundle
from .characters import TO_ASCII
from .segments import LONGEST_WORD, find_segments, is_blank

CLITICS = ("n't", "'s", "'m", "'d", "'re", "'ve", "'ll")


@dataclass(frozen=True)
class Unit:
    """A token as it is printed."""

    ids: list[int]
    whole: bool
    case: str


def case_pattern(word: str) -> str:
    """lower, Title or UPPER."""
    cased = regex.sub(r"\P{Cased}", "", word)
    if regex.fullmatch(r"\p{Lowercase}+", cased):
        return "lower"
    if len(word) >= 2 and regex.fullmatch(r"\p{Uppercase}+", cased):
        return "UPPER"
    return "Title" if regex.match(r"[\p{Uppercase}\p{Lt}]", word) else "lower"


def key_of(word: str) -> str:
    """Return the lookup key of a word."""
    if len(word) > LONGEST_WORD:
        return word
    return unicodedata.normalize("NFKC", word).lower().translate(TO_ASCII)


def denied_ids(bundle: Bundle, entry: str) -> list[int]:
    """Return the symbols that an entry of a deny list covers."""
    entry = entry.removeprefix("\ufeff")
    spelled = [bundle.ids[spelling] for spelling in (entry, key_of(entry)) if spelling in bundle.ids]
    units = [item for item in read_text(bundle, entry, False) if isinstance(item, Unit)]
    return spelled[:1] or [i for unit in units for i in unit.ids]


def read_word(bundle: Bundle, kind: str, word: str) -> list[Unit]:
    """Return the tokens of a word or string."""
    key = key_of(word)
    clitic = next((clitic for clitic in CLITICS if key.endswith(clitic) and key != clitic), None)
    if kind == "string":
        return [Unit([bundle.unknown], False, case_pattern(word))]
    if key in bundle.ids or clitic is None:
        return [Unit([bundle.look_up(key)], key in bundle.ids, case_pattern(word))]
    stem = key.removesuffix(clitic)
    case = case_pattern(word[: len(stem)])
    clitic_case = "UPPER" if case == "UPPER" else "lower"
    return [Unit([bundle.look_up(stem)], True, case), Unit([bundle.look_up(clitic)], True, clitic_case)]


def read_text(bundle: Bundle, text: str, strict: bool) -> list[str | Unit]:
    """Return a text as gaps (plain strings) and units."""
    items: list[str | Unit] = []
    for kind, part in find_segments(text, lone_clitics=not strict):
        if kind == "gap" and strict:
            visible = [character for character in part if not is_blank(character)]
            items += [Unit([bundle.look_up(character)], False, "lower") for character in visible]
        else:
            items += [part] if kind == "gap" else read_word(bundle, kind, part)
    if strict:
        items = [Unit(item.ids, item.whole, "lower") if isinstance(item, Unit) else item for item in items]
    return items
