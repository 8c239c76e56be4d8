"""Masking of private strings (originals) in the result of a tool, so that they are hidden in any context.

Suppose that a model writes a surrogate (replacement of an original) into a call such as ``find("&#SURROGATE;")``. The
tool receives the original, and its result has the original in a context in which the rules for texts would hide some
originals and leave others unchanged. Therefore a made-up name, called a mask, replaces each original while the rules
read the result.
"""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard

from textveil.bundle.names_files import FUNCTION
from textveil.conversation.message_rewriter import JSON_NUMBER
from textveil.conversation.model_strings import has_equal_surrogates
from textveil.text.inflections import SurrogatePair, match_case
from textveil.text.names.conversation_state import make_assigned_mention
from textveil.text.names.entity_types import EntityMention
from textveil.text.names.plan import NamesPlan
from textveil.text.names.read import NamesReader, ReadText
from textveil.text.names.reply_pairs import RewrittenElement

#: Prefix of masks. It makes each mask a capitalized word that no list contains, so the rules hide it in any context.
_MASK_PREFIX, _MASK_LETTERS = "Qzxvkq", "bcdfghjklm"
_MASK_PATTERN = re.compile(f"{_MASK_PREFIX}[{_MASK_LETTERS}]+x")
_PLACEHOLDER = "\ue000"
_WORD, _MIN_PLURAL_LENGTH = re.compile(r"[^\W_]+"), 3


class OriginalMasks:
    """Hides, in the result of a tool call, originals that the call contained and words that the model itself wrote.

    Args:
        pairs: Surrogates (replacements) in the arguments of the call for which the tool received the original strings;
            each with its original.
        plan: Rules for hiding names and numbers.
        model_words: Words that the model itself wrote into the call. They are hidden too, so that the choice of hidden
            words does not reveal which words belong to an original.
        is_linked: Whether equal strings get the same surrogates in the result as in the other messages of the
            conversation.

    Attributes:
        originals: The original strings, longest first.
    """

    def __init__(
        self,
        pairs: Iterable[SurrogatePair],
        plan: NamesPlan,
        model_words: Iterable[str] = (),
        *,
        is_linked: bool = True,
    ) -> None:
        self._plan, self._is_linked = plan, is_linked
        pair_by_original = {pair.original: pair for pair in pairs if pair.original.strip()}
        self.originals: list[str] = sorted(pair_by_original, key=lambda original: (-len(original), original))
        self._pairs = [pair_by_original[original] for original in self.originals]
        decimals = {
            repr(float(original)): number
            for number, original in enumerate(self.originals)
            if "." in original and JSON_NUMBER.fullmatch(original)
        }  # a tool may print the number that it read from JSON: 49.9 for 49.90
        self._numbers = decimals | {original.casefold(): number for number, original in enumerate(self.originals)}
        self._words = set(model_words) if pair_by_original else set[str]()
        forms = [*self.originals, *decimals]
        for form in forms:
            self._words.update(_iterate_words(form, plan))
        escaped = [form for original in self.originals for form in _iterate_escaped_forms(original)]
        multiword_originals = [form for form in forms if _WORD.fullmatch(form) is None]
        alternatives = "|".join(map(re.escape, sorted({*multiword_originals, *escaped}, key=len, reverse=True)))
        self._escaped = {form.casefold() for form in escaped}
        self._pattern = re.compile(
            rf"(?<![^\W_])(?:{alternatives})(?![^\W_])|[^\W_]+" if alternatives else r"[^\W_]+", re.IGNORECASE
        )

    def read_masked(self, text: str, reader: NamesReader) -> tuple[ReadText, list[SurrogatePair]]:
        """Find the words to hide in a text. The originals that the tool received are always among them.

        Returns:
            The text as tokens and strings to hide; and the originals in the text, each with its surrogate
            (replacement).
        """
        original_by_mask: dict[str, str] = {}

        def mask(match: "re.Match[str]") -> str:
            folded = match[0].casefold()
            if folded not in self._numbers and folded not in self._words and folded not in self._escaped:
                return match[0]
            name = _MASK_PREFIX + "".join(_MASK_LETTERS[int(digit)] for digit in f"{len(original_by_mask)}") + "x"
            original_by_mask[name] = match[0]
            return name

        masked = self._pattern.sub(mask, _MASK_PATTERN.sub(_PLACEHOLDER, text))
        entries: list[str | EntityMention] = []
        masked_read = reader.read_texts([masked])[0]
        for entry in masked_read.elements:
            if isinstance(entry, str):
                entries.append(_MASK_PATTERN.sub(_PLACEHOLDER, entry))  # a safeguard: the rules hide every mask
            else:
                entries.append(self._unmask_mention(entry, original_by_mask, reader))
        numbers = {self._numbers.get(original.casefold()) for original in original_by_mask.values()} - {None}
        return ReadText(entries, masked_read.kept_count), [
            self._pairs[number] for number in sorted(filter(_is_number, numbers))
        ]

    def put_surrogates(self, pieces: Sequence[RewrittenElement]) -> list[RewrittenElement]:
        """Return the rewritten parts of a tool's result, with the surrogates that the tool call already contained.

        A surrogate is the replacement of an original (hidden string). The tool received the originals in place of the
        surrogates of the call. If the result repeats such an original, the method puts the surrogate of the call in its
        place. Numbers, and all other types whose equal strings get different surrogates, keep the surrogate in
        ``pieces``.

        Args:
            pieces: Parts of the rewritten text.
        """
        replaced = []
        for piece in pieces:
            number = self._numbers.get(piece.original.casefold()) if piece.mention is not None else None
            parts = () if piece.mention is None else piece.mention.parts
            if number is not None and all(
                has_equal_surrogates(part.entity_type, part.layout, self._plan) for part in parts
            ):
                pair = self._pairs[number]
                if (
                    piece.mention is not None and piece.original.casefold() != pair.original.casefold()
                ):  # 49.9 for 49.90
                    mention = piece.mention._replace(name_text=pair.original)
                    piece = piece._replace(original=pair.original, mention=mention)
                replaced.append(piece._replace(output=match_case(piece.original, pair.original, pair.output), parts=()))
            else:  # without visible equality, equal strings must not become equal
                replaced.append(piece)
        return replaced

    def _unmask_mention(
        self, mention: EntityMention, original_by_mask: dict[str, str], reader: NamesReader
    ) -> EntityMention:
        text = mention.span.text
        if _MASK_PATTERN.search(text) is None:
            return mention
        if text in original_by_mask:
            return self._read_original(original_by_mask[text], reader)

        def unmask(match: "re.Match[str]") -> str:
            return original_by_mask.get(match[0].capitalize(), match[0])

        parts = tuple(
            part._replace(
                text=_MASK_PATTERN.sub(unmask, part.text),
                folded=_FOLDED_MASK_PATTERN.sub(lambda match: unmask(match).lower(), part.folded),
            )
            for part in mention.parts
        )
        unmasked_text = _MASK_PATTERN.sub(unmask, text)
        return mention._replace(parts=parts, span=mention.span._replace(text=unmasked_text), name_text=unmasked_text)

    def _read_original(self, text: str, reader: NamesReader) -> EntityMention:
        """Return the entity to hide for a string in a tool's result: an original or a word that the model wrote.

        An original is a hidden string that the tool received. If the result gets the surrogates (replacements) of the
        conversation (``is_linked``), an original keeps its entity type. In all other cases, the type is a number or
        ``word``: another entity type would reveal whether the original is also a common word.
        """
        is_original = self._is_linked and text.casefold() in self._numbers
        if not is_original and not (text.isascii() and text.isdigit()):
            return make_assigned_mention("word", text)
        entries = [entry for entry in reader.read_texts([text])[0].elements if entry]
        if len(entries) == 1 and not isinstance(entries[0], str):
            return entries[0]
        return make_assigned_mention("word", text)


