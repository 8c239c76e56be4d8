"""The transformer in scikit-learn's own pipelines, copies and pickles."""

import pickle
from collections.abc import Callable

import pytest
from canaries import SECRET
from textveil.errors import InputError, OptionError

pytest.importorskip("sklearn", reason="needs the extra sklearn: make integrations")

from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted
from textveil.integrations.sklearn import TextSanitizer


def test_texts_are_sanitized_without_a_fit() -> None:
    said = TextSanitizer(level="strongest").transform(["The of", f"and {SECRET}"])
    assert said[0] == "The of"
    assert said[1].startswith("and ")
    assert "Zorblax" not in said[1]
    check_is_fitted(TextSanitizer())


def test_parameters_copies_and_a_pipeline() -> None:
    sanitizer = TextSanitizer(level="strongest", kinds=False)
    copy = clone(sanitizer)
    assert copy.get_params() == sanitizer.get_params()
    assert copy.set_params(level="weak").level == "weak"
    assert sanitizer.level == "strongest"
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
        TextSanitizer(level="nothing").fit()
    with pytest.raises(InputError):
        TextSanitizer().transform("one string")
    with pytest.raises(InputError, match="text 2 of 2"):
        TextSanitizer().transform(["the", None])


@pytest.mark.full
def test_the_example_runs(example: Callable[[str], str]) -> None:
    assert len(example("with_sklearn.py").splitlines()) == 2
