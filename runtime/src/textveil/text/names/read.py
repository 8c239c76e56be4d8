"""Reader of the mode ``names``: pass 1 by chunk, pass 2 by line, pass 3 by slot."""

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import regex

from textveil.bundle.rules import Rules
from textveil.text.names.context_rules import LINE_BREAKS
from textveil.text.names.entity_types import EntityClassifier, EntityMention
from textveil.text.names.json_blocks import COPIED, NUMBER, JsonPart, may_have_json, split_json, write_escapes
from textveil.text.names.spans import SpanFinder
from textveil.text.names.spelled_tokens import may_span_gap, merge_spelled
from textveil.text.names.tokenizer import ChunkTokenizer, make_gap_token
from textveil.text.names.tokens import GAP, JSON_NUMBER_CASE, RANDOMIZED, NamesToken, TokenWindow, is_plainly_kept
from textveil.text.segmentation import LOWER
from textveil.work_limits import STEPS_PER_CHECK, check_work

_LINE_BREAK = re.compile("[\n\r\x0b\x0c\x85\u2028\u2029]")
_BLANK = regex.compile(r"\p{White_Space}")
_BLANKS_OR_CHUNK = regex.compile(r"\p{White_Space}++|\P{White_Space}++")
#: Marks that only end the word before them, without another effect on its class.
_PLAIN_END_MARKS = frozenset(".,:!?")
#: Number of distinct chunks between single blanks in one cache generation of a call. A full generation replaces the
#: previous one, whose entries are then dropped.
_MAX_CHUNKS = 1 << 12
#: Length of the longest JSON part that is cached, since short parts repeat.
_MAX_CACHED_LENGTH = 64
#: Number of words of the public list, each with its case and following mark, that are cached across calls.
_MAX_LISTED_TOKENS = 1 << 14
#: Number of characters that are split at a time.
_BLOCK_CHARACTERS = 1 << 13
#: Tokens of a chunk: its words, the gap before the first, the other spellings, the indices of the words that are not
#: plainly kept, the last gap. A chunk of one plainly kept word is the word alone, and any other single word is no list
#: of one: this leaves fewer objects to the garbage collector.
_ChunkTokens = NamesToken | tuple[NamesToken | Sequence[NamesToken], str, tuple[str, ...], tuple[int, ...], str]


class ReadText(NamedTuple):
    """Result of reading a text.

    Attributes:
        elements: Kept texts and mentions, in order.
        kept_count: Number of kept words.
    """

    elements: Sequence[str | EntityMention]
    kept_count: int

    @property
    def replaced_words(self) -> int:
        """Number of replaced unlisted words, a function of the types and layouts of the slots."""
        return sum(map(_is_replaced_word, self.elements))

    def list_template(self) -> list[object]:
        """Return the template without equality of slots.

        It has the kept text and the public part of each mention. Together with the equality of slots this is all that
        the output may depend on.
        """
        return [entry if isinstance(entry, str) else entry.template_entry for entry in self.elements]


class ReadTextStream:
    """Elements of a text that are read lazily. The counts are complete after the last element.

    Args:
        counter: The finder of spans, or a list with the numbers of kept words so far.
        elements: Kept texts and mentions, in order.

    Attributes:
        replaced_words: Number of replaced unlisted words so far, as in ``ReadText``.
    """

    def __init__(self, counter: SpanFinder | Sequence[int], elements: Iterator[str | EntityMention]) -> None:
        self._counter, self._elements, self.replaced_words = counter, elements, 0

    def __iter__(self) -> Iterator[str | EntityMention]:
        """Yield the elements, once."""
        for entry in self._elements:
            self.replaced_words += _is_replaced_word(entry)
            yield entry

    @property
    def kept_count(self) -> int:
        """Number of kept words so far."""
        return self._counter.kept_count if isinstance(self._counter, SpanFinder) else sum(self._counter)


def _is_replaced_word(entry: str | EntityMention) -> bool:
    return not isinstance(entry, str) and entry.entity_type == "word" and entry.parts[0].layout != RANDOMIZED


