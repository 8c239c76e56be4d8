"""Reader of the mode ``names``: pass 1 by chunk, pass 2 by line, pass 3 by slot."""

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import regex

from textveil.bundle.rules import Rules
from textveil.text.names.chunks import Chunks, gap
from textveil.text.names.json_blocks import COPIED, NUMBER, JsonPart, may_have_json, split_json, write_escapes
from textveil.text.names.kinds import Kinds, Mention
from textveil.text.names.places import Places
from textveil.text.names.spelled import join_spelled, may_reach_over
from textveil.text.names.tokens import DRAWN, GAP, JSON_NUMBER, Token, Window, is_plain
from textveil.text.names.words import LINE_BREAKS
from textveil.text.segmentation import LOWER
from textveil.work_limits import STEP, check_work

_LINE_BREAK = re.compile("[\n\r\x0b\x0c\x85\u2028\u2029]")
_BLANK = regex.compile(r"\p{White_Space}")
_PARTS = regex.compile(r"\p{White_Space}++|\P{White_Space}++")
#: Marks that only end the word before them, without another effect on its class.
_PLAIN_ENDS = frozenset(".,:!?")
#: Number of distinct chunks between single blanks in one cache generation of a call. A full generation replaces the
#: previous one, whose entries are then dropped.
_MOST_PIECES = 1 << 12
#: Length of the longest JSON part that is cached, since short parts repeat.
_SHORT = 64
#: Number of words of the public list, each with its case and following mark, that are cached across calls.
_MOST_LISTED = 1 << 14
#: Number of characters that are split at a time.
_BLOCK = 1 << 13
#: Tokens of a chunk: its words, the gap before the first, the other spellings, the indices of the words that are not
#: plainly kept, the last gap. A chunk of one plainly kept word is the word alone, and any other single word is no list
#: of one: this leaves fewer objects to the garbage collector.
_Piece = Token | tuple[Token | Sequence[Token], str, tuple[str, ...], tuple[int, ...], str]


class Read(NamedTuple):
    """Result of reading a text.

    Attributes:
        entries: Kept texts and mentions, in order.
        shown: Number of kept words.
    """

    entries: Sequence[str | Mention]
    shown: int

    @property
    def replaced_words(self) -> int:
        """Number of replaced unlisted words, a function of the types and layouts of the slots."""
        return sum(map(_is_replaced_word, self.entries))

    def skeleton(self) -> list[object]:
        """Return the template without equality of slots.

        It has the kept text and the public part of each mention. Together with the equality of slots this is all that
        the output may depend on.
        """
        return [entry if isinstance(entry, str) else entry.shown for entry in self.entries]


class ReadStream:
    """Lazily read entries of a text. The counts are complete after the last entry.

    Args:
        counted: The text, or a list with the numbers of kept words so far.
        entries: Kept texts and mentions, in order.

    Attributes:
        replaced_words: Number of replaced unlisted words so far, as in ``Read``.
    """

    def __init__(self, counted: Places | Sequence[int], entries: Iterator[str | Mention]) -> None:
        self._counted, self._entries, self.replaced_words = counted, entries, 0

    def __iter__(self) -> Iterator[str | Mention]:
        """Yield the entries, once."""
        for entry in self._entries:
            self.replaced_words += _is_replaced_word(entry)
            yield entry

    @property
    def shown(self) -> int:
        """Number of kept words so far."""
        return self._counted.shown if isinstance(self._counted, Places) else sum(self._counted)


def _is_replaced_word(entry: str | Mention) -> bool:
    return not isinstance(entry, str) and entry.kind == "word" and entry.parts[0].layout != DRAWN


