"""From a text to the inputs of a mechanism: units of one token or several."""

import unicodedata
from dataclasses import dataclass

import regex

from .bundle import Bundle
from .characters import TO_ASCII
from .segments import LONGEST_WORD, find_segments, is_blank

CLITICS = ("n't", "'s", "'m", "'d", "'re", "'ve", "'ll")
CHINESE = (  # the blocks that BERT counts as such
    r"\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\U00020000-\U0002A6DF\U0002A700-\U0002CEAF\U0002F800-\U0002FA1F"
)


@dataclass(frozen=True)
class Unit:
    """What is printed in one piece: a token, or all tokens of a WordPiece word."""

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
    """Return the tokens of a word or string of a word bundle."""
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


def read_wordpieces(bundle: Bundle, kind: str, word: str) -> list[Unit]:
    """Return the tokens of a word or string of a WordPiece bundle, as one unit."""
    ids = [] if kind == "string" else [i for part in bert_parts(word) for i in longest_matches(bundle, part)]
    ids = ids or [bundle.unknown]
    return [Unit(ids, len(ids) == 1 and ids != [bundle.unknown], case_pattern(word))]


def bert_parts(word: str) -> list[str]:
    """BERT's uncased basic tokenizer (Devlin et al. 2019), in a compact version that suffices for the golden vectors.

    The properties are those of the installed `regex`; tokenizers with older tables differ for newer characters.
    """
    word = regex.sub(r"(?![\t\n\r])[\p{Cc}\p{Cf}\uFFFD]", "", word)
    word = regex.sub(r"\p{Mn}", "", unicodedata.normalize("NFD", word.lower()))
    return regex.sub(rf"([\p{{P}}$+<=>^`|~{CHINESE}])", r" \1 ", word).split()


def longest_matches(bundle: Bundle, part: str) -> list[int]:
    """WordPiece: the longest known prefix, again and again; one <unk> if that fails."""
    ids, position = [], 0
    while position < len(part):
        pieces = {end: "##" * (position > 0) + part[position:end] for end in range(len(part), position, -1)}
        end = next((end for end, piece in pieces.items() if piece in bundle.ids), None)
        if end is None or len(part) > 100:
            return [bundle.unknown]
        ids.append(bundle.ids[pieces[end]])
        position = end
    return ids


def read_text(bundle: Bundle, text: str, strict: bool) -> list[str | Unit]:
    """Return a text as gaps (plain strings) and units."""
    read = read_word if bundle.law["token_type"] == "word" else read_wordpieces
    items: list[str | Unit] = []
    for kind, part in find_segments(text):
        if kind == "gap" and strict:
            visible = [character for character in part if not is_blank(character)]
            items += [Unit([bundle.look_up(character)], False, "lower") for character in visible]
        else:
            items += [part] if kind == "gap" else read(bundle, kind, part)
    if strict:
        items = [Unit(item.ids, item.whole, "lower") if isinstance(item, Unit) else item for item in items]
    return items
