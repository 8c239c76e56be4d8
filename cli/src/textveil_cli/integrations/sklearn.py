"""Transformer for scikit-learn, from texts to sanitized texts.

Sanitize once, before the data are split. In a cross-validation every fold would sample anew, which is one more release
of the same texts.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from textveil_cli.errors import ExtraMissing
from textveil_cli.integrations.configured_sanitizer import ConfiguredSanitizer

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils import Tags
except ImportError as error:
    raise ExtraMissing.from_extra("sklearn", "scikit-learn") from error


class TextSanitizer(TransformerMixin, BaseEstimator):
    """Transformer that sanitizes every text.

    ``fit`` learns nothing, and pickles contain parameters only. There is no parameter for denied words, since
    scikit-learn prints and stores all parameters.

    >>> from textveil_cli.integrations.sklearn import TextSanitizer
    >>> (text,) = TextSanitizer(protect="names").fit_transform(["Please call Anna Novak."])
    >>> text.startswith("Please call "), "Novak" in text
    (True, False)

    Args:
        bundle: Folder of a bundle; default: the built-in English one.
        expect_id: Required content hash of the bundle.
        signer: Public key of the required signer of the bundle.
        max_bytes: Maximum total size of its files.
        mechanism: As in ``Sanitizer.sanitize``, like all parameters below; default: that of the bundle.
        epsilon: Epsilon of the privacy level.
        protect: The protection mode, ``"names"``, ``"words"`` or ``"all"``.
        case: ``"carry"`` or ``"drop"``.
        sanitize_punctuation: Whether punctuation is sanitized, too.
    """

    def __init__(
        self,
        bundle: str | Path | None = None,
        *,
        expect_id: str | None = None,
        signer: str | None = None,
        max_bytes: int | None = None,
        mechanism: str | None = None,
        epsilon: float | str | None = None,
        protect: str | None = None,
        case: str | None = None,
        sanitize_punctuation: bool | None = None,
    ) -> None:
        self.bundle = bundle
        self.expect_id = expect_id
        self.signer = signer
        self.max_bytes = max_bytes
        self.mechanism = mechanism
        self.epsilon = epsilon
        self.protect = protect
        self.case = case
        self.sanitize_punctuation = sanitize_punctuation

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Check the parameters; the texts have no effect.

        Raises:
            BundleError, OptionError: As ``ConfiguredSanitizer``.
        """
        self._make_sanitizer()
        return self

    def transform(self, X: Iterable[str]) -> list[str]:
        """Return the sanitized texts, each a separate document.

        Args:
            X: Texts: a list, a column or an array of one dimension. A table is refused, even one of a single column: a
                later vectorizer would read the names of its columns as texts.

        Raises:
            InputError: An entry is not a string, or ``X`` is a table or one string.
        """
        return [result.text for result in self._make_sanitizer().sanitize_texts(X)]

    def _make_sanitizer(self) -> ConfiguredSanitizer:
        parameters = {name: value for name, value in self.get_params(deep=False).items() if value is not None}
        return ConfiguredSanitizer(**parameters)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.string, tags.input_tags.two_d_array, tags.input_tags.one_d_array = True, False, True
        return tags
