"""Finds forms of what came out in a reply, as it comes in, and puts originals there: one engine for all replies.

What becomes of a place is decided by the characters from it on until no form goes on, and by those before it. So a
reply has one result however it is cut, and no more is held back than a form and one character.
"""

import json
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Mapping

from textveil.text.forms import Form, Pair, folded, original_of

#: The end of a line, or a tab, as JSON and code write it: a word may begin behind it.
_ESCAPE = re.compile(r"(?:\A|[^\\])\\[nrt]")
#: Where a form may begin: at a word, or at a mark.
_START = re.compile(r"(?:(?<![^\W_])|(?<=\\[nrt])(?<!\\\\[nrt]))[^\W_]|[^\w\s]")
#: What begins as JSON does: a reply, or a block of code of it; so much of it tells.
_JSON, _FENCE, _HEAD = re.compile(r"\s*(?:json\s+)?(?:\{\s*[\"}]|\[\s*[\[{\"])", re.IGNORECASE), "```", 80
_BEFORE = re.compile(r"(\w[\w'\u2019]*)[^\w$\u20ac\u00a3\u00a5#]{1,3}\Z|([$\u20ac\u00a3\u00a5#])\Z")
#: Characters of the reply that are remembered behind the place that is looked at.
_BEHIND = 48
#: Blanks, ends of lines and marks of quotation between two words of a form.
_MOST_BLANKS = 6
_BLANKS = re.compile(r"\s[\s>]*")
_APOSTROPHES = "'\u2019"
#: What makes digits after it, or before it, a part of one number.
_IN_NUMBERS = ".,:/-\u2013"
_NUMBER = re.compile(r"[\d.,]+")
_BEGIN = 3
_WORD = re.compile(r"[a-zA-Z0-9]{3}")


class Index:
    """All forms.

    Args:
        forms: By their folded text; ``None`` where a form stands for several originals.

    Attributes:
        forms: The same.
    """

    def __init__(self, forms: Mapping[str, Form | None]) -> None:
        self.forms, self._sorted = forms, sorted(forms)
        self._begins = {text[:end] for end in range(1, _BEGIN + 1) for text in forms}

    def begins(self, text: str) -> bool:
        """Tells whether a form begins with a text."""
        if len(text) <= _BEGIN:  # most of all; a set of longer ones takes longer to make than it saves
            return text in self._begins
        at = bisect_left(self._sorted, text)
        return at < len(self._sorted) and self._sorted[at].startswith(text)


#: A form, and where what stands for the original ends.
_Found = tuple[Form | None, int]
_MORE: _Found = None, 0


