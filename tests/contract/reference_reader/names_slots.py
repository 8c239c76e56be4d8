"""The mode `names`, pass 2: what is shown, and what is one slot (docs/names-rule.md, "Pass 2: slots")."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from .characters import is_in
from .names_spelled import Spelled, may_be_led
from .names_words import Token

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
CLOSED = {")", ") "}
DATED = {" ", ". "}
TITLE = "<title>"
SMALL_TALK = ("word", "group", "number-word", "weekday", "spelled-number")


@dataclass
class Slot:
    """A slot: its words, and what the template has of it. Of kind "" is a run, of "several" numbers that join."""

    kind: str
    case: str
    layout: str
    words: list[Token]
    text: str
    before: str = ""
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
        self.words, self.gaps = Spelled(self.words, self.gaps).joined()
        self.shown = 0
        self.hidden: set[int] = set()
        self.free = 0  # the first word behind the last slot
        self.counted: tuple[int, ...] = ()  # the last number of a list that is kept

    def lines(self) -> list[range]:
        """Return the words of each line."""
        starts = [i for i in range(len(self.words)) if i == 0 or BREAKS & set(self.gaps[i])]
        return [range(a, b) for a, b in itertools.pairwise([*starts, len(self.words)])]

    def read(self, has_capital: bool) -> list[str | Slot]:
        """Return the kept text and the slots, in turn."""
        self.has_capital = has_capital
        found: list[str | Slot] = [""]
        for line in self.lines():
            self.line = line
            self.lead()
            self.take_stops()
            self.small = any(self.is_small_talk(i) for i in self.line)
            self.hide()
            place = self.line.start
            while place < self.line.stop:
                place = self.next(place, found)
        found[-1] = str(found[-1]) + self.gaps[-1]
        return found

    def next(self, i: int, found: list[Any]) -> int:
        """Read the word at a place, or the slot that begins there, and return the next place."""
        word = self.words[i]
        found[-1] += self.gaps[i]
        end = self.address_end(i) if word.bits & {"unit", "first"} else i
        if i in self.hidden and word.cls == "shown" and not self.has_capital:
            slot = self.slot("word", i, i + 1)
        elif i == self.line.start and self.counts_on(i):
            self.shown += 1
            found[-1] += word.text
            return i + 1
        elif end > i:
            slot = self.slot("unit" if "unit" in word.bits else "word", i, end)
        elif self.is_shown(i):
            self.shown += 1
            found[-1] += word.text
            return i + 1
        elif i in self.hidden:
            slot = self.run(i)
        elif "outward" in word.bits and self.is_code(i):
            slot = self.slot("postcode", i, i + 2)
        elif word.cls == "digits":
            slot, takes_sign = self.number(i)
            sign = self.gaps[i][-1:]
            plus = sign == "+" and slot.kind in ("several", "phone", "account")
            if takes_sign and self.is_apart(i) and (plus or (sign == "(" and ")" in slot.text)):
                found[-1] = found[-1][:-1]
                slot.text = sign + slot.text
        else:
            slot = self.slot(word.kind, i, i + 1, word.case, word.layout)
        behind = i + 1
        if len(slot.words) == 1 and slot.kind == "word" and "named" in word.bits and not self.has_capital:
            bits = self.words[behind].bits - {"number"} if behind in self.line else set()
            plain = bits in ({"noun"}, {"noun", "named"})
            if plain and self.words[behind].cls == "shown" and self.gaps[behind] == " ":
                self.hidden.add(behind)
        found += [slot, ""]
        self.free = i + len(slot.words)
        return self.free

    def slot(self, kind: str, start: int, end: int, case: str = "lower", layout: str = "") -> Slot:
        """Return a slot of some words."""
        text = self.words[start].text + "".join(self.gaps[i] + self.words[i].text for i in range(start + 1, end))
        return Slot(kind, case, layout, self.words[start:end], text)

    def lead(self) -> None:
        """Make each particle of the line before a capital a capitalized word, and the others unlisted words."""
        for i in reversed(self.line):
            if self.words[i].kind != "particle":
                continue
            behind = self.words[i + 1].cls if i + 1 in self.line and self.gaps[i + 1] in JOINS else ""
            leads = behind in ("capital", "initial")
            self.words[i] = replace(self.words[i], **({"cls": "capital"} if leads else {"kind": "word"}))

    def take_stops(self) -> None:
        """Add the full stop after each legal form of a firm in the line to it, unless a sentence ends there."""
        for i in self.line:
            word, gap = self.words[i], self.gaps[i + 1]
            if word.cls != "capital" or "form" not in word.bits or gap[:1] != ".":
                continue
            after = self.words[i + 1] if i + 1 < len(self.words) else None
            goes_on = after is not None and after.case == "lower" and after.cls not in ("digits", "capital")
            if gap[1:2] in (",", ")") if gap != ". " else goes_on:
                self.words[i] = replace(word, text=word.text + ".")
                self.gaps[i + 1] = gap[1:]

    def is_code(self, i: int) -> bool:
        """Whether the second half of a postal code is the next word of the line."""
        return i + 1 in self.line and self.gaps[i + 1] == " " and "inward" in self.words[i + 1].bits

    def is_small_talk(self, i: int) -> bool:
        """Whether a word is one in lower case that no headline has."""
        word = self.words[i]
        if self.gaps[i] == "-" or word.case != "lower":
            return False
        if word.cls == "shown":
            return word.key not in HEADLINE and is_in("L", word.key[0])
        return word.cls == "loose" or (word.cls == "alone" and word.kind in SMALL_TALK)

    def is_shown(self, i: int) -> bool:
        """Whether a word that begins no part of an address is shown."""
        word = self.words[i]
        if word.cls == "alone":
            return self.is_clitic(i) or self.is_bare_title(i)
        if word.cls in ("capital", "initial"):
            return i not in self.hidden
        return word.cls == "shown" or (word.cls == "loose" and self.has_capital)

    def is_seen(self, i: int) -> bool:
        """Whether a word stands in the line, is listed and shown, and in no slot."""
        if i not in self.line or self.words[i].cls != "shown" or i in self.hidden:
            return False
        return self.address_end(i) == i

    def is_clitic(self, i: int) -> bool:
        """Whether a letter belongs to what is before an apostrophe and blanks."""
        return "clitic" in self.words[i].bits and self.gaps[i].rstrip(" ").endswith(("'", "’", "‘", "´"))

    def is_bare_title(self, i: int) -> bool:
        """Whether a title or an office starts a sentence, with no capital behind it."""
        word = self.words[i]
        if word.kind not in ("title", "office") or "at-sentence" not in word.bits or not self.starts_sentence(i):
            return False
        named = i + 1 < len(self.words) and self.words[i + 1].cls in ("capital", "initial")
        return not (named and self.gaps[i + 1] == " ")

    # --- words with a capital

    def hide(self) -> None:
        """Find the replaced words of the line: those with a capital, and words that hyphens join to them."""
        capitals = [i for i in self.line if self.words[i].cls in ("capital", "initial")]
        titles = sum(map(self.is_title, capitals))
        if not self.small and not 0 < titles < 7:
            for i in capitals:
                if self.is_led(i) or not self.words[i].bits & {"at-start", "at-sentence"}:
                    self.hidden |= set(range(i, self.member_end(i)))
            return
        groups: list[list[int]] = []
        for i in capitals:
            if groups and self.member_end(groups[-1][-1]) == i and self.joins(i, groups[-1][0]):
                groups[-1].append(i)
            else:
                groups.append([i])
        for group in groups:
            for i in self.hidden_of(group):
                self.hidden |= set(range(i, self.member_end(i)))

    def is_led(self, i: int) -> bool:
        """Whether a particle or initials lead to a capital."""
        if i == 0:
            return False
        before = self.words[i - 1]
        if "initials" in before.bits or (before.cls == "initial" and not before.bits):
            joins = DOTS | {" "} if before.bits else DOTS
            return self.gaps[i] in joins and may_be_led(self.words[i])
        return before.kind == "particle" and before.cls == "capital"

    def hidden_of(self, group: list[int]) -> list[int]:
        """Return the replaced words of a group of adjacent capitals."""
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

    def joins(self, i: int, first: int) -> bool:
        """Whether the gap before a word joins it to the word before, in what begins with another word."""
        if self.gaps[i] == ". " and i - 1 == first and "dotted" in self.words[first].bits:
            return True
        if self.gaps[i] == ". " and "initials" in self.words[i - 1].bits and may_be_led(self.words[i]):
            return True
        if self.gaps[i] in (", ", ". ") and "form" in self.words[i].bits:
            return True
        return self.gaps[i] in JOINS or (self.words[i - 1].cls == "initial" and self.gaps[i] in DOTS)

    def opens(self, i: int) -> bool:
        """Whether a word stands at a start."""
        named = "no-title" in self.words[i].bits and i and self.words[i - 1].kind == "title" and "." in self.gaps[i]
        return i == 0 or (not named and (" - " in self.gaps[i] or bool(OPENS & set(self.gaps[i]))))

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
        listed = last.cls == "shown" or (last.cls == "loose" and self.has_capital)
        if listed and i - 1 not in self.hidden:
            return len(last.key) >= 2 and last.key not in SHORT
        return "." not in gap or not (last.cls == "initial" or last.kind in ("title", "letter", "spelled-letters"))

    # --- runs

    def run(self, start: int) -> Slot:
        """Return the slot of the run that begins at a word."""
        end, first = self.member_end(start), start
        while (place := self.next_member(end, first)) is not None:
            first = first if place == end else place
            end = self.member_end(place)
        words = self.words[start:end]
        upper = all(word.case == "UPPER" for word in words if word.cls == "capital" and word.kind != "particle")
        lone = len(words) == 1 and words[0].cls == "initial"
        slot = self.slot("initial" if lone else "", start, end, "UPPER" if upper else "Title")
        slot.ends_in_initial = words[-1].cls == "initial" and not lone
        slot.titles = 0 if self.small else sum(self.is_title(i) for i in range(start, end))
        slot.before = self.before(start)
        return slot

    def before(self, start: int) -> str:
        """Return the property of the word before a run that the rules read."""
        if start == 0:
            return ""
        last, gap = self.words[start - 1], self.gaps[start]
        if last.cls == "shown" and gap == " " and start > self.free:
            return last.key
        return TITLE if last.kind == "title" and gap in (" ", ". ") else ""

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

    def next_member(self, place: int, start: int) -> int | None:
        """Return the word that begins the next member of a run; nothing at the end of the run."""
        if place not in self.line or not self.joins(place, start):
            return None
        if place in self.hidden:
            return place
        passed = self.connectors(place) if self.gaps[place] == " " else ()
        return next((i for i in passed if i in self.hidden), None)

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
        if self.words[i].cls != "shown" or after not in self.line:
            return i
        word = self.words[after]
        if word.cls == "digits" and "unit" in self.words[i].bits:
            return after if self.gap_of_number(after) in DOTS | {" "} else i
        if "first" not in self.words[i].bits or self.has_capital or self.gaps[after] != " ":
            return i
        while "first" in self.words[after].bits and after + 1 in self.line and self.gaps[after + 1] == " ":
            after += 1
        word = self.words[after]
        return after + 1 if word.cls == "loose" or (word.cls == "alone" and word.kind == "word") else i

    def gap_of_number(self, i: int) -> str:
        """Return the gap before digits without the signs that may belong to them."""
        return self.gaps[i].rstrip("+(")

    def is_apart(self, i: int) -> bool:
        """Whether the gap before digits joins nothing without the sign at its end."""
        rest = self.gaps[i][:-1]
        spaced = is_in("blank", rest[-1]) or rest[-1] in "\x1c\x1d\x1e\x1f" if rest else i == self.line.start
        return spaced and (i == self.line.start or self.words[i - 1].cls != "digits" or rest not in BETWEEN_DIGITS)

    def number(self, i: int) -> tuple[Slot, bool]:
        """Return the slot of the digits at a place, and whether a sign before it may belong to it."""
        word = self.words[i]
        if word.kind == "number" and word.layout in ("1", "2", "3") and self.is_age(i):
            return self.slot("age", i, i + 1), False
        if self.is_beside_month(i):
            day = word.kind == "number" and word.layout in ("1", "2")
            return self.slot("day" if day else word.kind, i, i + 1, layout="" if day else word.layout), False
        end = self.numbers_end(i)
        alone = end == i + 1
        if alone and self.is_first_year(i):
            return self.slot("year-range", i, i + 2, layout=self.gaps[i + 1]), True
        return self.slot(word.kind if alone else "several", i, end, layout=word.layout if alone else ""), True

    def is_first_year(self, i: int) -> bool:
        """Whether a year is the first of a range with blanks."""
        if i + 1 not in self.line or self.gaps[i + 1] not in (" - ", " \u2013 ") or self.words[i + 1].cls != "digits":
            return False
        if self.is_beside_month(i + 1) or self.numbers_end(i + 1) != i + 2:
            return False
        return {self.words[i].kind, self.words[i + 1].kind} == {"year"}

    def numbers_end(self, i: int) -> int:
        """Where the numbers end that are one slot with that at a place."""
        first = self.words[i]
        level = 1 if self.gaps[i].endswith("(") and self.is_apart(i) else 0
        end = i + 1
        while self.goes_on(end):
            if self.gaps[end] == " (":
                short = first.kind == "number" and first.layout in ("1", "2", "3")
                if level or end != i + 1 or not short or not self.closes(end):
                    break
                level = 1
            elif self.gaps[end] in CLOSED:
                if not level:
                    break
                level = 0
            end += 1
        return end

    def closes(self, i: int) -> bool:
        """Whether a bracket that opens before a number closes before another."""
        gaps = [self.gaps[j] for j in itertools.takewhile(self.goes_on, range(i + 1, self.line.stop))]
        brackets = [gap for gap in gaps if gap in CLOSED or gap == " ("]
        return brackets[:1] not in ([], [" ("])

    def goes_on(self, i: int) -> bool:
        """Whether a number stands at a place behind a gap that may join it."""
        digits = i in self.line and self.words[i].cls == "digits" and self.gaps[i] in BETWEEN_DIGITS
        return digits and not self.is_beside_month(i)

    def counts_on(self, i: int) -> bool:
        """Whether a number is that of the next entry of a list, or of the first."""
        word, behind = self.words[i], self.gaps[i + 1]
        parts = [part for part in word.text.split(".") if re.fullmatch("[1-9][0-9]?", part)]
        numbers = tuple(map(int, parts))
        if ".".join(parts) != word.text or len(parts) > 4 or word.kind not in ("number", "digits"):
            return False
        if len(parts) == 1:
            fits = numbers[0] in (1, 1 + (self.counted[0] if self.counted else 0))
        else:
            lower = 1 + (self.counted[len(parts) - 1] if len(self.counted) >= len(parts) else 0)
            fits = numbers == (*self.counted[: len(parts) - 1], lower)
        before = self.gaps[i].rstrip("#*>_( \t\xa0")
        stops = behind[:1] in (".", ")") and bool(set(behind) & set(" \t\xa0\r\n"))
        stops = stops or (len(parts) > 1 and behind[:1] in set(" \t\xa0\r\n"))
        if not (fits and stops) or (before and before[-1] not in BREAKS):
            return False
        if word.cls == "digits" and self.numbers_end(i) != i + 1:
            return False
        self.counted = numbers
        return True

    def is_beside_month(self, i: int) -> bool:
        """Whether a month is before or behind a number."""
        before = i - 1 in self.line and self.words[i - 1].kind == "month" and self.gap_of_number(i) in DATED
        behind = i + 1 in self.line and self.words[i + 1].kind == "month" and self.gaps[i + 1] == " "
        return before or behind

    def is_age(self, i: int) -> bool:
        """Whether a short number is an age."""
        if self.is_seen(i - 1) and self.words[i - 1].key in ("age", "aged"):
            return self.gap_of_number(i) == " "
        keys = [self.words[j].key if self.is_seen(j) else "" for j in (i + 1, i + 2)]
        if not keys[0] or self.gaps[i + 1] not in (" ", "-", ""):
            return False
        return keys[0] == "yo" or (keys[0] in SPANS and keys[1] == "old" and self.gaps[i + 2] in (" ", "-"))
