"""The mode `names`, pass 1: the tokens of a chunk (docs/names-rule.md, "Pass 1: tokens")."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace

from .characters import is_in
from .inputs import case_pattern, key_of
from .names_emoji import cut, kind_of_sequence
from .names_strings import NUMBERS, half_of_code, is_word_character, kind_of, with_unit
from .names_words import Token, Words

WHOLE = set("a.m p.m i.e e.g e-mail e-mails e-book e-books x-ray x-rays t-shirt t-shirts u-turn 24/7".split())
ENTITIES = [f"&{name};" for name in "amp quot lt gt nbsp apos mdash ndash hellip".split()]
BARE = ("quot;", "amp;", "lt;", "gt;")
NUMBERED = {
    *range(33, 48), *range(58, 65), *range(91, 97), *range(123, 127), *range(145, 149), 150, 151, 160, 8211, 8212, 8216,
    8217, 8220, 8221, 8222, 8226, 8230,
}  # fmt: skip
LOST_CLITICS = set("s t d m ll re ve".split())
LONE_CLITICS = {"s", "m", "d", "re", "ve", "ll"}
ONCE = "/\\"  # of these a core with words has one at most
JOINERS = set("-‐‑‒–—―…,;:!?/+*\"“”«»()[]{}‘’'|")
INSIDE = set("-‐‑‒–—―…!+*\"“”«»()[]{}‘’'")
SIGNS = set("$+<=>^`|~€£¥")
EYES = re.compile(r"[:;=]['’]?-?([\])}|/*(\[{]+|D+|[PpOo])")
CODE = set('()[]{}=<>;,|&*!"`')
WIDTH = r"(?:(?:0[1-9]|1[0-9]|[1-9](?=[.][0-9])|[1-9](?=[G-Zg-z])|[1235](?=d))?(?:[.][0-9])?)"
FORMAT = rf"(?:%[-+#0]?{WIDTH}[A-Za-z](?![A-Za-z0-9])|{{(?::[<>^+-]?{WIDTH}[A-Za-z%]?)?}})"
BESIDE = r"(?:\\[nrt]|[!-/:-@[-`{-~])*"
FORMATS = re.compile(f"({BESIDE}?{FORMAT}){{1,4}}{BESIDE}")
SIGNED = re.compile(r"<3|\^_*\^|-_+-|:'\(|\\o/|[oO]_[oO]|[012&]?>>?(&[012]|/dev/null)[;)]?")


def gap(text: str) -> list[Token]:
    """Return a gap, if there is one."""
    return [Token("gap", text, text)] if text else []


def is_letter(character: str) -> bool:
    """Of class L."""
    return is_in("L", character)


def is_digit(character: str) -> bool:
    """Of Numeric_Type Decimal or Digit."""
    return unicodedata.digit(character, None) is not None


def letters_end(text: str, start: int, more: str = "'’‘") -> int:
    """Where letters end that begin at a place; the place itself where none do."""
    if not is_letter(text[start : start + 1]):
        return start
    while start < len(text) and (is_letter(text[start]) or is_in("M", text[start]) or text[start] in more):
        start += 1
    return start


def are_letters(text: str, more: str = "'’‘") -> bool:
    """Whether a text is a letter, and letters, combining marks and apostrophes."""
    return text != "" and letters_end(text, 0, more) == len(text)


class Tokens(Words):
    """Reads chunks."""

    def read(self, text: str) -> Iterator[Token]:
        """All tokens of a text."""
        place = 0
        while place < len(text):
            end, blank = place, is_in("blank", text[place])
            while end < len(text) and is_in("blank", text[end]) == blank:
                end += 1
            yield from gap(text[place:end]) if blank else self.chunk(text[place:end])
            place = end

    def chunk(self, chunk: str) -> list[Token]:
        """Return the tokens of a chunk."""
        if len(chunk) <= 1000 and all(map(is_letter, chunk)):
            return self.word(chunk)
        if EYES.fullmatch(chunk) or SIGNED.fullmatch(chunk):
            return gap(chunk)
        bare = chunk.rstrip('.,;:!?")')
        letters = bare[1:] if bare[:1] in ("'", "’", "‘") else ""
        if letters in LONE_CLITICS and not self.is_denied(letters):
            return [Token("shown", bare, key_of(bare)), *gap(chunk[len(bare) :])]
        parts = entities_of(chunk)
        if re.search("#[0-9]+;", "".join(parts[::2])):
            return [Token("alone", chunk, key_of(chunk), kind="key")]
        behind = parts.pop()
        found = [token for i, part in enumerate(parts) for token in (gap(part) if i % 2 else self.solid(part))]
        bare = behind.rstrip(".,;:!?\"')")
        if parts and bare.lower() in LOST_CLITICS:
            found.append(Token("shown", bare, bare.lower()))
            behind = behind[len(bare) :]
        return found + self.solid(behind)

    def solid(self, part: str) -> list[Token]:
        """Return the tokens of a part without entities: sequences of emoji, or the lead, the core and the tail."""
        pieces = cut(part)
        if len(pieces) > 1:
            tokens = [sequence_of(piece) if i % 2 else self.solid(piece) for i, piece in enumerate(pieces) if piece]
            return [token for found in tokens for token in found]
        if is_format(part):
            return gap(part)
        start, end = 0, len(part)
        while start < len(part) and (size := self.mark_at(part, start)):
            start += size
        if start == len(part):
            return gap(part)
        first = start
        if part[:start].endswith(("@", "＠", "\\")) or (part[:start].endswith("#") and not is_digit(part[start])):
            first -= 1
        elif part[:start].endswith("/"):
            first -= 2 if part[:start].endswith("~/") else 1
        while end > first and (size := self.mark_before(part, first, end)):
            end -= size
        return gap(part[:first]) + self.core(part[first:end]) + gap(part[end:])

    def mark_at(self, part: str, place: int) -> int:
        """How long the mark at a place is; 0 where there is none."""
        if is_in("mark", part[place]) or part[place] in SIGNS:
            return 1
        return (1 + (part[place + 1 : place + 2] == "\ufe0f")) if part[place] in self.lists["symbols"] else 0

    def mark_before(self, part: str, start: int, end: int) -> int:
        """How long the mark is that ends at a place."""
        last, symbols = part[end - 1], self.lists["symbols"]
        if is_in("mark", last) or last in SIGNS or last in symbols:
            return 1
        return 2 if last == "\ufe0f" and end - 2 >= start and part[end - 2] in symbols else 0

    def core(self, core: str) -> list[Token]:
        """Return the tokens of a core."""
        if len(core) > 1000:
            return [Token("alone", core, core, kind="other")]
        if are_letters(core):
            return self.word(core)
        if not (is_letter(core[0]) or is_digit(core[0])):
            return [string(core)]
        small = core.lower()
        if core.isascii() and small in WHOLE and not (self.denied | self.drawn) & {*small.split("-")}:
            return [Token("shown", core, core.lower(), case_pattern(core))]
        if parts_of(core.replace(".-", "."), ".", lambda part: len(part) == 1 and unicodedata.category(part) == "Lu"):
            return [Token("capital", core, key_of(core), "UPPER", bits=frozenset({"initials"}))]
        if parts_of(core, "&", lambda part: are_letters(part, "")):
            return [Token("capital", core, key_of(core), "UPPER" if case_pattern(core) == "UPPER" else "Title")]
        if words := parts_of(core, ".", lambda part: are_letters(part, "")):
            tokens = [self.word(word) for word in words]
            if len(words) >= 3 and all("number" in token.bits for word in tokens for token in word):
                return between(".", tokens)
            shown = all(token.cls == "shown" or "at-start" in token.bits for word in tokens for token in word)
            if shown and kind_of(core)[0] not in ("url", "file"):
                return between(
                    ".", [[replace(token, cls="shown", bits=frozenset()) for token in word] for word in tokens]
                )
        if self.separated(core):
            found: list[Token] = []
            while parts := self.separated(core):
                found += self.solid(parts[0]) + gap(parts[1])
                core = parts[2]
            return found + self.solid(core)
        if pieces := cut_code(core):
            return [token for piece in self.methods(pieces) for token in self.solid(piece)]
        if any(map(is_digit, core)):
            return self.with_digits(core)
        return self.joined(core) or [string(core)]

    def methods(self, pieces: list[str]) -> Iterator[str]:
        """Return the pieces of code, cut before the common name of a method."""
        for place, piece in enumerate(pieces):
            calls = place + 1 < len(pieces) and pieces[place + 1][:1] == "("
            words = piece.split(".")
            if calls and len(words) > 1 and all(words) and re.fullmatch("[A-Za-z.]+[.][a-z]+", piece):
                last, whole = self.word(words[-1]), self.solid(piece)
                shown = len(last) == 1 and last[0].cls == "shown" and not last[0].bits
                if shown and [token.kind for token in whole] == ["key"]:
                    yield from (".".join(words[:-1]), ".", words[-1])
                    continue
            yield piece

    def separated(self, core: str) -> tuple[str, str, str] | None:
        """Words, a separator, and what is behind it; nothing if the core does not begin so."""
        end = 0
        while end < len(core) and (is_letter(core[end]) or is_in("M", core[end]) or core[end] in INSIDE):
            end += 1
            if core[end - 1] == '"' and any(map(is_letter, core[: end - 1])):
                end -= 1
                break
        place = end
        while core[place : place + 1] == '"':
            place += 1
        first = core[place : place + 1]
        if first == ":" and place > end:
            place += 1
        elif first and first in "=,;|":
            while core[place : place + 1] and core[place] in "=,;|":
                place += 1
        else:
            return None
        starts = next((i for i, character in enumerate(core) if character not in INSIDE), end)
        if starts >= end or not is_letter(core[starts]) or place == len(core):
            return None
        return core[:end], core[end:place], core[place:]

    def joined(self, core: str) -> list[Token]:
        """Words and the joiners between them; nothing if the core is anything else."""
        found: list[Token] = []
        place = 0
        while sum(map(core.count, ONCE)) <= 1:
            end = letters_end(core, place)
            if end == place:
                return []
            found += self.word(core[place:end])
            if end == len(core):
                return found
            place = end
            while place < len(core) and not is_letter(core[place]):
                place += 1
            marks = core[end:place]
            if not (set(marks) <= JOINERS or marks == "\\" or (len(marks) >= 2 and set(marks) == {"."})):
                return []
            found += gap(marks)
        return []

    def with_digits(self, core: str) -> list[Token]:
        """Return the tokens of a core that has a digit."""
        found = with_unit(core)
        if found is not None and found[1].lower() not in self.denied | self.drawn:
            return [number(found[0]), Token("shown", found[1], found[1].lower())]
        parts = parts_of(core, "-", lambda part: are_letters(part) or is_short_number(part))
        if parts and any(map(is_letter, core)):
            read = [[number(part)] if is_short_number(part) else self.word(part) for part in parts]
            spelled = all(token.cls == "digits" or "number" in token.bits for tokens in read for token in tokens)
            return [string(core)] if is_code(parts) and not spelled else between("-", read)
        return [string(core)]


def sequence_of(text: str) -> list[Token]:
    """Return the token of a sequence of emoji."""
    kind, layout = kind_of_sequence(text)
    return [Token("alone", text, text, kind=kind, layout=layout)] if kind else gap(text)


def is_format(part: str) -> bool:
    """Whether a part is of conversions of format strings and marks."""
    return len(part) <= 40 and FORMATS.fullmatch(part) is not None


def cut_code(core: str) -> list[str]:
    """Return the pieces of a core and the code marks between them; nothing if it is one string."""
    pieces, place, after = [""], 0, False
    while place < len(core):
        size = 2 if core[place : place + 2] in ("</", "/>") else int(core[place] in CODE)
        if (size > 0) != after:
            pieces.append("")
            after = not after
        pieces[-1] += core[place : place + max(1, size)]
        place += max(1, size)
    if not set(core) & set('()[]{}=<>"`') or any(
        set(piece) & set("@＠\\/") and not is_format(piece) for piece in pieces[::2]
    ):
        return []
    host = core if set(pieces[0]) & set(":?#") else re.sub("^(?:[wW]{3}[.])+", "", core)
    kind, last = kind_of(host)[0], pieces[-1]
    if kind in ("url", "email") or (kind == "file" and (len(last) < 2 or after or kind_of(last)[0] != "file")):
        return []
    return pieces


def entities_of(chunk: str) -> list[str]:
    """Return the text before the first entity, the entity, the text after it, and so on."""
    found, rest, place = [], 0, 0
    while ";" in chunk and place < len(chunk):
        end = entity_end(chunk, place)
        if end > place:
            found += [chunk[rest:place], chunk[place:end]]
            rest = end
        place = max(end, place + 1)
    return [*found, chunk[rest:]]


def entity_end(chunk: str, place: int) -> int:
    """Where the entity ends that begins at a place; the place itself where none does."""
    named = next((entity for entity in ENTITIES if chunk.startswith(entity, place)), "")
    if named:
        return place + len(named)
    for start in ("&", ""):
        if chunk.startswith(start + "#", place):
            end = begin = place + len(start) + 1
            while chunk[end : end + 1] in tuple("0123456789"):
                end += 1
            if chunk[begin:end] in map(str, NUMBERED) and chunk[end : end + 1] == ";":
                return end + 1
    bare = next((name for name in BARE if chunk.startswith(name, place)), "")
    return place + len(bare) if place == 0 or not is_word_character(chunk[place - 1]) else place


def parts_of(core: str, mark: str, fits: Callable[[str], bool]) -> list[str]:
    """Two parts or more with a mark between, if each fits; else none."""
    parts = core.split(mark)
    return parts if len(parts) > 1 and all(part and fits(part) for part in parts) else []


def between(mark: str, words: list[list[Token]]) -> list[Token]:
    """Words with a gap between each two."""
    return [token for place, word in enumerate(words) for token in (gap(mark) if place else []) + word]


def is_short_number(part: str) -> bool:
    """One to four ASCII digits."""
    return 1 <= len(part) <= 4 and part.isascii() and part.isdecimal()


def is_code(parts: list[str]) -> bool:
    """Whether one of some parts is in capitals, or digits stand between letters."""
    letters = [not is_short_number(part) for part in parts]
    between_letters = any(letters[i - 1] and not letters[i] and letters[i + 1] for i in range(1, len(parts) - 1))
    return between_letters or any(
        case_pattern(part) == "UPPER" or (len(part) == 1 and part.isupper()) for part in parts
    )


def number(text: str) -> Token:
    """Return the token of a number."""
    kind, layout = kind_of(text)
    joins = all(map(is_digit, text)) or kind in ("account", "digits", "phone", "card", "ssn")
    return Token("digits" if joins else "alone", text, text, kind=kind, layout=layout)


def string(core: str) -> Token:
    """Return the token of a string."""
    kind, layout = kind_of(core)
    if kind in NUMBERS:
        return number(core)
    half = half_of_code(core) if kind == "id" else ""
    return Token("alone", core, key_of(core), kind=kind, layout=layout, bits=frozenset({half} - {""}))
