"""Hides in the result of a tool what was restored into its call, whatever stands around it.

A model that writes a surrogate into ``find("&#SURROGATE;")`` gets a result in which the rules of context would show
some originals and hide others. So each original is a made-up name while the result is read.
"""

import re
from collections.abc import Iterable, Sequence

from textveil.conversation.written_strings import shows_equality
from textveil.text.forms import Pair, in_case_of
from textveil.text.names.kinds import Mention, Piece, called
from textveil.text.names.plan import NamesPlan
from textveil.text.names.read import Read, TextReader

#: A word on no list, with a capital: hidden wherever it stands.
_MASK, _LETTERS = "Qzxvkq", "bcdfghjklm"
_MASKED = re.compile(f"{_MASK}[{_LETTERS}]+x")
_LEAST = "\ue000"


class Masks:
    """The originals of one call.

    Args:
        pairs: By which its arguments were restored.
        plan: The rules. Strings that they hide in every context need no mask.

    Attributes:
        originals: The strings that are masked, the longest first.
    """

    def __init__(self, pairs: Iterable[Pair], plan: NamesPlan) -> None:
        self._plan = plan
        found = {pair.original: pair for pair in pairs if pair.original.strip() and plan.may_be_kept(pair.original)}
        self.originals = sorted(found, key=lambda original: (-len(original), original))
        self._pairs = [found[original] for original in self.originals]
        ways = {way: None for original in self.originals for way in (original, original.upper(), original.title())}
        listed = "|".join(map(re.escape, sorted(ways, key=len, reverse=True)))
        self._pattern = re.compile(rf"(?<![^\W_])(?<!\d[.,])(?:{listed})(?![^\W_]|[.,]\d)")
        self._numbers = {way.casefold(): number for number, way in enumerate(self.originals)}

    def read(self, text: str, reader: TextReader) -> tuple[Read, list[Pair]]:
        """Return the text, read with its originals masked, and the pairs of those that it has."""
        spelled: dict[str, str] = {}

        def mask(match: "re.Match[str]") -> str:
            number = self._numbers.get(match[0].casefold())
            if number is None:  # capitals of some letters, such as a dotless i, fold to another string
                return _LEAST
            name = _MASK + "".join(_LETTERS[int(digit)] for digit in f"{number}0{len(spelled)}") + "x"
            spelled[name] = match[0]
            return name

        masked = self._pattern.sub(mask, _MASKED.sub(_LEAST, text))
        entries: list[str | Mention] = []
        found = reader.read([masked])[0]
        for entry in found.entries:
            if isinstance(entry, str):
                entries.append(_MASKED.sub(_LEAST, entry))  # never there: a mask is hidden
            else:
                entries.append(self._unmasked(entry, spelled, reader))
        numbers = {self._numbers[original.casefold()] for original in spelled.values()}
        return Read(entries, found.shown), [self._pairs[number] for number in sorted(numbers)]

    def put_surrogates(self, pieces: Sequence[Piece]) -> list[Piece]:
        """Return the pieces with the surrogate that the model itself wrote, where it is that of a name."""
        found = []
        for piece in pieces:
            number = self._numbers.get(piece.original.casefold()) if piece.mention is not None else None
            parts = () if piece.mention is None else piece.mention.parts
            if number is not None and all(shows_equality(part.kind, part.layout, self._plan) for part in parts):
                pair = self._pairs[number]
                found.append(piece._replace(output=in_case_of(piece.original, pair.original, pair.output), parts=()))
            else:  # equal ones do not become equal
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
        """An original as one mention, of the kind that it has by itself."""
        entries = [entry for entry in reader.read([text])[0].entries if entry]
        if len(entries) == 1 and not isinstance(entries[0], str):
            return entries[0]
        return called("word", text)


_FOLDED = re.compile(_MASKED.pattern.lower())
