"""Restores words on the device: a reply about a text that was rewritten consistently gets its words back.

Nothing leaves the device, so nothing is released. The mapping undoes the protection: who has it and the rewritten text
has the text.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from textveil.bundle.files import parse_json
from textveil.errors import BundleDamaged, BundleTooLarge, InputError
from textveil.release import counted
from textveil.text.segmentation import TITLE, apply_case, case_pattern, is_string, key, segments, split_clitic

FORMAT, VERSION = "textveil-mapping", 1
#: A mapping file has no more.
MOST_BYTES = 1 << 26
#: Clitics that are cut off a word of the reply, to look for what is before them.
_MOST_CLITICS = 3
#: The bracket of what a reader may take for a tag.
_LIKE_A_TAG = re.compile(r"\[(?=[\w-]+\s+\d)")


class Restorer:
    """Puts the original words back where an output stands for one original only.

    Its ``repr`` shows no word, and it cannot be pickled.

    Args:
        pairs: Folded output and original spelling.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._originals: dict[str, str] = {}
        self._ambiguous: set[str] = set()
        self.add(pairs)

    def add(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Adds more pairs. An output with a second original is forgotten, so a long text is never held in pairs.

        Of originals that differ in their case alone the first is kept.
        """
        for output, original in pairs:
            if output in self._ambiguous:
                continue
            first = self._originals.setdefault(output, original)
            if first != original and key(first) != key(original):
                del self._originals[output]
                self._ambiguous.add(output)

    @property
    def ambiguous(self) -> int:
        """How many outputs stand for several originals."""
        return len(self._ambiguous)

    def __len__(self) -> int:
        return len(self._originals)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {counted(len(self), 'word')}>"

    def __reduce__(self) -> Any:
        raise TypeError("a mapping is not pickled: save it with to_json, in a file that only its owner reads")

    def restore(self, reply: str) -> str:
        """Returns a reply with the original words in place of the outputs it mentions.

        A word is replaced where its folded spelling, or that of its stem before a clitic, is an output of one original.
        It gets the case pattern that it has in the reply.

        Raises:
            InputError: The reply is not a string.
        """
        if not isinstance(reply, str):
            raise InputError("the reply is not a string")
        found, position = [], 0
        for match in self._several_words().finditer(reply):
            found += map(self._restored, segments(reply[position : match.start()]))
            found.append(_in_case_of(match[0], self._originals[_phrase(match[0])]))
            position = match.end()
        return "".join([*found, *map(self._restored, segments(reply[position:]))])

    def _several_words(self) -> "re.Pattern[str]":
        """Finds the outputs of several segments, such as names of several words and tags, the longest first."""
        phrases = [output for output in self._originals if segments(output) != [output]]
        ways = [re.escape(phrase).replace(r"\ ", r"\s+") for phrase in sorted(phrases, key=len, reverse=True)]
        # A tag ends where its bracket does; words do not stand inside others.
        either = "|".join(way if way.startswith(r"\[") else rf"(?<!\w){way}(?!\w)" for way in ways)
        return re.compile(either or r"(?!)", re.IGNORECASE)

    def _restored(self, segment: str) -> str:
        stem = segment
        for _ in range(1 + _MOST_CLITICS):
            original = self._originals.get(key(stem))
            if original is not None:
                return _in_case_of(stem, original) + segment[len(stem) :]
            parts = split_clitic(key(stem))
            if parts is None:
                break
            stem = stem[: -len(parts[1])]
        return segment

    def to_json(self) -> str:
        """Returns the mapping as JSON. It is as private as the text."""
        content = {"format": FORMAT, "format_version": VERSION, "originals": self._originals}
        return json.dumps(content) + "\n"  # escapes: what a text holds may be no UTF-8

    @classmethod
    def from_json(cls, content: bytes) -> "Restorer":
        """Reads a mapping.

        Raises:
            InputError: It is not one.
        """
        try:
            found = parse_json(content, "the mapping", most=MOST_BYTES, values=MOST_BYTES, printable=False)
        except (BundleDamaged, BundleTooLarge):
            found = {}
        originals = found.get("originals")
        if (
            found.get("format") != FORMAT
            or (type(found.get("format_version")), found["format_version"]) != (int, VERSION)
            or not isinstance(originals, dict)
            or not all(isinstance(original, str) for original in originals.values())
        ):
            raise InputError("the mapping is not one that textveil has written")
        return cls(originals.items())


def not_a_tag(text: str) -> str:
    """Returns a text that has no tags of ours with a blank in all that looks like one, so that it is not restored."""
    return _LIKE_A_TAG.sub("[ ", text)


def _phrase(text: str) -> str:
    """What stands for several words, however they are spaced."""
    return " ".join(key(text).split())


def _in_case_of(replaced: str, original: str) -> str:
    if is_string(original) or replaced.startswith("["):  # neither strings nor tags have a case in the reply
        return original
    pattern = case_pattern(replaced)
    own = case_pattern(original)
    if own == pattern or (
        pattern == TITLE and apply_case(key(original), own) != original
    ):  # some have one of their own
        return original
    return apply_case(key(original), pattern)
