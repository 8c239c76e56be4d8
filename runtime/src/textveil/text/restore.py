"""Restoring on the device: put the original words back into a reply to a sanitized text.

This requires that the text was sanitized with the option ``consistent``: equal words then get equal surrogates
(replacements).

Privacy:
    Restoring needs no privacy budget, since nothing leaves the device. The mapping from surrogates to originals can
    undo the protection: the mapping and the sanitized text together give the original text.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from textveil.arguments import check_string
from textveil.bundle.parsers import parse_json
from textveil.bundle.reply_rules import NO_REPLY_RULES, ReplyRules, parse_reply_rules
from textveil.errors import BundleDamaged, BundleTooLarge, InputError
from textveil.formatting import format_count
from textveil.text.inflections import SurrogatePair, are_alike, fold_text, inflect_original
from textveil.text.restore_policy import PROSE_POLICY, RestorePolicy
from textveil.text.segmentation import fold_word
from textveil.work_steps import free_in_steps

if TYPE_CHECKING:
    from textveil.text.form_index import FormIndex
    from textveil.text.reply_matcher import StreamRestorer
    from textveil.text.restored import Restored

MAPPING_FORMAT, MAPPING_VERSION = "textveil-mapping", 1
#: Largest size of a mapping file in bytes.
MAX_MAPPING_BYTES = 1 << 26
#: The opening bracket of text that looks like one of our tags.
_LIKE_A_TAG = re.compile(r"\[(?=[\w-]+\s+\d)")

_SortedPairs = tuple[dict[str, SurrogatePair], dict[str, SurrogatePair], dict[SurrogatePair, None]]


class Restorer:
    """Mapping from surrogates (replacements) to originals, which restores the originals in replies.

    Only a surrogate with a single original is restored. The *output* of a pair is its surrogate.

    Privacy:
        The ``repr`` contains no word of a text, and pickling raises ``TypeError``.

    Args:
        pairs: Surrogates with their originals: ``SurrogatePair`` objects, or tuples of surrogate and original as
            spelled. A surrogate is in lower case if its case carries no information.
        find_pairs: Function that returns more pairs. It is called at the first use, since most mappings are never used.
        rules: Rules of the language for inflected surrogates, such as plurals, and for elisions such as ``d'Anna``.
    """

    def __init__(
        self,
        pairs: Iterable[Sequence[Any]] = (),
        *,
        find_pairs: Callable[[], Iterable[Sequence[Any]]] = tuple,
        rules: ReplyRules = NO_REPLY_RULES,
    ) -> None:
        self._rules = rules
        self._unsorted_pairs, self._find_pairs = tuple(pairs), find_pairs  # parsed at first use

    def add_pairs(self, pairs: Iterable[Sequence[Any]]) -> None:
        """Add more pairs of surrogate (replacement) and original.

        If a surrogate gets a second original, it becomes ambiguous, and the mapping drops both originals to save
        memory. But if the originals differ only in case, the surrogate stays unambiguous: the mapping keeps the first
        original that is not in capitals, or the first one if all are in capitals.
        """
        self.__dict__.pop("index", None)
        self._sort_pairs(pairs, *self._sorted_pairs)

    @cached_property
    def _sorted_pairs(self) -> _SortedPairs:
        """The pairs of surrogate (replacement) and original, in three dictionaries.

        - The first one has the surrogates with a single original, by the normalized spelling of the surrogate.
        - The second one has the surrogates with several originals, by the same key.
        - The third one has the pairs that apply only where a reply repeats the text around the surrogate.
        """
        sorted_pairs: _SortedPairs = {}, {}, {}
        self._sort_pairs(chain(self._unsorted_pairs, self._find_pairs()), *sorted_pairs)
        # A thread that enters from here on finds the stored pairs, not the empty ones below.
        sorted_pairs = self.__dict__.setdefault("_sorted_pairs", sorted_pairs)
        self._unsorted_pairs, self._find_pairs = (), tuple
        return sorted_pairs

    @staticmethod
    def _sort_pairs(
        new_pairs: Iterable[Sequence[Any]],
        pairs: dict[str, SurrogatePair],
        ambiguous: dict[str, SurrogatePair],
        quoted: dict[SurrogatePair, None],
    ) -> None:
        for pair in new_pairs:
            parsed = pair if type(pair) is SurrogatePair else SurrogatePair(*pair)
            if parsed.after is not None:
                quoted[parsed] = None
                continue
            output = fold_word(parsed.output)
            if output in ambiguous:
                continue
            first = pairs.setdefault(output, parsed)
            if not are_alike(first.original, parsed.original):
                ambiguous[output] = pairs.pop(output)._replace(original="")
            elif first.original.isupper() and not parsed.original.isupper():  # a heading in capitals, then the name
                pairs[output] = parsed

    def free_memory(self) -> None:
        """Delete the surrogates (replacements) and originals in small steps, between which other threads can run.

        No thread may use the mapping or its index afterward.
        """
        index: FormIndex | None = self.__dict__.pop("index", None)
        if index is not None:
            index.free_memory()
        free_in_steps(*self.__dict__.pop("_sorted_pairs", ()))

    @property
    def ambiguous_count(self) -> int:
        """Number of surrogates (replacements) that have several originals."""
        return len(self._sorted_pairs[1])

    @property
    def pairs(self) -> list[SurrogatePair]:
        """All pairs of surrogate (replacement) and original. The original is empty if a surrogate has several."""
        pairs, ambiguous, quoted = self._sorted_pairs
        return [*pairs.values(), *ambiguous.values(), *quoted]

    def __len__(self) -> int:
        return len(self._sorted_pairs[0])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {format_count(len(self), 'word')}>"

    def __reduce__(self) -> Any:
        raise TypeError("a mapping cannot be pickled: save it with to_json, in a file that only its owner can read")

    def restore(self, reply: str, policy: RestorePolicy = PROSE_POLICY, sanitized: str | None = None) -> "Restored":
        """Put the original words back into a reply, in place of their surrogates (replacements).

        The search finds a surrogate as it was sent, also across line ends. It finds other forms too: the plural,
        another case, an ending such as ``'s``, grouped digits, and a date in another notation. The original gets the
        same form. The search finds no surrogate inside a longer word or number. A name in lower case counts as a word
        of the reply itself, and is not restored. Surrogates outside the regions of ``policy`` are not restored
        (docs/restoring.md).

        Args:
            reply: The whole reply.
            policy: Regions (kinds of text, such as code) in which originals are restored; running text alone by
                default.
            sanitized: The sanitized text. The report lists numbers of the reply that are neither surrogates nor in
                this text. ``None``: the report lists no such numbers, because the text is not known.

        Returns:
            The restored reply, with a report on its surrogates.

        Raises:
            InputError: The reply is not a string.
        """
        from textveil.text.reply_numbers import find_numbers
        from textveil.text.restored import Restored

        check_string(reply, "the reply")
        stream = self.open_stream(policy, None if sanitized is None else partial(find_numbers, sanitized))
        text = stream.feed(reply) + stream.close()
        return Restored(text, stream.report)

    def open_stream(
        self,
        policy: RestorePolicy = PROSE_POLICY,
        find_known_numbers: Callable[[], Collection[str]] | None = None,
    ) -> "StreamRestorer":
        """Create an object that restores the originals in one reply that arrives in parts.

        Args:
            policy: Regions (kinds of text, such as code) in which originals are restored; running text alone by
                default.
            find_known_numbers: Function that returns the numbers of the sanitized text. They do not count as unknown in
                the report. ``None``: the report has no unknown numbers.
        """
        from textveil.text.reply_matcher import StreamRestorer  # lazy: sanitizing does not need it

        return StreamRestorer(self.index, policy, find_known_numbers)

    def restore_value(self, value: str) -> str | None:
        """Return the original of a value that is exactly one surrogate (replacement); else ``None``."""
        form = self.index.find_form(fold_text(value))
        return None if form is None or form[0].lead else inflect_original(form, value, self._rules)

    @cached_property
    def index(self) -> "FormIndex":
        """Index of all forms, such as the plural, in which a reply may write the surrogates (replacements).

        The order of the pairs has no effect, because a mapping file does not store the order.
        """
        from textveil.text.form_index import FormIndex

        pairs, ambiguous, quoted = self._sorted_pairs
        return FormIndex(pairs, ambiguous.values(), quoted, self._rules)

    def map_originals(self, convert: Callable[[str], str]) -> "Restorer":
        """Return a copy of this object that restores ``convert(original)`` in place of each original."""
        converted, (pairs, ambiguous, quoted) = Restorer(rules=self._rules), self._sorted_pairs
        spelled_pairs = {key: pair._replace(original=convert(pair.original)) for key, pair in pairs.items()}
        spelled_quoted = {pair._replace(original=convert(pair.original)): None for pair in quoted}
        converted._sorted_pairs = spelled_pairs, ambiguous, spelled_quoted
        return converted

    def to_json(self) -> str:
        """Return the mapping from surrogates (replacements) to originals as a JSON document.

        Privacy:
            The mapping is as private as the text.
        """
        pairs = self._sorted_pairs[0].values()
        originals = {pair.output: pair.original for pair in pairs if not pair.lead and not pair.weak}
        content: dict[str, Any] = {"format": MAPPING_FORMAT, "format_version": MAPPING_VERSION, "originals": originals}
        in_context = [[*pair[:3], pair.before] for pair in pairs if pair.lead or pair.weak]
        if in_context:  # output, original, ``SurrogatePair.lead``, the word before the output
            content["in_context"] = in_context
        if self._sorted_pairs[1]:  # so that a mapping read from the file still reports these outputs as ambiguous
            content["ambiguous"] = [pair.output for pair in self._sorted_pairs[1].values()]
        if self._sorted_pairs[2]:  # output, original, ``SurrogatePair.weak``, the text before and after the output
            content["quoted"] = [[*pair[:2], pair.weak, *pair[4:]] for pair in self._sorted_pairs[2]]
        if self._rules.data:
            content["replies"] = self._rules.data
        return json.dumps(content) + "\n"  # escapes: a text may contain lone surrogates, which UTF-8 cannot encode

    @classmethod
    def from_json(cls, content: bytes) -> "Restorer":
        """Parse a mapping from surrogates (replacements) to originals, from the JSON that ``to_json`` writes.

        Raises:
            InputError: The content is not a mapping in this format.
        """
        try:
            document = parse_json(
                content, "the mapping", max_bytes=MAX_MAPPING_BYTES, max_values=MAX_MAPPING_BYTES, printable=False
            )
        except (BundleDamaged, BundleTooLarge):
            document = {}
        originals, in_context, quoted = (
            document.get("originals"),
            document.get("in_context", []),
            document.get("quoted", []),
        )
        ambiguous, rules = document.get("ambiguous", []), parse_reply_rules(document.get("replies", {}))
        if (
            rules is None
            or document.get("format") != MAPPING_FORMAT
            or type(document.get("format_version")) is not int
            or document["format_version"] != MAPPING_VERSION
            or not isinstance(originals, dict)
            or not all(isinstance(original, str) for original in originals.values())
            or not isinstance(in_context, list)
            or not all(map(_is_context_entry, in_context))
            or not isinstance(quoted, list)
            or not all(map(_is_quotation_entry, quoted))
            or not isinstance(ambiguous, list)
            or not all(isinstance(output, str) for output in ambiguous)
        ):
            raise InputError("the file is not a mapping that textveil wrote")
        pairs = [
            SurrogatePair(output, original, lead, not lead, before) for output, original, lead, before in in_context
        ]
        pairs += [
            SurrogatePair(output, original, 0, weak, before, after) for output, original, weak, before, after in quoted
        ]
        restorer = cls([*originals.items(), *pairs], rules=rules)
        for output in ambiguous:
            restorer._sorted_pairs[0].pop(fold_word(output), None)
            restorer._sorted_pairs[1][fold_word(output)] = SurrogatePair(output, "")
        return restorer


def _is_context_entry(entry: Any) -> bool:
    """Return whether an entry of a mapping file is a list of four valid values.

    The values are the attributes ``output``, ``original``, ``lead`` and ``before`` of ``SurrogatePair``: a surrogate
    (replacement), its original, the number of characters of the surrogate that the original replaces, and the word
    before the surrogate.
    """
    if not isinstance(entry, list) or len(entry) != 4:
        return False
    output, original, lead, before = entry
    return (
        isinstance(output, str)
        and isinstance(original, str)
        and isinstance(before, str)
        and type(lead) is int
        and 0 <= lead < len(output)
    )


def _is_quotation_entry(entry: Any) -> bool:
    """Return whether an entry of a mapping file is a list of five valid values.

    The values are the attributes ``output``, ``original``, ``weak``, ``before`` and ``after`` of ``SurrogatePair``: a
    surrogate (replacement), its original, whether the surrogate is so short that it may be a word of the reply, and the
    texts before and after the surrogate.
    """
    types = [type(part) for part in entry] if isinstance(entry, list) else []
    return types == [str, str, bool, str, str] and entry[0] != ""


def escape_tags(text: str) -> str:
    """Insert a blank into each part of a text that looks like a tag, such as ``[city 1]``.

    Restoring then leaves these parts unchanged. Use the function for text of the user only. In sanitized text the
    function would also change the real tags, which restoring would then not find.
    """
    return _LIKE_A_TAG.sub("[ ", text)
