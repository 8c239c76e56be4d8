"""An operator for Presidio: Presidio finds what is personal, textveil draws what stands there instead.

    engine = AnonymizerEngine()
    engine.add_anonymizer(TextveilOperator)
    engine.anonymize(text, found, {"DEFAULT": OperatorConfig("textveil", {"level": "strong"})})

Only what Presidio finds is drawn. All other words stay as they are, and which spans were found shows. So the bound is
of the found words alone, between texts in which the same spans are found. To have every word drawn, sanitize the whole
text with ``Sanitizer`` instead.
"""

from typing import Any

from textveil.errors import ExtraMissing
from textveil.integrations.rewriter import Rewriter

try:
    from presidio_anonymizer.operators import Operator, OperatorType
except ImportError as error:
    raise ExtraMissing.of("presidio", "presidio-anonymizer") from error


class TextveilOperator(Operator):
    """Replaces a found span by a draw: names by names, numbers by numbers, other words by words.

    Its parameters are the arguments of ``Rewriter``. Inside a span no word stays visible unless ``visible`` says so: a
    detector that finds *Will* means the name.

    Privacy:
        Each span is a document of its own. Its length in words, its punctuation, case and kinds show, as in any
        sanitized text (docs/privacy.md).
    """

    def operate(self, text: str, params: dict[str, Any] | None = None) -> str:
        """Returns what stands for a span."""
        return _rewriter(params)(text)

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


def _rewriter(params: dict[str, Any] | None) -> Rewriter:
    given = {name: value for name, value in (params or {}).items() if name != "entity_type"}
    rewriter = Rewriter(**given)
    if rewriter.terms.mechanism == "staircase" and "visible" not in given:
        return Rewriter(**given, visible="none")
    return rewriter
