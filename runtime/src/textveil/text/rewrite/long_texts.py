"""Sanitizing of a document that is too long for arrays of all its tokens, in chunks.

Each chunk gets the state of the chunks before it (``CarriedState``). So the output distribution and the spend are those
of the document in one piece: functions of its template. Only the order of random words differs.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from textveil.text import segmentation
from textveil.text.restore import Restorer
from textveil.text.rewrite.draw import sample_outputs
from textveil.text.rewrite.output_texts import write_texts
from textveil.text.rewrite.plan import SanitizingPlan
from textveil.text.rewrite.read import CarriedState, OpenPart, read_segments
from textveil.text.segmentation import is_gap
from textveil.text.skeleton import begins_sentence

#: Number of segments of a chunk.
BLOCK_SEGMENTS = 1 << 15


class LongDocumentRewriter:
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

    def __init__(self, plan: SanitizingPlan, texts: Sequence[str]) -> None:
        self._plan, self._texts = plan, texts
        self._open_part, self._lower = (
            OpenPart(),
            _find_lower_case_draws(plan, texts) if plan.terms.consistent else None,
        )
        self.tokens: int = 0
        self.mapping: Restorer = Restorer()

    def rewrite(self) -> list[str]:
        """Return the sanitized texts; call this once.

        Privacy:
            As for ``draw``.
        """
        blank = " " if self._plan.terms.sanitize_punctuation else ""
        return [join_long_text(self._iterate_parts(text), blank) for text in self._texts]

    def _iterate_parts(self, text: str) -> Iterator[str]:
        for segments, before in _iterate_blocks(self._plan, text):
            tokens = read_segments(self._plan, segments, CarriedState(before, self._open_part))
            new_draws = len(tokens.draws.first)
            lower = None if self._lower is None else self._lower[:new_draws]
            outputs = sample_outputs(tokens, lower)
            if self._lower is not None:
                self._lower = self._lower[new_draws:]
                self._open_part = tokens.get_open_part(outputs[tokens.draws.tokens])
            part = write_texts(tokens, outputs)
            self.tokens += part.tokens[0]
            for pairs in part.pairs:
                self.mapping.add_pairs(pairs)
            yield from filter(None, part.texts)


def _find_lower_case_draws(plan: SanitizingPlan, texts: Iterable[str]) -> NDArray[np.bool_]:
    """Return for each draw of a document whether all of its slots are in lower case."""
    capitals, open_part = bytearray(), OpenPart()
    for text in texts:
        for segments, before in _iterate_blocks(plan, text):
            tokens = read_segments(plan, segments, CarriedState(before, open_part))
            draws = tokens.draws
            numbers = np.concatenate([draws.earlier_values, len(capitals) + np.arange(len(draws.first))])[draws.copies]
            capitals.extend(bytes(len(draws.first)))
            has_capital = numbers[tokens.cases[draws.tokens] != segmentation.LOWER]
            np.frombuffer(capitals, dtype=np.bool_)[has_capital] = True
            open_part = tokens.get_open_part(numbers)
    return ~np.frombuffer(capitals, dtype=np.bool_)


def _iterate_blocks(plan: SanitizingPlan, text: str) -> Iterator[tuple[list[str], str | None]]:
    """Yield the segments of a text in chunks, each with the state of the gap before it.

    The state is ``None`` at the start of the text, else see ``_find_gap_state``.
    """
    segments = segmentation.iterate_split_text(
        text, marks_apart=plan.terms.sanitize_punctuation, lone_clitics=plan.keeps_lone_clitics
    )
    before: str | None = None
    while block := [*islice(segments, BLOCK_SEGMENTS)]:
        yield block, before
        before = _find_gap_state(block, before)


def _find_gap_state(segments: Sequence[str], before: str | None) -> str | None:
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
        ended = ended or begins_sentence(segment)
    return "." if ended and before is not None else before


def join_long_text(parts: Iterable[str], blank: str = "") -> str:
    """Return the concatenation of the parts of a long text, with ``blank`` between two parts.

    ``str.join_reports`` would hold the parts and the result together. A string in a ``for`` loop to which nothing else
    refers grows in place.
    """
    text = ""
    for part in parts:
        text += blank + part if text else part
    return text
