"""Table of the forms of surrogates (replacements of hidden words), by their text.

A form is a spelling that a reply may use, such as a plural (``textveil.text.inflections``). For few surrogates, the
table stores all forms. For many surrogates, all forms would need much memory, and a reply contains few of them. So the
table creates the forms with certain first characters only when a reply contains these characters. The table recognizes
numbered tags such as ``[city 1]`` by their parts, and stores no forms of them.
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
from textveil.work_steps import STEPS_PER_CHECK, check_work, free_in_steps, sort_strings

PREFIX_LENGTH = 3
#: Largest number of pairs for which the table creates all forms at once.
_MAX_COMPLETE = 1 << 10
#: A tag as a key of the mapping, if its parts are clear in each notation; a tag in any notation; the start of a tag.
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
    """Return a dictionary from each spelling in replies to its pair, or to ``None`` for an ambiguous spelling.

    A pair has an original word and its surrogate (replacement). A form is a spelling of the surrogate that a reply may
    use, such as a plural. If two pairs share a form, there are three cases. If the form is exactly the surrogate of one
    pair, this pair gets the form. If both pairs have the same original, either of them gives the right original. In all
    other cases the form is ambiguous. The order of the pairs has no effect, because the file that stores the pairs has
    no order.

    Args:
        pairs: Pairs of a surrogate and its only original.
        rules: Inflection rules of the language.
        prefix: First characters of the forms to return: ``PREFIX_LENGTH`` of them, or a whole form. ``None`` for all
            forms.
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
            if text not in same_text:
                same_text[text] = form
                continue
            other = same_text[text]
            if other is not None and other[0] is pair:  # the usual case, for names with one initial
                same_text[text] = min(other, form, key=_get_notation)
            else:
                is_same = other is not None and are_alike(other[0].original, pair.original)
                same_text[text] = min(other, form, key=_preference) if other is not None and is_same else None
    for text, form in unchanged.items():  # a single ``update`` would block other threads
        inflected[text] = form
    return inflected


class _ClosedText(NamedTuple):
    """Text of a surrogate (replacement) from which restoring cannot determine one original.

    Restoring leaves such a text of a reply unchanged. If ``is_quoted`` is true, there is one exception: the original is
    restored where a reply also repeats the sanitized text before and after the surrogate.
    """

    text: str
    is_quoted: bool = False


def _close_texts(
    forms: dict[str, SurrogateForm | None], ambiguous_texts: Iterable[str], quoted_texts: Iterable[str]
) -> None:
    """Store ``None`` in ``forms`` for each text from which restoring cannot determine one original.

    Args:
        forms: Dictionary from texts to forms (spellings of surrogates that a reply may use); changed in place.
        ambiguous_texts: Texts that have several originals.
        quoted_texts: Surrogates (replacements) that are restored only where a reply repeats the sanitized text around
            them. If ``forms`` already has a form with this text, the form stays.
    """
    for text in ambiguous_texts:
        forms[text] = None
    for text in quoted_texts:
        forms.setdefault(text, None)


