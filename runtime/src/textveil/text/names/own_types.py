"""Entity types of the user: strings that match a pattern, and names of listed persons.

A match is a part of a text with a string of such a type. Before the rules of the mode ``names`` read a text, a made-up
word replaces each match. So the rules never read a match, and no decision about the text around a match depends on it.
Afterward, the token of the match takes the place of the made-up word's token. A longer string that contains a match,
such as an email address, is replaced as a whole.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from textveil.bundle.names_files import NamesLists
from textveil.text.names.entity_types import PUBLIC_TYPE_NAMES, EntityClassifier, EntityMention
from textveil.text.names.known_persons import (
    KnownMatch,
    KnownPersons,
    make_known_mention,
    make_known_token,
)
from textveil.text.names.lexicon import pack_tokens
from textveil.text.names.own_patterns import (
    PatternMatch,
    PatternMatcher,
    count_layout_surrogates,
    spell_layout_surrogate,
)
from textveil.text.names.surrogates import MIN_CONSISTENT_POOL, SurrogatePools
from textveil.text.names.tokens import (
    CAPITALIZED_RUN,
    DIGIT_GROUP,
    GAP,
    HOLDS_OWN,
    JSON_NUMBER_CASE,
    KNOWN_PERSON,
    LONE_INITIAL,
    REPLACED,
    ChunkTokens,
    EntitySpan,
    NamesToken,
)
from textveil.text.segmentation import LOWER, fold_word

#: The word that takes the place of a match: it is on no list, and has no ending of a list.
PLACEHOLDER = "qxzjvk"
#: The mark before a hashtag, and a match that looks like a hashtag.
_HASH, _TAGGED = "#", f"#{PLACEHOLDER}"
#: Names that no own type may have, besides those of the types with surrogates.
_OTHER_NAMES = frozenset((CAPITALIZED_RUN, DIGIT_GROUP, LONE_INITIAL, KNOWN_PERSON, "json", "known", "randomized"))

_NOT_ALPHANUMERIC = re.compile("[^a-z0-9]+")

_Match = PatternMatch | KnownMatch | None


class PlaceholderText:
    """A text in which the word ``PLACEHOLDER`` replaces each match of the user's own entity types.

    Args:
        text: The original text.
        matches: The matches of the user's patterns and listed persons, in order.

    Attributes:
        text: The text with placeholders.

    Privacy:
        The object holds the matches, which are private. It must not outlive the call that reads the text.
    """

    def __init__(self, text: str, matches: Sequence[PatternMatch | KnownMatch]) -> None:
        pieces, self._masked, position = list[str](), list[tuple[str, _Match]](), 0
        for match in matches:
            self._add_kept(text[position : match.start], pieces)
            self._masked.append((text[match.start : match.end], match))
            pieces.append(PLACEHOLDER)
            position = match.end
        self._add_kept(text[position:], pieces)
        self.text: str = "".join(pieces)
        self._used = 0

    def _add_kept(self, kept: str, pieces: list[str]) -> None:
        """Append the text before, between or after the matches to ``pieces``.

        If the user's text itself contains the word ``PLACEHOLDER``, this method records each such word. So
        ``fill_tokens`` leaves these words unchanged, and does not mistake them for placeholders of matches.

        Args:
            kept: The text; no match of the user's own entity types is in this text.
            pieces: The parts of the text with placeholders so far.
        """
        self._masked += [(PLACEHOLDER, None)] * kept.count(PLACEHOLDER)
        pieces.append(kept)

    def fill_chunk(self, chunk: str, tokens: ChunkTokens, tokenize_chunk: Callable[[str], ChunkTokens]) -> ChunkTokens:
        """Put the matches back in place of the placeholders in the tokens of the next chunk (text between blanks).

        Args:
            chunk: The chunk with placeholders.
            tokens: The tokens of the chunk.
            tokenize_chunk: The function that splits a chunk into tokens.
        """
        if PLACEHOLDER not in chunk:
            return tokens
        return pack_tokens("", [*self._fill_tokens(_unpack_tokens(tokens), tokenize_chunk)], "")

    def _fill_tokens(
        self, tokens: Iterator[NamesToken], tokenize_chunk: Callable[[str], ChunkTokens]
    ) -> Iterator[NamesToken]:
        """Yield the tokens of a chunk (words, and gaps between them), with the match in place of each placeholder.

        ``OwnTypes.mask_text`` puts one placeholder into a text for each match, in order. A ``#`` directly before a
        match is a gap, as it is before a number: ``#88213``. Only this function can apply that rule, because the
        tokenizer does not know which placeholders are matches.
        """
        for token in tokens:
            if PLACEHOLDER not in token.text:
                yield token
                continue
            if token.entity_type == "hashtag" and token.text.startswith(_TAGGED) and self._masked[self._used][1]:
                yield NamesToken(GAP, _HASH, _HASH)
                yield from self._fill_tokens(_unpack_tokens(tokenize_chunk(token.text[1:])), tokenize_chunk)
                continue
            pieces = token.text.split(PLACEHOLDER)
            masked = self._masked[self._used : self._used + len(pieces) - 1]
            self._used += len(masked)
            if all(match is None for _, match in masked):
                yield token
            elif token.token_class >= REPLACED and any(pieces):
                yield _fill_string(token, [original for original, _ in masked])
            else:  # a placeholder alone, or in a gap or a kept string, which stays as it is around the match
                for piece, (original, match) in zip(pieces, masked, strict=False):
                    if piece:
                        yield NamesToken(GAP, piece, piece)
                    yield _make_token(original, match)
                if pieces[-1]:
                    yield NamesToken(GAP, pieces[-1], pieces[-1])


def _unpack_tokens(chunk: ChunkTokens) -> Iterator[NamesToken]:
    """Yield the words and gaps of a chunk (text between blanks) as tokens, without the blank at its end."""
    if type(chunk) is NamesToken:
        yield chunk
        return
    words, lead, rest, _, tail = chunk
    gap = lead
    for number, word in enumerate((words,) if type(words) is NamesToken else words):
        if number:
            gap = rest[2 * number - 1]
        if gap:
            yield NamesToken(GAP, gap, gap)
        assert type(word) is NamesToken
        yield word
    if tail[:-1]:
        yield NamesToken(GAP, tail[:-1], tail[:-1])


def _fill_string(token: NamesToken, originals: Sequence[str]) -> NamesToken:
    """Put the matches back into the token of a string, such as an email address, that contains placeholders.

    Sanitizing replaces such a token as a whole, in every context.

    Args:
        token: The token.
        originals: The matches, in the order of the placeholders.
    """
    text, key = _fill_placeholders(token.text, originals), _fill_placeholders(token.key, map(fold_word, originals))
    return token._replace(text=text, key=key, flags=HOLDS_OWN)


def _fill_placeholders(text: str, values: Iterable[str]) -> str:
    """Replace the first placeholders of a text by values, in order.

    A value may be the placeholder itself, if the user's text contains this word.
    """
    (first, *rest), left = text.split(PLACEHOLDER), iter(values)
    return first + "".join([next(left, PLACEHOLDER) + piece for piece in rest])


def _make_token(original: str, match: _Match) -> NamesToken:
    if match is None:
        return NamesToken(REPLACED, original, original, LOWER, "word")
    if isinstance(match, PatternMatch):
        return NamesToken(REPLACED, original, original, LOWER, match.entity_type, match.layout, HOLDS_OWN)
    return make_known_token(match, original)


class OwnTypes:
    """The user's own entity types: those of the options ``patterns`` and ``known``.

    Args:
        patterns: The patterns of the user, as a dictionary from the name of the type to the pattern.
        known: Entries of listed persons, one person in each entry.
        lists: The public word lists.
        built_in: Names of the built-in entity types.

    Raises:
        OptionError: A pattern, a name or an entry is not supported.
    """

    def __init__(
        self, patterns: Mapping[str, str], known: Sequence[str], lists: NamesLists, built_in: frozenset[str]
    ) -> None:
        reserved = built_in | {*PUBLIC_TYPE_NAMES, *PUBLIC_TYPE_NAMES.values()} | lists.members_by_type.keys()
        self._patterns = PatternMatcher(patterns, frozenset(reserved | _OTHER_NAMES)) if patterns else None
        self.persons: KnownPersons | None = (
            KnownPersons(known, lists.common_words, lists.members_by_type) if known else None
        )
        self.names: frozenset[str] = frozenset(patterns)

    def mask_text(self, text: str) -> PlaceholderText | None:
        """Replace each match of the options ``patterns`` and ``known`` by a placeholder; ``None`` without a match.

        The option ``patterns`` has patterns of the user, and ``known`` lists persons. If several matches overlap, only
        the one that begins first is replaced. If they begin at the same position, the longest one is replaced; if they
        are equally long, the listed person.
        """
        matches: list[PatternMatch | KnownMatch] = []
        persons = None if self.persons is None else self.persons.iterate_candidates(text)
        position, person, pattern = 0, None, None
        is_first = True
        while True:
            if persons is not None and (is_first or (person is not None and person.start < position)):
                person = persons.find_next(position)
            if self._patterns is not None and (is_first or (pattern is not None and pattern.start < position)):
                pattern = self._patterns.find_next(text, position)
            is_first = False
            if person is None and pattern is None:
                break
            match = person or pattern
            assert match is not None
            if pattern is not None and (pattern.start, -pattern.end) < (match.start, -match.end):
                match = pattern
            matches.append(match)
            position = match.end
        return PlaceholderText(text, matches) if matches else None


class OwnSurrogatePools(SurrogatePools):
    """Holds the possible surrogates (replacements) of built-in entity types and of the user's own types.

    For a match of a user's pattern, a surrogate is a random string of the same character classes.

    Args:
        pools: The surrogate pools of the built-in types.
        own_types: The user's own types.
    """

    def __init__(self, pools: SurrogatePools, own_types: OwnTypes) -> None:
        vars(self).update(vars(pools))
        self.own_types = own_types.names

    def get_size(self, entity_type: str, layout: str) -> int:
        """Return the number of surrogates (possible replacements) of an entity type and layout (public form)."""
        if entity_type in self.own_types:
            return count_layout_surrogates(layout)
        return super().get_size(entity_type, layout)

    def needs_tag(self, entity_type: str, layout: str) -> bool:
        """Return whether a tag must replace an entity, because the user's pattern has too few possible replacements."""
        return entity_type in self.own_types and count_layout_surrogates(layout) < MIN_CONSISTENT_POOL

    def spell_surrogate(self, entity_type: str, layout: str, index: int, case: int) -> str:
        """Return a surrogate (replacement) as text. For a JSON number, the surrogate is a valid JSON number.

        For the arguments see ``SurrogatePools.spell_surrogate``.
        """
        if entity_type not in self.own_types:
            return super().spell_surrogate(entity_type, layout, index, case)
        surrogate = spell_layout_surrogate(layout, index)
        return _write_digits(surrogate) if case == JSON_NUMBER_CASE else surrogate


