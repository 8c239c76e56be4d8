"""Operators for Presidio: Presidio finds personal data, and textveil replaces it.

    engine = AnonymizerEngine()
    engine.add_anonymizer(TextveilOperator)
    engine.anonymize(text, found, {"DEFAULT": OperatorConfig("textveil")})

Only the spans that Presidio finds are replaced. All other words stay unchanged, and the output reveals the positions of
the spans. With an epsilon (``{"protect": "all", "epsilon": 6}``), the bound applies only to the words of these spans,
and only to texts in which Presidio finds the same spans. To protect every word, sanitize the whole text with
``Sanitizer`` instead.

With a ``Conversation``, Presidio's ``DeanonymizeEngine`` can put the original words back:

    settings = {"DEFAULT": OperatorConfig("textveil", {"conversation": Conversation()})}
    sent = engine.anonymize(text, found, settings)
    back = DeanonymizeEngine()
    back.add_deanonymizer(TextveilRestoreOperator)
    back.deanonymize(sent.text, sent.items, settings)
"""

import re
from typing import Any

from textveil import Conversation
from textveil.errors import OptionError
from textveil.text.segmentation import apply_case, find_case_pattern

from textveil_cli.errors import ExtraMissing
from textveil_cli.integrations.configured_sanitizer import ConfiguredSanitizer

try:
    from presidio_anonymizer.operators import Operator, OperatorType
except ImportError as error:
    raise ExtraMissing.from_extra("presidio", "presidio-anonymizer") from error


_APOSTROPHES = ("'", "\u2019")
_BLANKS = re.compile(r"(\s+)")
#: States of ``preview`` for words whose type Presidio's entity label decides.
_RANDOMIZED_STATES = frozenset(("randomized", "unknown"))
#: The same states in the mode ``names``. They include kept words: a span has no context, so that *Hope* could be the
#: common word at the beginning of a sentence.
_UNTYPED_STATES = frozenset(("kept", "acronym", "organization", "person", "word"))
#: Listed words of the type of an entity: for the first word of a span, and for the others.
_LISTED_WORDS = {
    "PERSON": ("anna", "novak"),
    "LOCATION": ("boston", "boston"),
    "NRP": ("german", "german"),
    "ORGANIZATION": ("accenture", "accenture"),
}


#: Type of an entity in a conversation, and the types that the string of the entity may have instead.
_ENTITY_TYPES = {
    "PERSON": ("person", frozenset(("person", "title"))),
    "LOCATION": ("city", frozenset(("city", "country", "state", "place", "street", "number", "id"))),
    "NRP": ("group", frozenset(("group",))),
    "ORGANIZATION": ("organization", frozenset(("organization", "acronym", "number"))),
}
#: The entity for times, whose words may be kept. Words of all other entities are replaced.
_UNFORCED_ENTITY = "DATE_TIME"


class TextveilOperator(Operator):
    """Presidio operator that replaces a span of text: names by names, numbers by numbers, words by words.

    Presidio's entity label selects the type of an unknown word: a name for ``PERSON``, a city for ``LOCATION``, a
    nationality for ``NRP``, a company for ``ORGANIZATION``. The parameters of the operator are the arguments of
    ``ConfiguredSanitizer``, or alternatively only ``conversation`` with a ``Conversation``.

    In the mode 'names', the default, every word of a span is replaced, except in times (``DATE_TIME``). If Presidio
    finds the word *Will* as a person, for example, the word is replaced, although it is also a common word. With
    ``protect="all"`` all words are randomized. With ``protect="words"`` function words such as *the* stay unchanged.

    >>> from textveil_cli.integrations.presidio import TextveilOperator
    >>> TextveilOperator().operate("Anna Novak", {"entity_type": "PERSON", "protect": "names", "style": "tag"})
    '[person 1]'

    Privacy:
        Each span is a separate document. The output reveals its number of words, its punctuation, case and entity
        types, as for any sanitized text (docs/privacy.md).
    """

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        """Return the replacement of a span (a part of a text that Presidio found, such as a name).

        Args:
            text: The text of the span.
            params: Parameters of the operator, with ``entity_type`` from Presidio.
        """
        if (conversation := _get_conversation(params)) is not None:
            detected_type = (params or {}).get("entity_type", "")
            return conversation.outgoing_text(text, _choose_entity_type(text, detected_type, conversation))
        sanitizer, entity = _make_sanitizer(params), (params or {}).get("entity_type", "")
        listed_words = _LISTED_WORDS.get(entity)
        if sanitizer.terms.protect == "names" and entity != _UNFORCED_ENTITY:
            sanitizer = _make_sanitizer(
                {**(params or {}), "facts": "none"}
            )  # every word that Presidio found is replaced
            text = _insert_unlisted_words(text, sanitizer) if listed_words is None else text
        return sanitizer(text if listed_words is None else _insert_listed_words(text, listed_words, sanitizer))

    def validate(self, params: dict[str, Any] | None = None) -> None:
        """Check the parameters of the operator.

        Raises:
            OptionError, BundleError: See ``ConfiguredSanitizer``.
        """
        if _get_conversation(params) is None:
            _make_sanitizer(params)

    def operator_name(self) -> str:
        """Return the name of the operator in ``OperatorConfig``."""
        return "textveil"

    def operator_type(self) -> OperatorType:
        """Return ``OperatorType.Anonymize``: this operator replaces words."""
        return OperatorType.Anonymize


