"""Sorted word lists: a few words are looked up in the bytes of the file, many words in a dictionary of all entries."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

#: Number of binary searches after which all lines are parsed. One search takes a few microseconds, and parsing takes
#: about forty milliseconds. A command with one short text needs fewer than a hundred searches, and so never parses.
_MAX_SEARCHES = 1000


class CommonWords(Mapping[str, int]):
    """Mapping from each word of a sorted list, in a normalized spelling (``fold``), to its flags as bits.

    The flags mark properties of a common word, for example that it is also a name. Iteration has the order of the file.

    The first lookups are binary searches in the file: the order of UTF-8 bytes is the order of code points. Later
    lookups, iteration and ``len`` use a dictionary of all words.

    Args:
        content: Bytes of the file. The caller has checked that the lines ascend, are valid and end with a line feed.
        parse_flags: Function that converts the flags in one line to an integer with one bit per flag.

    Attributes:
        get: Method ``get`` of a mapping. It is an attribute so that, once all words are parsed, a call reaches the
            method of the dictionary directly.

    Privacy:
        The object stores no word that a caller looks up.
    """

    __slots__ = ("_content", "_parse_flags", "_searches", "_words", "get")

    def __init__(self, content: bytes, parse_flags: Callable[[str], int | None]) -> None:
        self._content, self._parse_flags = content, parse_flags
        self._searches, self._words = 0, dict[str, int]()
        self.get: Callable[..., Any] = self._search

    def __getitem__(self, word: str) -> int:
        """Return the properties of a listed word, as an integer whose bits are flags.

        Raises:
            KeyError: The list does not contain the word.
        """
        flags = self.get(word)
        if flags is None:
            raise KeyError("the list has no such word")  # without the word, which may be the user's
        return flags

    def __contains__(self, word: object) -> bool:
        return self.get(word) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._parse_all())

    def __len__(self) -> int:
        return len(self._parse_all())

    def _search(self, word: str, default: int | None = None) -> int | None:
        self._searches += 1
        if self._searches > _MAX_SEARCHES:
            return self._parse_all().get(word, default)
        content, sought = self._content, word.encode("utf-8", "surrogatepass")
        low, high = 0, len(content)  # both are offsets at which a line begins
        while low < high:
            start = content.rfind(b"\n", low, (low + high) // 2) + 1 or low
            end = content.index(b"\n", start)
            entry, tab, flag_text = content[start:end].partition(b"\t")
            if entry == sought:
                return (self._parse_flags(flag_text.decode("ascii")) or 0) if tab else 0
            if entry < sought:
                low = end + 1
            else:
                high = start
        return default

    def _parse_all(self) -> dict[str, int]:
        if not self._words:
            bits_by_text: dict[str, int] = {"": 0}
            words: dict[str, int] = {}
            for line in self._content.decode("utf-8").removesuffix("\n").split("\n"):
                entry, _, flag_text = line.partition("\t")
                bits = bits_by_text.get(flag_text)
                if bits is None:
                    bits = bits_by_text[flag_text] = self._parse_flags(flag_text) or 0
                words[entry] = bits
            self._words, self.get = words, words.get
        return self._words


class ListedWords(AbstractSet[str]):
    """Set of the words of a sorted list, which is searched by binary search in the file's bytes.

    Operators such as ``|`` parse the whole list and return a ``frozenset``.

    Args:
        content: Bytes of the file. The caller has checked that the lines ascend, are valid and end with a line feed.

    Privacy:
        The object stores no word that a caller looks up.
    """

    __slots__ = ("_words",)

    def __init__(self, content: bytes) -> None:
        self._words = CommonWords(content, {"": 0}.get)

    def __contains__(self, word: object) -> bool:
        return self._words.get(word) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> frozenset[Any]:
        return frozenset(it)
