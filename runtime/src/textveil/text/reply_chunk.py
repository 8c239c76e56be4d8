"""Check whether a chunk of a reply consists only of words, numbers and punctuation.

A chunk is the text between two blanks. Only in such a chunk are surrogates (replacements) restored as running text. A
chunk with other characters may be an address or code, and is called *spoiled*.
"""

import re

from textveil.text.harmless_tags import MAX_TAG_LENGTH, is_bare_tag
from textveil.text.word_characters import is_symbol, is_word_character

#: Marks that are harmless at any position of a chunk, and the signs of numbers.
_HARMLESS_MARKS = frozenset(
    ",;!?()\"'*_-|~$€£¥%#&+\u201c\u201d\u2018\u2019\u201e\u201a«»‹›¿¡\u2010\u2011\u2013\u2014\u2026·،؛؟"
    "\uff0c\u3001\uff01\uff1f\uff1b\uff1a\uff08\uff09「」『』《》〈〉【】〔〕"
)
#: Fast path for most chunks: only ASCII characters that are harmless at any position.
_PLAIN = re.compile(r"[A-Za-z0-9,;!?()\"'*_|~$%#+-]*")
#: Marks that end a sentence or a number; only closing marks may follow them.
_END_MARKS = frozenset(".:。")
#: Marks that may follow a dot.
_CLOSING = (
    frozenset(
        ",;!?)\"'*_-|~\u201c\u201d\u2018\u2019«»‹›\u2013\u2014\u2026·،؛؟\uff0c\u3001\uff01\uff1f\uff1b\uff1a\uff09」』》〉】〕"
    )
    | _END_MARKS
)
#: Marks that a backslash may escape.
_ESCAPED = frozenset("*_-!#+~|()")
#: Characters that join a symbol to the next one or select its presentation.
_JOINERS = frozenset("\ufe0f\u200d")
_REFERENCE = re.compile(r"\^?[A-Za-z0-9]{1,8}")
_ADDRESS = re.compile(r"[/@:\\]|\w\.\w")
#: Longest chunk, in characters, that counts as a word of a sentence.
MAX_CHUNK_CHARACTERS = 1024
#: Spaces (Unicode category Zs) other than those that end a chunk.
SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"


def is_address_like(original: str) -> bool:
    """Return whether a program may find a web or mail address in ``original``, alone or with the text after it."""
    return _ADDRESS.search(original) is not None and any(map(str.isalpha, original))


