"""Masking of originals in the result of a tool, to hide them in any context.

A model that writes a surrogate into ``find("&#SURROGATE;")`` gets a result in which the rules of context would keep
some originals and hide others. So a made-up name replaces each original while the rules read the result.
"""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard

from textveil.bundle.names_files import FUNCTION
from textveil.conversation.written_strings import shows_equality
from textveil.text.forms import Pair, in_case_of
from textveil.text.names.kinds import Mention, Piece, called
from textveil.text.names.plan import NamesPlan
from textveil.text.names.read import Read, TextReader

#: Prefix of masks: a capitalized word on no list, which the rules hide in any context.
_MASK, _LETTERS = "Qzxvkq", "bcdfghjklm"
_MASKED = re.compile(f"{_MASK}[{_LETTERS}]+x")
_LEAST = "\ue000"
_WORD, _SHORTEST_PLURAL = re.compile(r"[^\W_]+"), 3


class Masks:
    """The originals of one call, their words, and other words to hide in its result.

    Args:
        pairs: The pairs that restored its arguments.
        plan: The rules.
        own: Words that the model itself wrote into the call. They are hidden too: otherwise the hidden words would
            reveal which of them belong to an original.
        is_linked: Whether the result shares the mapping.

    Attributes:
        originals: The masked strings, the longest first.
    """

    def __init__(
        self, pairs: Iterable[Pair], plan: NamesPlan, own: Iterable[str] = (), *, is_linked: bool = True
    ) -> None:
        self._plan, self._is_linked = plan, is_linked
        found = {pair.original: pair for pair in pairs if pair.original.strip()}
        self.originals = sorted(found, key=lambda original: (-len(original), original))
        self._pairs = [found[original] for original in self.originals]
        self._numbers = {way.casefold(): number for number, way in enumerate(self.originals)}
        self._words = set(own) if found else set[str]()
        for pair in self._pairs:
            self._words.update(_words_of(pair.original, plan))
        escaped = [way for original in self.originals for way in _escape(original)]
        several = [original for original in self.originals if _WORD.fullmatch(original) is None]
        listed = "|".join(map(re.escape, sorted({*several, *escaped}, key=len, reverse=True)))
        self._escaped = {way.casefold() for way in escaped}
        self._pattern = re.compile(
            rf"(?<![^\W_])(?:{listed})(?![^\W_])|[^\W_]+" if listed else r"[^\W_]+", re.IGNORECASE
        )

    def read(self, text: str, reader: TextReader) -> tuple[Read, list[Pair]]:
        """Return the text as the rules read it with masks, and the pairs of the originals in it."""
        spelled: dict[str, str] = {}

        def mask(match: "re.Match[str]") -> str:
            folded = match[0].casefold()
            if folded not in self._numbers and folded not in self._words and folded not in self._escaped:
                return match[0]
            name = _MASK + "".join(_LETTERS[int(digit)] for digit in f"{len(spelled)}") + "x"
            spelled[name] = match[0]
            return name

        masked = self._pattern.sub(mask, _MASKED.sub(_LEAST, text))
        entries: list[str | Mention] = []
        found = reader.read([masked])[0]
        for entry in found.entries:
            if isinstance(entry, str):
                entries.append(_MASKED.sub(_LEAST, entry))  # a safeguard: the rules hide every mask
            else:
                entries.append(self._unmasked(entry, spelled, reader))
        numbers = {self._numbers.get(original.casefold()) for original in spelled.values()} - {None}
        return Read(entries, found.shown), [self._pairs[number] for number in sorted(filter(_is_number, numbers))]

    def put_surrogates(self, pieces: Sequence[Piece]) -> list[Piece]:
        """Return the pieces with the model's own surrogate for each original that is a name."""
        found = []
        for piece in pieces:
            number = self._numbers.get(piece.original.casefold()) if piece.mention is not None else None
            parts = () if piece.mention is None else piece.mention.parts
            if number is not None and all(shows_equality(part.kind, part.layout, self._plan) for part in parts):
                pair = self._pairs[number]
                found.append(piece._replace(output=in_case_of(piece.original, pair.original, pair.output), parts=()))
            else:  # without visible equality, equal strings must not become equal
                found.append(piece)
        return found

    def _unmasked(self, mention: Mention, spelled: dict[str, str], reader: TextReader) -> Mention:
        text = mention.slot.text
        if _MASKED.search(text) is None:
            return mention
        if text in spelled:
            return self._alone(spelled[text], reader)

        def original(match: "re.Match[str]") -> str:
            return spelled.get(match[0].capitalize(), match[0])

        parts = tuple(
            part._replace(
                text=_MASKED.sub(original, part.text),
                folded=_FOLDED.sub(lambda match: original(match).lower(), part.folded),
            )
            for part in mention.parts
        )
        whole = _MASKED.sub(original, text)
        return mention._replace(parts=parts, slot=mention.slot._replace(text=whole), named=whole)

    def _alone(self, text: str, reader: TextReader) -> Mention:
        """Return an original as one mention with its own entity type.

        Any other text becomes a word or a number. An unlinked text is a word as well: its type would reveal of a name
        whether it is a common word.
        """
        is_original = self._is_linked and text.casefold() in self._numbers
        if not is_original and not (text.isascii() and text.isdigit()):
            return called("word", text)
        entries = [entry for entry in reader.read([text])[0].entries if entry]
        if len(entries) == 1 and not isinstance(entries[0], str):
            return entries[0]
        return called("word", text)


def _words_of(original: str, plan: NamesPlan) -> Iterator[str]:
    """Yield the words and numbers of an original, folded, their plurals, and its digits alone.

    Function words are left out, since they reveal nothing.
    """
    for word in _WORD.findall(original):
        folded = word.casefold()
        if not is_function_word(folded, plan):
            yield folded
            if folded.isalpha() and len(folded) >= _SHORTEST_PLURAL:
                yield f"{folded}s"
    digits = re.sub(r"\D", "", original)
    if digits:
        yield digits


def is_function_word(folded: str, plan: NamesPlan) -> bool:
    """Return whether a word is on the public list of function words, or is a single letter."""
    return (len(folded) == 1 and folded.isalpha()) or bool(plan.lists.common.get(folded, 0) & FUNCTION)


def _escape(original: str) -> Iterator[str]:
    """Yield the forms that an original may have in HTML."""
    yield from {html.escape(original), html.escape(original).replace("&#x27;", "&#39;")} - {original}
    for word in dict.fromkeys((original, *_WORD.findall(original))):
        for way in (word, word.lower(), word.upper()):
            yield "".join(f"&#{ord(character)};" for character in way)
            yield "".join(f"&#x{ord(character):x};" for character in way)


def _is_number(value: int | None) -> TypeGuard[int]:
    return value is not None


_FOLDED = re.compile(_MASKED.pattern.lower())
