"""Reader of texts in the mode ``names``: splits a text into unchanged texts and detected entities.

A detected entity with its type is a *mention*. JSON inside a text (``json_blocks``) is read part by part: each string
and comment like a text of its own. A number is replaced by a valid JSON number. All other JSON is copied unchanged.
"""

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

from textveil.bundle.rules import Rules
from textveil.text.names.entity_types import EntityClassifier, EntityMention
from textveil.text.names.json_blocks import (
    COPIED,
    JSON_START,
    NUMBER,
    TEXT,
    JsonPart,
    count_open_brackets,
    split_json,
    write_escapes,
)
from textveil.text.names.lexicon import Lexicon, may_have_spelled
from textveil.text.names.name_cues import find_value_cue
from textveil.text.names.spans import LINE_BREAKS, SpanFinder
from textveil.text.names.spelled_tokens import may_span_gap, merge_spelled
from textveil.text.names.tokens import JSON_NUMBER_CASE, ChunkTokens, NamesToken, TokenWindow
from textveil.text.segmentation import LOWER
from textveil.work_steps import STEPS_PER_CHECK, check_work

if TYPE_CHECKING:
    from textveil.text.names.facts import FactRules
    from textveil.text.names.own_types import OwnTypes
    from textveil.text.names.tokenizer import ChunkTokenizer

#: End of a key of JSON.
_KEY_END = re.compile(r'"[ \t\r\n]*:')
_LINE_BREAK = re.compile("[\n\r\x0b\x0c\x85\u2028\u2029]")
#: Number of distinct chunks in the newer of the two caches of a call. When it is full, it becomes the older one, and
#: the chunks of the previous older one are dropped.
_MAX_CHUNKS = 1 << 11
#: Length of the longest JSON part that is cached, since short parts repeat.
_MAX_CACHED_LENGTH = 64
#: Number of characters that are split at a time.
_BLOCK_CHARACTERS = 1 << 13


_NO_PART = JsonPart(COPIED, "")


class ReadText(NamedTuple):
    """Result of reading a text: its unchanged parts and its detected entities.

    Attributes:
        elements: Unchanged texts and entities (``EntityMention``), in order.
        kept_count: Number of unchanged words.
    """

    elements: Sequence[str | EntityMention]
    kept_count: int

    @property
    def replaced_words(self) -> int:
        """Number of replaced words that are on no word list. The sanitized text reveals this number anyway."""
        mentions = [entry for entry in self.elements if not isinstance(entry, str)]
        return sum([_is_replaced_word(entry) for entry in mentions if entry.entity_type == "word"])

    def list_template(self) -> list[object]:
        """Return the template: unchanged parts of the text, and public properties of each entity, such as its type.

        The sanitized text depends only on the template, on which entities are equal, and on random numbers.
        """
        return [entry if isinstance(entry, str) else entry.template_entry for entry in self.elements]


class ReadTextStream:
    """Unchanged parts and detected entities of a text that is read piece by piece as the caller consumes them.

    The counts of words are final after the last element.

    Args:
        counter: Object whose ``kept_count`` is the number of unchanged words so far; or a list of counts with this sum.
        elements: Unchanged texts and entities (``EntityMention``), in order.

    Attributes:
        replaced_words: Number of replaced words so far that are on no list, as in ``ReadText``.
    """

    def __init__(self, counter: SpanFinder | Sequence[int], elements: Iterator[str | EntityMention]) -> None:
        self._counter, self._elements = counter, elements
        self.replaced_words: int = 0

    def __iter__(self) -> Iterator[str | EntityMention]:
        """Yield unchanged texts and detected entities. Call this method only once."""
        for entry in self._elements:
            self.replaced_words += _is_replaced_word(entry)
            yield entry

    @property
    def kept_count(self) -> int:
        """Number of unchanged words so far."""
        return self._counter.kept_count if isinstance(self._counter, SpanFinder) else sum(self._counter)