def _iterate_words(original: str, plan: NamesPlan) -> Iterator[str]:
    """Yield the parts of a hidden string that a tool may repeat in its result, in lower case.

    These are the words and numbers of the string, plurals of the words, and all digits of the string as one number.
    Function words, such as "the", are omitted, because they reveal nothing.
    """
    for word in _WORD.findall(original):
        folded = word.casefold()
        if not is_function_word(folded, plan):
            yield folded
            if folded.isalpha() and len(folded) >= _MIN_PLURAL_LENGTH:
                yield f"{folded}s"
    digits = re.sub(r"\D", "", original)
    if digits:
        yield digits


def is_function_word(folded: str, plan: NamesPlan) -> bool:
    """Return whether a lower-case word is a function word, such as "the", or a single letter."""
    return (len(folded) == 1 and folded.isalpha()) or bool(plan.lists.common_words.get(folded, 0) & FUNCTION)


def _iterate_escaped_forms(original: str) -> Iterator[str]:
    """Yield the spellings of a hidden string, and of its words, in which HTML escapes replace characters."""
    yield from {html.escape(original), html.escape(original).replace("&#x27;", "&#39;")} - {original}
    for word in dict.fromkeys((original, *_WORD.findall(original))):
        for form in (word, word.lower(), word.upper()):
            yield "".join(f"&#{ord(character)};" for character in form)
            yield "".join(f"&#x{ord(character):x};" for character in form)


def _is_number(value: int | None) -> TypeGuard[int]:
    return value is not None


_FOLDED_MASK_PATTERN = re.compile(_MASK_PATTERN.pattern.lower())
