"""Cuts what stands between two blanks into tokens (pass 1).

A chunk is read alone, so no token depends on another chunk. Marks at its ends are gaps. What is left is letters with
single marks between them, cut there, or one string, replaced as a whole: no part of a string tells where it ends.
"""

import re
from collections.abc import Sequence
from string import punctuation

import regex

from textveil.text.names.emoji import find_kind, find_sequences
from textveil.text.names.lexicon import Lexicon
from textveil.text.names.spelled import LEAST_SPELLED
from textveil.text.names.strings import PLAIN_NUMBER, code_half, string_kind, with_unit
from textveil.text.names.tokens import ALONE, AT_START, CAPITAL, DIGITS, GAP, INITIALS, NUMBER, SHOWN, Token, new
from textveil.text.segmentation import LONGEST_WORD, LOWER, TITLE, UPPER, case_pattern, key
from textveil.work_limits import STEP, check_work

_EMOTICON = re.compile(r"[:;=]['\u2019]?-?(?:[)(\]\[}{|/*]+|D+|[PpOo])|<3|\^_*\^|-_+-|:'\(|\\o/|[oO]_[oO]")
_ASCII_DIGITS = frozenset("0123456789")
_PLAIN_MARKS, _OPENING_MARKS = ".,;:!?\"')", '"('
#: What is left of HTML where its marks were lost. By number marks alone: letters would be spelled with others.
_ENTITY = re.compile(
    r"&(?:amp|quot|lt|gt|nbsp|apos|mdash|ndash|hellip);|\b(?:quot|amp|lt|gt);"
    r"|(?:&amp;|&)?#(?:3[3-9]|4[0-7]|58|59|6[0-4]|9[1-6]|12[3-6]|14[5-8]|15[01]|160|82(?:1[12]|1[67]|2[0126]|30));"
)
_BY_NUMBER = re.compile(r"#[0-9]+;")
_CLITIC_PIECES = frozenset("s t d m ll re ve".split())
#: A clitic behind a blank, as tokenizers write it (``they 're``), and the marks behind it.
_LONE_CLITIC = re.compile(r"(['\u2019\u2018](?:s|m|d|re|ve|ll))([.,;:!?\")]*)")
_LETTERS = regex.compile(r"\p{L}[\p{L}\p{M}'\u2019\u2018]*+")
_JOINED = regex.compile(r"(\p{L}[\p{L}\p{M}'\u2019\u2018]*+)|([^\p{L}]+)")
#: Marks that words stand on both sides of, each a word of its own.
_JOINER = regex.compile(r"[-\u2010-\u2015\u2026,;:!?/+*\"“”«»()\[\]{}\u2018\u2019'|]+|\.{2,}|\\")
#: Those of which a path has several.
_SLASHES = re.compile(r"[/\\]")
_DOTTED = regex.compile(r"\p{L}[\p{L}\p{M}]*+(?:\.\p{L}[\p{L}\p{M}]*+)+")
_INITIALS = regex.compile(r"(?:\p{Lu}\.-?)+\p{Lu}")
#: Common words that are not letters with single marks between them.
_SHOWN_WHOLE = frozenset(
    "a.m p.m i.e e.g e-mail e-mails e-book e-books x-ray x-rays t-shirt t-shirts u-turn 24/7".split()
)
_PART = r"(?:[0-9]{1,4}|\p{L}[\p{L}\p{M}'\u2019\u2018]*+)"
_WITH_HYPHENS = regex.compile(rf"(?=.*\p{{L}}){_PART}(?:-{_PART})+")
#: Words with marks between them, a separator, and what is behind it: ``user=`` and a name, the cells of a row.
_SEPARATED = regex.compile(
    r"([-\u2010-\u2015\u2026!+*\"“”«»()\[\]{}\u2018\u2019']*+\p{L}[-\u2010-\u2015\u2026!+*“”«»()\[\]{}\u2018\u2019'\p{L}\p{M}]*+)"
    r"(\"*[=,;|]+|\"+:)(.+)",
    regex.DOTALL,
)
_SEPARATORS = frozenset("=,;|:")
#: Brackets, and others that only code has inside a word: in a chunk that has one, each mark of code ends a string.
_BRACKETS = frozenset('()[]{}=<>"`')
_CODE_MARKS = re.compile(r"((?:</|/>|[()\[\]{}=<>;,|&*!\"`])+)")
#: What makes of a chunk with marks of code one string: an address or a path.
_WHOLE = frozenset("@\uff20\\/")
#: Conversions of format strings and marks alone: ``%s,``, ``{:.2f}``. Which letter a conversion has decides nothing.
_FORMAT = r"(?:%[-+#0]?(?:\.[0-9])?[A-Za-z](?![A-Za-z0-9])|\{(?::[<>^+-]?(?:\.[0-9])?[A-Za-z%]?)\})"
_LONGEST_FORMATS = 40
_FORMATS = re.compile(rf"(?:[!-/:-@\[-`{{-~]*?{_FORMAT}){{1,4}}[!-/:-@\[-`{{-~]*")
_AND = regex.compile(r"\p{L}[\p{L}\p{M}]*+(?:&\p{L}[\p{L}\p{M}]*+)+")


