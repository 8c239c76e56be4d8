"""Tokenizer of the mode ``names`` for chunks, the texts between two blanks.

This is the first of three passes over a text. The tokenizer reads each chunk alone, so no token depends on another
chunk. The marks at both ends of a chunk are gaps. The *core* is the text between these marks. A core of letters with
single marks between them is split at the marks. Any other core, such as an email address, is one token, called a
*string*. A string is replaced as a whole, so that the output does not reveal where its parts end.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from string import punctuation

import regex

from textveil.bundle.rules import Patterns
from textveil.lazy import CHARACTERS, load_data
from textveil.text.names.emoji import classify_sequence, find_sequences
from textveil.text.names.lexicon import PLAIN_MARKS, Lexicon, make_number_token, pack_tokens
from textveil.text.names.spelled_tokens import MIN_SPELLED
from textveil.text.names.string_types import classify_string, find_group_flags, split_unit
from textveil.text.names.tokens import (
    CAPITALIZED,
    DIGITS,
    GAP,
    INITIALS,
    KEPT,
    KEPT_AT_START,
    NUMBER_WORD,
    REPLACED,
    ChunkTokens,
    NamesToken,
    create_tuple,
)
from textveil.text.segmentation import LOWER, MAX_WORD_LENGTH, TITLE, UPPER, find_case_pattern, fold_word
from textveil.work_steps import STEPS_PER_CHECK, check_work

_PATTERNS = load_data(CHARACTERS)["patterns"]
#: Emoticons, and redirections of a shell: ``2>&1``.
_MARK_CHUNK = re.compile(f"{_PATTERNS['emoticon']}|{_PATTERNS['redirection']}")
_BLANK = regex.compile(r"\p{White_Space}")
_BLANKS_OR_CHUNK = regex.compile(r"\p{White_Space}++|\P{White_Space}++")
#: HTML entities, also without their ``&`` and ``;``, and common HTML tags without attributes. Numeric entities are kept
#: only if they are punctuation marks, since others can spell letters.
_HTML_ENTITY = re.compile(rf"{_PATTERNS['entity']}|\b(?:{_PATTERNS['entity_name']})")
_NUMERIC_ENTITY = re.compile(r"#[0-9]+;")
_LETTERS = regex.compile(r"\p{L}[\p{L}\p{M}'\u2019\u2018]*+")
#: A word, or the marks between two words. Apostrophes at the end of a word are marks, as in ``'name':value``.
_WORD_OR_MARKS = regex.compile(r"(\p{L}[\p{L}\p{M}]*+(?:['\u2019\u2018]++[\p{L}\p{M}]++)*)|([^\p{L}]+)")
#: Marks that join two separate words.
_JOINER = regex.compile(r"[-\u2010-\u2015\u2026,;:!?/+*\"“”«»()\[\]{}\u2018\u2019'|]+|\.{2,}|\\")
#: Marks that a path contains several times.
_SLASHES = re.compile(r"[/\\]")
_DOTTED = regex.compile(r"\p{L}[\p{L}\p{M}]*+(?:\.\p{L}[\p{L}\p{M}]*+)+")
_INITIALS = regex.compile(r"(?:\p{Lu}\.-?)+\p{Lu}")
_HYPHENATED_PART = r"(?:[0-9]{1,4}|\p{L}[\p{L}\p{M}'\u2019\u2018]*+)"
_WITH_HYPHENS = regex.compile(rf"(?=.*\p{{L}}){_HYPHENATED_PART}(?:-{_HYPHENATED_PART})+")
#: Words with marks between them, a separator, and the rest of the chunk, as in ``user=name``.
_SEPARATED = regex.compile(
    r"([-\u2010-\u2015\u2026!+*\"“”«»()\[\]{}\u2018\u2019']*+\p{L}[-\u2010-\u2015\u2026!+*“”«»()\[\]{}\u2018\u2019'\p{L}\p{M}]*+)"
    r"(\"*[=,;|]+|\"+:)(.+)",
    regex.DOTALL,
)
_SEPARATORS = frozenset("=,;|:")
#: A value of a table row, a separator, and the rest of the chunk, as in ``34,Boston`` or ``a@x.org;250.00``. A comma
#: belongs to the value if ``;`` or ``|`` follows. A slash or colon belongs to it only between digits, as in dates.
_IN_VALUE = r"[^,;|=/\\:@\uff20\ufe6b#?&~<>(){}\[\]\"`]"
_VALUE = re.compile(
    rf"(\"*(?:{_IN_VALUE}|(?<=[0-9])[:/](?=[0-9])|,(?=.*[;|]))+(?:@{_IN_VALUE}+)?)(\"*(?:[;|]+|,+(?!.*[;|])))(.+)",
    re.DOTALL,
)
#: A text with a comma that is not between digits, or with two commas of which one does not precede exactly three
#: digits. Any other text with commas may be one number (``1,000-2,000``, ``2,5kg``). A list of small numbers, such as
#: ``1,2,3``, remains one string, which ``facts`` can leave unchanged.
_ROW = re.compile(
    r"(?!(?:[1-9]?[0-9],)+[1-9]?[0-9]\Z).*?"
    r"(?:(?<![0-9]),|,(?![0-9])|,(?![0-9]{3}(?![0-9])).*,|,.*,(?![0-9]{3}(?![0-9])))",
    re.DOTALL,
)
#: Brackets, and other marks that occur inside words only in source code. A chunk with one of them is split at all marks
#: of ``_CODE_MARKS``.
_BRACKETS = frozenset('()[]{}=<>"`')
_CODE_MARKS = re.compile(r"((?:</|/>|[()\[\]{}=<>;,|&*!\"`])+)")
#: The call of a method: the names before the last dot, and the name of the method.
_METHOD = re.compile(r"([A-Za-z]+(?:\.[A-Za-z]+)*)\.([a-z]+)")
#: A chunk with one of these marks is not cut at code marks, since it is an address or a path.
_WHOLE_CHUNK_MARKS = frozenset("@\uff20\\/")
#: Marks of an address with more than a host, and the beginning of a host that does not affect where a chunk is cut.
_ADDRESS_MARKS, _WWW = frozenset(":?#"), re.compile(r"(?:www\.)+", re.IGNORECASE)
#: Width of a conversion: ``%02d``, ``%5.2f``. It excludes the escapes of letters in an address, such as ``%4A``.
_WIDTH = r"(?:0[1-9]|1[0-9]|[1-9](?=\.[0-9]|[G-Zg-z])|[1235](?=d))"
#: Conversions of format strings, with marks and blanks as escapes only: ``%s,``, ``{:.2f}``, ``%d\\n``. The letter of a
#: conversion affects no decision.
_FORMAT = (
    rf"(?:%[-+#0]?{_WIDTH}?(?:\.[0-9])?[A-Za-z](?![A-Za-z0-9])|\{{(?::[<>^+-]?{_WIDTH}?(?:\.[0-9])?[A-Za-z%]?)?\}})"
)
_MAX_FORMATS_LENGTH = 40
_BESIDE_FORMAT = r"(?:[!-/:-@\[-`{-~]|(?<=\\)[nrt])*"
_FORMATS = re.compile(rf"(?:{_BESIDE_FORMAT}?{_FORMAT}){{1,4}}{_BESIDE_FORMAT}")
#: Marks of Chinese and Japanese, and full-width marks, which no blank follows.
_WIDE_MARKS = re.compile("([\u3001\u3002\u3008-\u3011\u3014-\u3017\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]+)")
_AMPERSAND_WORDS = regex.compile(r"\p{L}[\p{L}\p{M}]*+(?:&\p{L}[\p{L}\p{M}]*+)+")


class ChunkTokenizer:
    """Splits chunks (texts between blanks) into tokens: words, numbers, addresses and gaps (blanks and marks).

    Args:
        lexicon: The classifier of words by public lists.

    Privacy:
        The object stores no text of the user.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon: Lexicon = lexicon
        rules = lexicon.rules
        self._patterns, self._kept_whole, self._clitics = rules.patterns, rules.kept_whole, lexicon.clitic_pieces
        #: A clitic after or before a blank, as tokenizers write it (``they 're``, ``l' air``), and the marks after it.
        after = "|".join(sorted(re.escape(clitic[1:]) for clitic in rules.clitics.after)) or "(?!)"
        before = "|".join(sorted(clitic[:-1] for clitic in rules.clitics.before)) or "(?!)"
        self._lone_clitic = re.compile(rf"(['\u2019\u2018](?:{after})|(?:{before})['\u2019\u2018](?=\Z))([.,;:!?\")]*)")

    def tokenize_chunk(self, chunk: str) -> ChunkTokens:
        """Return the tokens of a text between two spaces. The text may contain tabs and other blanks."""
        if chunk.split() == [chunk]:
            return pack_tokens("", self.tokenize(chunk), "")
        cached_parts: dict[str, Sequence[NamesToken]] = {}
        all_tokens: list[NamesToken] = []
        for number, match in enumerate(_BLANKS_OR_CHUNK.finditer(chunk)):
            if not number % STEPS_PER_CHECK:
                check_work()
                cached_parts.clear()  # bounds memory: most parts that repeat do so at short distance
            part = match[0]
            tokens = cached_parts.get(part)
            if tokens is None:
                tokens = cached_parts[part] = (make_gap_token(part),) if _BLANK.match(part) else self.tokenize(part)
            all_tokens += tokens
        return pack_tokens("", all_tokens, "")

    def tokenize(self, chunk: str) -> Sequence[NamesToken]:
        """Return the tokens of a chunk (text between blanks). The texts of the tokens, joined, are the chunk."""
        if chunk.isalpha() and len(chunk) <= MAX_WORD_LENGTH:
            return self.lexicon.classify_word(chunk)
        return self._tokenize_with_entities(chunk)

    def _tokenize_with_entities(self, chunk: str) -> Sequence[NamesToken]:
        if _MARK_CHUNK.fullmatch(chunk):
            return (make_gap_token(chunk),)
        if (clitic := self._lone_clitic.fullmatch(chunk)) and not self.lexicon.is_denied(
            clitic[1].strip("'\u2019\u2018")
        ):
            return (NamesToken(KEPT, clitic[1], fold_word(clitic[1])), *map(make_gap_token, clitic[2] and (clitic[2],)))
        if "#" in chunk and _NUMERIC_ENTITY.search(_HTML_ENTITY.sub("", chunk)):
            return (NamesToken(REPLACED, chunk, fold_word(chunk), LOWER, "key"),)
        position, tokens = 0, list[NamesToken]()
        for count, entity in enumerate(_HTML_ENTITY.finditer(chunk) if ";" in chunk or ">" in chunk else ()):
            if not count % STEPS_PER_CHECK:
                check_work()
            tokens += [*self._tokenize_without_entities(chunk[position : entity.start()]), make_gap_token(entity[0])]
            position = entity.end()
        rest = chunk[position:]
        end = len(rest.rstrip(PLAIN_MARKS)) if position else 0
        if rest[:end].lower() in self._clitics:
            tokens.append(NamesToken(KEPT, rest[:end], rest[:end].lower()))
            rest = rest[end:]
        return [*tokens, *self._tokenize_without_entities(rest)]

    def _tokenize_without_entities(self, chunk: str) -> Sequence[NamesToken]:
        """Return the tokens of a chunk (text between blanks) that has no HTML character references such as ``&amp;``.

        The punctuation marks at the ends of the chunk become gaps (tokens that stay unchanged).
        """
        if not chunk:
            return ()
        if not chunk.isascii() and (pieces := _split_at_emoji(chunk)):
            return [
                token
                for piece in pieces
                for token in ((piece,) if type(piece) is NamesToken else self._tokenize_without_entities(piece))
            ]
        if not chunk.isascii() and len(parts := _WIDE_MARKS.split(chunk)) > 1:
            return [
                token
                for index, part in enumerate(parts)
                for token in ((make_gap_token(part),) if index % 2 else self._tokenize_without_entities(part))
            ]
        if _is_format(chunk):
            return (make_gap_token(chunk),)
        core = chunk.rstrip(PLAIN_MARKS)
        if core.isalpha() and len(core) <= MAX_WORD_LENGTH:
            start, end = 0, len(core)
            tokens = self.lexicon.classify_word(core)
        else:
            start, end = self._find_core(chunk)
            if start == end:
                return (make_gap_token(chunk),)
            tokens = self._tokenize_core(chunk[start:end])
        return [
            *map(make_gap_token, chunk[:start] and (chunk[:start],)),
            *tokens,
            *map(make_gap_token, chunk[end:] and (chunk[end:],)),
        ]

    def _find_core(self, chunk: str) -> tuple[int, int]:
        """Return the start and end of the *core* of a chunk: its text without the punctuation marks at its ends.

        Both indices are equal if the chunk consists of marks only.
        """
        if chunk.isascii():  # ASCII punctuation is marks, and no other ASCII is
            start, end = len(chunk) - len(chunk.lstrip(punctuation)), len(chunk.rstrip(punctuation))
            return (start - (_count_prefix_marks(chunk, start) if start else 0), end) if end else (start, start)
        lead = self.lexicon.gap_pattern.match(chunk)
        start = lead.end() if lead else 0
        if start == len(chunk):
            return start, start
        start -= _count_prefix_marks(chunk, start) if start else 0
        tail = self.lexicon.final_gap_pattern.search(chunk, start)
        return start, tail.start() if tail else len(chunk)

    def _tokenize_core(self, core: str) -> Sequence[NamesToken]:
        """Return the tokens of the *core* of a chunk: its text without the punctuation marks at its ends."""
        if len(core) > MAX_WORD_LENGTH:
            return (NamesToken(REPLACED, core, fold_word(core), LOWER, "other"),)
        if self._patterns.plain_number.fullmatch(core):
            return (self.lexicon.classify_plain_number(core),)
        if core.replace("'", "").isalpha() and core[0] != "'" if core.isascii() else _LETTERS.fullmatch(core):
            return self.lexicon.classify_word(core)
        if core[0].isalpha() or core[0].isdigit():
            if core.isascii() and core.lower() in self._kept_whole and not self.lexicon.is_denied(core.lower()):
                return (NamesToken(KEPT, core, core.lower(), find_case_pattern(core)),)
            words = core.split(mark := "-" if "-" in core else "\\")
            if core.isascii() and all(map(str.isalpha, words)) and (mark == "-" or len(words) == 2):
                return self._tokenize_joined_words([piece for word in words for piece in (word, mark)][:-1])
            if "." in core and _INITIALS.fullmatch(core):
                return (NamesToken(CAPITALIZED, core, fold_word(core), UPPER, flags=INITIALS),)
            if "&" in core and _AMPERSAND_WORDS.fullmatch(core):
                return (NamesToken(CAPITALIZED, core, fold_word(core), UPPER if core.isupper() else TITLE),)
            if "." in core and _DOTTED.fullmatch(core) and (kept_tokens := self._tokenize_dotted(core)):
                return kept_tokens
            if not _SEPARATORS.isdisjoint(core) and (separated := self._tokenize_separated(core)):
                return separated
            if (pieces := _split_at_code_marks(core, self._patterns)) is not None:
                return [
                    token for piece in self._split_methods(pieces) for token in self._tokenize_without_entities(piece)
                ]
            if any(map(str.isdigit, core)):
                return self._tokenize_with_digits(core)
            if len(_SLASHES.findall(core)) < 2 and (pieces := _split_words_and_marks(core)) is not None:
                return self._tokenize_joined_words(pieces)
        return (_make_string_token(core, self._patterns),)

    def _tokenize_joined_words(self, words_and_marks: Sequence[str]) -> Sequence[NamesToken]:
        tokens: list[NamesToken] = []
        for index, part in enumerate(words_and_marks):
            if index % 2:
                tokens.append(make_gap_token(part))
            else:
                tokens += self.lexicon.classify_word(part)
        return tokens

    def _tokenize_separated(self, core: str) -> Sequence[NamesToken]:
        """Return the tokens of a text with separators, such as ``user=name`` or the table row ``7,chair,12.50``.

        The result is empty if no separator follows the first word or value.
        """
        tokens: list[NamesToken] = []
        is_row = _ROW.match(core) is not None
        while match := _SEPARATED.fullmatch(core) or (
            (is_row or ";" in core or "|" in core) and _VALUE.fullmatch(core)
        ):
            tokens += [*self._tokenize_without_entities(match[1]), make_gap_token(match[2])]
            core = match[3]
        return [*tokens, *self._tokenize_without_entities(core)] if tokens else ()

    def _tokenize_dotted(self, core: str) -> Sequence[NamesToken]:
        """Return the tokens of a text such as ``please.call``, if all of its words stay unchanged.

        The result is empty if a word is replaced. The caller then treats the text as one token, which is replaced as a
        whole.
        """
        if classify_string(core, self._patterns)[0] in ("url", "file"):
            return ()
        kept_tokens: list[NamesToken] = []
        words = core.split(".")
        if len(words) >= MIN_SPELLED and all(
            token.flags & NUMBER_WORD for word in words for token in self.lexicon.classify_word(word)
        ):
            return self._tokenize_joined_words([piece for word in words for piece in (word, ".")][:-1])
        for word in words:
            tokens = self.lexicon.classify_word(word)
            if not all(token.token_class == KEPT or token.flags & KEPT_AT_START for token in tokens):
                return ()
            kept_tokens += [make_gap_token(".")] if kept_tokens else []
            # No word here may begin a span, because the span would split the string.
            kept_tokens += [token._replace(token_class=KEPT, entity_type="", flags=0) for token in tokens]
        return kept_tokens

    def _tokenize_with_digits(self, core: str) -> Sequence[NamesToken]:
        split = split_unit(core, self._patterns)
        if split is not None and not self.lexicon.is_denied(split[1].lower()):
            return self._make_number_token(split[0]), NamesToken(KEPT, split[1], split[1].lower())
        if _WITH_HYPHENS.fullmatch(core):
            parts = core.split("-")
            read = [
                (self._make_number_token(part),) if part.isdigit() else self.lexicon.classify_word(part)
                for part in parts
            ]
            spelled = all(
                token.token_class == DIGITS or token.flags & NUMBER_WORD for tokens in read for token in tokens
            )
            if _is_code(parts) and not spelled:
                return (_make_string_token(core, self._patterns),)
            return [token for tokens in read for token in (make_gap_token("-"), *tokens)][1:]
        return (_make_string_token(core, self._patterns),)

    def _split_methods(self, pieces: Sequence[str]) -> Iterator[str]:
        """Yield pieces of source code, and split a call such as ``xs.add(`` if its method is a common word.

        The decision to split depends on the form of the text before the dot (such as letters or digits), not on its
        spelling.

        Args:
            pieces: Consecutive pieces of a text between blanks, split at the marks of source code.
        """
        for piece, following in pairwise([*pieces, ""]):
            method = _METHOD.fullmatch(piece) if following[:1] == "(" else None
            if method is not None and self._is_key(piece) and self._is_plainly_kept(method[2]):
                yield from (method[1], ".", method[2])
            else:
                yield piece

    def _is_key(self, piece: str) -> bool:
        tokens = self._tokenize_without_entities(piece)
        return len(tokens) == 1 and tokens[0].entity_type == "key"

    def _is_plainly_kept(self, word: str) -> bool:
        tokens = self.lexicon.classify_word(word)
        return len(tokens) == 1 and tokens[0].token_class == KEPT and not tokens[0].flags

    def _make_number_token(self, digits: str) -> NamesToken:
        return make_number_token(digits, *classify_string(digits, self._patterns))