class NamesReader:
    """Reader that splits texts into kept text and mentions.

    Args:
        tokenizer: Reader of chunks.
        classifier: Classifier of slots.
        rules: Rules of the language.

    Privacy:
        The object caches chunks of the texts. It must not outlive the call.
    """

    def __init__(self, tokenizer: ChunkTokenizer, classifier: EntityClassifier, rules: Rules) -> None:
        self._tokenizer, self._classifier, self._rules = tokenizer, classifier, rules
        self._recent_chunks: dict[str, _ChunkTokens] = {}
        self._older_chunks: dict[str, _ChunkTokens] = {}

    def read_texts(self, texts: Sequence[str]) -> list[ReadText]:
        """Read the texts of a document.

        Lower-case words that may be names are kept if any of the texts has a capital letter. Each string and each
        number of JSON in a text is read by itself.
        """
        if any(map(may_have_json, texts)):
            has_capitals = any(map(self._has_capital, texts))
            streams = [self._stream_json_text(text, has_capitals) for text in texts]
            return [ReadText([*stream], stream.kept_count) for stream in streams]
        windows = [self._iterate_windows(text) for text in texts]
        has_capitals = _contains_capital(texts, windows)
        results: list[ReadText] = []
        for text, text_windows in zip(texts, windows, strict=True):
            finder = self._places(text_windows, text, has_capitals)
            elements = [*self._iterate_mentions(finder, has_capitals)]
            results.append(ReadText(elements, finder.kept_count))
        return results

    def stream_text(self, text: str) -> "ReadTextStream":
        """Return the entries of a document of one text as a stream, which needs far less memory."""
        if may_have_json(text):
            return self._stream_json_text(text, self._has_capital(text))
        windows = [self._iterate_windows(text)]
        has_capitals = _contains_capital([text], windows)
        finder = self._places(windows[0], text, has_capitals)
        return ReadTextStream(finder, self._iterate_mentions(finder, has_capitals))

    def _places(self, windows: Iterator[TokenWindow], text: str, capitals: bool) -> SpanFinder:
        return SpanFinder(windows, has_breaks=_has_line_breaks(text), has_capitals=capitals, rules=self._rules)

    def _has_capital(self, text: str) -> bool:
        """Return whether a word of a text with JSON has a capital letter."""
        known = set[str]()  # keys of JSON repeat
        for part in split_json(text):
            if part.kind == COPIED or part.text in known:
                continue
            if _contains_capital([part.text], [self._iterate_windows(part.text)]):
                return True
            if len(part.text) <= _MAX_CACHED_LENGTH and len(known) < _MAX_CHUNKS:
                known.add(part.text)
        return False

    def _stream_json_text(self, text: str, has_capitals: bool) -> "ReadTextStream":
        """Return the entries of a text with JSON; each part but copied ones is a text of its own."""
        counts = [0]
        return ReadTextStream(counts, self._iterate_json_elements(text, has_capitals, counts))

    def _iterate_json_elements(self, text: str, has_capitals: bool, counts: list[int]) -> Iterator[str | EntityMention]:
        """Yield the entries of a text with JSON; append the kept words of each part to ``counts``."""
        cached_parts: dict[str, tuple[tuple[str | EntityMention, ...], int]] = {}
        kept_texts = list[str]()
        for number, part in enumerate(split_json(text)):
            if not number % STEPS_PER_CHECK:
                check_work()
            if part.kind == COPIED:
                kept_texts.append(part.text)
                continue
            cached = cached_parts.get(part.text)
            if cached is None:
                finder = self._places(self._iterate_windows(part.text), part.text, has_capitals)
                elements: Iterable[str | EntityMention] = self._iterate_mentions(finder, has_capitals)
                if len(part.text) <= _MAX_CACHED_LENGTH and len(cached_parts) < _MAX_CHUNKS:
                    elements = tuple(elements)
                    cached_parts[part.text] = elements, finder.kept_count
            else:
                elements, finder = cached[0], None
            for element in write_json_elements(part, elements):
                if isinstance(element, str):
                    kept_texts.append(element)
                else:
                    yield "".join(kept_texts)
                    yield element
                    kept_texts = []
            if finder is not None:
                counts[0] += finder.kept_count
            elif cached is not None:
                counts[0] += cached[1]
        yield "".join(kept_texts)

    def _iterate_windows(self, text: str) -> Iterator[TokenWindow]:
        """Yield the tokens of a text, some lines at a time.

        All at once need many times the memory of the text.
        """
        words, spellings, special_indices = list[NamesToken](), list[str](), array("I")
        gap, listed_tokens, searched_to = "", self._tokenizer.listed_tokens, 0
        may_end_window = len(text) > _BLOCK_CHARACTERS and _has_line_breaks(text)
        for chunks in _iterate_chunk_lists(text):
            check_work()
            if len(self._recent_chunks) > _MAX_CHUNKS:
                self._recent_chunks, self._older_chunks = {}, self._recent_chunks
            recent_chunks, older_chunks = self._recent_chunks, self._older_chunks
            for chunk, chunk_tokens in zip(chunks, map(recent_chunks.get, chunks), strict=True):
                if chunk_tokens is None:
                    chunk_tokens = recent_chunks[chunk] = (
                        older_chunks.get(chunk) or listed_tokens.get(chunk) or self._tokenize_new_chunk(chunk)
                    )
                if type(chunk_tokens) is NamesToken:
                    words.append(chunk_tokens)
                    spellings.append(gap)
                    spellings.append(chunk_tokens.text)  # equal to the chunk, and one object for all equal chunks
                    gap = " "
                    continue
                tokens, lead, rest, special_in_chunk, tail = chunk_tokens
                if not tokens:
                    gap += tail
                    continue
                for place in special_in_chunk:
                    special_indices.append(len(words) + place)
                if type(tokens) is NamesToken:
                    words.append(tokens)
                else:
                    words += tokens
                spellings.append(gap + lead if lead else gap)
                spellings += rest
                gap = tail
            if may_end_window and (end := _find_last_line(words, spellings, searched_to, self._rules)):
                rest = words[end - 1 :], ["", "", *spellings[2 * end :]], array("I")
                first = bisect_left(special_indices, end)
                rest[2].extend(place - end + 1 for place in special_indices[first:])
                del words[end:], spellings[2 * end + 1 :], special_indices[first:]
                merge_spelled(words, spellings, special_indices, self._rules)
                yield TokenWindow(words, spellings, special_indices)
                words, spellings, special_indices = rest
            searched_to = max(1, len(words) - 1)
        spellings.append(gap[:-1])
        merge_spelled(words, spellings, special_indices, self._rules)
        yield TokenWindow(words, spellings, special_indices)

    def _tokenize_new_chunk(self, chunk: str) -> "_ChunkTokens":
        """Return the tokens of a chunk that is new in this call.

        The tokens of words of the public list are cached across calls.
        """
        chunk_tokens = self._tokenizer.find_plain_token(chunk) or self._tokenize_chunk(chunk)
        if len(self._tokenizer.listed_tokens) < _MAX_LISTED_TOKENS and self._tokenizer.is_listed(chunk):
            self._tokenizer.listed_tokens[chunk] = chunk_tokens
        return chunk_tokens

    def _tokenize_chunk(self, chunk: str) -> "_ChunkTokens":
        """Return the tokens of a chunk between two single blanks; the last gap ends in a blank."""
        if (
            chunk[-1:] in _PLAIN_END_MARKS
            and chunk
            and (token := self._tokenizer.find_plain_token(chunk[:-1])) is not None
        ):  # usual
            return token, "", (token.text,), (), f"{chunk[-1]} "
        lead, tokens, tail = self._tokenizer.tokenize_word(chunk) or ("", self._tokenize_at_blanks(chunk), "")
        if len(tokens) == 1 and tokens[0].token_class != GAP:
            return tokens[0], lead, (tokens[0].text,), () if is_plainly_kept(tokens[0]) else (0,), f"{tail} "
        words, spellings, parts = list[NamesToken](), list[str](), [lead]
        for token in tokens:
            parts.append(token.text)  # joined once: appending to a string would copy it each time
            if token.token_class != GAP:
                words.append(token)
                spellings += ("".join(parts[:-1]), token.text)
                parts = []
        spellings.append("".join(parts))
        tail = f"{spellings.pop()}{tail} "
        special_in_chunk = tuple([place for place, token in enumerate(words) if not is_plainly_kept(token)])
        return tuple(words), spellings[0] if words else "", tuple(spellings[1:]), special_in_chunk, tail

    def _tokenize_at_blanks(self, chunk: str) -> Sequence[NamesToken]:
        """Return the tokens of a chunk that may contain blanks other than the common one."""
        if chunk.split() == [chunk]:
            return self._tokenizer.tokenize(chunk)
        cached_parts: dict[str, Sequence[NamesToken]] = {}
        all_tokens: list[NamesToken] = []
        for number, match in enumerate(_BLANKS_OR_CHUNK.finditer(chunk)):
            if not number % STEPS_PER_CHECK:
                check_work()
                cached_parts.clear()  # the cache serves parts that repeat at short distance
            part = match[0]
            tokens = cached_parts.get(part)
            if tokens is None:
                tokens = cached_parts[part] = (
                    (make_gap_token(part),) if _BLANK.match(part) else self._tokenizer.tokenize(part)
                )
            all_tokens += tokens
        return all_tokens

    def _iterate_mentions(self, finder: SpanFinder, has_capitals: bool) -> Iterator[str | EntityMention]:
        classify_span = self._classifier.classify_span
        return self._classifier.merge_kept(
            entry if isinstance(entry, str) else classify_span(entry, has_capitals)
            for entry in finder.iterate_elements()
        )


