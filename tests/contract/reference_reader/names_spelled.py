"""The mode `names`, between passes 1 and 2: what is spelled out (docs/names-rule.md, "Spelled out")."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from .names_words import NUMBER_WORDS, Token

CONNECTORS = {"and": "a", "point": "p"}
WEAK = {"oh", "o", "double", "triple", "treble"}
NO_APOSTROPHE = ("'", "’", "‘", "´")
BLANKS = " \xa0\t\r\n"
MARKS = set("-‐‑–—,/")
BEFORE_NAMES = {" ", "\xa0", "-", ".", ". ", " & "}
JOINS = {" ", "\xa0", "-", "‐", "‑", " & "}


class Element(NamedTuple):
    """A word that is spelled: its place, and its class."""

    place: int
    of: str


class Spelled:
    """Joins the words of a text; `gaps[i]` is before word `i`, and one more at the end."""

    def __init__(self, words: list[Token], gaps: list[str]) -> None:
        self.words, self.gaps = words, gaps

    def joined(self) -> tuple[list[Token], list[str]]:
        """Return the words and gaps with each spelled number or name as one."""
        words: list[Token] = []
        gaps: list[str] = []
        i = 0
        while i < len(self.words):
            none: tuple[str, list[Element], int] = ("", [], i + 1)
            kind, elements, end = next(itertools.chain(self.numbers(i), self.letters(i)), none)
            if not elements:
                words.append(self.words[i])
                gaps.append(self.gaps[i])
            for first in range(0, len(elements), 12):
                several, behind = elements[first : first + 12], elements[first + 12 :]
                stop = behind[0].place if behind else end
                gaps.append(self.gaps[several[0].place])
                words.append(self.token(kind, several, stop))
            i = end
        return words, [*gaps, self.gaps[-1]]

    def token(self, kind: str, elements: list[Element], stop: int) -> Token:
        """Return the token of up to twelve elements and the gaps between them, up to a place."""
        start = elements[0].place
        all_words = self.words[start:stop]
        text = "".join(self.gaps[start + i] * (i > 0) + word.text for i, word in enumerate(all_words))
        own = [self.words[element.place] for element in elements]
        keys = [word.key for word in all_words]
        if kind == "spelled-letters":
            case = "lower" if any(word.case == "lower" for word in own) else "UPPER"
            return Token("alone", text, "".join(keys), case, kind, str(len(elements)))
        long = [word for word in own if len(word.text) > 1 and word.cls != "digits" and word.key not in CONNECTORS]
        case = "lower" if own[0].case == "lower" else "Title"
        if long and all(word.case == "UPPER" for word in long):
            case = "UPPER"
        return Token("alone", text, " ".join(keys), case, kind, "".join(element.of for element in elements))

    def joins(self, i: int, more: str = "") -> bool:
        """Whether the gap before a word joins what is spelled."""
        gap = self.gaps[i].rstrip("+(") if self.words[i].cls == "digits" else self.gaps[i]
        mark = gap.strip(BLANKS)
        if gap == ".":
            return True
        fits = mark == "" or mark in MARKS or (mark in more and (mark == "." or gap == " & "))
        return gap != "" and fits and gap.count("\n") <= 1

    # --- numbers

    def element(self, i: int) -> str:
        """Return the class of a word of a number; digits have one of their own. Return nothing for other words."""
        if i >= len(self.words):
            return ""
        word = self.words[i]
        if "number" in word.bits:
            return "w" if word.kind == "number-word" else NUMBER_WORDS[word.key]
        if self.is_number(i):
            return "digits"
        return "d" if word.key == "o" and is_letter(word) else ""

    def is_number(self, i: int) -> bool:
        """Whether a word is digits without a unit."""
        return self.words[i].cls == "digits" and (i + 1 == len(self.words) or self.gaps[i + 1] != "")

    def opens(self, i: int) -> bool:
        """Whether a bracket before digits may be of them."""
        return self.is_number(i) and self.gaps[i].endswith("(")

    def numbers(self, start: int) -> Iterator[tuple[str, list[Element], int]]:
        """Return the number in words that begins at a place, and its end."""
        if not self.element(start):
            return
        found, i = [Element(start, self.element(start))], start + 1
        opened = self.opens(start)  # a bracket before digits that are beside each other, up to this place
        while i < len(self.words):
            closes = opened and self.is_number(i) and self.gaps[i] in (")", ") ")
            if (of := self.element(i)) and (closes or self.joins(i)):
                found.append(Element(i, of))
                opened = self.opens(i) or (opened and of == "digits" and not closes)
            elif self.is_connector(i):
                found += [Element(i, CONNECTORS[self.words[i].key]), Element(i + 1, self.element(i + 1))]
                i += 1
                opened = self.opens(i)
            else:
                break
            i += 1
        while found and found[-1].of == "x":
            found.pop()
        # Digits beside each other are one element.
        kept = [
            element._replace(of="d" if element.of == "digits" else element.of)
            for before, element in itertools.pairwise([Element(-1, ""), *found])
            if not (element.of == before.of == "digits")
        ]
        strong = any("number" in self.words[e.place].bits and self.words[e.place].key not in WEAK for e in kept)
        if strong and sum(element.of not in CONNECTORS.values() for element in kept) >= 3:
            yield "spelled-number", kept, found[-1].place + 1

    def is_connector(self, i: int) -> bool:
        """Whether a word stands between two elements."""
        word = self.words[i]
        known = (word.cls, word.case) == ("shown", "lower") and word.key in CONNECTORS
        return known and bool(self.element(i + 1)) and self.joins(i) and self.joins(i + 1)

    # --- letters

    def letters(self, start: int) -> Iterator[tuple[str, list[Element], int]]:
        """Return the letters that begin at a place, and their end."""
        end = start
        while end < len(self.words) and self.is_element(end) and (end == start or self.joins(end, ".&")):
            end += 1
        # A number that begins among them ends them, if one of them that is not plain is before it.
        plain = [w.cls == "shown" and not w.bits and w.case == "lower" for w in self.words[start:end]]
        if self.leads(end):
            while end > start and self.words[end - 1].case != "lower" and self.gaps[end] in BEFORE_NAMES:
                end -= 1
        if end - start >= 3 and not all(plain):
            yield "spelled-letters", [Element(i, "") for i in range(start, end)], end

    def is_element(self, i: int) -> bool:
        """Whether a word is a letter that is spelled."""
        word, gap = self.words[i], self.gaps[i]
        if "clitic" in word.bits and gap.rstrip(" ").endswith(NO_APOSTROPHE):
            return False
        after = self.gaps[i + 1] if i + 1 < len(self.words) else ""
        if word.cls == "shown" and "." in (gap, after):
            return False
        return is_letter(word) and (gap != "" or i == 0)

    def leads(self, i: int) -> bool:
        """Whether capitals before a place are initials of the name that begins there."""
        if i == len(self.words) or self.gaps[i] not in BEFORE_NAMES:
            return False
        if self.words[i].cls == "capital" and ("." not in self.gaps[i] or may_be_led(self.words[i])):
            return True
        while self.words[i].kind == "particle" and i + 1 < len(self.words) and self.gaps[i + 1] in JOINS:
            i += 1
            if self.words[i].cls in ("capital", "initial"):
                return True
        return False


def is_letter(word: Token) -> bool:
    """Whether a word is a letter that stands alone, or initials with dots."""
    if len(word.text) > 1:
        return "initials" in word.bits
    return word.cls in ("shown", "loose", "initial") or word.kind in ("letter", "particle")


def may_be_led(word: Token) -> bool:
    """Whether initials may lead to a word."""
    return word.cls == "capital" and ("at-start" not in word.bits or "no-title" in word.bits)
