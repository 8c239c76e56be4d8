"""The public example texts of the report, and how they are sanitized."""

import re
import tomllib
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from textveil.text import Sanitizer

#: The page, its style and its texts.
FILES = Path(__file__).parent / "template"
#: A word, or a symbol that is not punctuation: a token either way.
_WORD = re.compile(r"""(\w[\w'’-]*|[^\w\s.,;:!?'"()“”‘’…—–-])""")


@dataclass(frozen=True)
class Worked:
    """A text that is shown before and after.

    Attributes:
        title: What kind of text it is.
        text: The text.
    """

    title: str
    text: str


@dataclass(frozen=True)
class Examples:
    """What the report sanitizes.

    Attributes:
        sentences: Shown at every level under every mechanism.
        worked: Longer texts, shown at three levels.
    """

    sentences: tuple[str, ...]
    worked: tuple[Worked, ...]

    @classmethod
    def shipped(cls) -> "Examples":
        """Reads the texts that ship with this package."""
        content = tomllib.loads((FILES / "examples.toml").read_text(encoding="utf-8"))
        worked = tuple(Worked(**{key: value.strip() for key, value in entry.items()}) for entry in content["worked"])
        return cls(tuple(content["sentences"]), worked)


@dataclass
class Draws:
    """Sanitizes texts and counts how often. Every draw is fresh, from the operating system's entropy.

    Attributes:
        sanitizer: The sanitizer of the bundle.
        count: Texts sanitized so far.
    """

    sanitizer: Sanitizer
    count: int = 0

    def __call__(self, text: str, mechanism: str, epsilon: float) -> str:
        """Sanitizes a text once."""
        self.count += 1
        return self.sanitizer.sanitize(text, mechanism=mechanism, epsilon=epsilon).text


def pieces(before: str, after: str) -> list[tuple[str, bool]]:
    """Cuts a sanitized text into pieces, and tells of each whether it is a word that differs from the original.

    For the public texts of the report only: with a text to be protected, which words were changed is a secret.
    """
    original, parts = _WORD.findall(before), _WORD.split(after)
    words = parts[1::2]
    same: set[int] = set()
    for block in SequenceMatcher(None, original, words, autojunk=False).get_matching_blocks():
        same.update(range(block.b, block.b + block.size))
    return [(part, bool(i % 2) and i // 2 not in same) for i, part in enumerate(parts) if part]
