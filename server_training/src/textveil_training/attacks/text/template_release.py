"""Find the hidden words of texts in the modes 'names', 'words' and 'all', and the output of each hidden word.

A hidden word is a word of the text that the mode replaces or randomizes. The template is the public part of the text:
unchanged words, the gaps between words, and the type of each hidden word.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from textveil.text import split_text

from textveil_training.attacks.subject import AttackedMechanism
from textveil_training.attacks.words.word_release import RANDOMIZED, SURROGATE
from textveil_training.errors import EmptyData

_KEPT = ("gap", "kept")
#: Treatments of randomized words, inside and outside the vocabulary: an attacker must not learn which.
_RANDOMIZED = {"randomized": "word", "unknown": "word"}


@dataclass(frozen=True, slots=True)
class TemplateText:
    """One text, divided into parts that sanitizing leaves unchanged, and hidden words that it replaces.

    Attributes:
        gaps: Unchanged parts before each hidden word and after the last one: one more than there are hidden words.
        originals: The hidden words, in lower case.
        entity_types: Public type of each hidden word, such as ``person``; ``word`` for a randomized one.
    """

    gaps: tuple[str, ...] = field(repr=False)
    originals: tuple[str, ...] = field(repr=False)
    entity_types: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class TemplateRelease:
    """Texts with one sanitized output each, as arrays with one entry per hidden (replaced) word.

    The hidden words of all texts are in the order of the texts.

    Attributes:
        texts: The texts.
        outputs: Output of each hidden word of each text, in lower case.
        text: Index of the text of each hidden word.
        position: Position of each hidden word among the hidden words of its text.
        example: Index of the example to which the text belongs.
        left_out: Number of omitted texts: their output does not contain all unchanged parts in order.
    """

    texts: tuple[TemplateText, ...] = field(repr=False)
    outputs: tuple[tuple[str, ...], ...] = field(repr=False)
    text: np.ndarray = field(repr=False)
    position: np.ndarray = field(repr=False)
    example: np.ndarray = field(repr=False)
    left_out: int

    def __len__(self) -> int:
        """Return the number of hidden (replaced) words in all texts."""
        return len(self.text)

    def list_hidden_words(self) -> Iterator[tuple[str, str, str]]:
        """Yield the entity type, the original and the replacement of each hidden (replaced) word."""
        for text, outputs in zip(self.texts, self.outputs, strict=True):
            yield from zip(text.entity_types, text.originals, outputs, strict=True)


def read_template(subject: AttackedMechanism, text: str) -> TemplateText:
    """Divide a text into unchanged parts and hidden words (which the mechanism would replace); sample no output.

    Args:
        subject: The mechanism, in the mode 'names', 'words' or 'all'; it determines which words are hidden.
        text: The raw text.
    """
    gaps, originals, types = [""], list[str](), list[str]()
    for piece, treatment in subject.sanitizer.preview(text, **subject.options):
        if treatment in _KEPT:
            gaps[-1] += piece
            continue
        gaps.append("")
        originals.append(piece.lower())
        types.append(_RANDOMIZED.get(treatment, treatment))
    return TemplateText(tuple(gaps), tuple(originals), tuple(types))


def release_templates(subject: AttackedMechanism, examples: Sequence[Sequence[str]]) -> TemplateRelease:
    """Sanitize texts with the code that devices run, and find the output of each hidden (replaced) word.

    Args:
        subject: The mechanism, in the mode 'names', 'words' or 'all'.
        examples: Texts of each example.

    Raises:
        EmptyData: No text has a hidden word.

    Privacy:
        Each call samples one more output of every text, and so spends epsilon again if the outputs are published.
    """
    raw = [text for example in examples for text in example]
    owners = [number for number, example in enumerate(examples) for _ in example]
    read = [read_template(subject, text) for text in raw]
    drawn = _release_names(subject, raw, read) if subject.plan is None else _release_words(subject, raw)
    aligned = [
        (text, outputs, owner)
        for text, outputs, owner in zip(read, drawn, owners, strict=True)
        if outputs is not None and len(outputs) == len(text.originals)
    ]
    sizes = np.array([len(outputs) for _, outputs, _ in aligned], np.int64)
    if not sizes.sum():
        raise EmptyData(
            f"the mode {subject.terms.protect} replaces no word of these texts, so there is nothing to recover: pass "
            "other texts"
        )
    text = np.repeat(np.arange(len(sizes)), sizes)
    return TemplateRelease(
        texts=tuple(text for text, _, _ in aligned),
        outputs=tuple(outputs for _, outputs, _ in aligned),
        text=text,
        position=np.arange(len(text)) - np.repeat(np.cumsum(sizes) - sizes, sizes),
        example=np.array([owner for *_, owner in aligned], np.int64)[text],
        left_out=len(raw) - len(aligned),
    )


def _release_names(
    subject: AttackedMechanism, raw: Sequence[str], read: Sequence[TemplateText]
) -> list[tuple[str, ...] | None]:
    results = subject.sanitizer.sanitize_batch(raw, **subject.options)
    return [align_output(text.gaps, result.text) for text, result in zip(read, results, strict=True)]


def align_output(gaps: Sequence[str], output: str) -> tuple[str, ...] | None:
    """Find the outputs of hidden (replaced) words between the unchanged parts of a sanitized text.

    Args:
        gaps: The unchanged parts, as in ``TemplateText``.
        output: The sanitized text.

    Returns:
        One string for each hidden word, in lower case; ``None`` if the output does not contain the unchanged parts in
        this order. If only white space separates two hidden words, the first of them ends at the first white space.
    """
    if len(gaps) == 1:
        return () if output == gaps[0] else None
    if not output.startswith(gaps[0]) or not output.endswith(gaps[-1]):
        return None
    start, end = len(gaps[0]), len(output) - len(gaps[-1])
    found: list[str] = []
    for gap in gaps[1:-1]:
        at = output.find(gap, start, end) if gap else -1
        if at < 0:
            return None
        found.append(output[start:at].lower())
        start = at + len(gap)
    return None if start > end else (*found, output[start:end].lower())


def _release_words(subject: AttackedMechanism, raw: Sequence[str]) -> list[tuple[str, ...] | None]:
    release = subject.make_word_release()
    reading = release.read([split_text(text) for text in raw])
    outputs = release.draw(reading)
    hidden = np.flatnonzero(np.isin(reading.role, (RANDOMIZED, SURROGATE)))
    found: list[list[str]] = [[] for _ in raw]
    spellings = release.words.spellings
    for document, output in zip(reading.document[hidden].tolist(), outputs[hidden].tolist(), strict=True):
        found[document].append(spellings[output] if output >= 0 else "")
    return [tuple(words) for words in found]