class TextReader:
    """Reader that splits texts into kept text and mentions.

    Args:
        chunks: Reader of chunks.
        kinds: Classifier of slots.
        rules: Rules of the language.

    Privacy:
        The object caches chunks of the texts. It must not outlive the call.
    """

    def __init__(self, chunks: Chunks, kinds: Kinds, rules: Rules) -> None:
        self._chunks, self._kinds, self._rules = chunks, kinds, rules
        self._known: dict[str, _Piece] = {}
        self._older: dict[str, _Piece] = {}

    def read(self, texts: Sequence[str]) -> list[Read]:
        """Read the texts of a document.

        Lower-case words that may be names are kept if any of the texts has a capital letter. Each string and each
        number of JSON in a text is read by itself.
        """
        if any(map(may_have_json, texts)):
            capitals = any(map(self._has_capital, texts))
            streams = [self._stream_json(text, capitals) for text in texts]
            return [Read([*stream], stream.shown) for stream in streams]
        windows = [self._windows(text) for text in texts]
        capitals = _find_capital(texts, windows)
        found: list[Read] = []
        for text, of_text in zip(texts, windows, strict=True):
            places = self._places(of_text, text, capitals)
            entries = [*self._mentions(places, capitals)]
            found.append(Read(entries, places.shown))
        return found

    def stream(self, text: str) -> "ReadStream":
        """Return the entries of a document of one text as a stream, which needs far less memory."""
        if may_have_json(text):
            return self._stream_json(text, self._has_capital(text))
        windows = [self._windows(text)]
        capitals = _find_capital([text], windows)
        places = self._places(windows[0], text, capitals)
        return ReadStream(places, self._mentions(places, capitals))

    def _places(self, windows: Iterator[Window], text: str, capitals: bool) -> Places:
        return Places(windows, breaks=_has_line_breaks(text), capitals=capitals, rules=self._rules)

    def _has_capital(self, text: str) -> bool:
        """Return whether a word of a text with JSON has a capital letter."""
        known = set[str]()  # keys of JSON repeat
        for part in split_json(text):
            if part.kind == COPIED or part.text in known:
                continue
            if _find_capital([part.text], [self._windows(part.text)]):
                return True
            if len(part.text) <= _SHORT and len(known) < _MOST_PIECES:
                known.add(part.text)
        return False

    def _stream_json(self, text: str, capitals: bool) -> "ReadStream":
        """Return the entries of a text with JSON; each part but copied ones is a text of its own."""
        counts = [0]
        return ReadStream(counts, self._entries_of_parts(text, capitals, counts))

    def _entries_of_parts(self, text: str, capitals: bool, counts: list[int]) -> Iterator[str | Mention]:
        """Yield the entries of a text with JSON; append the kept words of each part to ``counts``."""
        known: dict[str, tuple[tuple[str | Mention, ...], int]] = {}
        copied = list[str]()
        for number, part in enumerate(split_json(text)):
            if not number % STEP:
                check_work()
            if part.kind == COPIED:
                copied.append(part.text)
                continue
            found = known.get(part.text)
            if found is None:
                places = self._places(self._windows(part.text), part.text, capitals)
                entries: Iterable[str | Mention] = self._mentions(places, capitals)
                if len(part.text) <= _SHORT and len(known) < _MOST_PIECES:
                    entries = tuple(entries)
                    known[part.text] = entries, places.shown
            else:
                entries, places = found[0], None
            for entry in write_entries(part, entries):
                if isinstance(entry, str):
                    copied.append(entry)
                else:
                    yield "".join(copied)
                    yield entry
                    copied = []
            if places is not None:
                counts[0] += places.shown
            elif found is not None:
                counts[0] += found[1]
        yield "".join(copied)

    def _windows(self, text: str) -> Iterator[Window]:
        """Yield the tokens of a text, some lines at a time.

        All at once need many times the memory of the text.
        """
        words, spelled, special = list[Token](), list[str](), array("I")
        before, listed, looked = "", self._chunks.listed, 0
        breaks = len(text) > _BLOCK and _has_line_breaks(text)
        for pieces in _pieces(text):
            check_work()
            if len(self._known) > _MOST_PIECES:
                self._known, self._older = {}, self._known
            known, older = self._known, self._older
            for piece, found in zip(pieces, map(known.get, pieces), strict=True):
                if found is None:
                    found = known[piece] = older.get(piece) or listed.get(piece) or self._new_piece(piece)
                if type(found) is Token:
                    words.append(found)
                    spelled.append(before)
                    spelled.append(found.text)  # equal to the chunk, and one object for all equal chunks
                    before = " "
                    continue
                tokens, lead, rest, odd, tail = found
                if not tokens:
                    before += tail
                    continue
                for place in odd:
                    special.append(len(words) + place)
                if type(tokens) is Token:
                    words.append(tokens)
                else:
                    words += tokens
                spelled.append(before + lead if lead else before)
                spelled += rest
                before = tail
            if breaks and (end := _last_line(words, spelled, looked, self._rules)):
                rest = words[end - 1 :], ["", "", *spelled[2 * end :]], array("I")
                first = bisect_left(special, end)
                rest[2].extend(place - end + 1 for place in special[first:])
                del words[end:], spelled[2 * end + 1 :], special[first:]
                join_spelled(words, spelled, special, self._rules)
                yield Window(words, spelled, special)
                words, spelled, special = rest
            looked = max(1, len(words) - 1)
        spelled.append(before[:-1])
        join_spelled(words, spelled, special, self._rules)
        yield Window(words, spelled, special)

    def _new_piece(self, piece: str) -> "_Piece":
        """Return the tokens of a chunk that is new in this call.

        The tokens of words of the public list are cached across calls.
        """
        found = self._chunks.plain(piece) or self._piece(piece)
        if len(self._chunks.listed) < _MOST_LISTED and self._chunks.is_listed(piece):
            self._chunks.listed[piece] = found
        return found

    def _piece(self, piece: str) -> "_Piece":
        """Return the tokens of a chunk between two single blanks; the last gap ends in a blank."""
        if piece[-1:] in _PLAIN_ENDS and piece and (token := self._chunks.plain(piece[:-1])) is not None:  # usual
            return token, "", (token.text,), (), f"{piece[-1]} "
        lead, tokens, tail = self._chunks.word(piece) or ("", self._parts(piece), "")
        if len(tokens) == 1 and tokens[0].cls != GAP:
            return tokens[0], lead, (tokens[0].text,), () if is_plain(tokens[0]) else (0,), f"{tail} "
        words, spelled, parts = list[Token](), list[str](), [lead]
        for token in tokens:
            parts.append(token.text)  # joined once: appending to a string would copy it each time
            if token.cls != GAP:
                words.append(token)
                spelled += ("".join(parts[:-1]), token.text)
                parts = []
        spelled.append("".join(parts))
        tail = f"{spelled.pop()}{tail} "
        odd = tuple([place for place, token in enumerate(words) if not is_plain(token)])
        return tuple(words), spelled[0] if words else "", tuple(spelled[1:]), odd, tail

    def _parts(self, piece: str) -> Sequence[Token]:
        """Return the tokens of a chunk that may contain blanks other than the common one."""
        if piece.split() == [piece]:
            return self._chunks.read(piece)
        known: dict[str, Sequence[Token]] = {}
        found: list[Token] = []
        for number, match in enumerate(_PARTS.finditer(piece)):
            if not number % STEP:
                check_work()
                known.clear()  # the cache serves parts that repeat at short distance
            part = match[0]
            tokens = known.get(part)
            if tokens is None:
                tokens = known[part] = (gap(part),) if _BLANK.match(part) else self._chunks.read(part)
            found += tokens
        return found

    def _mentions(self, places: Places, capitals: bool) -> Iterator[str | Mention]:
        mention = self._kinds.mention
        return self._kinds.kept(
            entry if isinstance(entry, str) else mention(entry, capitals) for entry in places.entries()
        )