def _is_code(parts: Sequence[str]) -> bool:
    """Return whether letters and digits with hyphens between them are an identifier, such as ``AB-12``.

    An identifier has a part in capitals, or digits between letters, or the form of an account name: two words or more,
    and four digits at its end (``coffee-lover-1990``).

    Args:
        parts: The parts between the hyphens.
    """
    kinds = "".join("0" if part.isdigit() else "A" if part.isupper() else "a" for part in parts)
    words = [part for part in parts if len(part) > 1 and not part.isdigit()]
    is_account = len(words) > 1 and kinds[-1] == "0" and len(parts[-1]) == 4
    return "A" in kinds or "a0a" in kinds or is_account


def make_gap_token(text: str) -> NamesToken:
    """Create the token of a gap (blanks and punctuation marks between words)."""
    return create_tuple(NamesToken, (GAP, text, text, LOWER, "", "", 0))


def _make_string_token(core: str, patterns: Patterns) -> NamesToken:
    entity_type, layout = classify_string(core, patterns)
    if entity_type in ("number", "year", "account", "digits", "phone", "card", "ssn"):
        return make_number_token(core, entity_type, layout)
    return NamesToken(
        REPLACED,
        core,
        fold_word(core),
        LOWER,
        entity_type,
        layout,
        find_group_flags(core, patterns) if entity_type == "id" else 0,
    )


