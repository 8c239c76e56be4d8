"""Operator for Presidio: Presidio finds personal data, and textveil draws the replacements.

    engine = AnonymizerEngine()
    engine.add_anonymizer(TextveilOperator)
    engine.anonymize(text, found, {"DEFAULT": OperatorConfig("textveil", {"epsilon": 6})})

Only the spans that Presidio finds are replaced. All other words stay unchanged, and the positions of the spans are
public. The bound therefore holds only for the found words, between texts in which Presidio finds the same spans. To
protect every word, sanitize the whole text with ``Sanitizer`` instead.

With a ``Conversation`` the spans become names and numbers that Presidio's other engine restores:

    settings = {"DEFAULT": OperatorConfig("textveil", {"conversation": Conversation()})}
    sent = engine.anonymize(text, found, settings)
    back = DeanonymizeEngine()
    back.add_deanonymizer(TextveilRestoreOperator)
    back.deanonymize(sent.text, sent.items, settings)
"""

import re
from typing import Any

from textveil import Conversation
from textveil.errors import ExtraMissing, OptionError
from textveil.text.segmentation import apply_case, find_case_pattern

from textveil_cli.integrations.configured_sanitizer import ConfiguredSanitizer, load_sanitizer

try:
    from presidio_anonymizer.operators import Operator, OperatorType
except ImportError as error:
    raise ExtraMissing.from_extra("presidio", "presidio-anonymizer") from error


_APOSTROPHES = ("'", "\u2019")
_BLANKS = re.compile(r"(\s+)")
#: States of ``preview`` for words whose type the entity decides.
_RANDOMIZED_STATES = frozenset(("randomized", "unknown"))
#: The same in the mode ``names``. It includes kept words: a span is read alone, so *Hope* is the first word of a
#: sentence.
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
    """Operator that replaces a found span: names by names, numbers by numbers, words by words.

    The entity decides: an unknown word of a ``PERSON`` becomes a name, one of a ``LOCATION`` a city, of an ``NRP`` a
    nationality, of an ``ORGANIZATION`` a firm.

    Its parameters are the arguments of ``ConfiguredSanitizer``. No word of a span is kept unless ``protect`` is given:
    a detector that finds *Will* means the name. With ``protect="names"`` no word of the entities above is kept; common
    words of others are. The parameter ``conversation`` is a ``Conversation``, and replaces all others.

    Privacy:
        Each span is a document of its own. Its number of words, its punctuation, case and types are public, as in any
        sanitized text (docs/privacy.md).
    """

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        """Return the replacement of a span."""
        if (conversation := _get_conversation(params)) is not None:
            return conversation.outgoing_text(text, _choose_entity_type(text, (params or {}).get("entity_type", "")))
        sanitizer = _make_sanitizer(params)
        listed_words = _LISTED_WORDS.get((params or {}).get("entity_type", ""))
        return sanitizer(text if listed_words is None else _insert_listed_words(text, listed_words, sanitizer))

    def validate(self, params: dict[str, Any] | None = None) -> None:
        """Check the parameters.

        Raises:
            OptionError, BundleError: As ``ConfiguredSanitizer``.
        """
        if _get_conversation(params) is None:
            _make_sanitizer(params)

    def operator_name(self) -> str:
        """Return the name for ``OperatorConfig``."""
        return "textveil"

    def operator_type(self) -> OperatorType:
        """Return the type of an anonymizing operator."""
        return OperatorType.Anonymize


class TextveilRestoreOperator(TextveilOperator):
    """Operator that restores what ``TextveilOperator`` replaced under the same conversation.

    ``conversation`` is its only parameter. An entity may be a whole reply of a model, which quotes or inflects names
    and numbers of the text.
    """

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        """Return a text with the original words."""
        conversation = _get_conversation(params)
        assert conversation is not None  # the engine calls validate first
        return conversation.incoming(text).reply

    def validate(self, params: dict[str, Any] | None = None) -> None:
        """Check the parameters.

        Raises:
            OptionError: The conversation is missing, or is not the only parameter.
        """
        if _get_conversation(params) is None:
            raise OptionError('to restore, give the conversation that replaced: {"conversation": ...}')

    def operator_type(self) -> OperatorType:
        """Return the type of a restoring operator."""
        return OperatorType.Deanonymize


def _get_conversation(params: dict[str, Any] | None) -> Conversation | None:
    """Return the conversation among the parameters, or ``None``."""
    options = {name: value for name, value in (params or {}).items() if name != "entity_type"}
    conversation = options.pop("conversation", None)
    if conversation is not None and (options or not isinstance(conversation, Conversation)):
        raise OptionError("the parameter conversation is a Conversation, which has its own options: give no others")
    return conversation


def _choose_entity_type(text: str, detected_type: str) -> str | None:
    """Return the type of a span by its entity; ``None`` if its own string has a fitting type."""
    if detected_type == _UNFORCED_ENTITY:
        return None
    entity_type, fitting = _ENTITY_TYPES.get(detected_type, ("word", None))
    own_types = {
        what for piece, what in load_sanitizer(None).preview(text, protect="names") if any(map(str.isalnum, piece))
    }
    fits = own_types and "kept" not in own_types and (fitting is None or own_types <= fitting)
    return None if fits else entity_type


def _insert_listed_words(text: str, listed_words: tuple[str, str], sanitizer: ConfiguredSanitizer) -> str:
    """Return a span in which each word to be replaced is a listed word of a type, in its case.

    The listed word becomes another one of its list, drawn without reading it. The output therefore does not depend on
    the words that this function replaces.
    """
    terms = sanitizer.terms
    if terms.protect is None:
        return text
    parts: list[str] = []
    listed_word, after_gap = listed_words[0], True
    replaced_states = _UNTYPED_STATES if terms.protect == "names" else _RANDOMIZED_STATES
    pieces = [(part, what) for piece, what in sanitizer.preview(text) for part in _BLANKS.split(piece) if part]
    for piece, what in pieces:
        what = "gap" if piece.isspace() else what
        is_replaced = after_gap and what in replaced_states  # a clitic follows its word at once, and stays
        parts.append(apply_case(listed_word, find_case_pattern(piece)) if is_replaced else piece)
        is_joined = piece in _APOSTROPHES and not after_gap
        after_gap = what in ("gap", "punctuation mark") and not is_joined
        listed_word = listed_word if after_gap else listed_words[1]
    return "".join(parts)


def _make_sanitizer(params: dict[str, Any] | None) -> ConfiguredSanitizer:
    options = {name: value for name, value in (params or {}).items() if name != "entity_type"}
    sanitizer = ConfiguredSanitizer(**options)
    if sanitizer.terms.mechanism == "staircase" and "protect" not in options:
        return ConfiguredSanitizer(**options, protect="all")
    return sanitizer
