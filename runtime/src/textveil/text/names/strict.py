"""Strict rules, which hide words that only their context keeps.

They apply to texts that a model wrote and another party changed. The context rules keep ``<3``, ``&#79;`` or a common
word at the start of a sentence. Whoever writes a surrogate into such a context learns from the result which type of
string the original is. Under the strict rules only the string itself decides.
"""

from collections.abc import Iterable, Iterator

import regex

from textveil.text.names.kinds import Mention, Part
from textveil.text.names.lexicon import Lexicon
from textveil.text.names.slots import Slot
from textveil.text.names.strings import number_kind
from textveil.text.names.tokens import SHOWN
from textveil.text.segmentation import APOSTROPHES, LOWER, case_pattern, key

_WORDS = regex.compile(r"[\p{L}\p{M}][\p{L}\p{M}'\u2019\u2018]*+|\p{N}++")


def read_strictly(entries: Iterable[str | Mention], lexicon: Lexicon) -> Iterator[str | Mention]:
    """Hide every number and every word that is not kept in all contexts, besides hidden slots.

    The function yields the entries of a text lazily.

    Privacy:
        The result is a function of the text and of public lists. Nothing that ``read`` hides is kept.
    """
    for entry in entries:
        if not isinstance(entry, str):
            yield entry
            continue
        kept = 0
        for match in _WORDS.finditer(entry):
            word = match[0].rstrip(APOSTROPHES)
            if not _is_always_kept(word, lexicon):
                yield entry[kept : match.start()]
                yield _make_mention(word)
                kept = match.start() + len(word)
        yield entry[kept:]


def _is_always_kept(word: str, lexicon: Lexicon) -> bool:
    return not word[0].isnumeric() and all(token.cls == SHOWN for token in lexicon.word(word))


def _make_mention(word: str) -> Mention:
    kind, layout, case = "word", "", case_pattern(word)
    if word[0].isnumeric():
        kind, layout = number_kind(word) if word.isascii() else ("symbol", "")
    elif len(word) == 1:
        kind = "letter" if case == LOWER else "initial"
    part = Part(kind, layout, key(word), word)
    return Mention(kind, case, (part,), Slot(kind, case, layout, (), word), word)