class OwnEntityClassifier(EntityClassifier):
    """Assigns an entity type to each name, number or other entity. The user's own types are among the types."""

    def classify_span(self, span: EntitySpan, has_capitals: bool) -> EntityMention:
        """Assign an entity type to a span, and return the span with its type (``EntityMention``)."""
        if span.entity_type == KNOWN_PERSON:
            return make_known_mention(span)
        return super().classify_span(span, has_capitals)

    def _is_kept(self, mention: EntityMention) -> bool:
        """Return whether the option ``keep`` leaves a detected entity unchanged.

        The result is false for listed persons, for matches with a word of the option ``deny``, and for longer tokens
        (such as email addresses) in which a pattern of the user matches a part.
        """
        tokens = mention.span.tokens
        is_own = len(tokens) == 1 and tokens[0].entity_type == mention.entity_type and bool(tokens[0].layout)
        if any(token.flags & HOLDS_OWN for token in tokens) and not is_own:
            return False
        if is_own and any(word in self._denied for word in _NOT_ALPHANUMERIC.split(mention.span.text.lower())):
            return False
        return super()._is_kept(mention)


def _write_digits(surrogate: str) -> str:
    """Convert a replacement for a JSON number to a valid JSON number: its digits and its first decimal point."""
    whole, point, decimals = surrogate.partition(".")
    whole, decimals = ("".join(filter(str.isdigit, part)) for part in (whole, decimals))
    return (whole.lstrip("0") or "0") + (f".{decimals}" if point and decimals else "")
