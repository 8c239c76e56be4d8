"""Sanitizing of a document that is too long for arrays of all its tokens, in chunks.

Each chunk gets the state of the chunks before it (``Carried``). So the output distribution and the spend are those of
the document in one piece: functions of its template. Only the order of random words differs.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from textveil.text import segmentation
from textveil.text.restore import Restorer
from textveil.text.rewrite.draw import draw
from textveil.text.rewrite.plan import Plan
from textveil.text.rewrite.read import Carried, Open, read_segments
from textveil.text.rewrite.write import written
from textveil.text.segmentation import is_gap
from textveil.text.skeleton import sentence_start

#: Number of segments of a chunk.
CHUNK_SEGMENTS = 1 << 15


class LongDocument:
    """Sanitizing of one document, chunk by chunk.

    Args:
        plan: The plan.
        texts: Texts of the document, each of which begins a sentence. Where outputs are consistent, the constructor
            reads all texts before any sampling.

    Attributes:
        tokens: Number of tokens that are charged so far.
        mapping: Originals of the outputs so far; empty unless outputs are consistent. The case of an original may be
            that of another mention of the word than in a document in one piece.

    Raises:
        DocumentTooLong: See ``draw``.
    """

    def __init__(self, plan: Plan, texts: Sequence[str]) -> None:
        self._plan, self._texts = plan, texts
        self._open, self._lower = Open(), _lower_alone(plan, texts) if plan.terms.consistent else None
        self.tokens: int = 0
        self.mapping: Restorer = Restorer()

    def rewrite(self) -> list[str]:
        """Return the sanitized texts; call this once.

        Privacy:
            As for ``draw``.
        """
        blank = " " if self._plan.terms.sanitize_punctuation else ""
        return [joined(self._parts(text), blank) for text in self._texts]

    def _parts(self, text: str) -> Iterator[str]:
        for chunk, before in _chunks(self._plan, text):
            read = read_segments(self._plan, chunk, Carried(before, self._open))
            new = len(read.draws.first)
            lower = None if self._lower is None else self._lower[:new]
            outputs = draw(read, lower)
            if self._lower is not None:
                self._lower = self._lower[new:]
                self._open = read.open_part(outputs[read.draws.tokens])
            part = written(read, outputs)
            self.tokens += part.tokens[0]
            for pairs in part.pairs:
                self.mapping.add(pairs)
            yield from filter(None, part.texts)


def _lower_alone(plan: Plan, texts: Iterable[str]) -> NDArray[np.bool_]:
    """Return for each draw of a document whether all of its slots are in lower case."""
    capitals, opened = bytearray(), Open()
    for text in texts:
        for chunk, before in _chunks(plan, text):
            read = read_segments(plan, chunk, Carried(before, opened))
            draws = read.draws
            numbers = np.concatenate([draws.made, len(capitals) + np.arange(len(draws.first))])[draws.copies]
            capitals.extend(bytes(len(draws.first)))
            has_capital = numbers[read.cases[draws.tokens] != segmentation.LOWER]
            np.frombuffer(capitals, dtype=np.bool_)[has_capital] = True
            opened = read.open_part(numbers)
    return ~np.frombuffer(capitals, dtype=np.bool_)


def _chunks(plan: Plan, text: str) -> Iterator[tuple[list[str], str | None]]:
    """Yield the segments of a text in chunks, each with the state of the gap before it.

    The state is ``None`` at the start of the text, else see ``_gap_after``.
    """
    found = segmentation.iterate_segments(
        text, marks_apart=plan.terms.sanitize_punctuation, lone_clitics=plan.keeps_lone_clitics
    )
    before: str | None = None
    while chunk := [*islice(found, CHUNK_SEGMENTS)]:
        yield chunk, before
        before = _gap_after(chunk, before)


def _gap_after(segments: Sequence[str], before: str | None) -> str | None:
    """Return the state of the gap after some segments: does it end a sentence?

    Args:
        segments: The segments.
        before: The state of the gap before them; ``None`` before the first word of the text.

    Returns:
        ``"."`` or ``""``, or ``None`` before the first word: short, because a gap may be as long as the text.
    """
    ended = False
    for segment in reversed(segments):
        if not is_gap(segment):
            return "." if ended else ""
        ended = ended or sentence_start(segment)
    return "." if ended and before is not None else before


def joined(parts: Iterable[str], blank: str = "") -> str:
    """Return the concatenation of the parts of a long text, with ``blank`` between two parts.

    ``str.join`` would hold the parts and the result together. A string in a ``for`` loop to which nothing else refers
    grows in place.
    """
    text = ""
    for part in parts:
        text += blank + part if text else part
    return text
