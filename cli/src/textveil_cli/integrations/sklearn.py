"""A transformer for scikit-learn: texts in, sanitized texts out.

Sanitize once, before data are split. Inside a cross-validation every fold would draw anew, and every draw is one more
release of the same texts.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from textveil.errors import ExtraMissing

from textveil_cli.integrations.rewriter import Rewriter

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils import Tags
except ImportError as error:
    raise ExtraMissing.of("sklearn", "scikit-learn") from error


class TextSanitizer(TransformerMixin, BaseEstimator):
    """Sanitizes every text. ``fit`` learns nothing, and pickles hold parameters only.

    There is no list of denied words: scikit-learn prints and stores all parameters.

    Args:
        bundle: Folder of a bundle; the built-in English one if left out.
        expect_id: The identity the bundle must have.
        maker: Public key of the maker who must have signed it.
        max_bytes: Most bytes of all its files together.
        mechanism: As in ``Sanitizer.sanitize``, like all below; the bundle's default if left out.
        epsilon: Which level, by its epsilon.
        protect: The rung of the ladder, ``"names"``, ``"words"`` or ``"all"``.
        case: ``"carry"`` or ``"drop"``.
        sanitize_punctuation: Whether punctuation is sanitized too.
    """

    def __init__(
        self,
        bundle: str | Path | None = None,
        *,
        expect_id: str | None = None,
        maker: str | None = None,
        max_bytes: int | None = None,
        mechanism: str | None = None,
        epsilon: float | str | None = None,
        protect: str | None = None,
        case: str | None = None,
        sanitize_punctuation: bool | None = None,
    ) -> None:
        self.bundle = bundle
        self.expect_id = expect_id
        self.maker = maker
        self.max_bytes = max_bytes
        self.mechanism = mechanism
        self.epsilon = epsilon
        self.protect = protect
        self.case = case
        self.sanitize_punctuation = sanitize_punctuation

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Checks the parameters. Nothing is learned of the texts.

        Raises:
            BundleError, OptionError: As ``Rewriter``.
        """
        self._rewriter()
        return self

    def transform(self, X: Iterable[str]) -> list[str]:
        """Returns the texts, sanitized, each a document of its own.

        Args:
            X: Texts: a list, a column or an array of one dimension. A table is refused, also one of a single column:
                a vectorizer that comes next would take the names of its columns for texts.

        Raises:
            InputError: One of them is not a string, or a table or one string came in place of texts.
        """
        return [result.text for result in self._rewriter().results(X)]

    def _rewriter(self) -> Rewriter:
        given = {name: value for name, value in self.get_params(deep=False).items() if value is not None}
        return Rewriter(**given)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.string, tags.input_tags.two_d_array, tags.input_tags.one_d_array = True, False, True
        return tags