class FormTable:
    """Table with which restoring finds surrogates in a reply: the forms of all surrogates.

    A surrogate is the replacement of an original word. A form is a spelling, such as a plural, that a reply may use for
    the surrogate.

    Args:
        pairs: Dictionary from the normalized spelling of a surrogate to the pair of this surrogate and its only
            original.
        ambiguous: Surrogates with several originals, which are not restored.
        quoted_outputs: Surrogates (case-folded) that are restored only where a reply repeats the sanitized text around
            them.
        rules: Inflection rules of the language.

    Attributes:
        forms: Dictionary from the text of each form that was created so far to the form; ``None`` for a text that has
            several originals, and for ``quoted_outputs``.
        prefixes: The beginnings of all forms, up to ``PREFIX_LENGTH`` characters long.
        tag_ends: Characters with which a numbered tag may end, if ``find_tag`` recognizes some tags; else empty.
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
        #: Length of the longest of these forms, once it is known.
        self._longest: dict[str, int] = {}
        #: Pairs whose forms do not exist yet, and texts with several originals, by the first characters of the forms.
        self._later: dict[str, list[SurrogatePair | _ClosedText]] = {}
        #: Types of the tags that are not in ``forms``, each with the largest number of digits of its tags.
        self._tag_digits: dict[str, int] = {}
        ambiguous_texts = (next(iterate_forms(pair))[0] for pair in ambiguous)
        if len(pairs) <= _MAX_COMPLETE:
            self.forms = merge_forms(pairs.values(), rules)
            _close_texts(self.forms, ambiguous_texts, quoted_outputs)
            for text in self.forms:
                prefix = text[:PREFIX_LENGTH]
                if prefix in self._texts_by_prefix:
                    self._texts_by_prefix[prefix].append(text)
                else:
                    self._texts_by_prefix[prefix] = [text]
        else:
            self._defer_forms([*ambiguous_texts], quoted_outputs)
        starts = chain(self._texts_by_prefix, self._later)
        self._short_texts = {text for text in starts if len(text) < PREFIX_LENGTH}
        self.prefixes: set[str] = _list_prefixes(chain(self._texts_by_prefix, self._later))
        self._tag_prefixes = _list_prefixes(start for name in self._tag_digits for start in _iterate_tag_starts(name))
        self.prefixes |= self._tag_prefixes
        self.tag_ends: frozenset[str] = _NOTATION_ENDS if self._tag_digits else frozenset()

    def get_form(self, text: str) -> SurrogateForm | None:
        """Return the form (spelling that a reply may use for a replacement) with the given normalized text.

        The result is ``None`` if there is no such form, or if several originals have a form with this text.
        """
        if not self.is_prefix(text):
            return None
        return self.forms[text] if text in self.forms else self.find_tag(text)

    def is_prefix(self, text: str) -> bool:
        """Return whether at least one form (spelling of a replacement in replies) begins with a normalized text.

        The method also creates the forms with these first characters, and stores them in ``forms``. If ``text`` looks
        like the beginning of a tag such as ``[city 1]``, the result may be true even if no form begins with ``text``.
        """
        if len(text) <= PREFIX_LENGTH:  # most calls; a set of longer prefixes costs more than it saves
            if text in self._later:
                self._make_forms(text)
            return text in self.prefixes
        prefix = text[:PREFIX_LENGTH]
        candidates = self.list_texts(prefix)
        at = bisect_left(candidates, text)
        if at < len(candidates) and candidates[at].startswith(text):
            return True
        return prefix in self._tag_prefixes and self._begins_tag(text)

    def list_texts(self, prefix: str) -> tuple[str, ...]:
        """Return the texts of all forms that begin with ``prefix``, sorted.

        A form is a spelling that a reply may use for a surrogate (the replacement of a hidden word), such as its
        plural. The method also creates these forms, and stores them in ``forms``. The result lacks numbered tags such
        as ``[city 1]``, which ``find_tag`` recognizes without a stored form.

        Args:
            prefix: The first ``PREFIX_LENGTH`` characters of the forms, or a whole shorter form.
        """
        if prefix in self._later:
            self._make_forms(prefix)
        texts = self._texts_by_prefix.get(prefix, ())
        if not isinstance(texts, tuple):
            self._texts_by_prefix[prefix] = texts = tuple(sort_strings(texts))
        return texts

    def get_longest(self, prefix: str) -> int:
        """Return the length of the longest form that begins with ``prefix``; ``PREFIX_LENGTH`` if there is none."""
        length = self._longest.get(prefix)
        if length is None:
            length = self._longest[prefix] = max(map(len, self.list_texts(prefix)), default=PREFIX_LENGTH)
        return length

    def find_short_forms(self, prefix: str) -> list[str]:
        """Return the forms of fewer than ``PREFIX_LENGTH`` characters with which ``prefix`` begins, shortest first.

        A form is a spelling that a reply may use for a surrogate (replacement), such as its plural. The method also
        creates these forms, and stores them in ``forms``.
        """
        if self._short_texts.isdisjoint((prefix[:1], prefix[:2])):  # most calls
            return []
        texts = [prefix[:end] for end in range(1, PREFIX_LENGTH)]
        return [text for text in texts if self.is_prefix(text) and text in self.forms]

    def may_begin_tag(self, prefix: str) -> bool:
        """Return whether ``prefix`` may begin a numbered tag, such as ``[city 1]``, that is not stored in ``forms``."""
        return prefix in self._tag_prefixes

    def find_tag(self, text: str) -> SurrogateForm | None:
        """Return the form of a numbered tag, such as ``[city 1]``, that is not stored in ``forms``.

        The result is ``None`` for any other text. The text must be case folded.
        """
        tag = _NOTATION.fullmatch(text)
        if tag is None or tag[2] not in self._tag_digits:
            return None
        notation, pair = _NOTATIONS.get((tag[1], tag[3], tag[5])), self._pairs.get(f"[{tag[2]} {tag[4]}]")
        return None if notation is None or pair is None else (pair, notation)

    def free_memory(self) -> None:
        """Delete the content of the table in small steps, so that other threads can run between the steps.

        No thread may use the table afterward.
        """
        free_in_steps(self.forms, self._texts_by_prefix, self._longest, self.prefixes, self._later)

    def _defer_forms(self, ambiguous_texts: Collection[str], quoted_outputs: Iterable[str]) -> None:
        """Store each surrogate under the first characters of its forms, without creating the forms.

        A surrogate is the replacement of a hidden word. A form is a spelling of the surrogate that a reply may use.
        ``_make_forms`` creates the forms when a reply contains their first characters.

        Args:
            ambiguous_texts: Texts that have several originals.
            quoted_outputs: Surrogates that are restored only where a reply repeats the sanitized text around them.
        """
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
        """Create and store the forms (possible spellings of replacements) that begin with ``prefix``.

        Two threads may create the same forms at the same time: both get the same result. The method excludes texts with
        several originals before it stores the forms, so no thread ever reads a form that restoring must not use.
        """
        entries = self._later.get(prefix)
        if entries is None:  # another thread has created the forms since the caller saw that they do not exist
            return
        closed = [entry for entry in entries if isinstance(entry, _ClosedText)]
        forms = merge_forms((entry for entry in entries if isinstance(entry, SurrogatePair)), self._rules, prefix)
        _close_texts(
            forms,
            (entry.text for entry in closed if not entry.is_quoted),
            (entry.text for entry in closed if entry.is_quoted and self.find_tag(entry.text) is None),
        )
        for text, form in forms.items():
            self.forms[text] = form
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
    """Return all beginnings of the given texts that have at most ``PREFIX_LENGTH`` characters."""
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
    """Return a sort key for forms (spellings of replacements) with the same text. Restoring uses the smallest form.

    So the order in which the forms were created has no effect. The originals of these forms differ at most in case.
    """
    pair, way = form
    return pair.lead, pair.weak, pair.original.isupper(), pair.output, pair.original, pair.before, way
