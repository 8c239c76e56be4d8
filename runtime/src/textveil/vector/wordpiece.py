"""WordPiece tokenization of BERT in pure Python.

This module implements the BasicTokenizer and WordpieceTokenizer of Devlin et al. 2019 ("BERT: Pre-training of Deep
Bidirectional Transformers") with exactly the results of the reference tokenizer, the library ``tokenizers``. The tests
compare all ids of both tokenizers. This package does not use that library, because an offline tool must not contain an
HTTP client.

The reference uses the character categories of Unicode 8, decomposes and orders marks by Unicode 9, and converts to
lower case by Unicode 17. The Unicode version of ``unicodedata`` depends on the Python version. Without corrections,
Python 3.11 would treat 508 assigned code points differently (385 marks, 105 punctuation marks, 13 format characters,
and 5 because of their decomposition or order). Python 3.11 would also remove the 829,834 unassigned code points, which
the reference treats as unknown words. This module follows the reference without exception, so that a bundle gives the
same ids in every Python version.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, groupby
from string import punctuation

from textveil.errors import BundleDamaged


def _parse_bounds(ranges: str) -> list[int]:
    """Parse hexadecimal ranges of code points into a flat ascending list of bounds.

    For each range, the list has the first code point of the range and the first code point after it.
    """
    pairs = [[int(end, 16) for end in item.split("-")] for item in ranges.split()]
    return [bound for first, last in pairs for bound in (first, last + 1)]


# Ranges of characters that Unicode 9 to 18 define as marks, punctuation, format characters or decompositions, but that
# are ordinary characters for the reference. The ranges include unassigned characters, for later versions of Unicode.
_NEWER_CHARACTERS = _parse_bounds(
    "5C8-5F2 61D-61D 7FA-815 85F-8E2 9E4-A00 A76-A80 AF1-B00 B4E-B55 C01-C3D C64-C80 C82-CBB CE4-D00 "
    "D02-D40 D64-DC9 EBA-EBA ECE-F03 1715-1731 180F-18A8 1ABE-1AFF 1B45-1B59 1B74-1B7F 1DF6-1DFB "
    "2E43-2FFF A827-A873 A8C5-A8CD A8FD-A925 A9BD-A9BF 10570-10856 10B9D-11000 1104E-1107E 110C2-110FF "
    "111CE-111DA 1123E-112A8 11302-1133B 11375-114B2 11644-116AA 116B8-1171C 1173F-1246F 12475-16A6D "
    "16B45-16F8E 16F93-1BC9C 1BCA4-1D15D 1D245-1D9FF 1E000-1E8CF 1E8D7-2F7FF 2FA1E-E0000 E01F0-EFFFF"
)
# Marks of Unicode 9 in _NEWER_CHARACTERS. The reference treats them as ordinary characters, but orders them as marks.
_ORDERED_MARKS = _parse_bounds("8D4-8E1 1DFB-1DFB 11442-11442 11446-11446 11C3F-11C3F 1E000-1E02A 1E944-1E94A")
# Characters whose category changed after Unicode 8, with their category in Unicode 8.
_MOVED_CATEGORIES = {0x166D: "Po", 0x1734: "Mn", 0x111C9: "Po", 0x1171E: "Mn"}
# Capital letters of Unicode 16 and 17, which older Python versions do not convert to lower case.
_NEWER_LOWER_CASE = {chr(0x10D50 + i): chr(0x10D70 + i) for i in range(22)}
_NEWER_LOWER_CASE |= {chr(0x16EA0 + i): chr(0x16EBB + i) for i in range(25)}
_NEWER_LOWER_CASE |= {chr(capital): chr(capital + 1) for capital in (0x1C89, 0xA7CC, 0xA7CE, 0xA7D2, 0xA7D4, 0xA7DA)}
_NEWER_LOWER_CASE |= {"\ua7cb": "\u0264", "\ua7dc": "\u019b"}
# The list of the reference. It includes the value 2B920, although the Unicode block begins at 2B820.
_CJK = _parse_bounds("3400-4DBF 4E00-9FFF F900-FAFF 20000-2A6DF 2A700-2B73F 2B740-2B81F 2B920-2CEAF 2F800-2FA1F")

_ASCII_TOKEN = re.compile(f"[0-9A-Za-z]+|[{re.escape(punctuation)}]")
_ASCII_CLEAN = dict.fromkeys((*range(32), 127), "") | dict.fromkeys(b"\t\n\r", " ")
_ASCII_SPLIT = {ord(character): f" {character} " for character in punctuation}
_ASCII_FOLD = _ASCII_SPLIT | {code: chr(code + 32) for code in range(ord("A"), ord("Z") + 1)}


def _is_within(character: str, bounds: list[int]) -> bool:
    return bisect_right(bounds, ord(character)) % 2 == 1


def _get_category(character: str) -> str:
    """Return the Unicode category of a character, such as "Lu"; "Cn" if Unicode 9 does not assign the character."""
    known = "Cn" if _is_within(character, _NEWER_CHARACTERS) else unicodedata.category(character)
    return _MOVED_CATEGORIES.get(ord(character), known)


def _clean_character(character: str) -> str:
    """Return the text by which the tokenizer replaces a non-ASCII character before it splits a text.

    The result is the character itself, a space, an empty string, or the character between two spaces.
    """
    category = _get_category(character)
    if character == "\ufffd" or category in ("Cc", "Cf", "Co", "Cs"):
        return ""
    if category in ("Zs", "Zl", "Zp"):
        return " "
    return f" {character} " if _is_within(character, _CJK) else character


def _decomposes_late(character: str) -> bool:
    """Return whether Unicode normalization (NFD) changes a character in this Python, but not in Unicode 9."""
    if not _is_within(character, _NEWER_CHARACTERS) or _is_within(character, _ORDERED_MARKS):
        return False
    return unicodedata.combining(character) > 0 or unicodedata.normalize("NFD", character) != character


def _decompose_text(text: str) -> str:
    """Return the NFD form of a text by the rules of Unicode 9.

    Characters of later Unicode versions are not changed, and no mark moves past them.
    """
    late = set(filter(_decomposes_late, _list_non_ascii(text)))
    if not late:
        return unicodedata.normalize("NFD", text)
    # A regular expression is not used, because the re module would cache a pattern with characters of the text.
    runs = [(left, "".join(run)) for left, run in groupby(text, late.__contains__)]
    return "".join(run if left else unicodedata.normalize("NFD", run) for left, run in runs)


def _list_non_ascii(text: str) -> list[str]:
    """Return the distinct non-ASCII characters of a text."""
    return [character for character in set(text) if character > "\x7f"]


class WordPiece:
    """Tokenizer that converts a text to ids of a BERT vocabulary, as in the training of the model.

    A *piece* is a WordPiece: a word of the vocabulary, or a part of a word. The tokenizer stores no text between calls.

    There are two intended differences from the reference. The reference treats ``[MASK]`` or ``[UNK]`` in a text as a
    control symbol. This tokenizer treats it as three ordinary tokens (``[``, ``mask``, ``]``), because a text of a user
    contains no control symbols. It also removes lone surrogate code points, which the reference does not accept.

    Attributes:
        unknown_id: Id of the unknown symbol; ``None`` if the vocabulary has none.

    >>> WordPiece({"[UNK]": 0, "un": 1, "##known": 2}, lowercase=True).find_pieces("unknown")
    [1, 2]
    """

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        *,
        unknown: str = "[UNK]",
        lowercase: bool = True,
        max_word_chars: int = 100,
        special: Collection[str] = (),
    ) -> None:
        """Create a tokenizer for a vocabulary (all words and parts of words that the model can read).

        Args:
            vocabulary: Id of each piece. A piece that continues a word has the prefix ``##``.
            unknown: Symbol for unknown tokens, which cannot be split into pieces. The vocabulary may lack it.
            lowercase: Whether to convert text to lower case and remove accents, as uncased models do.
            max_word_chars: Maximum number of characters of a basic token. Longer tokens are unknown.
            special: Entries of the vocabulary, such as ``[MASK]``, that a text never produces. ``unknown`` is always
                such an entry.
        """
        self.unknown_id: int | None = vocabulary.get(unknown)
        self._lowercase = lowercase
        self._max_word_chars = max_word_chars
        self._starting: dict[str, int] = {}
        self._continuing: dict[str, int] = {}
        for piece in vocabulary.keys() - {unknown, *special}:
            if piece.startswith("##"):
                self._continuing[piece[2:]] = vocabulary[piece]
            elif len(piece) <= max_word_chars:
                self._starting[piece] = vocabulary[piece]
        self._longest = max(map(len, [*self._starting, *self._continuing]), default=0)

    def split_basic_tokens(self, text: str) -> list[str]:
        """Split a text into basic tokens: words and punctuation marks, which are not yet split into pieces.

        First, control, format and private-use characters and U+FFFD are removed, all white space becomes spaces, and
        CJK characters are surrounded by spaces. If ``lowercase`` is true, the text is converted to NFD, non-spacing
        marks are removed, and each character is converted to lower case separately (without a final sigma). Then the
        text is split at white space and around punctuation marks.
        """
        if text.isascii():
            clean = text if text.isprintable() else text.translate(_ASCII_CLEAN)
            return _ASCII_TOKEN.findall(clean.lower() if self._lowercase else clean)
        text = text.translate(_ASCII_CLEAN | {ord(c): _clean_character(c) for c in _list_non_ascii(text)})
        if self._lowercase:
            text = _decompose_text(text)
        folds = dict(_ASCII_FOLD if self._lowercase else _ASCII_SPLIT)
        for character in _list_non_ascii(text):
            category = _get_category(character)
            if category[0] == "P":
                folds[ord(character)] = f" {character} "
            elif self._lowercase:
                small = _NEWER_LOWER_CASE.get(character) or character.lower()
                folds[ord(character)] = "" if category == "Mn" else small
        return text.translate(folds).split()

    def find_pieces(self, token: str) -> list[int] | None:
        """Split a basic token (a word or punctuation mark) into pieces (entries of the vocabulary); return their ids.

        At each position, the longest possible piece is chosen. The result is ``None`` if no piece fits at a position.
        """
        if len(token) > self._max_word_chars:
            return None
        numbers: list[int] = []
        table, start = self._starting, 0
        while start < len(token):
            for end in range(min(len(token), start + self._longest), start, -1):
                number = table.get(token[start:end])
                if number is not None:
                    numbers.append(number)
                    table, start = self._continuing, end
                    break
            else:
                return None
        return numbers

    def encode(self, text: str) -> list[int]:
        """Return the ids of all pieces (entries of the vocabulary) of a text, without [CLS] and [SEP].

        A token that cannot be split into pieces becomes ``unknown_id``.

        Raises:
            BundleDamaged: A token cannot be split into pieces, and the vocabulary has no symbol for unknown tokens.
        """
        return list(chain.from_iterable(self.encode_words(self.split_basic_tokens(text))))

    def encode_words(self, tokens: Sequence[str]) -> Iterator[list[int]]:
        """Split each basic token into pieces (entries of the vocabulary), and yield their ids, or only ``unknown_id``.

        Args:
            tokens: Basic tokens (words and punctuation marks) from ``split_basic_tokens``, all or some.

        Yields:
            At least one id for each token.

        Raises:
            BundleDamaged: A token cannot be split into pieces, and the vocabulary has no symbol for unknown tokens.
        """
        for position, token in enumerate(tokens, 1):
            whole = self._starting.get(token)
            if whole is not None:
                yield [whole]
            elif (ids := self.find_pieces(token)) is not None:
                yield ids
            elif self.unknown_id is not None:
                yield [self.unknown_id]
            else:
                raise BundleDamaged(
                    f"token {position} of {len(tokens)}: the vocabulary has no piece for this token and no symbol for "
                    "unknown tokens"
                )