class Chunks:
    """Reads chunks, each distinct one once.

    Args:
        lexicon: The class of each word.

    Attributes:
        plain: Gives the token of a common word that is plainly shown.
        listed: What was read of words of the public list; it is shared by all calls.

    Privacy:
        It holds what the user wrote, and ends with the call.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon, self.plain, self.listed = lexicon, lexicon.plain, lexicon.listed_pieces

    def word(self, chunk: str) -> tuple[str, Sequence[Token], str] | None:
        """Returns the marks before a word or number, its tokens and the marks behind it; ``None`` of other chunks."""
        if chunk.isalpha() and len(chunk) <= LONGEST_WORD:
            return "", self._lexicon.word(chunk), ""
        if chunk[:1] in _ASCII_DIGITS:  # what ``read`` finds too, by way of a dozen patterns
            core = chunk.rstrip(_PLAIN_MARKS)
            if len(core) <= LONGEST_WORD and PLAIN_NUMBER.fullmatch(core):
                return "", (self._number(core),), chunk[len(core) :]
        lead = len(chunk) - len(chunk.lstrip(_OPENING_MARKS))
        core = chunk[lead:].rstrip(_PLAIN_MARKS)
        letters = core.isalpha() or (core[:1].isalpha() and core.replace("'", "").isalpha())
        if not letters or len(core) > LONGEST_WORD or ";" in chunk:  # with a semicolon it may be of HTML
            return None
        return chunk[:lead], self._lexicon.word(core), chunk[lead + len(core) :]

    def is_listed(self, chunk: str) -> bool:
        """Return whether a chunk is a public word (``Lexicon.is_public``), with at most one mark behind it."""
        return self._lexicon.is_public(chunk[:-1] if chunk[-1:] in _PLAIN_MARKS else chunk)

    def read(self, chunk: str) -> Sequence[Token]:
        """Returns the tokens of a chunk, which joined are the chunk."""
        if chunk.isalpha() and len(chunk) <= LONGEST_WORD:
            return self._lexicon.word(chunk)
        return self._parts(chunk)

    def _parts(self, chunk: str) -> Sequence[Token]:
        if _EMOTICON.fullmatch(chunk):
            return (gap(chunk),)
        if (clitic := _LONE_CLITIC.fullmatch(chunk)) and not self._lexicon.is_denied(clitic[1][1:]):
            return (Token(SHOWN, clitic[1], key(clitic[1])), *map(gap, clitic[2] and (clitic[2],)))
        if "#" in chunk and _BY_NUMBER.search(_ENTITY.sub("", chunk)):
            return (Token(ALONE, chunk, key(chunk), LOWER, "key"),)
        position, found = 0, list[Token]()
        for count, entity in enumerate(_ENTITY.finditer(chunk) if ";" in chunk else ()):
            if not count % STEP:
                check_work()
            found += [*self._solid(chunk[position : entity.start()]), gap(entity[0])]
            position = entity.end()
        rest = chunk[position:]
        end = len(rest.rstrip(_PLAIN_MARKS)) if position else 0
        if rest[:end].lower() in _CLITIC_PIECES:
            found.append(Token(SHOWN, rest[:end], rest[:end].lower()))
            rest = rest[end:]
        return [*found, *self._solid(rest)]

    def _solid(self, chunk: str) -> Sequence[Token]:
        """The tokens of a chunk without entities, with the marks at its ends."""
        if not chunk:
            return ()
        if not chunk.isascii() and (pieces := _cut_emoji(chunk)):
            return [token for piece in pieces for token in ((piece,) if type(piece) is Token else self._solid(piece))]
        if ("%" in chunk or "{" in chunk) and len(chunk) <= _LONGEST_FORMATS and _FORMATS.fullmatch(chunk):
            return (gap(chunk),)
        core = chunk.rstrip(_PLAIN_MARKS)
        if core.isalpha() and len(core) <= LONGEST_WORD:
            start, end = 0, len(core)
            found = self._lexicon.word(core)
        else:
            start, end = self._marks(chunk)
            if start == end:
                return (gap(chunk),)
            found = self._core(chunk[start:end])
        return [*map(gap, chunk[:start] and (chunk[:start],)), *found, *map(gap, chunk[end:] and (chunk[end:],))]

    def _marks(self, chunk: str) -> tuple[int, int]:
        """Where the marks before a core end, and those behind it begin: one place if all is marks."""
        if chunk.isascii():  # there all punctuation is marks, and nothing else
            start, end = len(chunk) - len(chunk.lstrip(punctuation)), len(chunk.rstrip(punctuation))
            return (start - _prefix(chunk, start), end) if end else (start, start)
        lead = self._lexicon.marks.match(chunk)
        start = lead.end() if lead else 0
        if start == len(chunk):
            return start, start
        start -= _prefix(chunk, start)
        tail = self._lexicon.marks_at_end.search(chunk, start)
        return start, tail.start() if tail else len(chunk)

    def _core(self, core: str) -> Sequence[Token]:
        """The tokens of a chunk without the marks at its ends."""
        if len(core) > LONGEST_WORD:
            return (Token(ALONE, core, key(core), LOWER, "other"),)
        if PLAIN_NUMBER.fullmatch(core):
            return (self._number(core),)
        if core.replace("'", "").isalpha() and core[0] != "'" if core.isascii() else _LETTERS.fullmatch(core):
            return self._lexicon.word(core)
        if core[0].isalpha() or core[0].isdigit():
            if core.isascii() and core.lower() in _SHOWN_WHOLE and not self._lexicon.is_denied(core.lower()):
                return (Token(SHOWN, core, core.lower(), case_pattern(core)),)
            words = core.split(mark := "-" if "-" in core else "\\")
            if core.isascii() and all(map(str.isalpha, words)) and (mark == "-" or len(words) == 2):
                return self._joined([piece for word in words for piece in (word, mark)][:-1])
            if "." in core and _INITIALS.fullmatch(core):
                return (Token(CAPITAL, core, key(core), UPPER, bits=INITIALS),)
            if "&" in core and _AND.fullmatch(core):
                return (Token(CAPITAL, core, key(core), UPPER if core.isupper() else TITLE),)
            if "." in core and _DOTTED.fullmatch(core) and (shown := self._dotted(core)):
                return shown
            if not _SEPARATORS.isdisjoint(core) and _SEPARATED.fullmatch(core):
                return self._separated(core)
            if (pieces := _cut_code(core)) is not None:
                return [token for piece in pieces for token in self._solid(piece)]
            if any(map(str.isdigit, core)):
                return self._with_digits(core)
            if len(_SLASHES.findall(core)) < 2 and (pieces := _pieces(core)) is not None:
                return self._joined(pieces)
        return (_string(core),)

    def _number(self, core: str) -> Token:
        """Return the token of a plain number; an expression is kept."""
        if core in _SHOWN_WHOLE and not self._lexicon.is_denied(core):
            return new(Token, (SHOWN, core, core, LOWER, "", "", 0))
        return number(core)

    def _joined(self, pieces: Sequence[str]) -> Sequence[Token]:
        found: list[Token] = []
        for number, piece in enumerate(pieces):
            if number % 2:
                found.append(gap(piece))
            else:
                found += self._lexicon.word(piece)
        return found

    def _separated(self, core: str) -> Sequence[Token]:
        """The tokens of words and separators in turn, up to what is not of words: that is read by itself."""
        found: list[Token] = []
        while match := _SEPARATED.fullmatch(core):
            found += [*self._solid(match[1]), gap(match[2])]
            core = match[3]
        return [*found, *self._solid(core)]

    def _dotted(self, core: str) -> Sequence[Token]:
        """Words with a full stop and no blank between them, if all are shown: else they are one string."""
        if string_kind(core)[0] in ("url", "file"):
            return ()
        found: list[Token] = []
        words = core.split(".")
        if len(words) >= LEAST_SPELLED and all(
            token.bits & NUMBER for word in words for token in self._lexicon.word(word)
        ):
            return self._joined([piece for word in words for piece in (word, ".")][:-1])
        for word in words:
            tokens = self._lexicon.word(word)
            if not all(token.cls == SHOWN or token.bits & AT_START for token in tokens):
                return ()
            found += [gap(".")] if found else []
            # No word of it begins a slot: what is left would be another string.
            found += [token._replace(cls=SHOWN, kind="", bits=0) for token in tokens]
        return found

    def _with_digits(self, core: str) -> Sequence[Token]:
        split = with_unit(core)
        if split is not None and not self._lexicon.is_denied(split[1].lower()):
            return number(split[0]), Token(SHOWN, split[1], split[1].lower())
        if _WITH_HYPHENS.fullmatch(core):
            parts = core.split("-")
            read = [(number(part),) if part.isdigit() else self._lexicon.word(part) for part in parts]
            spelled = all(token.cls == DIGITS or token.bits & NUMBER for tokens in read for token in tokens)
            if _is_code(parts) and not spelled:
                return (_string(core),)
            return [token for tokens in read for token in (gap("-"), *tokens)][1:]
        return (_string(core),)


def _is_code(parts: Sequence[str]) -> bool:
    """Return whether hyphens join letters and digits to a code: with a part in capitals, or digits between letters."""
    kinds = "".join("0" if part.isdigit() else "A" if part.isupper() else "a" for part in parts)
    return "A" in kinds or "a0a" in kinds


def gap(text: str) -> Token:
    """Returns the token of a gap."""
    return new(Token, (GAP, text, text, LOWER, "", "", 0))


def number(digits: str) -> Token:
    """Returns the token of a number."""
    kind, layout = string_kind(digits)
    joins = digits.isdigit() or kind in ("account", "digits", "phone", "card", "ssn")
    return Token(DIGITS if joins else ALONE, digits, digits, LOWER, kind, layout)


def _string(core: str) -> Token:
    kind, layout = string_kind(core)
    if kind in ("number", "year", "account", "digits", "phone", "card", "ssn"):
        return number(core)
    return Token(ALONE, core, key(core), LOWER, kind, layout, code_half(core) if kind == "id" else 0)


def _prefix(chunk: str, start: int) -> int:
    """How many of the marks before the first other character belong to a string: of a handle, a hashtag, a path."""
    before, first = chunk[:start], chunk[start]
    if before.endswith(("@", "＠", "\\")) or (before.endswith("#") and not first.isdigit()):
        return 1
    if before.endswith("~/"):
        return 2
    return 1 if before.endswith("/") else 0


def _cut_code(core: str) -> list[str] | None:
    """Cut a chunk at its marks of code; ``None`` if it has none, or is an address, a path or a file.

    All this is decided by marks, and by which pieces are addresses or files.
    """
    if _BRACKETS.isdisjoint(core):
        return None
    pieces = _CODE_MARKS.split(core)
    if any(not _WHOLE.isdisjoint(p) for p in pieces[::2]):
        return None
    kind = string_kind(core)[0]
    is_file = kind == "file" and (len(pieces[-1]) < 2 or string_kind(pieces[-1])[0] != "file")
    return None if is_file or kind in ("url", "email") else [piece for piece in pieces if piece]


def _cut_emoji(chunk: str) -> list[str | Token]:
    """Cut a chunk at its sequences of emoji: a token for each, and what is before, between and behind them.

    Returns nothing where there are none.
    """
    found: list[str | Token] = []
    position = 0
    for count, match in enumerate(find_sequences(chunk)):
        if not count % STEP:
            check_work()
        sequence, start = match[0], match.start()
        if start > position:
            found.append(chunk[position:start])
        kind, layout = find_kind(sequence)
        found.append(Token(ALONE, sequence, sequence, LOWER, kind, layout) if kind else gap(sequence))
        position = match.end()
    if found and position < len(chunk):
        found.append(chunk[position:])
    return found


def _pieces(core: str) -> list[str] | None:
    """Words, and the marks between them, in turn; ``None`` if there is anything else."""
    parts = _JOINED.findall(core)
    if any(mark and not _JOINER.fullmatch(mark) for _, mark in parts) or (parts and parts[-1][1]):
        return None
    return [word or mark for word, mark in parts]
