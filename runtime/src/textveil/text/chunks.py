"""Check a chunk of running text, between two blanks: whether it can be nothing but words, numbers and their marks."""

import re

from textveil.text.word_characters import is_word_character

#: Marks that may stand anywhere in a chunk, and signs of numbers.
_MARKS = frozenset(",;!?()\"'*_-|$€£¥%#&+\u201c\u201d\u2018\u2019\u201e\u201a«»‹›¿¡\u2013\u2014\u2026·،؛؟")
#: Most chunks: nothing but ASCII that may stand anywhere.
_PLAIN = re.compile(r"[A-Za-z0-9,;!?()\"'*_|$%#+-]*")
#: Marks that end a sentence or a number, and behind which only marks follow.
_DOTS = frozenset(".:。")
#: Marks behind a dot.
_CLOSING = frozenset(",;!?)\"'*_-|\u201c\u201d\u2018\u2019«»‹›\u2013\u2014\u2026·،؛؟") | _DOTS
_HARMLESS = frozenset("b i em strong p br ul ol li table tr td th h1 h2 h3 h4 h5 h6 sub sup".split())
_ADDRESS = re.compile(r"[/@:\\]|\w\.\w")
#: A longer chunk is no word of a sentence.
MOST_CHARACTERS = 1024
_LONGEST_TAG = 8
#: Spaces other than those that end a chunk: the category Zs.
SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"


def is_address_like(original: str) -> bool:
    """Return whether readers may find an address in an original, which goes on with what stands behind it."""
    return _ADDRESS.search(original) is not None and any(map(str.isalpha, original))


class Chunk:
    """Chunk of a reply that is read part by part.

    Attributes:
        has_address: Whether an original that looks like an address was restored in it.
        has_original: Whether an original was restored in it.
        length: Characters so far.
        spoiled: Whether no surrogate of it may be restored as running text.
        text: The chunk as it is written, if somebody remembers it.
    """

    __slots__ = ("_ampersand", "_dotted", "_tag", "has_address", "has_original", "length", "spoiled", "text")

    def __init__(self) -> None:
        self.length, self.spoiled, self.text = 0, False, []
        self._ampersand, self._dotted = False, False
        self.has_address, self.has_original = False, False
        self._tag: str | None = None

    @property
    def too_long(self) -> bool:
        """Whether it has more than 1,024 characters."""
        return self.length > MOST_CHARACTERS

    @property
    def is_separable(self) -> bool:
        """Whether it is nothing but words and marks, so that a reader finds no address if the next text follows it."""
        return not (self.spoiled or self._ampersand or self._tag is not None)

    def spoil(self) -> None:
        """Keep all surrogates of the chunk."""
        self.spoiled = True

    def remember(self, text: str) -> None:
        """Keep a part as it is written."""
        if not self.too_long:
            self.text.append(text)

    def add(self, text: str) -> None:
        """Read a part without surrogates."""
        self.length += len(text)
        if self.too_long:
            self.spoiled = True
        busy = self._dotted or self._ampersand or self._tag is not None
        if self.spoiled or (not busy and _PLAIN.fullmatch(text) is not None):
            return
        for character in text:
            self._add_character(character)

    def add_surrogate(self, length: int) -> None:
        """Read a surrogate, which counts as a letter."""
        self.length += length
        if self._dotted or self._tag is not None or self.too_long:
            self.spoiled = True

    def end(self) -> None:
        """End the chunk: an open tag of markup spoils it."""
        self.spoiled = self.spoiled or self._tag is not None

    def _add_character(self, character: str) -> None:
        if self._tag is not None:
            if character == ">":
                self.spoiled = self.spoiled or self._tag.removeprefix("/").removesuffix("/").lower() not in _HARMLESS
                self._tag = None
            else:
                self._tag += character
                self.spoiled = self.spoiled or len(self._tag) > _LONGEST_TAG
        elif self._ampersand and character in "#;":  # an entity, which may stand for any character
            self.spoiled = True
        elif character == "<":
            self._tag = ""
        elif character in _DOTS:
            self._dotted = True
        elif self._dotted:
            self.spoiled = self.spoiled or not (character in _CLOSING or character in SPACES)
        elif character == "&":
            self._ampersand = True
        elif character not in _MARKS:
            self.spoiled = self.spoiled or not (is_word_character(character) or character in SPACES)