class ReplyChunk:
    """Checks whether originals may be restored in one chunk of a reply (the text between two blanks).

    Attributes:
        has_address: Whether this chunk contains a restored original that looks like an address.
        has_original: Whether this chunk contains a restored original.
        length: Number of characters so far.
        behind_tab: Whether a tab precedes the chunk: some programs remove tabs from an address.
        restored: Whether an original of the chunk is already in the output.
        spoiled: Whether no surrogate (replacement) of the chunk may be restored as running text.
        text: Parts of the chunk as written, if the caller passes them to ``remember``.
    """

    __slots__ = (
        "_ampersand", "_dotted", "_label", "_last", "_open", "_opener", "_symbol", "behind_tab", "has_address",
        "has_original", "length", "restored", "spoiled", "text",
    )  # fmt: skip

    def __init__(self) -> None:
        self.length: int = 0
        self.spoiled: bool = False
        self.text: list[str] = []
        self.behind_tab: bool = False
        self._ampersand, self._dotted, self._symbol, self._last = False, False, False, ""
        self.has_address: bool = False
        self.has_original: bool = False
        self.restored: bool = False
        #: Number of stars and underscores after the only colon of the chunk; -1 if the colon cannot end a label.
        self._label = 0
        #: An angle bracket, square bracket or slash that is open, and the characters after it.
        self._opener, self._open = "", ""

    @property
    def is_too_long(self) -> bool:
        """Whether the chunk (the text between two blanks) has more than 1,024 characters."""
        return self.length > MAX_CHUNK_CHARACTERS

    @property
    def is_separable(self) -> bool:
        """Whether the chunk (text since the last blank) cannot be a part of an address, whatever text follows."""
        is_open = self._dotted or self._opener or self._symbol or self._last in ("/", "\\")
        return not (self.spoiled or self._ampersand or is_open)

    def spoil(self) -> None:
        """Forbid restoring in this chunk (text between two blanks): its surrogates (replacements) stay."""
        self.spoiled = True

    def remember(self, text: str) -> None:
        """Store a part of the chunk (text between blanks) as written, up to a total of 1,024 characters."""
        if not self.is_too_long:
            self.text.append(text)

    def add_text(self, text: str) -> None:
        """Add a part of the chunk (text between blanks) that contains no surrogate (replacement)."""
        self.length += len(text)
        if self.is_too_long:
            self.spoiled = True
        busy = self._dotted or self._ampersand or self._opener or self._symbol or self._last in ("/", "\\")
        if self.spoiled or (not busy and _PLAIN.fullmatch(text) is not None):
            self._last = text[-1:] or self._last
            return
        for character in text:
            self._add_character(character)
            self._last = character

    def add_surrogate(self, length: int) -> None:
        """Add a surrogate (replacement) of ``length`` characters; the check for addresses counts it as one letter."""
        self.length += length
        self._end_label()
        if self._dotted or self._opener or self._last == "\\" or self.is_too_long:
            self.spoiled = True
        self._symbol, self._last = False, "a"

    def end(self) -> None:
        """Process the end of the chunk (the next blank), and set ``spoiled`` if no hidden word may be restored.

        Nothing may be restored if the chunk ends with a slash, or if a square bracket or an HTML tag is still open at
        its end. Harmless tags without attributes, such as ``<b>``, do not matter.
        """
        self.spoiled = (
            self.spoiled
            or self._last == "/"
            or self._opener == "["
            or (self._opener == "<" and not is_bare_tag(self._open))
        )

    def _end_label(self) -> None:
        """Accept a colon as the end of a bold label, as in ``**Name:**``, so that text may follow the label.

        The chunk (text between blanks) must have no dot and no other colon, and two stars or underscores must follow
        the colon.
        """
        if self._dotted and self._label >= len("**"):
            self._dotted, self._label = False, -1

    def _add_character(self, character: str) -> None:
        symbol, self._symbol = self._symbol, False
        if self._opener:
            self._add_inside(character)
        elif (
            (self._last == "\\" and character not in _ESCAPED)
            or (self._last == "/" and not is_word_character(character))
            or (self._ampersand and character in "#;")
        ):
            self.spoiled = True
        elif character in "<[":
            self._opener, self._open = character, ""
        elif character in _END_MARKS:
            self._label = 0 if character == ":" and not self._dotted and self._label == 0 else -1
            self._dotted = True
        elif character in "*_":
            self._label += self._dotted and self._label >= 0
        elif is_symbol(character) or (symbol and character in _JOINERS):
            self._symbol = True
        elif self._dotted:
            if is_word_character(character):
                self._end_label()
            self.spoiled = self.spoiled or (self._dotted and not (character in _CLOSING or character in SPACES))
        elif character == "&":
            self._ampersand = True
        elif character == "/" and not self._last:
            self._opener, self._open = "/", ""
        elif character == "/":
            self.spoiled = self.spoiled or self._label < 0 or self.behind_tab or not is_word_character(self._last)
        elif character not in _HARMLESS_MARKS and character != "\\":
            self.spoiled = self.spoiled or not (is_word_character(character) or character in SPACES)

    def _add_inside(self, character: str) -> None:
        """Check a character after an opening ``<``, ``[`` or ``/`` that is not yet closed.

        A tag, a note number in square brackets, and the end ``/>`` of a tag are permitted. For other text the method
        sets ``spoiled``, so that nothing in this chunk is restored.
        """
        if self._opener == "/":
            self.spoiled, self._opener = self.spoiled or character != ">", ""
            return
        if character != (">" if self._opener == "<" else "]"):
            self._open += character
            self.spoiled = self.spoiled or len(self._open) > MAX_TAG_LENGTH
            return
        harmless = is_bare_tag(self._open) if self._opener == "<" else _REFERENCE.fullmatch(self._open) is not None
        self.spoiled = self.spoiled or not harmless
        self._opener = ""