def write_entries(part: JsonPart, entries: Iterable[str | Mention]) -> Iterator[str | Mention]:
    """Yield the entries of a part as the text spells them: with escapes and JSON numbers."""
    start = 0
    for entry in entries:
        text = entry if isinstance(entry, str) else entry.slot.text
        written = write_escapes(text, part.escapes, start) if part.escapes else text
        start += len(text)
        if isinstance(entry, str):
            yield written
            continue
        found = entry._replace(case=JSON_NUMBER) if part.kind == NUMBER else entry
        yield found if written == text else found._replace(slot=entry.slot._replace(source=written))


def _pieces(text: str) -> Iterator[list[str]]:
    """Yield the chunks between single blanks, in lists of some thousands.

    Each string costs 50 bytes, so the whole text is never split at once.
    """
    start = 0
    while (end := text.find(" ", start + _BLOCK)) >= 0:
        yield text[start:end].split(" ")
        start = end + 1
    yield text[start:].split(" ")


def _has_line_breaks(text: str) -> bool:
    return not text.isprintable() and _LINE_BREAK.search(text) is not None  # no line break is printable


def _last_line(words: Sequence[Token], spelled: Sequence[str], looked: int, rules: Rules) -> int:
    """Return the start of the last line that shares no spelled number or name with the previous.

    Args:
        words: Tokens of a text.
        spelled: The gap before each token, and the text of the token, in turn.
        looked: Lower bound of the search: the result is above it.
        rules: Rules of the language.

    Returns:
        The index of the first word of that line; 0 if there is none.
    """
    for place in range(len(words) - 1, looked, -1):
        if not LINE_BREAKS.isdisjoint(spelled[2 * place]) and not may_reach_over(words, spelled, place, rules):
            return place
    return 0


def _find_capital(texts: Sequence[str], windows: list[Iterator[Window]]) -> bool:
    """Return whether a word in any of the texts has a capital letter.

    Windows that the search consumed are put back in front of ``windows``.
    """
    for number, text in enumerate(texts):
        if text.isascii() and "&" not in text and text == text.lower():
            continue  # the reader classifies "at&t" as a name with a capital
        held: list[Window] = []
        for window in windows[number]:
            held.append(window)
            words = window.words
            if any(words[place].case != LOWER for place in window.special):
                windows[number] = chain(held, windows[number])
                return True
        windows[number] = iter(held)
    return False
