"""Index of the forms of surrogates (replacements of hidden words), and search for the longest form in a reply.

A *form* is a way in which a reply may write a surrogate, such as a plural (see ``textveil.text.inflections``).
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import chain, takewhile

from textveil.bundle.reply_rules import NO_REPLY_RULES, ReplyRules
from textveil.text.form_table import PREFIX_LENGTH, FormTable
from textveil.text.inflections import LOOKBEHIND_CHARACTERS, SurrogateForm, SurrogatePair, fold_text, is_inflection
from textveil.text.quotations import LOOKAHEAD_CHARACTERS, QuotationIndex, cut_before, is_separate_word

#: Largest number of blanks between two words of a form. Line ends and quotation marks (``>``) of Markdown count as
#: blanks.
_MAX_BLANKS = 6
BLANKS = re.compile(r"\s[\s>]*")
_DIGIT = re.compile("[0-9]")
#: A word, the letter of an escape such as ``\\n``, the word behind it, or a punctuation mark.
_START = re.compile(r"(?:(?<![^\W_])|(?<=\\[nrt])(?<!\\\\[nrt]))(?:(?<=\\)[nrt]|[^\W_]+)|[^\w\s]")
_MARKS = frozenset("'\u2019\u2018\u201a\u201b")
#: The form that was found (``None`` if it has several originals); the end of the text that the original replaces; and
#: the pair if the reply repeats the text around the surrogate, else ``None``.
FormMatch = tuple[SurrogateForm | None, int, SurrogatePair | None]
NEEDS_MORE: FormMatch = None, 0, None
#: Forms at a position, each with its end and its folded text; the end of each folded character; and whether a longer
#: form is possible, depending on characters of the reply that are not available yet.
_FoundForms = tuple[Sequence[tuple[SurrogateForm | None, int, str]], Sequence[int], bool]


class FormIndex:
    """Index that finds surrogates in a reply, in every form (spelling that a reply may use, such as a plural).

    A *surrogate* is the replacement of an original word in the text that was sent to a model.

    Args:
        pairs: Dictionary from the normalized spelling of a surrogate to the pair of this surrogate and its only
            original.
        ambiguous: Surrogates with several originals, which are not restored.
        quoted_pairs: Pairs that are restored only where a reply repeats the sanitized text around the surrogate.
        rules: Inflection rules of the language.

    Attributes:
        rules: The argument ``rules``.
        quotations: Index of the texts around the surrogates of ``quoted_pairs``.
        has_numbers: Whether some originals have digits, and their surrogates are numbers or tags.
        has_tags: Whether some surrogates are tags, such as ``[person 1]``.
    """

    def __init__(
        self,
        pairs: Mapping[str, SurrogatePair],
        ambiguous: Iterable[SurrogatePair] = (),
        quoted_pairs: Iterable[SurrogatePair] = (),
        rules: ReplyRules = NO_REPLY_RULES,
    ) -> None:
        self.rules: ReplyRules = rules
        ambiguous = [*ambiguous]
        self.quotations: QuotationIndex = QuotationIndex(quoted_pairs)
        self.has_numbers: bool = any(map(_replaces_number, pairs.values()))
        self.has_tags: bool = any(pair.output[:1] == "[" for pair in chain(pairs.values(), ambiguous))
        self._table = FormTable(pairs, ambiguous, self.quotations.outputs, rules)
        self._prefixes = self._table.prefixes

    @cached_property
    def without_quotations(self) -> "FormIndex":
        """Copy of this index without the surrogates that are restored only where a reply repeats the text around them.

        The copy never restores a surrogate (replacement) that is a single letter.
        """
        index = copy(self)
        index.quotations = QuotationIndex(())
        return index

    @property
    def forms(self) -> dict[str, SurrogateForm | None]:
        """Dictionary from normalized texts to the forms (spellings of replacements) that were created so far.

        The value is ``None`` for two kinds of texts: those with several originals, and those that restoring replaces
        only if the text around them also matches.
        """
        return self._table.forms

    def find_form(self, text: str) -> SurrogateForm | None:
        """Return the form (spelling that a reply may use for a replacement) with the given normalized text.

        The result is ``None`` if there is no such form, or if several originals have a form with this text.
        """
        return self._table.get_form(text)

    def free_memory(self) -> None:
        """Delete the content of the index in small steps, so that other threads can run between the steps.

        No thread may use the index afterward.
        """
        self._table.free_memory()

    def find_start(self, text: str, position: int) -> int:
        """Return the first index from ``position`` on at which a form of a surrogate may begin; -1 if there is none.

        A form is a spelling, such as a plural, that a reply may use for the replacement of a hidden word. The method
        compares only the first characters of the forms. A form may begin at the start of a word or at a punctuation
        mark.
        """
        prefixes, short_joined = self._prefixes, self.quotations.short_joined
        for match in _START.finditer(text, position):
            index = match.start()
            prefix = text[index : index + PREFIX_LENGTH]
            if not (prefix.isalnum() and prefix.isascii()) or len(prefix) < PREFIX_LENGTH:
                if fold_text(text[index]) in prefixes:
                    return index
            else:  # most positions
                prefix = prefix.lower()
                if prefix in prefixes or (short_joined and not short_joined.isdisjoint((prefix[:1], prefix[:2]))):
                    return index
        return -1

    def find_longest_form(self, text: str, index: int, *, is_final: bool, is_cut: bool) -> FormMatch | None:
        """Find the longest form of a surrogate that begins at ``index`` and ends at the end of a word.

        A form is a spelling, such as a plural, that a reply may use for the replacement of a hidden word.

        Args:
            text: A part of the reply.
            index: Position in the text.
            is_final: Whether the reply ends with the text.
            is_cut: Whether the reply has characters before the text.

        Returns:
            The form with its end. ``None`` if no form matches. ``NEEDS_MORE`` if the decision depends on characters of
            the reply that are not available yet.
        """
        found, ends, is_open = self._find_plain_forms(text, index) or self._find_forms(text, index)
        if is_open and not is_final:
            return NEEDS_MORE
        alone: FormMatch | None = None
        for form, end, written in reversed(found):
            if end + 1 >= len(text) and not is_final:  # the character after a mark is not available yet
                return NEEDS_MORE
            if form is not None and written[-1] == "'" and is_inflection(form) and not _precedes_word(text, index, end):
                continue
            is_alone = is_separate_word(text, index, end, self.rules.clitics)
            if written in self.quotations:
                before = cut_before(
                    text[max(0, index - LOOKBEHIND_CHARACTERS) : index],
                    is_start=not is_cut and index <= LOOKBEHIND_CHARACTERS,
                )
                rest = text[end : end + LOOKAHEAD_CHARACTERS + 1]
                quotation = self.quotations.find_quotation(written, before, rest, is_end=is_final, is_alone=is_alone)
                if quotation.needs_more:
                    return NEEDS_MORE
                if quotation.pair is not None:
                    return form, end, quotation.pair
            if alone is None and is_alone:
                lead = 0 if form is None else len(fold_text(form[0].output[: form[0].lead]))
                alone = form, ends[lead] if lead else end, None
                if form is not None and not (form[0].lead or form[0].weak):
                    break
        return alone

    def _find_plain_forms(self, text: str, index: int) -> _FoundForms | None:
        """Return the result of ``_find_forms``, but faster: compare whole forms, not character by character.

        The characters at ``index`` must be printable ASCII without two blanks in a row. Otherwise the result is
        ``None``, and the caller must use ``_find_forms``.
        """
        table, prefix = self._table, text[index : index + PREFIX_LENGTH].lower()
        if len(prefix) < PREFIX_LENGTH or not prefix.isascii() or table.may_begin_tag(prefix):
            return None
        candidates = table.list_texts(prefix)
        length = table.get_longest(prefix)
        plain = text[index : index + length]
        if not plain.isascii() or not plain.isprintable() or "  " in plain or " >" in plain:
            return None
        plain = plain.lower()
        found = [*table.find_short_forms(prefix), *_find_beginnings(plain, candidates)]
        at = bisect_left(candidates, plain) if len(text) - index <= length else len(candidates)
        is_open = at < len(candidates) and candidates[at].startswith(plain)
        forms = [(table.forms[form], index + len(form), form) for form in found]
        return forms, range(index, index + length + 1), is_open

    def _find_forms(self, text: str, index: int) -> _FoundForms:
        """Return the forms (spellings of replacements) that occur in ``text`` at ``index``, shortest first."""
        table = self._table
        begins, forms, tag_ends = table.is_prefix, table.forms, table.tag_ends
        read, blanks, at, found = "", 0, index, []
        ends = [index]
        while at < len(text):
            character = text[at]
            if blanks and (character.isspace() or character == ">"):
                blanks += 1
                if blanks > _MAX_BLANKS:
                    break
                at += 1
                ends[-1] = at
                continue
            blanks = int(character.isspace())
            step = " " if blanks else fold_text(character)
            if not begins(read + step):
                break
            read, at = read + step, at + 1
            ends += [at] * len(step)
            if read in forms:
                found.append((forms[read], at, read))
            elif read[-1] in tag_ends and (tag := table.find_tag(read)) is not None:
                found.append((tag, at, read))
        return found, ends, at == len(text)


def _find_beginnings(text: str, candidates: Sequence[str]) -> list[str]:
    """Return the candidates with which ``text`` begins, from the shortest one to the longest one.

    Args:
        text: A text.
        candidates: Non-empty texts, sorted.
    """
    found: list[str] = []
    while (at := bisect_right(candidates, text)) and text:
        candidate = candidates[at - 1]
        if text.startswith(candidate):
            found.append(candidate)
            text = candidate[:-1]
        else:  # every candidate that ``text`` begins with precedes this one, so it is a beginning of this one too
            shared = map(str.__eq__, text, candidate)
            text = text[: sum(takewhile(bool, shared))]
    return found[::-1]


def _precedes_word(text: str, index: int, end: int) -> bool:
    """Return whether a word follows a name with an apostrophe, so that it is a genitive: ``Hans' Antrag``.

    If no word follows, the apostrophe may be a quotation mark.

    Args:
        text: A part of the reply.
        index: Start of the name.
        end: End of the name, after the apostrophe.
    """
    return text[end : end + 1].isspace() and text[end + 1 : end + 2].isalpha() and text[index - 1 : index] not in _MARKS


def _replaces_number(pair: SurrogatePair) -> bool:
    """Return whether the original has digits, and its replacement is a number or a numbered tag such as ``[date 1]``.

    Only ASCII digits count: they are the same in all versions of Unicode.
    """
    return all(_DIGIT.search(text) is not None for text in (pair.output, pair.original))