class Stream:
    """Puts originals into a reply that comes in parts.

    Args:
        index: The forms.

    Attributes:
        placed: What was replaced, as the reply has it.
        used: What it stood for.
        unplaced: What may be a word of the reply's own, and stayed.
        ambiguous: What stands for several originals, and stayed.
    """

    def __init__(self, index: Index) -> None:
        self._index, self._held, self._behind, self._block = index, "", "", ""
        self.placed: list[str] = []
        self.used: list[Pair] = []
        self.unplaced: list[str] = []
        self.ambiguous: list[str] = []

    def feed(self, delta: str) -> str:
        """Takes the next part of a reply; returns what is decided of it."""
        return self._decided(self._held + delta, False)

    def close(self) -> str:
        """Returns the rest."""
        return self._decided(self._held, True)

    def _decided(self, rest: str, final: bool) -> str:
        text, position = self._behind + rest, len(self._behind)
        done, parts = position, []
        while (match := _START.search(text, position)) is not None:
            place = match.start()
            begin = text[place : place + _BEGIN]  # of one word it tells at most places; else its first character
            if not self._index.begins(begin.lower() if _WORD.fullmatch(begin) else folded(text[place])):
                position = place + 1
                continue
            found = self._longest(text, place, final)
            if found is _MORE:
                break
            position = place + 1
            if found is not None:
                parts += [text[done:place], self._put(text, place, found)]
                done = position = found[1]
        else:
            place = len(text)
        parts.append(text[done:place])
        self._block = self._block_until(text[len(self._behind) : place])
        self._behind, self._held = text[max(0, place - _BEHIND) : place], text[place:]
        return "".join(parts)

    def _longest(self, text: str, place: int, final: bool) -> _Found | None:
        """The longest form that begins at a place and ends where a word does; ``_MORE`` where it is not known yet."""
        begins, forms = self._index.begins, self._index.forms
        read, blanks, at, found = "", 0, place, []
        ends = [place]
        while at < len(text):
            character = text[at]
            if blanks and (character.isspace() or character == ">"):
                blanks += 1
                if blanks > _MOST_BLANKS:
                    break
                at += 1
                ends[-1] = at
                continue
            blanks = int(character.isspace())
            step = " " if blanks else folded(character)
            if not begins(read + step):
                break
            read, at = read + step, at + 1
            ends += [at] * len(step)
            if read in forms:
                found.append((forms[read], at))
        else:
            if not final:
                return _MORE
        for form, end in reversed(found):
            if end + 1 >= len(text) and not final:  # what follows a mark is not known
                return _MORE
            if _stands_alone(text, place, end):
                lead = 0 if form is None else len(folded(form[0].output[: form[0].lead]))
                return form, ends[lead] if lead else end
        return None

    def _block_until(self, text: str) -> str:
        """How the block of code, or what is outside of one, began that a text ends in."""
        if len(self._block) > _HEAD and "`" not in text and self._block[-1] != "`":
            return self._block  # most deltas
        block = f"{self._block}{text}".rpartition(_FENCE)[2].lstrip("`")
        return block if len(block) <= _HEAD else f"{block[:_HEAD]}\0{block[-len(_FENCE) :]}"

    def _put(self, text: str, place: int, found: _Found) -> str:
        form, end = found
        written = text[place:end]
        if form is None:
            self.ambiguous.append(written)
            return written
        pair = form[0]
        ordinary = written.isalpha() and written.islower() and not pair.output.islower()
        if ordinary or (pair.weak and not pair.before == word_before(text[:place]) != ""):
            self.unplaced.append(written)
            return written
        self.placed.append(written)
        self.used.append(pair)
        original = original_of(form, _BLANKS.sub(" ", written))
        blanks, words = _BLANKS.findall(written), original.split(" ")
        if ("\\" in original or '"' in original) and _JSON.match(self._block_until(text[len(self._behind) : place])):
            original = json.dumps(original, ensure_ascii=False)[1:-1]
            words = original.split(" ")
        if len(words) != 1 + len(blanks):
            return original
        return "".join(word + blank for word, blank in zip(words, [*blanks, ""], strict=True))


def _stands_alone(text: str, place: int, end: int) -> bool:
    """Whether a form is not a part of a longer word or number."""
    first, last, number = text[place], text[end - 1], _NUMBER.fullmatch(text, place, end) is not None
    mixed = not number and any(map(str.isdigit, text[place:end]))  # such as a key, which code may have after __
    before, after = text[max(0, place - 2) : place], text[end : end + 2]
    if first != "[" and before and _ESCAPE.fullmatch(text, max(0, place - 3), place) is None:
        if _is_inside(before[-1]) or (first.isalpha() and before[-1] in _APOSTROPHES and before[:-1].isalnum()):
            return False
        if number and before[-1] in _IN_NUMBERS and before[:-1].isdigit():
            return False
        if before[-1] == "_" and after[:1] != "_" and not mixed:
            return False
    if last != "]" and after:
        if _is_inside(after[0]) or (after[0] == "_" and before[-1:] != "_" and not mixed):
            return False
        if number and after[0] in _IN_NUMBERS and after[1:].isdigit():
            return False
    return True


def _is_inside(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character)[0] == "M"


def word_before(text: str) -> str:
    """Returns the word, or the sign of a currency or a number, right before the end of a text; folded."""
    match = _BEFORE.search(text[-_BEHIND:])
    return "" if match is None else folded(match[1] or match[2])