def _count_prefix_marks(chunk: str, start: int) -> int:
    """Return how many marks before a token belong to the token, such as the ``@`` of ``@name``.

    Args:
        chunk: A text between two blanks.
        start: Start of the core (the text without the marks at its ends).
    """
    before, first = chunk[:start], chunk[start]
    if before.endswith(("@", "＠", "\\")) or (before.endswith("#") and not first.isdigit()):
        return 1
    if before.endswith("~/"):
        return 2
    return 1 if before.endswith("/") else 0


def _split_at_code_marks(core: str, patterns: Patterns) -> list[str] | None:
    """Split the *core* of a chunk (text between blanks) at the punctuation marks of source code.

    The decision depends only on the marks, and on which parts are addresses, file names or conversions such as ``%d``.
    The result is ``None`` if the text has no marks of source code, or is an address, a path or a file name.
    """
    if _BRACKETS.isdisjoint(core):
        return None
    pieces = _CODE_MARKS.split(core)
    if any(not (_WHOLE_CHUNK_MARKS.isdisjoint(piece) or _is_format(piece)) for piece in pieces[::2]):
        return None
    # Hosts with and without ``www.`` are treated alike; otherwise the split would reveal which one precedes the marks.
    www = _WWW.match(core) if _ADDRESS_MARKS.isdisjoint(pieces[0]) else None
    entity_type = classify_string(core[www.end() :] if www else core, patterns)[0]
    is_file = entity_type == "file" and (len(pieces[-1]) < 2 or classify_string(pieces[-1], patterns)[0] != "file")
    return None if is_file or entity_type in ("url", "email") else [piece for piece in pieces if piece]


