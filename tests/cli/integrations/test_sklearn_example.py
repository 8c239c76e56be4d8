"""The transformer works in scikit-learn's pipelines, copies and pickles."""

import pickle
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from canaries import SECRET
from host_texts import TEXT, VISIBLE, is_sanitized, refused_in_one_line
from textveil.errors import InputError, OptionError

pytest.importorskip("sklearn", reason="needs scikit-learn")

from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted
from textveil_cli.integrations import ConfiguredSanitizer

_SPEC = spec_from_file_location("with_sklearn", Path(__file__).parents[3] / "examples" / "with_sklearn.py")
assert _SPEC is not None
assert _SPEC.loader is not None
#: A pickle finds the class by the name of its module.
sys.modules["with_sklearn"] = module_from_spec(_SPEC)
_SPEC.loader.exec_module(sys.modules["with_sklearn"])
TextSanitizer: Any = sys.modules["with_sklearn"].TextSanitizer


def test_texts_are_sanitized_without_a_fit() -> None:
    said = TextSanitizer(epsilon=4, protect="words").transform(["The of", f"and {SECRET}"])
    assert said[0] == "The of"
    assert said[1].startswith("and ")
    assert "Zorblax" not in said[1]
    check_is_fitted(TextSanitizer())


def test_parameters_copies_and_a_pipeline() -> None:
    sanitizer = TextSanitizer(epsilon=4, protect="words")
    copy: Any = clone(sanitizer)
    assert copy.get_params() == sanitizer.get_params()
    assert copy.set_params(epsilon=10).epsilon == 10
    assert sanitizer.epsilon == 4
    counts = make_pipeline(sanitizer, CountVectorizer()).fit_transform(["the of", "the and"])
    assert counts.shape == (2, 3)


def test_nothing_of_a_text_is_kept() -> None:
    sanitizer = TextSanitizer()
    before = pickle.dumps(sanitizer)
    sanitizer.fit([f"the {SECRET}"]).transform([f"the {SECRET}"])
    assert pickle.dumps(sanitizer) == before
    assert b"Zorblax" not in before
    shown = repr(sanitizer) + repr(make_pipeline(sanitizer)) + sanitizer._repr_html_() + repr(vars(sanitizer))
    assert "Zorblax" not in shown
    assert pickle.loads(before).transform(["The of"]) == ["The of"]


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(OptionError):
        TextSanitizer(epsilon=7).fit()


# --- as its tutorial calls it: pipelines over lists, columns and frames ---------------------------------------------

TEXTS, LABELS = [TEXT, VISIBLE, TEXT, VISIBLE], [0, 1, 0, 1]


@pytest.fixture
def frame():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"note": TEXTS, "subject": TEXTS, "stars": [1, 2, 3, 4]}, index=[5, 5, 7, 9])


class Seen(TransformerMixin, BaseEstimator):
    """The next step, which keeps what it is given."""

    def fit(self, X: Any, y: Any = None) -> "Seen":
        self.texts_ = list(X)
        return self

    def transform(self, X: Any) -> Any:
        return np.array([[len(text)] for text in X])


def is_right(texts: Any) -> bool:
    return [is_sanitized(text) for text in texts] == [True, False] * 2 and texts[1] == texts[3] == VISIBLE


def test_a_list_a_column_and_an_array_in_a_pipeline(frame) -> None:
    for texts in (TEXTS, tuple(TEXTS), frame["note"], np.array(TEXTS), np.array(TEXTS, dtype=object)):
        seen = Seen()
        steps = Pipeline([("sanitize", TextSanitizer()), ("seen", seen), ("classify", LogisticRegression())])
        assert steps.fit(texts, LABELS).predict(texts).tolist() == LABELS
        assert is_right(seen.texts_)


def test_an_iterator_is_read_once() -> None:
    assert is_right(TextSanitizer().fit_transform(text for text in TEXTS))


def test_a_column_of_a_frame(frame) -> None:
    steps = make_pipeline(TextSanitizer(), Seen())
    chosen = ColumnTransformer([("texts", steps, "note")], remainder="passthrough")
    assert chosen.fit_transform(frame[["note", "stars"]])[:, 1].tolist() == [1, 2, 3, 4]
    assert is_right(chosen.named_transformers_["texts"][-1].texts_)


@pytest.mark.parametrize(
    "given",
    [
        lambda frame: frame,
        lambda frame: frame[["note"]],
        lambda frame: frame[["note", "subject"]],
        lambda frame: frame[["note"]].to_numpy(),
        lambda frame: frame.to_dict("list"),
        lambda frame: sparse.csr_matrix(np.eye(3)),
        lambda frame: TEXT,
        lambda frame: TEXT.encode(),
        lambda frame: [TEXT.encode()],
        lambda frame: np.array([TEXT.encode()]),
        lambda frame: [[TEXT]],
        lambda frame: np.array(TEXT),
        lambda frame: None,
        lambda frame: 48213977,
    ],
)
def test_what_is_refused(frame, given: Any) -> None:
    """A vectorizer would take the names of columns for texts, and so did this."""
    with pytest.raises(InputError) as refused:
        TextSanitizer().fit_transform(given(frame))
    assert refused_in_one_line(str(refused.value))


def test_a_function_of_cells(frame) -> None:
    cells = FunctionTransformer(ConfiguredSanitizer().sanitize_cells)
    assert is_right(cells.fit_transform(frame["note"]))
    with pytest.raises(InputError, match="got a table: pass one of its columns"):
        cells.fit_transform(frame[["note"]])


def test_a_frame_in_place_of_a_column_is_refused_by_whole_pipelines(frame) -> None:
    steps = make_pipeline(TextSanitizer(), CountVectorizer())
    for call in (
        lambda: steps.fit(frame[["note"]], LABELS),
        lambda: ColumnTransformer([("texts", steps, ["note"])]).fit_transform(frame),
        lambda: ColumnTransformer([("texts", steps, ["note", "subject"])]).fit_transform(frame),
        lambda: ColumnTransformer([("texts", TextSanitizer(), ["note"])]).fit_transform(frame),
    ):
        with pytest.raises(InputError, match="got a table: pass one of its columns"):
            call()


def test_a_missing_text_is_named_by_its_place() -> None:
    for missing in (None, float("nan")):
        with pytest.raises(InputError, match=r"^text 2 of 2 must be a string$"):
            TextSanitizer().fit_transform([TEXT, missing])


def test_search_over_levels() -> None:
    steps = Pipeline(
        [
            ("sanitize", TextSanitizer(protect="words")),
            ("count", CountVectorizer()),
            ("classify", LogisticRegression()),
        ]
    )
    found = GridSearchCV(steps, {"sanitize__epsilon": [4, 10]}, cv=2, error_score=cast(Any, "raise"))
    assert found.fit(TEXTS, LABELS).best_params_["sanitize__epsilon"] in (4, 10)


@pytest.mark.full
def test_the_example_runs(example: Callable[[str], str]) -> None:
    assert len(example("with_sklearn.py").splitlines()) == 2
