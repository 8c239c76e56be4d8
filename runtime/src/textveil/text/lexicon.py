"""Turns segments into inputs of the mechanism and outputs back into words: look-up and case.

A segment that is not a gap becomes a ``Word``: one or more tokens, each an input id of the table. Words are looked
up by their key; what is not in the vocabulary is ``<unk>``, and no path leads from its spelling to the output.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textveil.bundle.text import TextBundle
from textveil.text import segmentation
from textveil.text.segmentation import AUXILIARIES, CLITICS, LOWER, NOT, UPPER, apply_case
from textveil.text.wordpiece import WordPiece


@dataclass(frozen=True, slots=True)
class Word:
    """The tokens of one segment.

    Attributes:
        inputs: Input id of each token.
        whole: Whether SanText+ may keep it: a word in one piece. Parts of a word never may (a secret cut into
            frequent pieces would come back piece by piece), and punctuation that is sanitized never may.
        cases: Case pattern of each token.
        pieces: Whether the tokens are WordPieces of one word, written without anything between them.
    """

    inputs: tuple[int, ...]
    whole: bool
    cases: tuple[int, ...]
    pieces: bool = False


#: What a gap becomes: no tokens.
GAP = Word((), False, ())


class Lexicon:
    """Looks up segments in the vocabulary of a bundle.

    Args:
        bundle: Vocabulary and kind of tokens.
    """

    def __init__(self, bundle: TextBundle) -> None:
        self._ids = bundle.ids
        self._printed = bundle.vocabulary
        self._unknown = bundle.symbols
        self._pieces = None
        if bundle.tokens == "wordpiece":
            self._pieces = WordPiece(bundle.ids, lowercase=True)
            self._printed = [symbol.removeprefix("##") for symbol in bundle.vocabulary]

    def word(self, segment: str, *, sanitize_punctuation: bool = False, carry_case: bool = True) -> Word:
        """Returns the tokens of a segment.

        Args:
            segment: One segment of ``segmentation.segments``.
            sanitize_punctuation: Punctuation is tokens too, not a gap.
            carry_case: Keep the case pattern; all is lower case otherwise.
        """
        if segmentation.is_gap(segment):
            return self._punctuation(segment) if sanitize_punctuation else GAP
        case = segmentation.case_pattern(segment) if carry_case else LOWER
        if self._pieces is not None:
            return self._word_pieces(self._pieces, segment, case)
        if segmentation.is_string(segment):
            return Word((self._unknown,), False, (case,))
        key = segmentation.key(segment)
        index = self._ids.get(key)
        if index is not None:
            return Word((index,), True, (case,))
        parts = segmentation.split_clitic(key)
        if parts is None:
            return Word((self._unknown,), False, (case,))
        stem, clitic = parts
        if carry_case:
            case = segmentation.case_pattern(segment[: len(stem)])
        inputs = tuple(self._ids.get(part, self._unknown) for part in (stem, clitic))
        return Word(inputs, True, (case, case if case == UPPER else LOWER))

    def denied(self, entry: str) -> tuple[int, ...]:
        """Returns the input ids of a denied entry: one spelling, or a text of any number of words."""
        entry = entry.removeprefix(segmentation.BYTE_ORDER_MARK)
        for spelling in (entry, segmentation.key(entry)):
            if spelling in self._ids:
                return (self._ids[spelling],)
        words = (self.word(segment) for segment in segmentation.segments(entry))
        return tuple(token for word in words for token in word.inputs)

    def _punctuation(self, segment: str) -> Word:
        marks = [character for character in segment if not character.isspace()]
        return Word(tuple(self._ids.get(mark, self._unknown) for mark in marks), False, (LOWER,) * len(marks))

    def _word_pieces(self, tokenizer: WordPiece, segment: str, case: int) -> Word:
        inputs: list[int] = []
        if not segmentation.is_string(segment):
            for token in tokenizer.basic_tokens(segment):
                inputs += tokenizer.pieces(token) or [self._unknown]
        # BERT drops control characters; here they are unknown tokens like everything that is no gap.
        inputs = inputs or [self._unknown]
        return Word(tuple(inputs), len(inputs) == 1, (case,) * len(inputs), pieces=True)

    def write(
        self,
        segments: Sequence[str],
        words: Sequence[Word],
        outputs: Iterator[int],
        *,
        sanitize_punctuation: bool,
        after_token: bool = False,
    ) -> tuple[str, bool]:
        """Writes the outputs of a text, or of a part of it, into its gaps.

        Args:
            segments: Segments of the text.
            words: The word of each segment.
            outputs: Output ids; as many are taken as there are tokens.
            sanitize_punctuation: White space is not passed through: tokens are joined by one blank.
            after_token: Whether the part before this one ended with a token.

        Returns:
            The text, and whether it ended with a token. Two tokens with no gap between them are joined by one
            blank, unless the second output is a clitic; ``n't`` after what is no auxiliary is ``not``. All of this is
            a function of the outputs and of token boundaries only.
        """
        written: list[str] = []
        for segment, word in zip(segments, words, strict=True):
            if not word.inputs:
                if not sanitize_punctuation:
                    written.append(segment)
                    after_token = False
                continue
            for token in self._tokens(word, outputs):
                if after_token:
                    token = " " + token if sanitize_punctuation else _after(written[-1], token)
                written.append(token)
                after_token = True
        return "".join(written), after_token

    def _tokens(self, word: Word, outputs: Iterator[int]) -> list[str]:
        if word.pieces:
            return [apply_case("".join(self._printed[next(outputs)] for _ in word.inputs), word.cases[0])]
        return [apply_case(self._printed[next(outputs)], case) for case in word.cases]


def _after(before: str, token: str) -> str:
    """A printed output right after another one, with the blank that stands between them, if any."""
    spelled = token.lower()
    if spelled not in CLITICS:
        return " " + token
    if spelled == NOT and before.strip().lower() not in AUXILIARIES:
        return " NOT" if token.isupper() else " not"
    return token
