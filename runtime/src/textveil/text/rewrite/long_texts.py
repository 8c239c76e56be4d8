"""Rewrites a document that is too long for arrays of all its tokens: in chunks.

Each chunk is told what came before (``Carried``). So the law of outputs, and the charge, are those of the document
drawn at once: functions of its skeleton. Only the order of random words differs.
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

#: Segments of a chunk.
CHUNK_SEGMENTS = 1 << 15


class LongDocument:
    """Draws one document, chunk by chunk.

    Args:
        plan: What becomes of tokens.
        texts: The texts that it has, each of which begins a sentence. Where draws are consistent, all are read before
            any is drawn.

    Attributes:
        tokens: Tokens that are charged so far.
        mapping: What each output so far stands for; empty unless draws are consistent. The case of an original may be
            that of another mention of the word than in a document that is drawn at once.

    Raises:
        DocumentTooLong: As ``draw``.
    """

    def __init__(self, plan: Plan, texts: Sequence[str]) -> None:
        self._plan, self._texts = plan, texts
        self._open, self._lower = Open(), _lower_alone(plan, texts) if plan.terms.consistent else None
        self.tokens: int = 0
        self.mapping: Restorer = Restorer()

    def rewrite(self) -> list[str]:
        """Draws all texts, once.

        Privacy:
            As ``draw``.
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
    """Tells which draws of a document stand in slots of lower case alone, a byte for each."""
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
    """Yields some segments of a text at a time, with what the gap before them tells (``None`` at its start)."""
    found = segmentation.iterate_segments(
        text, marks_apart=plan.terms.sanitize_punctuation, lone_clitics=plan.keeps_lone_clitics
    )
    before: str | None = None
    while chunk := [*islice(found, CHUNK_SEGMENTS)]:
        yield chunk, before
        before = _gap_after(chunk, before)


def _gap_after(segments: Sequence[str], before: str | None) -> str | None:
    """What the gap at the end of some segments tells those that follow: whether it ends a sentence.

    ``before`` is the same for the gap before these segments, ``None`` where no word was met yet. It is short: a gap may
    go on for as long as the text does.
    """
    ended = False
    for segment in reversed(segments):
        if not is_gap(segment):
            return "." if ended else ""
        ended = ended or sentence_start(segment)
    return "." if ended and before is not None else before


def joined(parts: Iterable[str], blank: str = "") -> str:
    """Returns parts of a long text as one, with a blank between two of them.

    ``str.join`` would hold the parts and all of them together. In a ``for`` loop a string that nothing else refers to
    grows where it is.
    """
    text = ""
    for part in parts:
        text += blank + part if text else part
    return text
