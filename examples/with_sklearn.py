"""Sanitize texts in a transformer for scikit-learn, and train a classifier on them.

    pip install ./runtime ./cli scikit-learn

Copy the class. Texts are sanitized once, before anything else: inside a cross-validation every fold would be one more
release.
"""

from collections.abc import Iterable
from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from textveil_cli.integrations import ConfiguredSanitizer


class TextSanitizer(TransformerMixin, BaseEstimator):
    """Transformer that sanitizes every text as a document of its own.

    ``fit`` learns nothing, and pickles contain parameters only. Do not add a parameter for denied words: scikit-learn
    prints and stores all parameters.

    Args:
        epsilon: As in ``Sanitizer.sanitize``, like all parameters here; default: that of the bundle.
        protect: The protection mode, ``"names"`` (the default), ``"words"`` or ``"all"``; an epsilon needs one of the
            last two.
    """

    def __init__(self, *, epsilon: float | str | None = None, protect: str | None = None) -> None:
        self.epsilon = epsilon
        self.protect = protect

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Check the parameters; the texts have no effect."""
        self._make_sanitizer()
        return self

    def transform(self, X: Iterable[str]) -> list[str]:
        """Return the sanitized texts; ``X`` is a list, a column or an array of one dimension, and no table."""
        return [result.text for result in self._make_sanitizer().sanitize_texts(X)]

    def _make_sanitizer(self) -> ConfiguredSanitizer:
        parameters = {name: value for name, value in self.get_params(deep=False).items() if value is not None}
        return ConfiguredSanitizer(**parameters)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def main() -> None:
    """Train a classifier on sanitized texts."""
    texts = [
        "The team won the match.",
        "The player lost the game.",
        "Shares of the bank fell.",
        "The market paid a profit.",
    ]
    labels = ["sport", "sport", "money", "money"]

    sanitized = TextSanitizer(epsilon=12, protect="words").fit_transform(texts * 5)
    classifier = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(sanitized, labels * 5)

    print(sanitized[:2])
    print(classifier.predict(["The team lost a match."]))


if __name__ == "__main__":
    main()
