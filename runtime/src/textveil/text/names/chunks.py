"""Tokenizer of chunks, the strings between two blanks (pass 1).

Each chunk is read alone, so no token depends on another chunk. The marks at the ends of a chunk are gaps. The core
between them is either letters with single marks between them, which are cut at the marks, or one string, which is
replaced as a whole: no part of a string reveals where it ends.
"""

import re
from collections.abc import Sequence
from string import punctuation

import regex

from textveil.bundle.rules import Patterns
from textveil.lazy import CHARACTERS, load_data
from textveil.text.names.emoji import find_kind, find_sequences
from textveil.text.names.lexicon import Lexicon
from textveil.text.names.spelled import LEAST_SPELLED
from textveil.text.names.strings import code_half, string_kind, with_unit
from textveil.text.names.tokens import ALONE, AT_START, CAPITAL, DIGITS, GAP, INITIALS, NUMBER, SHOWN, Token, new
from textveil.text.segmentation import LONGEST_WORD, LOWER, TITLE, UPPER, case_pattern, key
from textveil.work_limits import STEP, check_work

_PATTERNS = load_data(CHARACTERS)["patterns"]
_EMOTICON = re.compile(_PATTERNS["emoticon"])
_ASCII_DIGITS = frozenset("0123456789")
_PLAIN_MARKS, _OPENING_MARKS = ".,;:!?\"')", '"('
#: HTML entities, and their remains without marks. By number only marks are kept, since other numbers spell letters.
_ENTITY = re.compile(rf"{_PATTERNS['entity']}|\b(?:{_PATTERNS['entity_name']})")
_BY_NUMBER = re.compile(r"#[0-9]+;")
_LETTERS = regex.compile(r"\p{L}[\p{L}\p{M}'\u2019\u2018]*+")
_JOINED = regex.compile(r"(\p{L}[\p{L}\p{M}'\u2019\u2018]*+)|([^\p{L}]+)")
#: Marks that join two separate words.
_JOINER = regex.compile(r"[-\u2010-\u2015\u2026,;:!?/+*\"“”«»()\[\]{}\u2018\u2019'|]+|\.{2,}|\\")
#: Marks of which a path has several.
_SLASHES = re.compile(r"[/\\]")
_DOTTED = regex.compile(r"\p{L}[\p{L}\p{M}]*+(?:\.\p{L}[\p{L}\p{M}]*+)+")
_INITIALS = regex.compile(r"(?:\p{Lu}\.-?)+\p{Lu}")
_PART = r"(?:[0-9]{1,4}|\p{L}[\p{L}\p{M}'\u2019\u2018]*+)"
_WITH_HYPHENS = regex.compile(rf"(?=.*\p{{L}}){_PART}(?:-{_PART})+")
#: Words with marks between them, a separator, and the rest: ``user=`` and a name, the cells of a row.
_SEPARATED = regex.compile(
    r"([-\u2010-\u2015\u2026!+*\"“”«»()\[\]{}\u2018\u2019']*+\p{L}[-\u2010-\u2015\u2026!+*“”«»()\[\]{}\u2018\u2019'\p{L}\p{M}]*+)"
    r"(\"*[=,;|]+|\"+:)(.+)",
    regex.DOTALL,
)
_SEPARATORS = frozenset("=,;|:")
#: Brackets, and other marks that only source code has inside a word. In a chunk with one of them each code mark ends a
#: string.
_BRACKETS = frozenset('()[]{}=<>"`')
_CODE_MARKS = re.compile(r"((?:</|/>|[()\[\]{}=<>;,|&*!\"`])+)")
#: Marks that make a chunk with code marks one string: an address or a path.
_WHOLE = frozenset("@\uff20\\/")
#: Conversions of format strings, with marks only: ``%s,``, ``{:.2f}``. The letter of a conversion affects no decision.
_FORMAT = r"(?:%[-+#0]?(?:\.[0-9])?[A-Za-z](?![A-Za-z0-9])|\{(?::[<>^+-]?(?:\.[0-9])?[A-Za-z%]?)\})"
_LONGEST_FORMATS = 40
_FORMATS = re.compile(rf"(?:[!-/:-@\[-`{{-~]*?{_FORMAT}){{1,4}}[!-/:-@\[-`{{-~]*")
_AND = regex.compile(r"\p{L}[\p{L}\p{M}]*+(?:&\p{L}[\p{L}\p{M}]*+)+")


