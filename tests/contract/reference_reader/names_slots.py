"""The rung `names`, pass 2: what is shown, and what is one slot (docs/names-rule.md, "Pass 2: slots")."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .characters import is_in
from .names_tokens import Token

BREAKS = set("\n\r\x0b\x0c\x85\u2028\u2029")
ENDS = set(".!?…。")
OPENS = BREAKS | ENDS | set(':;"“”«»‘([{*•>|–—~')
HEADLINE = set("a an the and or but nor for of in on at to by from with as is it its vs via over after into up".split())
SUFFIXES = set("based born style like led backed owned speaking area wide run made bound related".split())
SHORT = set("etc inc ltd dept est approx fig vol feat incl no vs st".split())
SPANS = set("year years yr yrs month months week weeks".split())
JOINS = {" ", "\xa0", "-", "‐", "‑", " & "}
DOTS = {".", ". "}
BETWEEN_DIGITS = {" ", "\xa0", "-", "–", ")", ") ", " ("}
TITLE = "<title>"


@dataclass
class Slot:
    """A slot: its words, and what the skeleton has of it. Of kind "" is a run, of "several" numbers that join."""

    kind: str
    case: str
    layout: str
    words: list[Token]
    text: str
    before: str
    titles: int = 0
    ends_in_initial: bool = False


class Text:
    """A text: its words, `gaps[i]` before word `i`, and the last gap."""

    def __init__(self, tokens: list[Token]) -> None:
        self.words: list[Token] = []
        self.gaps = [""]
        for token in tokens:
            if token.cls == "gap":
                self.gaps[-1] += token.text
            else:
                self.words.append(token)
                self.gaps.append("")
        self.shown = 0

    def lines(self) -> list[range]:
        """The words of each line."""
        starts = [i for i in range(len(self.words)) if i == 0 or BREAKS & set(self.gaps[i])]
        return [range(a, b) for a, b in itertools.pairwise([*starts, len(self.words)])]

    def read(self, has_capital: bool) -> list[str | Slot]:
        """What is shown, and the slots, in turn."""
        self.has_capital = has_capital
        found: list[str | Slot] = [""]
        for line in self.lines():
            self.line = line
            small = any(self.is_small_talk(i) for i in self.line)
            self.hidden = self.hide(small)
            self.small = small
            place = self.line.start
            while place < self.line.stop:
                place = self.next(place, found)
        found[-1] = str(found[-1]) + self.gaps[-1]
        return found

    def next(self, i: int, found: list[Any]) -> int:
        """Reads the word at a place, or the slot that begins there, and returns what comes next."""
        word = self.words[i]
        found[-1] += self.gaps[i]
        end = self.address_end(i) if word.bits & {"unit", "first"} else i
        if end > i:
            slot = self.slot("word", i, end)
        elif self.is_shown(i):
            self.shown += 1
            found[-1] += word.text
            return i + 1
        elif i in self.hidden or word.kind == "particle":
            slot = self.run(i)
        elif word.cls == "digits":
            slot, takes_sign = self.number(i)
            sign = self.gaps[i][-1:]
            plus = sign == "+" and slot.kind in ("several", "phone", "account")
            if takes_sign and (plus or (sign == "(" and ")" in slot.text)):
                found[-1] = found[-1][:-1]
                slot.text = sign + slot.text
        else:
            slot = self.slot(word.kind, i, i + 1, word.case, word.layout)
        found += [slot, ""]
        return i + len(slot.words)

    def slot(self, kind: str, start: int, end: int, case: str = "lower", layout: str = "") -> Slot:
        """A slot of some words."""
        text = self.words[start].text + "".join(self.gaps[i] + self.words[i].text for i in range(start + 1, end))
        before = ""
        if start > 0:
            last, gap = self.words[start - 1], self.gaps[start]
            if last.cls == "shown" and gap == " ":
                before = last.key
            elif last.kind == "title" and gap in (" ", ". "):
                before = TITLE
        return Slot(kind, case, layout, self.words[start:end], text, before)

    def is_small_talk(self, i: int) -> bool:
        """Whether a word is one in lower case that no headline has."""
        word = self.words[i]
        if self.gaps[i] == "-" or word.case != "lower" or not is_in("L", word.text[0]):
            return False
        if word.cls == "shown":
            return word.key not in HEADLINE and word.key[0] != "'"
        return word.cls == "loose" or (word.cls == "alone" and word.kind in ("word", "group", "number-word", "weekday"))

    def is_shown(self, i: int) -> bool:
        """Whether a word that begins no part of an address is shown."""
        word = self.words[i]
        if word.cls == "alone":
            return self.is_clitic(i) or self.is_bare_title(i)
        if word.cls in ("capital", "initial"):
            return i not in self.hidden
        return word.cls == "shown" or (word.cls == "loose" and self.has_capital)

    def is_clitic(self, i: int) -> bool:
        """Whether a letter belongs to what is before an apostrophe and blanks."""
        return "clitic" in self.words[i].bits and self.gaps[i].rstrip(" ").endswith(("'", "’", "´"))

    def is_bare_title(self, i: int) -> bool:
        """Whether a title or an office starts a sentence, with no capital behind it."""
        word = self.words[i]
        if word.kind not in ("title", "office") or "at-sentence" not in word.bits or not self.starts_sentence(i):
            return False
        named = i + 1 < len(self.words) and self.words[i + 1].cls in ("capital", "initial")
        return not (named and self.gaps[i + 1] == " ")

    # --- words with a capital

    def hide(self, small: bool) -> set[int]:
        """The words with a capital of the line that are hidden."""
        capitals = [i for i in self.line if self.words[i].cls in ("capital", "initial")]
        titles = sum(map(self.is_title, capitals))
        if not small and not 0 < titles < 7:
            return {i for i in capitals if not self.words[i].bits & {"at-start", "at-sentence"}}
        groups: list[list[int]] = []
        for i in capitals:
            if groups and groups[-1][-1] == i - 1 and self.joins(i):
                groups[-1].append(i)
            else:
                groups.append([i])
        return {i for group in groups for i in self.hidden_of(group)}

    def hidden_of(self, group: list[int]) -> list[int]:
        """The hidden ones of capitals that stand together."""
        first, rest = self.words[group[0]], group[1:]
        if "at-start" in first.bits and self.opens(group[0]):
            group = rest
        elif "at-sentence" in first.bits and first.case == "Title" and self.starts_sentence(group[0]):
            group = [] if all(map(self.is_loud, rest)) else group
        return [] if all(map(self.is_loud, group)) else group

    def is_title(self, i: int) -> bool:
        """Whether a word is a title of its line."""
        return self.words[i].cls == "capital" and self.words[i].case == "Title"

    def is_loud(self, i: int) -> bool:
        """Whether a word is in capitals for emphasis."""
        return self.words[i].case == "UPPER" and "emphatic" in self.words[i].bits

    def joins(self, i: int) -> bool:
        """Whether the gap before a word joins it to the word before."""
        return self.gaps[i] in JOINS or (self.words[i - 1].cls == "initial" and self.gaps[i] in DOTS)

    def opens(self, i: int) -> bool:
        """Whether a word stands at a start."""
        return i == 0 or bool(OPENS & set(self.gaps[i]))

    def starts_sentence(self, i: int) -> bool:
        """Whether a word starts a sentence."""
        if i == 0:
            return True
        gap, last = self.gaps[i], self.words[i - 1]
        if not gap or not (is_in("blank", gap[-1]) or gap[-1] in "\x1c\x1d\x1e\x1f\"'“‘("):
            return False
        if not ENDS & set(gap):
            feeds = gap.count("\n")
            return feeds >= 2 or (feeds == 1 and self.gaps[i + 1].startswith(":"))
        if last.cls == "shown" or (last.cls == "loose" and self.has_capital):
            return len(last.key) >= 2 and last.key not in SHORT
        return "." not in gap or not (last.cls == "initial" or last.kind in ("title", "letter"))

    # --- runs

    def run(self, start: int) -> Slot:
        """The slot of the run that begins at a word."""
        end = self.member_end(start)
        while (place := self.next_member(end)) is not None:
            end = self.member_end(place)
        words = self.words[start:end]
        capitals = [word for word in words if word.cls in ("capital", "initial")]
        if not capitals:
            return self.slot("word", start, start + 1)
        upper = all(word.case == "UPPER" for word in capitals if word.cls == "capital")
        lone = len(words) == 1 and words[0].cls == "initial"
        slot = self.slot("initial" if lone else "", start, end, "UPPER" if upper else "Title")
        slot.ends_in_initial = words[-1].cls == "initial" and not lone
        slot.titles = 0 if self.small else sum(self.is_title(i) for i in range(start, end))
        return slot

    def member_end(self, i: int) -> int:
        """Where a member ends that begins at a word."""
        for place in range(i + 1, self.line.stop):
            word = self.words[place]
            if self.gaps[place] != "-" or word.case != "lower" or word.cls not in ("shown", "loose", "alone"):
                return place
            if word.cls == "alone" and word.kind != "word":
                return place
            if word.cls == "shown" and word.key in SUFFIXES:
                return place
        return self.line.stop

    def next_member(self, place: int) -> int | None:
        """The word that begins the next member of a run; nothing where the run ends."""
        if place not in self.line or not self.joins(place):
            return None
        if place in self.hidden:
            return place
        if self.words[place].kind == "particle":
            passed = self.particles(place)
        elif self.gaps[place] == " ":
            passed = self.connectors(place)
        else:
            return None
        return next((i for i in passed if i in self.hidden), None)

    def particles(self, place: int) -> Iterator[int]:
        """Where the next member may begin behind particles."""
        while place in self.line and self.gaps[place] in JOINS:
            if self.words[place].kind != "particle":
                yield place
                return
            place += 1

    def connectors(self, place: int) -> Iterator[int]:
        """Where it may begin behind one to three connectors."""
        for after in range(place + 1, place + 4):
            word = self.words[after - 1]
            if (word.cls, word.case) != ("shown", "lower") or word.key not in ("of", "the"):
                return
            if after not in self.line or self.gaps[after] != " ":
                return
            yield after

    # --- parts of addresses, and numbers

    def address_end(self, i: int) -> int:
        """Where the part of an address ends that begins at a word; the place itself where none does."""
        after = i + 1
        if self.words[i].cls != "shown" or after not in self.line or self.gaps[after] not in DOTS | {" "}:
            return i
        word = self.words[after]
        if word.cls == "digits" and "unit" in self.words[i].bits:
            return after
        plain = word.cls == "loose" or (word.cls == "alone" and word.kind == "word")
        named = "first" in self.words[i].bits and plain and self.gaps[after] == " " and not self.has_capital
        return after + 1 if named else i

    def number(self, i: int) -> tuple[Slot, bool]:
        """The slot of the digits at a place, and whether a sign before it may belong to it."""
        word = self.words[i]
        if word.kind == "number" and word.layout in ("1", "2", "3") and self.is_age(i):
            return self.slot("age", i, i + 1), False
        if self.is_beside_month(i):
            day = word.kind == "number" and word.layout in ("1", "2")
            return self.slot("day" if day else word.kind, i, i + 1, layout="" if day else word.layout), False
        end = i + 1
        while (
            end in self.line
            and self.words[end].cls == "digits"
            and self.gaps[end] in BETWEEN_DIGITS
            and not self.is_beside_month(end)
        ):
            end += 1
        alone = end == i + 1
        return self.slot(word.kind if alone else "several", i, end, layout=word.layout if alone else ""), True

    def is_beside_month(self, i: int) -> bool:
        """Whether a month is before or behind a number."""
        before = i - 1 in self.line and self.words[i - 1].kind == "month" and self.gaps[i] in (" ", ". ")
        behind = i + 1 in self.line and self.words[i + 1].kind == "month" and self.gaps[i + 1] == " "
        return before or behind

    def is_age(self, i: int) -> bool:
        """Whether a short number is an age."""
        if i - 1 in self.line and self.words[i - 1].cls == "shown" and self.words[i - 1].key in ("age", "aged"):
            return self.gaps[i] == " "
        keys = [self.words[j].key if j in self.line and self.words[j].cls == "shown" else "" for j in (i + 1, i + 2)]
        if not keys[0] or self.gaps[i + 1] not in (" ", "-", ""):
            return False
        return keys[0] == "yo" or (keys[0] in SPANS and keys[1] == "old" and self.gaps[i + 2] in (" ", "-"))
