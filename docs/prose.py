"""Measures the sentences of a document's running text.

    python docs/prose.py README.md        the average, and every sentence that is too long

Code blocks, tables, headings and comments are not prose. A piece of `code` and a [link](target) count by their words.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

#: The most words a sentence may have on average, and at all, by document. `make docs-check` judges what stands here.
LIMITS: dict[str, tuple[float, int]] = {"README.md": (14, 35)}

_NOT_PROSE = re.compile(r"^(`{3,}).*?^\1$|<!--.*?-->|^(?:#+ |\|| {4}).*?$", re.M | re.S)
_NEW_PARAGRAPH = re.compile(r"\n\s*(?=(?:[-*]|\d+\.) )|\n\s*\n")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|et al|vs|No)\.")
_END = re.compile(r"(?<=[.!?])[\"”)*_]*\s+(?=[\"“(*_`\[]*[A-ZÀ-Þ\d`])")
_DOT = "\u2024"  # stands for the dot of an abbreviation, which ends no sentence


def sentences(text: str) -> list[str]:
    """Returns the sentences of a Markdown text. A list item or a paragraph ends a sentence too."""
    text = _ABBREVIATION.sub(lambda match: match[0].replace(".", _DOT), _NOT_PROSE.sub("\n\n", text))
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    paragraphs = (" ".join(paragraph.split()) for paragraph in _NEW_PARAGRAPH.split(text))
    found = [sentence.replace(_DOT, ".") for paragraph in paragraphs for sentence in _END.split(paragraph)]
    return [sentence for sentence in found if count_words(sentence)]


def count_words(sentence: str) -> int:
    """Returns the number of words: what stands between blanks and has a letter or a digit."""
    return sum(1 for word in sentence.split() if re.search(r"[^\W_]", word))


def problems(text: str, average: float, longest: int) -> Iterator[str]:
    """Yields what is wrong with the prose of a document.

    Args:
        text: The document, Markdown.
        average: The most words that a sentence may have on average.
        longest: The most words that any sentence may have.
    """
    lengths = [(count_words(sentence), sentence) for sentence in sentences(text)]
    mean = sum(length for length, _ in lengths) / max(1, len(lengths))
    if mean > average:
        yield f"{mean:.1f} words a sentence on average, more than {average:g}"
    yield from (f"{length} words: {sentence}" for length, sentence in lengths if length > longest)


def main(names: list[str]) -> None:
    """Judges the documents named, or all with limits; ends with status 1 if one fails."""
    root = Path(__file__).resolve().parents[1]
    wrong = []
    for name in names or LIMITS:
        found = problems((root / name).read_text("utf-8"), *LIMITS.get(name, (14, 35)))
        wrong += [f"{name}: {problem}" for problem in found]
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main(sys.argv[1:])
