"""The public example texts of the report, and what a sanitizer makes of them."""

import re
import tomllib
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from textveil.text import Sanitizer

#: The page, its style and its texts.
FILES = Path(__file__).parent / "template"
#: A word, or a symbol that is no punctuation: a token either way.
_WORD = re.compile(r"""(\w[\w'’-]*|[^\w\s.,;:!?'"()“”‘’…—–-])""")


@dataclass(frozen=True)
class Worked:
    """A text with a sentence for each of three levels on what that level is for."""

    title: str
    text: str
    strict: str
    middle: str
    light: str


@dataclass(frozen=True)
class Examples:
    """What the report sanitises."""

    sentences: tuple[str, ...]
    worked: tuple[Worked, ...]

    @classmethod
    def shipped(cls) -> "Examples":
        """The texts that ship with this package."""
        content = tomllib.loads((FILES / "examples.toml").read_text(encoding="utf-8"))
        worked = tuple(Worked(**{key: value.strip() for key, value in entry.items()}) for entry in content["worked"])
        return cls(tuple(content["sentences"]), worked)


@dataclass
class Draws:
    """Sanitises texts and counts how often. Every draw is fresh, from the operating system's entropy.

    Attributes:
        sanitizer: Of the bundle.
        count: Texts sanitised so far.
    """

    sanitizer: Sanitizer
    count: int = 0

    def __call__(self, text: str, mechanism: str, level: str, tail: str) -> str:
        """One draw."""
        self.count += 1
        return self.sanitizer.sanitize(text, mechanism=mechanism, level=level, tail=tail).text


def pieces(before: str, after: str) -> list[tuple[str, bool]]:
    """A sanitised text in pieces: each with whether it is a word that differs from the original.

    For the public texts of the report only: with a text to be protected, which words were changed is a secret.
    """
    original, parts = _WORD.findall(before), _WORD.split(after)
    words = parts[1::2]
    same: set[int] = set()
    for block in SequenceMatcher(None, original, words, autojunk=False).get_matching_blocks():
        same.update(range(block.b, block.b + block.size))
    return [(part, bool(i % 2) and i // 2 not in same) for i, part in enumerate(parts) if part]