class TextveilRestoreOperator(TextveilOperator):
    """Presidio operator that puts the original words back in place of the output of ``TextveilOperator``.

    Both operators must have the same ``Conversation`` as their only parameter, ``conversation``.

    >>> from textveil import Conversation
    >>> from textveil_cli.integrations.presidio import TextveilOperator, TextveilRestoreOperator
    >>> settings = {"conversation": Conversation(), "entity_type": "PERSON"}
    >>> surrogate = TextveilOperator().operate("Anna Novak", settings)
    >>> TextveilRestoreOperator().operate(f"{surrogate} called.", settings)
    'Anna Novak called.'

    The text may also be a whole reply of a model that quotes or inflects names and numbers of the anonymized text.
    """

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        """Return a text with original words in place of their replacements.

        Args:
            text: A span of replaced text, or a whole reply of a model.
            params: Parameters of the operator, with ``conversation``.
        """
        conversation = _get_conversation(params)
        assert conversation is not None  # the engine calls validate first
        return conversation.incoming(text).reply

    def validate(self, params: dict[str, Any] | None = None) -> None:
        """Check the parameters of the operator.

        Raises:
            OptionError: The conversation is missing, or is not the only parameter.
        """
        if _get_conversation(params) is None:
            raise OptionError("the parameter conversation is missing: pass the one given to TextveilOperator")

    def operator_type(self) -> OperatorType:
        """Return ``OperatorType.Deanonymize``: this operator puts original words back."""
        return OperatorType.Deanonymize


def _get_conversation(params: dict[str, Any] | None) -> Conversation | None:
    """Return the ``Conversation`` in the parameters of an operator; ``None`` if there is none.

    Raises:
        OptionError: The value is not a ``Conversation``, or there are other parameters.
    """
    options = {name: value for name, value in (params or {}).items() if name != "entity_type"}
    conversation = options.pop("conversation", None)
    if conversation is not None and (options or not isinstance(conversation, Conversation)):
        raise OptionError(
            "the parameter conversation must be a Conversation and the only parameter: set options in the Conversation"
        )
    return conversation


def _choose_entity_type(text: str, detected_type: str, conversation: Conversation) -> str | None:
    """Convert Presidio's label of a span of text to the entity type (such as ``person``) by which to replace the span.

    The result is ``None`` if textveil itself finds a type in the span that fits the label.

    Args:
        text: The span.
        detected_type: Label of the span from Presidio.
        conversation: The conversation that will replace the span.
    """
    if detected_type == _UNFORCED_ENTITY:
        return None
    entity_type, fitting = _ENTITY_TYPES.get(detected_type, ("word", None))
    pieces = conversation.sanitizer.preview(text, protect="names", facts=conversation.facts)
    own_types = {state for piece, state in pieces if any(map(str.isalnum, piece))}
    fits = own_types and "kept" not in own_types and (fitting is None or own_types <= fitting)
    return None if fits else entity_type


def _insert_listed_words(text: str, listed_words: tuple[str, str], sanitizer: ConfiguredSanitizer) -> str:
    """Replace each unlisted word of a span (text that Presidio found) by a fixed word of its entity type.

    The case of the word stays. The fixed word is on the public list of the type. Later, the sanitizer replaces it by a
    random word of this list, so the final output does not depend on the original word.
    """
    terms = sanitizer.terms
    if terms.protect is None:
        return text
    parts: list[str] = []
    listed_word, after_gap = listed_words[0], True
    replaced_states = _UNTYPED_STATES if terms.protect == "names" else _RANDOMIZED_STATES
    pieces = [(part, state) for piece, state in sanitizer.preview(text) for part in _BLANKS.split(piece) if part]
    for piece, state in pieces:
        state = "gap" if piece.isspace() else state
        is_replaced = after_gap and state in replaced_states  # a clitic follows its word without a gap, and is kept
        parts.append(apply_case(listed_word, find_case_pattern(piece)) if is_replaced else piece)
        is_joined = piece in _APOSTROPHES and not after_gap
        after_gap = state in ("gap", "punctuation mark") and not is_joined
        listed_word = listed_word if after_gap else listed_words[1]
    return "".join(parts)


def _insert_unlisted_words(text: str, sanitizer: ConfiguredSanitizer) -> str:
    """Replace each word that the sanitizer would leave unchanged by an invented word that is on no word list.

    The sanitizer then replaces the invented words, so that no word of ``text`` stays unchanged.
    """
    pieces = sanitizer.preview(text)
    words = {index: f"qzxv{chr(97 + index % 26)}" for index, (_, state) in enumerate(pieces) if state == "kept"}
    return "".join(
        apply_case(words[index], find_case_pattern(piece)) if index in words else piece
        for index, (piece, _) in enumerate(pieces)
    )


def _make_sanitizer(params: dict[str, Any] | None) -> ConfiguredSanitizer:
    return ConfiguredSanitizer(**{name: value for name, value in (params or {}).items() if name != "entity_type"})
