"""Patterns of the user's own entity types: a safe subset of regular expressions.

A pattern becomes a position automaton (Glushkov, 1961). It has one position for each character class of the pattern.
For each position, the automaton states which positions may follow. The matcher follows all possible positions at once
and never backtracks, so its time is linear in the length of the text. Each character of a match belongs to one
position. The character classes of these positions, in order, are the *layout* of the match. A layout is a pattern
itself, such as ``EMP[0-9]{5}``. The surrogate (replacement) of a match has a random character of each class.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from string import ascii_letters, digits
from typing import NamedTuple

from textveil.errors import OptionError
from textveil.text.word_characters import is_word_character

#: Largest number of patterns of a call, of characters and positions of a pattern, and of characters of a match.
MAX_PATTERNS, MAX_PATTERN_LENGTH, MAX_POSITIONS, MAX_MATCH = 32, 200, 400, 64
#: A pool of surrogates for a layout has at most this many, so that each index is exact in every language.
MAX_POOL = 1 << 52
_TYPE_NAME = re.compile(r"[a-z](?:[a-z0-9_-]{0,30}[a-z0-9])?")
#: Characters of patterns: printable ASCII, without those that begin, end or escape JSON.
_ALPHABET = frozenset(map(chr, range(0x20, 0x7F))) - frozenset('"\\[]{}')
_SPECIAL = frozenset("\\^$.|?*+()[]{}")
_SHORT_CLASSES = {"d": digits, "w": ascii_letters + digits + "_"}
_BOUNDS = re.compile(r"\{([0-9]{1,3})(?:(,)([0-9]{0,3}))?\}")
#: Largest number of nodes of a pattern whose repetitions are written out.
_MAX_NODES = 1 << 12
#: Number of steps that a matcher caches.
_MAX_STEPS = 1 << 14
_SUPPORTED = (
    r"supported are classes such as [A-Z0-9], \d, \w, groups, |, ?, {m,n}, and + and * after one character or class"
)


@dataclass(frozen=True, kw_only=True)
class _Node:
    """A node of the syntax tree of a pattern.

    The node is a character class, a choice of alternatives, a sequence, or the repetition of its only child.

    Attributes:
        kind: ``class``, ``alternatives``, ``sequence`` or ``repetition``.
        members: Characters of a class.
        children: Child nodes; empty for a class.
        least: Lowest number of repetitions.
        most: Highest number of repetitions; ``None`` without a limit.
    """

    kind: str
    members: str = ""
    children: "tuple[_Node, ...]" = ()
    least: int = 1
    most: int | None = 1


class _PatternError(Exception):
    """Raised if a pattern of the user is not supported.

    The text of the error is the end of a sentence that begins with ``pattern 1``.
    """


class _PatternParser:
    """Recursive-descent parser of one pattern in the supported subset of regular expressions.

    Args:
        pattern: The pattern.
    """

    def __init__(self, pattern: str) -> None:
        self._text, self._at = pattern.removeprefix(r"\b"), 0
        if self._text.endswith(r"\b"):
            self._text = self._text[:-2]

    def parse(self) -> _Node:
        """Parse the pattern, and return its syntax tree."""
        node = self._parse_alternatives()
        if self._at < len(self._text):
            raise _PatternError("has a closing bracket without an opening one: add the opening one")
        return node

    def _parse_alternatives(self, depth: int = 0) -> _Node:
        if depth > 20:
            raise _PatternError("has more than 20 groups inside each other: use fewer")
        choices = [self._parse_sequence(depth)]
        while self._text.startswith("|", self._at):
            self._at += 1
            choices.append(self._parse_sequence(depth))
        return choices[0] if len(choices) == 1 else _Node(kind="alternatives", children=tuple(choices))

    def _parse_sequence(self, depth: int) -> _Node:
        nodes: list[_Node] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            nodes.append(self._parse_repetition(self._parse_atom(depth)))
        return _Node(kind="sequence", children=tuple(nodes))

    def _parse_atom(self, depth: int) -> _Node:
        character = self._text[self._at]
        self._at += 1
        if character == "(":
            if self._text.startswith("?", self._at):
                if not self._text.startswith("?:", self._at):
                    raise _PatternError(
                        'has a group that begins with "(?": of these only "(?:" is supported, without names and flags'
                    )
                self._at += 2
            node = self._parse_alternatives(depth + 1)
            if not self._text.startswith(")", self._at):
                raise _PatternError("has a group without a closing bracket: add the bracket")
            self._at += 1
            return node
        if character == "[":
            return _Node(kind="class", members=self._parse_class())
        if character == "\\":
            return _Node(kind="class", members=self._parse_escape())
        if character in "?*+{":
            raise _PatternError("has a repetition with nothing before it: write what to repeat")
        if character in _SPECIAL:
            raise _PatternError(f"has the special character {character}: {_SUPPORTED}")
        return _Node(kind="class", members=_check_character(character))

    def _parse_escape(self) -> str:
        character = self._text[self._at : self._at + 1]
        self._at += 1
        if character in _SHORT_CLASSES:
            return _SHORT_CLASSES[character]
        if not character or character.isalnum() or not character.isascii():
            raise _PatternError(f"has an escape or a back reference: {_SUPPORTED}")
        return _check_character(character)

    def _parse_class(self) -> str:
        members = set[str]()
        if self._text.startswith("^", self._at):
            raise _PatternError(f"has a negated class such as [^a]: {_SUPPORTED}")
        while not self._text.startswith("]", self._at):
            first = self._parse_member()
            is_range = self._text.startswith("-", self._at) and self._text[self._at + 1 : self._at + 2] not in ("", "]")
            if not is_range:
                members.update(first)
                continue
            self._at += 1
            last = self._parse_member()
            if len(first) != 1 or len(last) != 1 or first > last:
                raise _PatternError("has a range of characters in the wrong order: begin with the lower one")
            members.update(chr(code) for code in range(ord(first), ord(last) + 1) if chr(code) in _ALPHABET)
        self._at += 1
        if not members:
            raise _PatternError("has an empty class: add a character between [ and ]")
        return "".join(sorted(members))

    def _parse_member(self) -> str:
        character = self._text[self._at : self._at + 1]
        if not character:
            raise _PatternError("has a character class without a closing ]: add the bracket")
        self._at += 1
        return self._parse_escape() if character == "\\" else _check_character(character)

    def _parse_repetition(self, node: _Node) -> _Node:
        mark = self._text[self._at : self._at + 1]
        if mark not in ("?", "*", "+", "{"):
            return node
        if mark == "{":
            match = _BOUNDS.match(self._text, self._at)
            if match is None:
                raise _PatternError(
                    'has a "{" without a repetition of at most 999 times, such as {2}: write one, or remove the bracket'
                )
            least = int(match[1])
            most = least if match[2] is None else int(match[3]) if match[3] else None
            self._at = match.end()
        else:
            least, most = {"?": (0, 1), "*": (0, None), "+": (1, None)}[mark]
            self._at += 1
        if self._text[self._at : self._at + 1] in ("?", "*", "+", "{"):
            raise _PatternError(f"repeats a repetition: {_SUPPORTED}")
        if most is None and node.kind != "class":
            raise _PatternError(f"repeats a group without a limit: {_SUPPORTED}")
        if most is not None and (most < least or most == 0):
            raise _PatternError("has a repetition whose maximum is 0 or below its minimum: raise the maximum")
        return _Node(kind="repetition", children=(node,), least=least, most=most)


def _check_character(character: str) -> str:
    if character not in _ALPHABET:
        raise _PatternError(
            'has a character that no pattern matches: remove it; patterns match printable ASCII without " \\ [ ] { }'
        )
    return character


class _Fragment(NamedTuple):
    """The part of an automaton that belongs to one node of the syntax tree of a pattern.

    The tuple has three values: whether the part matches the empty string, its first positions, and its last positions
    (as bit masks).
    """

    nullable: bool
    first: int
    last: int


@dataclass(frozen=True, kw_only=True)
class PatternMatch:
    """A match of a pattern in a text.

    Attributes:
        start: Index of the first character.
        end: Index after the last character.
        entity_type: Name of the entity type.
        layout: The character class of each character, as a pattern such as ``EMP[0-9]{5}``.
    """

    start: int
    end: int
    entity_type: str
    layout: str


class PatternMatcher:
    """Finds the matches of all patterns of the user in a text, in time linear in its length.

    A match is a whole word: no letter, digit, combining mark or ``_`` is directly before or after it. If several
    matches begin at one position, the longest one counts. If they are equally long, the earlier pattern counts.

    Args:
        patterns: The patterns of the user, as a dictionary from the name of the type to the pattern.
        reserved_names: Names of built-in entity types, which the user's types must not have.

    Raises:
        OptionError: A name or a pattern is not supported.
    """

    def __init__(self, patterns: Mapping[str, str], reserved_names: frozenset[str] = frozenset()) -> None:
        self._classes: list[str] = []
        self._follow: list[int] = []
        self._first = self._last = 0
        self._names: list[str] = []
        self._built = 0
        if len(patterns) > MAX_PATTERNS:
            raise OptionError(f"patterns: more than {MAX_PATTERNS} patterns: join some of them with |")
        for number, (name, pattern) in enumerate(patterns.items(), 1):
            if not _TYPE_NAME.fullmatch(name) or name in reserved_names:
                problem = "is that of a built-in type" if name in reserved_names else "is not supported"
                raise OptionError(
                    f"patterns: the name of pattern {number} {problem}: choose another one, of letters a-z, digits,"
                    " - and _"
                )
            try:
                self._add_pattern(name, pattern)
            except _PatternError as error:
                raise OptionError(f"patterns: pattern {number} {error}") from None
        self._masks: dict[str, int] = {}
        for position, members in enumerate(self._classes):
            for character in members:
                self._masks[character] = self._masks.get(character, 0) | 1 << position
        starts = sorted(character for character, mask in self._masks.items() if mask & self._first)
        self._start = re.compile(f"[{''.join(map(re.escape, starts))}]")
        self._steps: dict[tuple[int, str], int] = {}

    def _add_pattern(self, name: str, pattern: str) -> None:
        if len(pattern) > MAX_PATTERN_LENGTH:
            raise _PatternError(f"has more than {MAX_PATTERN_LENGTH} characters: shorten it")
        before, self._built = len(self._classes), 0
        fragment = self._build(_PatternParser(pattern).parse(), before)
        self._names += [name] * (len(self._classes) - before)
        if fragment.nullable:
            raise _PatternError("matches the empty string: require at least one character")
        edges = fragment.first | fragment.last
        if any(edges >> place & 1 and " " in members for place, members in enumerate(self._classes)):
            raise _PatternError("begins or ends with a blank: remove the blank")
        self._first |= fragment.first
        self._last |= fragment.last

    def _build(self, node: _Node, before: int) -> _Fragment:
        """Add the character classes of a syntax node to the automaton, and return the node's part of the automaton.

        Args:
            node: The node.
            before: Number of positions (occurrences of character classes) of all earlier patterns.
        """
        self._built += 1  # nodes without a position count too: ``((){9}){9}``
        if len(self._classes) - before >= MAX_POSITIONS or self._built > _MAX_NODES:
            raise _PatternError("is too large once its repetitions are expanded: repeat fewer times")
        if node.kind == "class":
            self._classes.append("".join(sorted(node.members)))
            self._follow.append(0)
            return _Fragment(False, *[1 << len(self._classes) - 1] * 2)
        if node.kind == "alternatives":
            made = [self._build(choice, before) for choice in node.children]
            return _Fragment(
                any(one.nullable for one in made), sum(one.first for one in made), sum(one.last for one in made)
            )
        whole = _Fragment(True, 0, 0)
        if node.kind == "sequence":
            for part in node.children:
                whole = self._append(whole, self._build(part, before))
            return whole
        (child,), least, most = node.children, node.least, node.most
        for count in range(least if most is None else most):
            one = self._build(child, before)
            whole = self._append(whole, one._replace(nullable=one.nullable or count >= least))
        if most is None:
            if least == 0:
                whole = self._build(child, before)._replace(nullable=True)
            position = whole.last.bit_length() - 1
            self._follow[position] |= 1 << position
        return whole

    def _append(self, before: _Fragment, after: _Fragment) -> _Fragment:
        for place in _iterate_bits(before.last):
            self._follow[place] |= after.first
        return _Fragment(
            before.nullable and after.nullable,
            before.first | (after.first if before.nullable else 0),
            after.last | (before.last if after.nullable else 0),
        )

    def find_next(self, text: str, start: int) -> PatternMatch | None:
        """Return the first match of a pattern that begins at ``start`` or later; ``None`` if there is none."""
        for candidate in self._start.finditer(text, start):
            begin = candidate.start()
            if begin and is_part_of_word(text[begin - 1]):
                continue
            end = self._find_end(text, begin)
            if end:
                return self._describe(text, begin, end)
        return None

    def _find_end(self, text: str, start: int) -> int:
        """Return the end of the longest match that begins at ``start``; 0 if there is none."""
        state, end = self._first & self._masks[text[start]], 0
        for at in range(start + 1, min(len(text), start + MAX_MATCH) + 1):
            following = text[at : at + 1]
            if state & self._last and not (following and is_part_of_word(following)):
                end = at
            if not following:
                break
            state = self._step(state, following)
            if not state:
                break
        return end

    def _step(self, state: int, character: str) -> int:
        mask = self._masks.get(character, 0)
        if not mask:
            return 0
        reached = self._steps.get((state, character))
        if reached is None:
            reached = 0
            for place in _iterate_bits(state):
                reached |= self._follow[place]
            reached &= mask
            if len(self._steps) >= _MAX_STEPS:
                self._steps.clear()
            self._steps[state, character] = reached
        return reached

    def _describe(self, text: str, start: int, end: int) -> PatternMatch:
        """Return the match ``text[start:end]`` with its layout (its character classes, such as ``EMP[0-9]{5}``).

        If the pattern can match the text in several ways, its earliest character classes give the layout.
        """
        states = [self._first & self._masks[text[start]]]
        for character in text[start + 1 : end]:
            states.append(self._step(states[-1], character))
        states[-1] &= self._last
        for at in range(len(states) - 2, -1, -1):
            states[at] = sum(1 << place for place in _iterate_bits(states[at]) if self._follow[place] & states[at + 1])
        path = [(states[0] & -states[0]).bit_length() - 1]
        for state in states[1:]:
            reached = state & self._follow[path[-1]]
            path.append((reached & -reached).bit_length() - 1)
        layout = format_layout([self._classes[place] for place in path])
        return PatternMatch(start=start, end=end, entity_type=self._names[path[0]], layout=layout)


def _iterate_bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def is_part_of_word(character: str) -> bool:
    """Return whether a character directly before or after a match shows that the match is only a part of a word."""
    return character == "_" or is_word_character(character) or character.isalpha()  # letters of newer Unicode versions


def format_layout(classes: Sequence[str]) -> str:
    """Write a sequence of character classes as a pattern.

    Example:
        >>> format_layout(["E", "0123456789", "0123456789"])
        'E[0-9]{2}'
    """
    return "".join(
        _format_class(members) + (f"{{{count}}}" if (count := len([*repeated])) > 1 else "")
        for members, repeated in groupby(classes)
    )


@lru_cache(1024)
def _format_class(members: str) -> str:
    if len(members) == 1:
        return _escape(members)
    written = list[str]()
    codes = [*map(ord, members)]
    start = 0
    for end in range(1, len(codes) + 1):
        if end < len(codes) and codes[end] == codes[end - 1] + 1:
            continue
        first, last = members[start], members[end - 1]
        written.append(
            f"{_escape(first)}-{_escape(last)}" if end - start > 2 else "".join(map(_escape, members[start:end]))
        )
        start = end
    return f"[{''.join(written)}]"


def _escape(character: str) -> str:
    return character if character.isalnum() or character in " _" else f"\\{character}"


@lru_cache(256)
def parse_layout(layout: str) -> tuple[str, ...]:
    """Return the characters of each class of a layout (a pattern such as ``EMP[0-9]{5}``), in order."""
    classes: list[str] = []
    for node in _PatternParser(layout).parse().children:
        repeated = node.children[0] if node.kind == "repetition" else node
        classes += [repeated.members] * node.least
    return tuple(classes)


@lru_cache(256)
def _find_free_start(layout: str) -> tuple[int, int]:
    """Return the index of the first character that varies among a layout's surrogates, and the number of surrogates.

    A surrogate is a possible replacement of a match, and a layout is a pattern such as ``EMP[0-9]{5}``. There are at
    most ``MAX_POOL`` surrogates: in a long layout, all of them have the same first characters.
    """
    classes, size = parse_layout(layout), 1
    for place in range(len(classes) - 1, -1, -1):
        if size * len(classes[place]) > MAX_POOL:
            return place + 1, size
        size *= len(classes[place])
    return 0, size


def count_layout_surrogates(layout: str) -> int:
    """Return how many surrogates (possible replacements) a layout such as ``EMP[0-9]{5}`` has: at most ``MAX_POOL``.

    Each string that the layout matches is a surrogate. If there are more than ``MAX_POOL``, only the last characters
    vary, and each other character is the first one of its class.
    """
    return _find_free_start(layout)[1]


def spell_layout_surrogate(layout: str, index: int) -> str:
    """Return the surrogate (replacement) with the given index for a layout such as ``EMP[0-9]{5}``.

    Each digit of the index, written as a mixed-radix number, selects a character of one class. The last digit belongs
    to the last class.

    Example:
        >>> spell_layout_surrogate("EMP[0-9]{5}", 123)
        'EMP00123'
    """
    classes, (free, _) = parse_layout(layout), _find_free_start(layout)
    written: list[str] = []
    for place in range(len(classes) - 1, -1, -1):
        chosen = 0
        if place >= free:
            index, chosen = divmod(index, len(classes[place]))
        written.append(classes[place][chosen])
    return "".join(reversed(written))
