"""The template of a text: each token is kept, a member of an entity type, or randomized."""

import unicodedata
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from .bundle import Bundle
from .characters import APOSTROPHES, TO_ASCII
from .files import check
from .inputs import CLITICS, case_pattern, key_of
from .segments import LONGEST_WORD, emoticon_from, find_segments, is_blank
from .shapes import SHAPES, shape_of

AUXILIARIES = """do does did is are was were am ai has have had wo ca sha could would should must might may need dare
ought""".split()
VISIBLE, MEMBER, MENTION = "visible", "member", "mention"
MARKS = ".,;:!?-()'\""
SENTENCE_ENDS = set(".!?\n\x0b\x0c\r\x85\u2028\u2029")


@dataclass(frozen=True)
class Token:
    """One token: its role and case pattern, and what the role needs.

    `key` is printed of a visible token, `symbol` is the input of a mention, `kind` the number of a kind. `equal` is
    by what a token is equal to others where draws are consistent; None if it is equal to none.
    """

    role: str
    case: str
    key: str = ""
    symbol: int = -1
    kind: int = -1
    equal: Any = None


class TemplateReader:
    """The rule of one request.

    Options, all of which may be missing: protect ("words" or "all"), deny, case, and sanitize_punctuation.
    """

    def __init__(self, bundle: Bundle, options: dict[str, Any]) -> None:
        check(bundle.staircase is not None, "a bundle without a staircase")
        self.bundle, self.lists = bundle, bundle.staircase
        default = self.lists.defaults["mode"]
        self.visible = options.get("protect", default) == "words"
        self.bare = options.get("sanitize_punctuation", False)
        self.denied = {key for entry in options.get("deny", ()) for key in denied_keys(entry)}
        by_shape = [(shape, number) for number, (shape, _) in enumerate(self.lists.kinds.values()) if shape is not None]
        check({shape for shape, _ in by_shape} in (set(), set(SHAPES)), "kinds have all shapes or none")
        self.of_shape = dict(by_shape)
        self.by_list: dict[str, list[tuple[int, bool]]] = {}  # of each key the kinds, and whether a capital is needed
        for number, (shape, entries) in enumerate(self.lists.kinds.values()):
            for entry, marks in entries.items() if shape is None else ():
                self.by_list.setdefault(entry, []).append((number, "capitalized" in marks))

    def unknown(self, case: str, written: str) -> Token:
        """Return a mention of V."""
        return Token(MENTION, case, symbol=self.bundle.unknown, equal=(MENTION, key_of(written)))

    def known(self, case: str, key: str) -> Token:
        """Return a mention of a key, V where it is missing."""
        symbol = self.bundle.look_up(key)
        return Token(MENTION, case, symbol=symbol, equal=(MENTION, key if symbol == self.bundle.unknown else symbol))

    def string(self, string: str) -> Token:
        """Return the token of a string."""
        if len(string) > LONGEST_WORD or not self.of_shape:
            return self.unknown("lower", string)
        kind = self.of_shape[shape_of(string)]
        return Token(MEMBER, "lower", kind=kind, equal=(kind, key_of(string)))

    def stem(self, stem: str, starts: bool) -> Token:
        """Return the token of a word without its clitics."""
        key, case = key_of(stem), case_pattern(stem)
        for kind, needs_capital in self.by_list.get(key, []):
            if not (needs_capital and case == "lower"):
                return Token(MEMBER, case, kind=kind, equal=(kind, key))
        if not self.visible or key not in self.lists.function_words:
            return self.known(case, key)
        spelled = unicodedata.normalize("NFKC", stem).translate(TO_ASCII)
        title = key[:1].upper() + key[1:]
        may_be_title = key == "i" or (starts and "name-like" not in self.lists.function_words[key])
        if spelled == key or (may_be_title and spelled == title):
            return Token(VISIBLE, case, key)
        return self.unknown(case, stem)

    def word(self, word: str, starts: bool) -> tuple[list[Token], list[str]]:
        """Return the tokens of a word, and the output of each."""
        if self.visible and word[0] in "'’":
            return [
                self.unknown("lower", word) if key_of(word) in self.denied else Token(VISIBLE, "lower", key_of(word))
            ], [word]
        stem, cut = word, []
        while (size := clitic_at_end(stem)) > 0:
            cut.insert(0, stem[len(stem) - size :])
            stem = stem[: len(stem) - size]
        first = self.stem(stem, starts)
        if self.visible and len(stem) > 3 and key_of(stem[-3:]) == "n't" and key_of(stem[:-3]) in AUXILIARIES:
            auxiliary = self.stem(stem[:-3], starts)
            if auxiliary.role == VISIBLE:
                first, cut, stem = auxiliary, [stem[-3:], *cut], stem[:-3]
            else:
                first = self.unknown(case_pattern(stem), stem)
        case = "UPPER" if first.case == "UPPER" else "lower"
        keys = [key_of(clitic) for clitic in cut]
        clitics = [Token(VISIBLE, case, key) if self.visible else self.known(case, key) for key in keys]
        whole = self.unknown(first.case, word)
        if key_of(word) in self.denied or self.denied & set(keys):
            return [whole], [word]
        if key_of(stem) in self.denied:
            if "n't" in keys:
                return [whole], [word]
            first = self.unknown(first.case, stem)
        return [first, *clitics], [stem, *cut]

    def tokens(self, kind: str, segment: str, starts: bool) -> list[Token]:
        """Return the tokens of a word or a string."""
        if kind == "word":
            found = self.word(segment, starts)[0]
        elif key_of(segment) in self.denied:
            found = [self.unknown("lower", segment)]
        else:
            found = [self.string(segment)]
        return [replace(token, case="lower") for token in found] if self.bare else found

    def read(self, text: str) -> list[str | list[Token]]:
        """Return a text as gaps, and the tokens of each word or string."""
        items: list[str | list[Token]] = []
        gap, first = "", True
        for kind, segment in find_segments(text, lone_clitics=self.visible and not self.bare):
            if kind != "gap":
                starts = first or (not self.bare and not SENTENCE_ENDS.isdisjoint(gap))
                items.append(self.tokens(kind, segment, starts))
                gap, first = "", False
                continue
            gap += segment
            mark = Token(MEMBER, "lower", kind=len(self.lists.kinds))
            items += [[mark] for c in segment if not is_blank(c)] if self.bare else [segment]
        return items

    @cached_property
    def outputs(self) -> list[list[str]]:
        """The outputs of each kind, then those of marks."""
        lists = [entries for _, entries in self.lists.kinds.values()]
        return [[entry for entry, marks in one.items() if "member-only" not in marks] for one in lists] + [list(MARKS)]