def write_json_elements(part: JsonPart, elements: Iterable[str | EntityMention]) -> Iterator[str | EntityMention]:
    """Yield the entries of a part as the text spells them: with escapes and JSON numbers."""
    start = 0
    for element in elements:
        text = element if isinstance(element, str) else element.span.text
        written = write_escapes(text, part.escapes, start) if part.escapes else text
        start += len(text)
        if isinstance(element, str):
            yield written
            continue
        mention = element._replace(case=JSON_NUMBER_CASE) if part.kind == NUMBER else element
        yield mention if written == text else mention._replace(span=element.span._replace(escaped_text=written))


def _iterate_chunk_lists(text: str) -> Iterator[list[str]]:
    """Yield the chunks between single blanks, in lists of some thousands.

    Each string costs 50 bytes, so the whole text is never split at once.
    """
    start = 0
    while (end := text.find(" ", start + _BLOCK_CHARACTERS)) >= 0:
        yield text[start:end].split(" ")
        start = end + 1
    yield text[start:].split(" ")


def _has_line_breaks(text: str) -> bool:
    return not text.isprintable() and _LINE_BREAK.search(text) is not None  # no line break is printable


def _find_last_line(words: Sequence[NamesToken], spellings: Sequence[str], searched_to: int, rules: Rules) -> int:
    """Return the start of the last line that shares no spelled number or name with the previous.

    Args:
        words: Tokens of a text.
        spellings: The gap before each token, and the text of the token, in turn.
        searched_to: Lower bound of the search: the result is above it.
        rules: Rules of the language.

    Returns:
        The index of the first word of that line; 0 if there is none.
    """
    for index in range(len(words) - 1, searched_to, -1):
        if not LINE_BREAKS.isdisjoint(spellings[2 * index]) and not may_span_gap(words, spellings, index, rules):
            return index
    return 0


def _contains_capital(texts: Sequence[str], windows: list[Iterator[TokenWindow]]) -> bool:
    """Return whether a word in any of the texts has a capital letter.

    Windows that the search consumed are put back in front of ``windows``.
    """
    for number, text in enumerate(texts):
        if text.isascii() and "&" not in text and text == text.lower():
            continue  # the reader classifies "at&t" as a name with a capital
        consumed: list[TokenWindow] = []
        for window in windows[number]:
            consumed.append(window)
            words = window.words
            if any(words[place].case != LOWER for place in window.special_indices):
                windows[number] = chain(consumed, windows[number])
                return True
        windows[number] = iter(consumed)
    return False