def _is_replaced_word(entry: str | EntityMention) -> bool:
    return not isinstance(entry, str) and entry.entity_type == "word" and not entry.parts[0].is_randomized


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReadingRules:
    """Objects that find the names and other entities in texts, for the options of a call. They hold no user's text.

    Attributes:
        lexicon: Classifier of single words by the public word lists.
        classifier: Object that assigns an entity type, such as ``city``, to the tokens of an entity.
        rules: Rules of the language, such as number words and date formats.
        facts: Rules that leave public facts, such as weekdays, unchanged; ``None`` if there are none.
        own_types: The user's own types; ``None`` if there are none.
    """

    lexicon: Lexicon
    classifier: EntityClassifier
    rules: Rules
    facts: "FactRules | None"
    own_types: "OwnTypes | None"

    def tokenize_chunk(self, chunk: str) -> ChunkTokens:
        """Return the tokens of a chunk (text between blanks) that is neither a word nor a plain number."""
        return self._tokenizer.tokenize_chunk(chunk)

    @cached_property
    def _tokenizer(self) -> "ChunkTokenizer":
        from textveil.text.names.tokenizer import ChunkTokenizer  # lazy: a plain sentence does not need its patterns

        return ChunkTokenizer(self.lexicon)


class NamesReader:
    """Splits texts into unchanged texts and detected entities (``EntityMention``).

    Args:
        reading: The lexicon, the classifier and the rules that read texts under the options of the call.

    Privacy:
        The object caches words of the texts. It must not outlive the call.
    """

    def __init__(self, reading: ReadingRules) -> None:
        self._lexicon, self._classifier, self._rules = reading.lexicon, reading.classifier, reading.rules
        self._tokenize_chunk = reading.tokenize_chunk
        self._facts, self._own_types, self._corrects = reading.facts, reading.own_types, True
        self._recent_chunks: dict[str, ChunkTokens] = {}
        self._older_chunks: dict[str, ChunkTokens] = {}

    def read_texts(self, texts: Sequence[str]) -> list[ReadText]:
        """Split the texts of a document into unchanged texts and detected entities, and return them for each text.

        If none of the texts has a capital letter, lower-case words that may be names count as entities. Each JSON
        string and each JSON number in a text is read independently of the rest.
        """
        if any(map(_may_have_json, texts)):
            has_capitals = any(map(self._has_capital, texts))
            streams = [self._stream_json_text(text, has_capitals) for text in texts]
            return [ReadText([*stream], stream.kept_count) for stream in streams]
        windows = [self._iterate_windows(text) for text in texts]
        has_capitals = _contains_capital(texts, windows)
        results: list[ReadText] = []
        for text, text_windows in zip(texts, windows, strict=True):
            finder = self._make_finder(text_windows, text, has_capitals)
            elements = [*self._classify_elements(finder, has_capitals)]
            results.append(ReadText(elements, finder.kept_count))
        return results

    def stream_text(self, text: str) -> "ReadTextStream":
        """Read a document that consists of one text, and return its parts as a stream, to save memory."""
        if _may_have_json(text):
            return self._stream_json_text(text, self._has_capital(text))
        windows = [self._iterate_windows(text)]
        has_capitals = _contains_capital([text], windows)
        finder = self._make_finder(windows[0], text, has_capitals)
        return ReadTextStream(finder, self._classify_elements(finder, has_capitals))

    def _make_finder(self, windows: Iterator[TokenWindow], text: str, capitals: bool, cue: str = "") -> SpanFinder:
        return SpanFinder(windows, self._lexicon, has_breaks=_has_line_breaks(text), has_capitals=capitals, cue=cue)

    def without_corrections(self) -> "NamesReader":
        """Return a reader like this one, with the same caches, that corrects no typing errors."""
        reader = copy(self)
        reader._corrects = False
        return reader

    def _classify_elements(
        self, finder: SpanFinder, has_capitals: bool, is_secret: bool = False, is_json: bool = False
    ) -> Iterator[str | EntityMention]:
        """Yield the unchanged parts and the detected entities of a text, in turn.

        The option ``facts`` leaves public facts, such as weekdays, unchanged. In a secret, such as a password
        (``is_secret``), it leaves nothing unchanged.

        Args:
            finder: Finder of the spans (tokens of one entity) in a text.
            has_capitals: Whether the document has a capital letter.
            is_secret: Whether the text is the value of a JSON key such as ``password``.
            is_json: Whether the text is a part of JSON.
        """
        elements = self._classifier.classify_elements(finder.iterate_blocks(), has_capitals)
        if self._facts is None or is_secret:
            return elements
        return self._facts.keep_facts(
            elements,
            finder,
            lambda span: self._classifier.classify_span(span, has_capitals),
            may_correct=self._corrects and has_capitals and not is_json,  # keys and values of JSON stay as they are
        )

    def _has_capital(self, text: str) -> bool:
        """Return whether a word of a text with JSON has a capital letter."""
        known = set[str]()  # keys of JSON repeat
        for number, part in enumerate(split_json(text)):
            if not number % STEPS_PER_CHECK:
                check_work()
            if part.kind == COPIED or part.text in known:
                continue
            if _contains_capital([part.text], [self._iterate_windows(part.text)]):
                return True
            if len(part.text) <= _MAX_CACHED_LENGTH and len(known) < _MAX_CHUNKS:
                known.add(part.text)
        return False

    def _stream_json_text(self, text: str, has_capitals: bool) -> "ReadTextStream":
        """Return a stream of the unchanged parts and detected entities of a text with JSON.

        The syntax of the JSON is copied. Each JSON string, key and number, and the text around the JSON, is read alone.

        Args:
            text: The text.
            has_capitals: Whether the document has a capital letter.
        """
        counts = [0]
        return ReadTextStream(counts, self._iterate_json_elements(text, has_capitals, counts))

    def _iterate_json_elements(self, text: str, has_capitals: bool, counts: list[int]) -> Iterator[str | EntityMention]:
        """Yield the parts of a text with JSON, and add the number of unchanged words to ``counts[0]``.

        Args:
            text: The text.
            has_capitals: Whether the document has a capital letter.
            counts: List with the count, which the method changes.
        """
        cached_parts: dict[tuple[str, bool, bool, str], tuple[tuple[str | EntityMention, ...], int]] = {}
        kept_texts, words = list[str](), self._lexicon.rules.facts
        depth, hides_nested = -1, False  # brackets open behind the key of a secret; -1: no such key
        cue, cue_depth = "", 0  # the cue that the last key is, and brackets open behind it
        for number, (part, following) in enumerate(pairwise(chain(split_json(text), (_NO_PART,)))):
            if not number % STEPS_PER_CHECK:
                check_work()
            if part.kind == COPIED:
                kept_texts.append(part.text)
                if depth >= 0:
                    depth = count_open_brackets(part.text, depth)
                if cue and (cue_depth := count_open_brackets(part.text, cue_depth)) < 0:
                    cue = ""
                continue
            is_key = part.kind == TEXT and _KEY_END.match(following.text) is not None and following.kind == COPIED
            is_secret = depth >= 0 and not is_key
            cue = "" if is_key else cue
            cached_as = part.text, is_key, is_secret, cue
            cached = cached_parts.get(cached_as)
            if cached is None:
                keeps_common = has_capitals or (is_key and part.text.isascii() and part.text.isalpha())
                finder = self._make_finder(self._iterate_windows(part.text), part.text, keeps_common, cue)
                elements: Iterable[str | EntityMention] = self._classify_elements(
                    finder, has_capitals, is_secret, is_json=number > 0 or following is not _NO_PART
                )
                if is_key or (len(part.text) <= _MAX_CACHED_LENGTH and len(cached_parts) < _MAX_CHUNKS):
                    elements = tuple(elements)
                if len(part.text) <= _MAX_CACHED_LENGTH and len(cached_parts) < _MAX_CHUNKS:
                    cached_parts[cached_as] = tuple(elements), finder.kept_count
            else:
                elements, finder = cached[0], None
            if is_key:
                elements = key = tuple(elements)
                cue, cue_depth = find_value_cue(key, words), 0
                if self._facts is not None and not (depth > 0 and hides_nested):
                    depth = 0 if self._facts.names_secret(key) else -1
                    hides_nested = all(isinstance(element, str) for element in key)
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
        """Yield the tokens of a text, a few lines at a time.

        All tokens together would need many times the memory of the text.
        """
        words, spellings, special_indices = list[NamesToken](), list[str](), array("I")
        gap, searched_to = "", 0
        masked = None if self._own_types is None else self._own_types.mask_text(text)
        text = text if masked is None else masked.text
        is_long = len(text) > _BLOCK_CHARACTERS  # a short text is read so fast that it needs no check for cancellation
        may_end_window = is_long and _has_line_breaks(text)
        for chunks in _iterate_chunk_lists(text) if is_long else (text.split(" "),):
            if is_long:
                check_work()
            if len(self._recent_chunks) > _MAX_CHUNKS:
                self._recent_chunks, self._older_chunks = {}, self._recent_chunks
            found = self._lexicon.tokenize_chunks(chunks, self._recent_chunks, self._older_chunks, self._tokenize_chunk)
            for chunk, chunk_tokens in zip(chunks, found, strict=True):
                if masked is not None:
                    chunk_tokens = masked.fill_chunk(chunk, chunk_tokens, self._tokenize_chunk)
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
                if may_have_spelled(words, special_indices):
                    merge_spelled(words, spellings, special_indices, self._rules)
                yield TokenWindow(words, spellings, special_indices)
                words, spellings, special_indices = rest
            searched_to = max(1, len(words) - 1)
        if is_long:
            check_work()
        spellings.append(gap[:-1])
        if may_have_spelled(words, special_indices):
            merge_spelled(words, spellings, special_indices, self._rules)
        yield TokenWindow(words, spellings, special_indices)