def check_lists(bundle: Bundle) -> None:
    """Refuse lists with an entry that no text could have, or that is not of its kind."""
    lists = bundle.staircase
    check(lists is not None, "a bundle without a staircase")
    shapes = {shape for shape, _ in lists.kinds.values() if shape is not None}
    check(shapes in (set(), set(SHAPES)), "kinds have all shapes or none")
    for word in lists.function_words:
        check(word in CLITICS or kinds_of_segments(word) == ["word"], "a function word is not a word")
    for shape, entries in lists.kinds.values():
        check(shape is None or not any(entries.values()), "an entry of a shape has a mark")
        check(any("member-only" not in marks for marks in entries.values()), "a kind has no output")
        for entry, marks in entries.items():
            if " " in entry and "member-only" in marks:  # a phrase, which only the mode names finds
                check(shape is None and all(entry.split(" ")) and key_of(entry) == entry, "a phrase")
                continue
            found = kinds_of_segments(entry)
            clitic = any(entry.endswith(one) and entry != one for one in CLITICS)
            check(found == ["word"] and not clitic if shape is None else found == ["string"], "an entry of a kind")
            check(shape is None or (shape_of(entry) == shape and not emoticon_from(entry, 0)), "another shape")


def kinds_of_segments(entry: str) -> list[str]:
    """Return the kinds of the segments of an entry; it must be folded."""
    check(key_of(entry) == entry, "an entry is not folded")
    return [kind for kind, _ in find_segments(entry)]


def clitic_at_end(word: str) -> int:
    """Return the length of the clitic that may be cut off, 0 if there is none; `n't` has a rule of its own."""
    for size in (2, 3):
        end = word[-size:]
        if len(word) > size and end[0] in APOSTROPHES + "＇" and key_of(end) in CLITICS:
            return size
    return 0


def denied_keys(entry: str) -> list[str]:
    """Return the keys that a denied entry covers."""
    start, end = int(entry.startswith("\ufeff")), len(entry)
    while start < end and (is_blank(entry[start]) or entry[start] in "\x1c\x1d\x1e\x1f"):
        start += 1
    while start < end and (is_blank(entry[end - 1]) or entry[end - 1] in "\x1c\x1d\x1e\x1f"):
        end -= 1
    words = [segment for kind, segment in find_segments(entry[start:end]) if kind != "gap"]
    return [key_of(entry[start:end]), *map(key_of, words)] if words else []
