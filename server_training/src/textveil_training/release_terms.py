"""Describe how texts were sanitized (mode, mechanism, epsilon) for records of corpora, trainings and attacks."""

from decimal import Decimal
from typing import Any

from textveil.bundle import TextBundle
from textveil.text import PrivacyTerms

#: Mechanism of each mode. Without a mode every token is randomized, by any other mechanism.
MECHANISM_OF_MODE = {"names": "names", "words": "staircase", "all": "staircase"}


def describe_release_terms(terms: PrivacyTerms, bundle: TextBundle) -> dict[str, Any]:
    """Describe how texts are sanitized (mode, mechanism, epsilon) as a dictionary, for a JSON record.

    The result does not depend on the texts: equal options give equal descriptions.

    Args:
        terms: The terms, from ``Sanitizer.terms``.
        bundle: The bundle (folder with word lists and settings) of the sanitizer.

    Returns:
        ``mode`` (``None`` for mechanisms that randomize every token), ``mechanism``, ``level``, ``epsilon`` (per word
        or token; ``None`` where no epsilon holds, as in the mode 'names'), further values of the privacy guarantee,
        ``not_protected`` (what the output can still reveal) and the bundle.
    """
    figures = dict(terms.promise.list_figures(terms))
    figures.pop("protect", None)  # the name of the mode
    described = {
        "mode": terms.protect,
        "mechanism": terms.mechanism,
        "level": terms.level,
        "epsilon": figures.get("epsilon_per_word"),
        **figures,
        "not_protected": list(terms.not_protected),
        "sanitize_punctuation": terms.sanitize_punctuation,
        "bundle": terms.bundle,
        "bundle_name": bundle.manifest.get("name"),
    }
    return {name: str(value) if isinstance(value, Decimal) else value for name, value in described.items()}


def format_release_terms(terms: dict[str, Any] | None) -> str:
    """Format how texts were sanitized in a few words, such as mode and epsilon, for a table or an error message.

    Args:
        terms: Result of ``describe_release_terms``, or ``None`` for raw text.
    """
    if terms is None:
        return "raw text"
    name = terms["mechanism"] if terms["mode"] is None else f"mode {terms['mode']}"
    return name if terms["epsilon"] is None else f"{name}, epsilon {terms['epsilon']:g}"
