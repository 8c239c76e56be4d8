"""An operator for Presidio: Presidio finds what is personal, textveil draws what stands there instead.

    engine = AnonymizerEngine()
    engine.add_anonymizer(TextveilOperator)
    engine.anonymize(text, found, {"DEFAULT": OperatorConfig("textveil", {"epsilon": 6})})

Only what Presidio finds is drawn. All other words stay as they are, and which spans were found shows. So the bound is
of the found words alone, between texts in which the same spans are found. To have every word drawn, sanitize the whole
text with ``Sanitizer`` instead.

With a ``Conversation`` what was found becomes names and numbers that Presidio's other engine puts back:

    settings = {"DEFAULT": OperatorConfig("textveil", {"conversation": Conversation()})}
    sent = engine.anonymize(text, found, settings)
    back = DeanonymizeEngine()
    back.add_deanonymizer(TextveilRestore)
    back.deanonymize(sent.text, sent.items, settings)
"""

import re
from typing import Any

from textveil import Conversation
from textveil.errors import ExtraMissing, OptionError
from textveil.text.segmentation import apply_case, case_pattern

from textveil_cli.integrations.rewriter import Rewriter, loaded

try:
    from presidio_anonymizer.operators import Operator, OperatorType
except ImportError as error:
    raise ExtraMissing.of("presidio", "presidio-anonymizer") from error


_APOSTROPHES = ("'", "\u2019")
_BLANKS = re.compile(r"(\s+)")
#: What ``preview`` says of words of which the entity decides the kind.
_DRAWN = frozenset(("drawn", "unknown"))
#: The same on the rung names. Shown ones too: a span stands alone, so *Hope* is the first word of a sentence.
_OF_NO_KIND = frozenset(("visible", "acronym", "organization", "person", "word"))
#: Members of the kinds that an entity's words are of: of the first word of a span, and of the others.
_MEMBERS = {
    "PERSON": ("anna", "novak"),
    "LOCATION": ("boston", "boston"),
    "NRP": ("german", "german"),
    "ORGANIZATION": ("accenture", "accenture"),
}


#: What an entity is called in a conversation, and the kinds that its own string may say instead.
_CALLED = {
    "PERSON": ("person", frozenset(("person", "title"))),
    "LOCATION": ("city", frozenset(("city", "country", "state", "place", "street", "number", "id"))),
    "NRP": ("group", frozenset(("group",))),
    "ORGANIZATION": ("organization", frozenset(("organization", "acronym", "number"))),
}
#: Of other entities but times no word stays.
_AS_READ = "DATE_TIME"


class TextveilOperator(Operator):
    """Replaces a found span by a draw: names by names, numbers by numbers, other words by words.

    What Presidio found counts: an unknown word of a ``PERSON`` becomes a name, one of a ``LOCATION`` a city, of an
    ``NRP`` a nationality, of an ``ORGANIZATION`` a firm.

    Its parameters are the arguments of ``Rewriter``. Inside a span no word stays visible unless ``protect`` says so: a
    detector that finds *Will* means the name. With ``protect="names"`` no word of the entities above stays; common
    words of others do. The parameter ``conversation`` is a ``Conversation``, and stands for all others.

    Privacy:
        Each span is a document of its own. Its length in words, its punctuation, case and kinds show, as in any
        sanitized text (docs/privacy.md).
    """

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        """Returns what stands for a span."""
        if (conversation := _conversation(params)) is not None:
            return conversation.outgoing_text(text, _called(text, (params or {}).get("entity_type", "")))
        rewriter = _rewriter(params)
        members = _MEMBERS.get((params or {}).get("entity_type", ""))
        return rewriter(text if members is None else _of_the_kind(text, members, rewriter))

    def validate(self, params: dict[str, Any] | None = None) -> None:
        """Checks the parameters.

        Raises:
            OptionError, BundleError: As ``Rewriter``.
        """
        if _conversation(params) is None:
            _rewriter(params)

    def operator_name(self) -> str:
        """Returns the name for ``OperatorConfig``."""
        return "textveil"

    def operator_type(self) -> OperatorType:
        """Returns that it anonymizes."""
        return OperatorType.Anonymize


class TextveilRestore(TextveilOperator):
    """Puts back what ``TextveilOperator`` replaced under the same ``conversation``, its only parameter.

    An entity may be a whole reply of a model, in which names and numbers of the text are quoted or inflected.
    """

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        """Returns a text with the words that were replaced."""
        conversation = _conversation(params)
        assert conversation is not None  # the engine calls validate first
        return conversation.incoming(text).reply

    def validate(self, params: dict[str, Any] | None = None) -> None:
        """Checks the parameters.

        Raises:
            OptionError: There is no conversation, or something besides.
        """
        if _conversation(params) is None:
            raise OptionError('to restore, give the conversation that replaced: {"conversation": ...}')

    def operator_type(self) -> OperatorType:
        """Returns that it puts back."""
        return OperatorType.Deanonymize


def _conversation(params: dict[str, Any] | None) -> Conversation | None:
    """The conversation among parameters, if there is one."""
    given = {name: value for name, value in (params or {}).items() if name != "entity_type"}
    found = given.pop("conversation", None)
    if found is not None and (given or not isinstance(found, Conversation)):
        raise OptionError("the parameter conversation is a Conversation, which has its own options: give no others")
    return found


def _called(text: str, entity: str) -> str | None:
    """What a span is called for its entity, if its own string does not say what fits."""
    if entity == _AS_READ:
        return None
    kind, fitting = _CALLED.get(entity, ("word", None))
    read = {what for piece, what in loaded(None).preview(text, protect="names") if any(map(str.isalnum, piece))}
    fits = read and "visible" not in read and (fitting is None or read <= fitting)
    return None if fits else kind


def _of_the_kind(text: str, members: tuple[str, str], rewriter: Rewriter) -> str:
    """Returns a span in which words that would be drawn are members of a kind, in their case.

    A member becomes any other one, without a look at it. So nothing that comes out depends on the words replaced here.
    """
    terms = rewriter.terms
    if terms.protect is None:
        return text
    parts: list[str] = []
    member, after_gap = members[0], True
    roles = _OF_NO_KIND if terms.protect == "names" else _DRAWN
    pieces = [(part, what) for piece, what in rewriter.preview(text) for part in _BLANKS.split(piece) if part]
    for piece, what in pieces:
        what = "gap" if piece.isspace() else what
        drawn = after_gap and what in roles  # a clitic follows its word at once, and stays
        parts.append(apply_case(member, case_pattern(piece)) if drawn else piece)
        joined = piece in _APOSTROPHES and not after_gap
        after_gap = what in ("gap", "punctuation mark") and not joined
        member = member if after_gap else members[1]
    return "".join(parts)


def _rewriter(params: dict[str, Any] | None) -> Rewriter:
    given = {name: value for name, value in (params or {}).items() if name != "entity_type"}
    rewriter = Rewriter(**given)
    if rewriter.terms.mechanism == "staircase" and "protect" not in given:
        return Rewriter(**given, protect="all")
    return rewriter
