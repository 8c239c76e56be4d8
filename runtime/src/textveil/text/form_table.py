"""Table of the forms of surrogates by their text (see ``textveil.text.inflections`` for forms).

A short mapping has all its forms in the table. Those of a long mapping would take many times the memory of its text,
and a reply contains few of them. So the table makes the forms of a long mapping when a reply has their first
characters, and it recognizes numbered tags by their parts, without any form of them in memory.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from textveil.bundle.reply_rules import NO_REPLY_RULES, ReplyRules
from textveil.text.inflections import (
    BARE_TAG,
    TAG,
    TAG_NOTATIONS,
    SurrogateForm,
    SurrogatePair,
    are_alike,
    iterate_forms,
)
from textveil.work_limits import STEPS_PER_CHECK, check_work
from textveil.work_steps import free_in_steps, sort_strings

PREFIX_LENGTH = 3
#: Largest number of pairs whose forms are all made at once.
_MAX_COMPLETE = 1 << 10
#: A tag whose parts are clear in each notation, as a key of the mapping; a text in a notation of tags, and its start.
_PLAIN_TAG = re.compile(r"\[([a-z]+(?:-[a-z]+)*) ([0-9]+)\]")
_NOTATION = re.compile(r"([\[({]?)([a-z]+(?:-[a-z]+)*)([ _-]?)([0-9]+)([\])}]?)")
_NOTATION_START = re.compile(r"[\[({]?([a-z-]+)([ _]?)([0-9]*)[\])}]?")
_NOTATION_ENDS = frozenset("0123456789])}")
#: Notations by their brackets and the mark between type and number.
_NOTATIONS = {("[", " ", "]"): "", ("", " ", ""): BARE_TAG} | {
    (notation[0], notation[3:-3], notation[-1]): TAG
    for notation in (form.replace("{{", "{").replace("}}", "}") for form in TAG_NOTATIONS)
}


def merge_forms(
    pairs: Iterable[SurrogatePair], rules: ReplyRules, prefix: str | None = None
) -> dict[str, SurrogateForm | None]:
    """Return the forms of some pairs by their text; ``None`` for a text that has several originals.

    If two pairs share a form, the pair whose output is that form as it was sent takes precedence. If there is none, the
    form is ambiguous unless both pairs have the same original. The order of the pairs has no effect, because a mapping
    file does not keep it.

    Args:
        pairs: Surrogates with a single original.
        rules: Rules of the language.
        prefix: First characters of the forms to return, ``PREFIX_LENGTH`` of them or a whole form; ``None`` for all.
    """
    inflected: dict[str, SurrogateForm | None] = {}
    unchanged: dict[str, SurrogateForm | None] = {}
    for number, pair in enumerate(pairs):
        if not number % STEPS_PER_CHECK:
            check_work()
        for text, notation in iterate_forms(pair, rules):
            if prefix is not None and text[:PREFIX_LENGTH] != prefix:
                continue
            form, same_text = (pair, notation), inflected if notation else unchanged
            other = same_text.setdefault(text, form)
            if other is form:
                continue
            if other is not None and other[0] is pair:  # the usual case, for names with one initial
                same_text[text] = min(other, form, key=_get_notation)
            else:
                is_same = other is not None and are_alike(other[0].original, pair.original)
                same_text[text] = min(other, form, key=_preference) if other is not None and is_same else None
    for text, form in unchanged.items():  # one call for all would keep other threads waiting
        inflected[text] = form
    return inflected


class _ClosedText(NamedTuple):
    """A text that has several originals, or (``is_quoted``) has some in quotations only."""

    text: str
    is_quoted: bool = False


class FormTable:
    """Forms of all surrogates of a mapping.

    Args:
        pairs: Surrogates with a single original, by their look-up key.
        ambiguous: Surrogates with several originals.
        quoted_outputs: Folded surrogates that are restored only where a reply repeats the text around them.
        rules: Rules of the language.

    Attributes:
        forms: The forms that were made so far, by their text.
        prefixes: The beginnings of all forms, of at most ``PREFIX_LENGTH`` characters.
        tag_ends: Last characters of the forms that only ``find_tag`` finds.
    """

    def __init__(
        self,
        pairs: Mapping[str, SurrogatePair],
        ambiguous: Iterable[SurrogatePair],
        quoted_outputs: Collection[str],
        rules: ReplyRules = NO_REPLY_RULES,
    ) -> None:
        self._pairs, self._rules = pairs, rules
        self.forms: dict[str, SurrogateForm | None] = {}
        #: Forms by their first characters; sorted, as a tuple, when the first reply has these characters.
        self._texts_by_prefix: dict[str, Any] = {}
        #: By first characters, while their forms are not made: the pairs, and texts with several originals.
        self._later: dict[str, list[SurrogatePair | _ClosedText]] = {}
        #: Types of the tags that have no form in ``forms``, with the largest number of digits.
        self._tag_digits: dict[str, int] = {}
        ambiguous_texts = (next(iterate_forms(pair))[0] for pair in ambiguous)
        if len(pairs) <= _MAX_COMPLETE:
            self.forms = merge_forms(pairs.values(), rules)
            self._close_texts(ambiguous_texts, quoted_outputs)
            for text in self.forms:
                prefix = text[:PREFIX_LENGTH]
                if prefix in self._texts_by_prefix:
                    self._texts_by_prefix[prefix].append(text)
                else:
                    self._texts_by_prefix[prefix] = [text]
        else:
            self._defer_forms([*ambiguous_texts], quoted_outputs)
        self.prefixes: set[str] = _list_prefixes(chain(self._texts_by_prefix, self._later))
        self._tag_prefixes = _list_prefixes(start for name in self._tag_digits for start in _iterate_tag_starts(name))
        self.prefixes |= self._tag_prefixes
        self.tag_ends: frozenset[str] = _NOTATION_ENDS if self._tag_digits else frozenset()

    def get_form(self, text: str) -> SurrogateForm | None:
        """Return the form that a folded text is; ``None`` if it has several originals, and for any other text."""
        if not self.is_prefix(text):
            return None
        return self.forms[text] if text in self.forms else self.find_tag(text)

    def is_prefix(self, text: str) -> bool:
        """Return whether some form begins with a folded text, after which ``forms`` has the text if it is a form.

        The result may be true for other beginnings of tags.
        """
        if len(text) <= PREFIX_LENGTH:  # most calls; a set of longer prefixes costs more than it saves
            if text in self._later:
                self._make_forms(text)
            return text in self.prefixes
        prefix = text[:PREFIX_LENGTH]
        if prefix in self._later:
            self._make_forms(prefix)
        candidates = self._texts_by_prefix.get(prefix, ())
        if not isinstance(candidates, tuple):
            self._texts_by_prefix[prefix] = candidates = tuple(sort_strings(candidates))
        at = bisect_left(candidates, text)
        if at < len(candidates) and candidates[at].startswith(text):
            return True
        return prefix in self._tag_prefixes and self._begins_tag(text)

    def find_tag(self, text: str) -> SurrogateForm | None:
        """Return the form that a folded text is, if it is a tag without forms in ``forms``; else ``None``."""
        tag = _NOTATION.fullmatch(text)
        if tag is None or tag[2] not in self._tag_digits:
            return None
        notation, pair = _NOTATIONS.get((tag[1], tag[3], tag[5])), self._pairs.get(f"[{tag[2]} {tag[4]}]")
        return None if notation is None or pair is None else (pair, notation)

    def free_memory(self) -> None:
        """Empty the table in steps. Nobody may use it afterward."""
        free_in_steps(self.forms, self._texts_by_prefix, self.prefixes, self._later)

    def _close_texts(self, ambiguous_texts: Iterable[str], quoted_texts: Iterable[str]) -> None:
        """Mark texts that have several originals.

        A surrogate that is restored in quotations only may be ambiguous elsewhere in a reply, and mapping files have no
        pair for that.
        """
        for text in ambiguous_texts:
            self.forms[text] = None
        for text in quoted_texts:
            self.forms.setdefault(text, None)

    def _defer_forms(self, ambiguous_texts: Collection[str], quoted_outputs: Iterable[str]) -> None:
        """Store for which first characters each pair has forms, without the forms."""
        tag_digits, colliding_types = dict[str, int](), set[str]()
        for tag in filter(None, map(_PLAIN_TAG.fullmatch, self._pairs)):
            tag_digits[tag[1]] = max(tag_digits.get(tag[1], 0), len(tag[2]))

        def find_collision(text: str) -> None:
            if text[-1:] in _NOTATION_ENDS and (tag := _NOTATION.fullmatch(text)) and tag[2] in tag_digits:
                colliding_types.add(tag[2])

        for number, (key, pair) in enumerate(self._pairs.items()):
            if not number % STEPS_PER_CHECK:
                check_work()
            if pair.lead or pair.weak or _PLAIN_TAG.fullmatch(key) is None:
                for text, _ in iterate_forms(pair, self._rules):
                    find_collision(text)
                self._defer_pair(pair)
        for text in ambiguous_texts:
            if _PLAIN_TAG.fullmatch(text) is None:
                find_collision(text)
            self._defer(text, _ClosedText(text))
        for text in quoted_outputs:
            self._defer(text, _ClosedText(text, is_quoted=True))
        for tag in filter(None, map(_PLAIN_TAG.fullmatch, self._pairs if colliding_types else ())):
            pair = self._pairs[tag[0]]
            if tag[1] in colliding_types and not (pair.lead or pair.weak):
                self._defer_pair(pair)
        self._tag_digits = {name: digits for name, digits in tag_digits.items() if name not in colliding_types}

    def _defer_pair(self, pair: SurrogatePair) -> None:
        for prefix in {text[:PREFIX_LENGTH] for text, _ in iterate_forms(pair, self._rules)}:
            self._defer(prefix, pair)

    def _defer(self, text: str, entry: "SurrogatePair | _ClosedText") -> None:
        prefix = text[:PREFIX_LENGTH]
        if prefix in self._later:
            self._later[prefix].append(entry)
        else:
            self._later[prefix] = [entry]

    def _make_forms(self, prefix: str) -> None:
        """Make the forms with the given first characters.

        Two threads may make the same forms; each finds all of them.
        """
        entries = self._later[prefix]
        closed = [entry for entry in entries if isinstance(entry, _ClosedText)]
        forms = merge_forms((entry for entry in entries if isinstance(entry, SurrogatePair)), self._rules, prefix)
        for text, form in forms.items():
            self.forms[text] = form
        self._close_texts(
            (entry.text for entry in closed if not entry.is_quoted),
            (entry.text for entry in closed if entry.is_quoted and self.find_tag(entry.text) is None),
        )
        self._texts_by_prefix[prefix] = tuple(sort_strings({*forms, *(entry.text for entry in closed)}))
        self._later.pop(prefix, None)

    def _begins_tag(self, text: str) -> bool:
        start = _NOTATION_START.fullmatch(text)
        if start is None:
            return False
        digits = self._tag_digits.get(start[1].rstrip("-"), 0)
        return digits >= max(1, len(start[3])) or (
            not (start[2] or start[3]) and any(name.startswith(start[1]) for name in self._tag_digits)
        )


def _list_prefixes(starts: Iterable[str]) -> set[str]:
    """Return all beginnings of at most ``PREFIX_LENGTH`` characters."""
    prefixes = shorter = {start[:PREFIX_LENGTH] for start in starts}
    for end in reversed(range(1, PREFIX_LENGTH)):  # fast: few forms differ in their first characters
        shorter = {text[:end] for text in shorter}
        prefixes = prefixes | shorter
    return prefixes


def _iterate_tag_starts(tag_type: str) -> Iterator[str]:
    for bracket in ("[", "(", "{", ""):
        for mark in (" ", "_", "-", ""):
            yield from (f"{bracket}{tag_type}{mark}{digit}" for digit in "0123456789")


def _get_notation(form: SurrogateForm) -> str:
    return form[1]


def _preference(form: SurrogateForm) -> tuple[Any, ...]:
    """Return a sort key for forms with the same text, whose originals differ at most in case."""
    pair, way = form
    return pair.lead, pair.weak, pair.original.isupper(), pair.output, pair.original, pair.before, way
