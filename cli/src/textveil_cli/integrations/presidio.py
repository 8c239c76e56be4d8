"""An operator for Presidio: Presidio finds what is personal, textveil draws what stands there instead.

    engine = AnonymizerEngine()
    engine.add_anonymizer(TextveilOperator)
    engine.anonymize(text, found, {"DEFAULT": OperatorConfig("textveil", {"epsilon": 6})})

Only what Presidio finds is drawn. All other words stay as they are, and which spans were found shows. So the bound is
of the found words alone, between texts in which the same spans are found. To have every word drawn, sanitize the whole
text with ``Sanitizer`` instead.
"""

import re
from typing import Any

from textveil.errors import ExtraMissing
from textveil.text.segmentation import apply_case, case_pattern

from textveil_cli.integrations.rewriter import Rewriter

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


class TextveilOperator(Operator):
    """Replaces a found span by a draw: names by names, numbers by numbers, other words by words.

    What Presidio found counts: an unknown word of a ``PERSON`` becomes a name, one of a ``LOCATION`` a city, of an
    ``NRP`` a nationality, of an ``ORGANIZATION`` a firm.

    Its parameters are the arguments of ``Rewriter``. Inside a span no word stays visible unless ``protect`` says so: a
    detector that finds *Will* means the name. With ``protect="names"`` no word of the entities above stays; common
    words of others do.

    Privacy:
        Each span is a document of its own. Its length in words, its punctuation, case and kinds show, as in any
        sanitized text (docs/privacy.md).
    """

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        """Returns what stands for a span."""
        rewriter = _rewriter(params)
        members = _MEMBERS.get((params or {}).get("entity_type", ""))
        return rewriter(text if members is None else _of_the_kind(text, members, rewriter))

    def validate(self, params: dict[str, Any] | None = None) -> None:
        """Checks the parameters.

        Raises:
            OptionError, BundleError: As ``Rewriter``.
        """
        _rewriter(params)

    def operator_name(self) -> str:
        """Returns the name for ``OperatorConfig``."""
        return "textveil"

    def operator_type(self) -> OperatorType:
        """Returns that it anonymizes."""
        return OperatorType.Anonymize


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