def write_json_elements(part: JsonPart, elements: Iterable[str | EntityMention]) -> Iterator[str | EntityMention]:
    """Yield the texts and detected entities of a part of JSON, with the original escapes in its strings.

    A number becomes an entity whose replacement is a valid JSON number.

    Args:
        part: The part of JSON.
        elements: Unchanged texts and entities of this part, in order.
    """
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
    """Yield the parts of a text between single blanks, in lists of some thousands.

    To split the whole text at once would need much memory.
    """
    start = 0
    while (end := text.find(" ", start + _BLOCK_CHARACTERS)) >= 0:
        yield text[start:end].split(" ")
        start = end + 1
    yield text[start:].split(" ")


def _may_have_json(text: str) -> bool:
    return ('"' in text or "[" in text) and JSON_START.search(text) is not None


def _has_line_breaks(text: str) -> bool:
    return not text.isprintable() and _LINE_BREAK.search(text) is not None  # no line break is printable


def _find_last_line(words: Sequence[NamesToken], spellings: Sequence[str], searched_to: int, rules: Rules) -> int:
    """Return the index of the word after the last complete line among some tokens; 0 if no line is complete.

    A line is not complete if a number in words, or a name in single letters, may continue on the next line.

    Args:
        words: Tokens of a text.
        spellings: The gap (blanks and marks) before each token, and the text of the token, in turn.
        searched_to: Index up to which an earlier call has searched. The search covers only the tokens after it.
        rules: Rules of the language, such as number words and date formats.
    """
    for index in range(len(words) - 1, searched_to, -1):
        if not LINE_BREAKS.isdisjoint(spellings[2 * index]) and not may_span_gap(words, spellings, index, rules):
            return index
    return 0


def _contains_capital(texts: Sequence[str], windows: list[Iterator[TokenWindow]]) -> bool:
    """Return whether a word in any of the texts has a capital letter.

    The function reads items of ``windows`` (the tokens of each text, a few lines at a time). Afterward ``windows``
    yields these items again.
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