class Chunks:
    """Tokenizer of chunks.

    Args:
        lexicon: The class of each word.

    Attributes:
        plain: Function that returns the token of a plainly kept common word.
        listed: Cached results for words of the public list, which all calls share.

    Privacy:
        The object stores no text of the user: ``listed`` has public words only.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon, self.plain, self.listed = lexicon, lexicon.plain, lexicon.listed_pieces
        rules = lexicon.rules
        self._patterns, self._kept_whole, self._clitics = rules.patterns, rules.kept_whole, rules.clitics.pieces
        #: A clitic after a blank, as tokenizers write it (``they 're``), and the marks after it.
        after = "|".join(sorted(re.escape(clitic[1:]) for clitic in rules.clitics.after)) or "(?!)"
        self._lone_clitic = re.compile(rf"(['\u2019\u2018](?:{after}))([.,;:!?\")]*)")

    def word(self, chunk: str) -> tuple[str, Sequence[Token], str] | None:
        """Return the marks before a word or number, its tokens and the marks after it.

        The result is ``None`` for any other chunk.
        """
        if chunk.isalpha() and len(chunk) <= LONGEST_WORD:
            return "", self._lexicon.word(chunk), ""
        if chunk[:1] in _ASCII_DIGITS:  # same result as ``read``, without a dozen patterns
            core = chunk.rstrip(_PLAIN_MARKS)
            if len(core) <= LONGEST_WORD and self._patterns.plain_number.fullmatch(core):
                return "", (self._number(core),), chunk[len(core) :]
        lead = len(chunk) - len(chunk.lstrip(_OPENING_MARKS))
        core = chunk[lead:].rstrip(_PLAIN_MARKS)
        letters = core.isalpha() or (core[:1].isalpha() and core.replace("'", "").isalpha())
        if not letters or len(core) > LONGEST_WORD or ";" in chunk:  # a semicolon may end an HTML entity
            return None
        return chunk[:lead], self._lexicon.word(core), chunk[lead + len(core) :]

    def is_listed(self, chunk: str) -> bool:
        """Return whether a chunk is a public word with at most one mark after it.

        ``Lexicon.is_public`` defines public words.
        """
        return self._lexicon.is_public(chunk[:-1] if chunk[-1:] in _PLAIN_MARKS else chunk)

    def read(self, chunk: str) -> Sequence[Token]:
        """Return the tokens of a chunk. Their texts concatenate to the chunk."""
        if chunk.isalpha() and len(chunk) <= LONGEST_WORD:
            return self._lexicon.word(chunk)
        return self._parts(chunk)

    def _parts(self, chunk: str) -> Sequence[Token]:
        if _EMOTICON.fullmatch(chunk):
            return (gap(chunk),)
        if (clitic := self._lone_clitic.fullmatch(chunk)) and not self._lexicon.is_denied(clitic[1][1:]):
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
        if rest[:end].lower() in self._clitics:
            found.append(Token(SHOWN, rest[:end], rest[:end].lower()))
            rest = rest[end:]
        return [*found, *self._solid(rest)]

    def _solid(self, chunk: str) -> Sequence[Token]:
        """Return the tokens of a chunk without entities, including the marks at its ends."""
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
        """Return the start and the end of the core of a chunk between its marks.

        Both are equal if the chunk consists of marks alone.
        """
        if chunk.isascii():  # ASCII punctuation is marks, and no other ASCII is
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
        """Return the tokens of a chunk without the marks at its ends."""
        if len(core) > LONGEST_WORD:
            return (Token(ALONE, core, key(core), LOWER, "other"),)
        if self._patterns.plain_number.fullmatch(core):
            return (self._number(core),)
        if core.replace("'", "").isalpha() and core[0] != "'" if core.isascii() else _LETTERS.fullmatch(core):
            return self._lexicon.word(core)
        if core[0].isalpha() or core[0].isdigit():
            if core.isascii() and core.lower() in self._kept_whole and not self._lexicon.is_denied(core.lower()):
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
            if (pieces := _cut_code(core, self._patterns)) is not None:
                return [token for piece in pieces for token in self._solid(piece)]
            if any(map(str.isdigit, core)):
                return self._with_digits(core)
            if len(_SLASHES.findall(core)) < 2 and (pieces := _pieces(core)) is not None:
                return self._joined(pieces)
        return (_string(core, self._patterns),)

    def _number(self, core: str) -> Token:
        """Return the token of a plain number; an expression such as ``24/7`` is kept."""
        if core in self._kept_whole and not self._lexicon.is_denied(core):
            return new(Token, (SHOWN, core, core, LOWER, "", "", 0))
        return number(core, self._patterns)

    def _joined(self, pieces: Sequence[str]) -> Sequence[Token]:
        found: list[Token] = []
        for number, piece in enumerate(pieces):
            if number % 2:
                found.append(gap(piece))
            else:
                found += self._lexicon.word(piece)
        return found

    def _separated(self, core: str) -> Sequence[Token]:
        """Return the tokens of alternating words and separators, and of the rest as a chunk."""
        found: list[Token] = []
        while match := _SEPARATED.fullmatch(core):
            found += [*self._solid(match[1]), gap(match[2])]
            core = match[3]
        return [*found, *self._solid(core)]

    def _dotted(self, core: str) -> Sequence[Token]:
        """Return the tokens of words with full stops between them, if all are kept.

        Otherwise the result is empty and the core is one string.
        """
        if string_kind(core, self._patterns)[0] in ("url", "file"):
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
            # No word of the string may begin a slot: the rest would be another string.
            found += [token._replace(cls=SHOWN, kind="", bits=0) for token in tokens]
        return found

    def _with_digits(self, core: str) -> Sequence[Token]:
        split = with_unit(core, self._patterns)
        if split is not None and not self._lexicon.is_denied(split[1].lower()):
            return number(split[0], self._patterns), Token(SHOWN, split[1], split[1].lower())
        if _WITH_HYPHENS.fullmatch(core):
            parts = core.split("-")
            read = [(number(part, self._patterns),) if part.isdigit() else self._lexicon.word(part) for part in parts]
            spelled = all(token.cls == DIGITS or token.bits & NUMBER for tokens in read for token in tokens)
            if _is_code(parts) and not spelled:
                return (_string(core, self._patterns),)
            return [token for tokens in read for token in (gap("-"), *tokens)][1:]
        return (_string(core, self._patterns),)


def _is_code(parts: Sequence[str]) -> bool:
    """Return whether hyphens join letters and digits to a code.

    A code has a part in capitals, or digits between letters.
    """
    kinds = "".join("0" if part.isdigit() else "A" if part.isupper() else "a" for part in parts)
    return "A" in kinds or "a0a" in kinds


def gap(text: str) -> Token:
    """Return the token of a gap."""
    return new(Token, (GAP, text, text, LOWER, "", "", 0))


def number(digits: str, patterns: Patterns) -> Token:
    """Return the token of a number."""
    kind, layout = string_kind(digits, patterns)
    joins = digits.isdigit() or kind in ("account", "digits", "phone", "card", "ssn")
    return Token(DIGITS if joins else ALONE, digits, digits, LOWER, kind, layout)


def _string(core: str, patterns: Patterns) -> Token:
    kind, layout = string_kind(core, patterns)
    if kind in ("number", "year", "account", "digits", "phone", "card", "ssn"):
        return number(core, patterns)
    return Token(ALONE, core, key(core), LOWER, kind, layout, code_half(core, patterns) if kind == "id" else 0)


def _prefix(chunk: str, start: int) -> int:
    """Return how many of the marks before a core belong to it: of a handle, a hashtag or a path."""
    before, first = chunk[:start], chunk[start]
    if before.endswith(("@", "＠", "\\")) or (before.endswith("#") and not first.isdigit()):
        return 1
    if before.endswith("~/"):
        return 2
    return 1 if before.endswith("/") else 0


def _cut_code(core: str, patterns: Patterns) -> list[str] | None:
    """Cut a chunk at its code marks.

    Only marks, and which pieces are addresses or files, affect the decision. The result is ``None`` if the chunk has no
    code marks, or is an address, a path or a file.
    """
    if _BRACKETS.isdisjoint(core):
        return None
    pieces = _CODE_MARKS.split(core)
    if any(not _WHOLE.isdisjoint(p) for p in pieces[::2]):
        return None
    kind = string_kind(core, patterns)[0]
    is_file = kind == "file" and (len(pieces[-1]) < 2 or string_kind(pieces[-1], patterns)[0] != "file")
    return None if is_file or kind in ("url", "email") else [piece for piece in pieces if piece]


def _cut_emoji(chunk: str) -> list[str | Token]:
    """Cut a chunk at its emoji sequences.

    Returns:
        A token for each sequence, and the strings before, between and after them. Empty if the chunk has no sequence.
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
    """Return alternating words and marks of a core; ``None`` if it contains anything else."""
    parts = _JOINED.findall(core)
    if any(mark and not _JOINER.fullmatch(mark) for _, mark in parts) or (parts and parts[-1][1]):
        return None
    return [word or mark for word, mark in parts]