def _is_format(chunk: str) -> bool:
    """Return whether a text consists of format specifiers, such as ``%d``, and punctuation marks."""
    may_match = ("%" in chunk or "{" in chunk) and len(chunk) <= _MAX_FORMATS_LENGTH
    return may_match and _FORMATS.fullmatch(chunk) is not None


def _split_at_emoji(chunk: str) -> list[str | NamesToken]:
    """Split a text between blanks at its emoji.

    Returns:
        A token for each emoji sequence (an emoji with its skin tone and joiners), and the texts before, between and
        after them. Empty if the text has no emoji.
    """
    parts: list[str | NamesToken] = []
    position = 0
    for count, match in enumerate(find_sequences(chunk)):
        if not count % STEPS_PER_CHECK:
            check_work()
        sequence, start = match[0], match.start()
        if start > position:
            parts.append(chunk[position:start])
        entity_type, layout = classify_sequence(sequence)
        parts.append(
            NamesToken(REPLACED, sequence, sequence, LOWER, entity_type, layout)
            if entity_type
            else make_gap_token(sequence)
        )
        position = match.end()
    if parts and position < len(chunk):
        parts.append(chunk[position:])
    return parts


def _split_words_and_marks(core: str) -> list[str] | None:
    """Split a text into words and single marks, which alternate; ``None`` if the text contains anything else."""
    parts = _WORD_OR_MARKS.findall(core)
    if any(mark and not _JOINER.fullmatch(mark) for _, mark in parts) or (parts and parts[-1][1]):
        return None
    return [word or mark for word, mark in parts]
